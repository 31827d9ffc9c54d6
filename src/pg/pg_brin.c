/*-------------------------------------------------------------------------
 *
 * pg_brin.c
 *	  Summaries as a BRIN index has them, of rows that are no range of pages.
 *
 * PostgreSQL's brin.c keeps one tuple for a range of pages: what the operator
 * classes' support functions made of the values in it.  Here the same
 * functions are called for whatever values the caller gives, and the tuple is
 * the caller's to keep.  How they are called, what of nulls is theirs and what
 * is not, is as in brin.c (add_values_to_range, bringetbitmap); the tuple is
 * made and read by brin_tuple.c.
 *
 * A summary that is damaged may end the server, as one of a BRIN index may:
 * the caller has a checksum.
 *
 * src/pg/pg_brin.c
 *-------------------------------------------------------------------------
 */
#include "base/base.h"
#include "pg/pg.h"

#include "access/brin_internal.h"
#include "access/brin_tuple.h"
#include "access/genam.h"
#include "utils/memutils.h"

struct StrataBrin
{
	MemoryContext mcxt;			/* everything here */
	Relation	index;
	BrinDesc   *desc;
	MemoryContext one;			/* a summary being made, or asked */
	BrinMemTuple *tuple;
	/* keys of a question, those of a column together */
	ScanKey    *keys;			/* nkeys */
	int			nkeys;
};

/* See pg.h. */
StrataBrin *
strata_brin_open(Relation index)
{
	StrataBrin *brin = palloc0(sizeof(StrataBrin));

	brin->mcxt = CurrentMemoryContext;
	brin->index = index;
	brin->desc = brin_build_desc(index);
	brin->one = AllocSetContextCreate(CurrentMemoryContext,
									  "strata BRIN summary",
									  ALLOCSET_DEFAULT_SIZES);
	return brin;
}

/* See pg.h. */
void
strata_brin_close(StrataBrin *brin)
{
	brin_free_desc(brin->desc);
	MemoryContextDelete(brin->one);
	pfree(brin);
}

/* See pg.h. */
void
strata_brin_start(StrataBrin *brin)
{
	MemoryContext old;

	MemoryContextReset(brin->one);
	old = MemoryContextSwitchTo(brin->one);
	brin->tuple = brin_new_memtuple(brin->desc);
	strata_brin_has_rows(brin->tuple);
	MemoryContextSwitchTo(old);
}

/* See pg.h. */
void
strata_brin_add(StrataBrin *brin, int column, Datum value, bool isnull)
{
	BrinValues *values = &brin->tuple->bt_columns[column];
	MemoryContext old;

	Assert(column < brin->desc->bd_tupdesc->natts); /* pg:Q9 */
	if (isnull && brin->desc->bd_info[column]->oi_regular_nulls)
	{
		values->bv_hasnulls = true;
		return;
	}
	old = MemoryContextSwitchTo(brin->one);
	(void) FunctionCall4Coll(index_getprocinfo(brin->index,
											   (AttrNumber) (column + 1),
											   BRIN_PROCNUM_ADDVALUE),
							 brin->index->rd_indcollation[column],
							 PointerGetDatum(brin->desc),
							 PointerGetDatum(values), value,
							 BoolGetDatum(isnull));
	MemoryContextSwitchTo(old);
}

/* See pg.h. */
const void *
strata_brin_finish(StrataBrin *brin, Size *size)
{
	MemoryContext old = MemoryContextSwitchTo(brin->one);
	BrinTuple  *tuple = brin_form_tuple(brin->desc, 0, brin->tuple, size);

	MemoryContextSwitchTo(old);
	return tuple;
}

