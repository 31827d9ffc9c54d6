/*-------------------------------------------------------------------------
 *
 * store_cut.c
 *	  How large batches are on disk: small companions, batches of archives,
 *	  and how far batch rows are cut down.
 *
 * PostgreSQL's toaster would make four rows fit a page by moving columns out
 * of line, each at the price of some 75 bytes and a look-up.  The columns of a
 * batch are mostly a few hundred bytes, so a row that fits into a page stays
 * there whole: that takes less, and is read faster.  Batches that hardly ever
 * fit, as those of archives, and those of half a page and some, are cut down
 * to half of one.  Which it is for a table is measured as its batches are
 * written (docs/adr/013).
 *
 * src/store/store_cut.c
 *-------------------------------------------------------------------------
 */
#include "base/base.h"
#include "store/store_companion.h"
#include "store/store_private.h"
#include "store/store_write.h"

#include "access/detoast.h"
#include "access/heaptoast.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "nodes/makefuncs.h"
#include "storage/bufmgr.h"
#include "utils/rel.h"

/* Rows take about so many times the space of the batches they become. */
#define ROW_STORE_PART 20

/* Large batches pay from so many times the pages of a small companion on. */
#define LARGE_PAGES 8

/* The first batches after which rows may be cut in another way. */
#define BATCHES_MEASURED 8

/* Pages of the companion, if there is one, with those of its TOAST table. */
static double
companion_pages(Oid companion)
{
	double		pages = 0;

	if (OidIsValid(companion))
	{
		Relation	batches = table_open(companion, AccessShareLock);
		Oid			toast_oid = batches->rd_rel->reltoastrelid;

		pages += RelationGetNumberOfBlocks(batches);
		if (OidIsValid(toast_oid))
		{
			Relation	toast = table_open(toast_oid, AccessShareLock);

			pages += RelationGetNumberOfBlocks(toast);
			table_close(toast, AccessShareLock);
		}
		table_close(batches, AccessShareLock);
	}
	return pages;
}

/* See store_companion.h. */
bool
strata_companion_is_small(Oid companion)
{
	return companion_pages(companion) < strata_index_pages;
}

/*
 * Were the companion's batches made as large ones?  Then they stay so,
 * although they take less now.
 */
static bool
was_large_archive(Oid companion)
{
	char	   *encoding = OidIsValid(companion) ?
	strata_settings_get_text(companion, STRATA_OPTION_ENCODING) : NULL;
	const char *level = strata_level_name(STRATA_LEVEL_ARCHIVE);
	Size		len = strlen(level);

	return encoding != NULL && strncmp(encoding, level, len) == 0 &&
		encoding[len] == '/' && atoi(encoding + len + 1) > strata_batch_rows;
}

/* See store_private.h. */
bool
strata_store_is_large_archive(Relation rel, Oid companion, StrataLevel level)
{
	double		pages;

	if (level != STRATA_LEVEL_ARCHIVE)
		return false;
	pages = companion_pages(companion) +
		RelationGetNumberOfBlocks(rel) / (double) ROW_STORE_PART;
	return pages >= LARGE_PAGES * (double) strata_index_pages ||
		was_large_archive(companion);
}

/* See store_private.h. */
DefElem *
strata_cut_option(StrataBatchCut cut)
{
	return makeDefElem("toast_tuple_target",
					   (Node *) makeInteger(STRATA_BATCH_CUT_BYTES(cut)), -1);
}

static StrataBatchCut
current_cut(Relation batches)
{
	return RelationGetToastTupleTarget(batches, TOAST_TUPLE_TARGET) >
		(int) STRATA_BATCH_CUT_BYTES(STRATA_BATCH_CUT_HALF) ?
		STRATA_BATCH_CUT_PAGE : STRATA_BATCH_CUT_HALF;
}

/* See store_private.h. */
void
strata_companion_set_cut(Relation batches, StrataBatchCut cut)
{
	StrataOwnerContext saved;

	if (current_cut(batches) == cut)
		return;
	strata_role_enter(strata_extension_owner(), &saved);
	strata_settings_store_foreign(RelationGetRelid(batches),
								  strata_cut_option(cut));
	strata_owner_leave(&saved);
	CommandCounterIncrement();
	Assert(current_cut(batches) == cut);	/* store:S10 */
}

/* See store_private.h. */
void
strata_cut_learn(StrataCutMeasure *measure, Relation batches, HeapTuple tuple,
				 const Datum *values, const bool *isnull)
{
	TupleDesc	desc = RelationGetDescr(batches);
	Size	   *columns = palloc(sizeof(Size) * desc->natts);
	Size		plain = tuple->t_len;
	int			n = 0;

	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);
		struct varlena *v = (struct varlena *) DatumGetPointer(values[i]);

		if (isnull[i] || att->attlen != -1 ||
			att->attstorage == TYPSTORAGE_PLAIN ||
			att->attstorage == TYPSTORAGE_MAIN)
			continue;
		columns[n++] = VARSIZE_ANY_EXHDR(v);
		plain -= Min(plain, strata_measure_varlena(VARSIZE_ANY_EXHDR(v)));
	}
	strata_measure_cut_row(measure, plain, columns, n);
	pfree(columns);
}

/* See store_private.h. */
void
strata_cut_adapt(const StrataCutMeasure *measure, Relation batches,
				 int64 nbatches)
{
	StrataBatchCut now = current_cut(batches);

	/* seldom: each time there are twice as many */
	if (nbatches < BATCHES_MEASURED || (nbatches & (nbatches - 1)) != 0)
		return;
	strata_companion_set_cut(batches,
							 strata_measure_best_cut(measure, now, 1));
}