/* See pg.h. */
void
strata_brin_ask(StrataBrin *brin, ScanKey keys, int nkeys)
{
	if (brin->keys != NULL)
		pfree(brin->keys);
	brin->keys = MemoryContextAlloc(brin->mcxt,
									sizeof(ScanKey) * Max(nkeys, 1));
	brin->nkeys = 0;
	for (AttrNumber column = 1; column <= brin->desc->bd_tupdesc->natts;
		 column++)
		for (int i = 0; i < nkeys; i++)
			if (keys[i].sk_attno == column)
				brin->keys[brin->nkeys++] = &keys[i];
	Assert(brin->nkeys == nkeys);	/* pg:Q9 */
}

/* May a row of the summary fulfil n keys, which are all of one column? */
static bool
column_is_consistent(StrataBrin *brin, BrinMemTuple * tuple, ScanKey *keys,
					 int n)
{
	int			column = keys[0]->sk_attno - 1;
	BrinValues *values = &tuple->bt_columns[column];
	FmgrInfo   *consistent = index_getprocinfo(brin->index,
											   keys[0]->sk_attno,
											   BRIN_PROCNUM_CONSISTENT);

	/* operators of an index are strict */
	if (brin->desc->bd_info[column]->oi_regular_nulls && values->bv_allnulls)
		return false;
	if (consistent->fn_nargs >= 4)
		return DatumGetBool(FunctionCall4Coll(consistent,
											  keys[0]->sk_collation,
											  PointerGetDatum(brin->desc),
											  PointerGetDatum(values),
											  PointerGetDatum(keys),
											  Int32GetDatum(n)));
	for (int i = 0; i < n; i++)
		if (!DatumGetBool(FunctionCall3Coll(consistent,
											keys[i]->sk_collation,
											PointerGetDatum(brin->desc),
											PointerGetDatum(values),
											PointerGetDatum(keys[i]))))
			return false;
	return true;
}

/* See pg.h. */
bool
strata_brin_may_hold(StrataBrin *brin, const void *summary)
{
	BrinMemTuple *tuple;
	MemoryContext old;
	bool		may = true;

	MemoryContextReset(brin->one);
	old = MemoryContextSwitchTo(brin->one);
	tuple = brin_deform_tuple(brin->desc, unconstify(void *, summary), NULL);
	for (int i = 0; i < brin->nkeys && may;)
	{
		int			n = 1;

		while (i + n < brin->nkeys &&
			   brin->keys[i + n]->sk_attno == brin->keys[i]->sk_attno)
			n++;
		may = column_is_consistent(brin, tuple, &brin->keys[i], n);
		i += n;
	}
	MemoryContextSwitchTo(old);
	return may;
}

/* See pg.h. */
bool
strata_brin_covers(StrataBrin *brin, const void *summary, const void *part)
{
	BrinMemTuple *all;
	BrinMemTuple *other;
	BrinTuple  *merged;
	MemoryContext old;
	Size		size;
	bool		same;

	old = MemoryContextSwitchTo(brin->one);
	all = brin_deform_tuple(brin->desc, unconstify(void *, summary), NULL);
	other = brin_deform_tuple(brin->desc, unconstify(void *, part), NULL);
	for (int column = 0; column < brin->desc->bd_tupdesc->natts; column++)
	{
		BrinValues *a = &all->bt_columns[column];
		BrinValues *b = &other->bt_columns[column];

		if (brin->desc->bd_info[column]->oi_regular_nulls &&
			(a->bv_allnulls || b->bv_allnulls))
		{
			/* nothing but nulls to add */
			if (!b->bv_allnulls)
				goto lacking;
			continue;
		}
		(void) FunctionCall3Coll(index_getprocinfo(brin->index,
												   (AttrNumber) (column + 1),
												   BRIN_PROCNUM_UNION),
								 brin->index->rd_indcollation[column],
								 PointerGetDatum(brin->desc),
								 PointerGetDatum(a), PointerGetDatum(b));
	}
	merged = brin_form_tuple(brin->desc, 0, all, &size);
	same = memcmp(merged, summary, size) == 0;
	MemoryContextSwitchTo(old);
	return same;
lacking:
	MemoryContextSwitchTo(old);
	return false;
}
