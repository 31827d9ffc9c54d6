/*-------------------------------------------------------------------------
 *
 * change_key.c
 *	  Which batches may hold a key: a directory per unique index, cached.
 *
 * A key that does not name the segment, or one that comes among old rows, may
 * be in any of many batches.  The directory has one line per batch, found by
 * the segment (where the key tells it) and by the range of one column, and per
 * batch, once asked for, a 32-bit fingerprint of each row's key, sorted.  So
 * an upsert decodes the key columns of a batch once, not once per row.
 *
 * The directory lasts until the table's next invalidation: batches come only
 * under ExclusiveLock on R, with one.  When fingerprints outgrow hash_mem,
 * those of batches at random go, and one batch in eight that has none gets its
 * own: of what is asked for in turns most stay.  Rows that have left their
 * batch, and batches that were deleted whole, still have theirs: a hit is a
 * question, not an answer.  A miss is an answer, and the last key that had one
 * is remembered.
 *
 * Over 600 lines: building, searching and keeping share the lines.
 *
 * src/change/change_key.c
 *-------------------------------------------------------------------------
 */
#include "change/change_place_private.h"

#include "access/table.h"
#include "common/hashfn.h"
#include "common/pg_prng.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "utils/datum.h"
#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/typcache.h"

/*
 * A batch index of the table is asked instead: for so many batches without
 * prints, or so many to look at.
 */
#define ASK_UNPRINTED 8
#define ASK_LINES 200

/*
 * Searches of a batch in the order of the key, for each of which it may have
 * to be loaded, that cost what its prints do.
 */
#define ASKED_SELDOM 4

/*
 * Pages of the companion whose batches' metadata take as long to read as one
 * look without a directory does.
 */
#define LOOK_PAGES 16

typedef struct KeyBatch
{
	uint32		group;			/* hash of the segment; 0: not told by the key */
	bool		ranged;			/* all its values of the range column are in
								 * [min, max] */
	int32		nrows;
	int64		first_row;
	Datum		min;
	Datum		max;
	Datum		max_so_far;		/* greatest max in the group up to here */
	int			asked;			/* how often, without prints */
	StrataKeyPrint *prints;		/* NULL: not yet, or not any more */
} KeyBatch;

struct StrataKeyDirectory
{
	MemoryContext mcxt;			/* with everything here in it */
	Oid			relid;
	Oid			companion;
	bool		stale;
	bool		usable;			/* else: look at all batches */
	Size		prints_bytes;
	bool		full;			/* prints have been thrown out */
	int			nprinted;
	int		   *printed;		/* lines with prints */
	int			nbatches;
	KeyBatch   *batches;		/* by group, unranged first, min */
	int			range_key;		/* position in the key, or -1 */
	Oid			range_type;
	int			nsegment;		/* of the layout, if the key has all of it;
								 * else 0 */
	int			segment_key[INDEX_MAX_KEYS];	/* positions in the key */
	int			nkeys;
	bool		absent_known;	/* the last key that is in no batch: */
	Datum		absent[INDEX_MAX_KEYS];
	bool		absent_isnull[INDEX_MAX_KEYS];
	bool		byval[INDEX_MAX_KEYS];	/* types of the key */
	int16		len[INDEX_MAX_KEYS];
	FmgrInfo	hash[INDEX_MAX_KEYS];
	Oid			collation[INDEX_MAX_KEYS];
	StrataKeyPlace place;
	int			asked;			/* how often, by that */
	StrataKeyTable *table;		/* that, in memory; NULL: not yet, or not at
								 * all */
	bool		table_refused;	/* not at all */
	int64	   *first_rows;		/* for it, rising */
	int		   *by_row;			/* lines by first_row; NULL: not asked yet */
};

typedef struct DirectoryEntry
{
	Oid			index;			/* hash key */
	StrataKeyDirectory *directory;	/* NULL: not built, or not wholly */
	uint32		looks;			/* without it */
} DirectoryEntry;

static HTAB *directories = NULL;

/*
 * Not wanted any more.  Index expressions may insert into the table that is
 * being looked into further up the stack, so it stays until nobody can be.
 */
static void
retire(MemoryContext mcxt)
{
	MemoryContextSetParent(mcxt, TopTransactionContext);
}

static void
invalidate_keys(Datum arg, Oid relid)
{
	HASH_SEQ_STATUS status;
	DirectoryEntry *entry;

	hash_seq_init(&status, directories);
	while ((entry = hash_seq_search(&status)) != NULL)
		if (entry->directory != NULL &&
			(!OidIsValid(relid) || relid == entry->directory->relid))
			entry->directory->stale = true;
}

/* See change_private.h. */
void
strata_key_directories_forget(void)
{
	if (directories != NULL)
		invalidate_keys((Datum) 0, InvalidOid);
}

static void
init_directories(void)
{
	HASHCTL		ctl = {0};

	ctl.keysize = sizeof(Oid);
	ctl.entrysize = sizeof(DirectoryEntry);
	ctl.hcxt = CacheMemoryContext;
	directories = hash_create("strata key directories", 16, &ctl,
							  HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	strata_relcache_callback_add(invalidate_keys);
}

/* Hash of one key value. */
static uint32
hash_value(StrataKeyDirectory *d, int i, Datum value, bool isnull)
{
	return isnull ? 0 :
		DatumGetUInt32(FunctionCall1Coll(&d->hash[i],
										 d->collation[i], value));
}

/* See change_private.h. */
uint32
strata_key_print(StrataKeyDirectory *d, const Datum *values,
				 const bool *isnull)
{
	uint32		h = 0;

	for (int i = 0; i < d->nkeys; i++)
		h = hash_combine(h, hash_value(d, i, values[i], isnull[i]));
	return h;
}

static uint32
group_of(StrataKeyDirectory *d, const Datum *values, const bool *isnull)
{
	uint32		h = 0;

	if (d->nsegment == 0)
		return 0;
	for (int i = 0; i < d->nsegment; i++)
	{
		int			k = d->segment_key[i];

		h = hash_combine(h, hash_value(d, k, values[k], isnull[k]));
	}
	return h | 1;
}

/*-------------------------------------------------------------------------
 * Building
 *-------------------------------------------------------------------------
 */

/*
 * The hash function of all arrays, ranges and rows raises an error for those
 * of whose elements there is none.
 */
static bool
elements_have_hash(Oid type)
{
	char		kind;

	type = getBaseType(type);
	kind = get_typtype(type);
	return (kind == TYPTYPE_BASE && !OidIsValid(get_element_type(type))) ||
		kind == TYPTYPE_ENUM ||
		OidIsValid(lookup_type_cache(type, TYPECACHE_HASH_PROC)->hash_proc);
}

/* What the key's types allow; false: nothing. */
static bool
init_functions(StrataKeyDirectory *d, Relation index)
{
	d->nkeys = index->rd_index->indnkeyatts;
	for (int i = 0; i < d->nkeys; i++)
	{
		Form_pg_attribute att = TupleDescAttr(RelationGetDescr(index), i);
		Oid			type = index->rd_opcintype[i];
		Oid			equal = get_opfamily_member(index->rd_opfamily[i], type,
												type, BTEqualStrategyNumber);
		RegProcedure left;
		RegProcedure right;

		if (!OidIsValid(equal) ||
			!get_op_hash_functions(equal, &left, &right) ||
			!elements_have_hash(att->atttypid))
			return false;
		fmgr_info_cxt(left, &d->hash[i], d->mcxt);
		d->collation[i] = index->rd_indcollation[i];
		d->byval[i] = att->attbyval;
		d->len[i] = att->attlen;
	}
	return true;
}

/* Which column's range, and whether the segment, can be used. */
static void
init_search(StrataKeyDirectory *d, Relation rel, Relation index,
			const StrataLayout *layout)
{
	const StrataColumnRange *ranges = strata_store_ranges(rel);
	int			found = 0;

	d->range_key = -1;
	d->nsegment = 0;
	for (int i = 0; i < d->nkeys; i++)
	{
		AttrNumber	attno = index->rd_index->indkey.values[i];
		Oid			type;

		if (attno <= 0 || strata_layout_segment_index(layout, attno) >= 0 ||
			d->range_key >= 0 || !ranges[attno - 1].known)
			continue;
		type = getBaseType(TupleDescAttr(RelationGetDescr(rel),
										 attno - 1)->atttypid);
		if (strata_key_has_default_order(index, i, type))
		{
			d->range_key = i;
			d->range_type = type;
		}
	}
	for (int s = 0; s < layout->nsegment; s++)
		for (int i = 0; i < d->nkeys; i++)
			if (index->rd_index->indkey.values[i] == layout->segment[s])
			{
				d->segment_key[found++] = i;
				break;
			}
	if (found == layout->nsegment)
		d->nsegment = found;
}

/* A line for the loaded batch. */
static void
describe_batch(StrataKeyDirectory *d, Relation index,
			   StrataBatchReader *reader, const StrataLayout *layout,
			   KeyBatch *line)
{
	const StrataColumnSummary *summary;
	Datum		values[INDEX_MAX_KEYS];
	bool		isnull[INDEX_MAX_KEYS];

	memset(line, 0, sizeof(*line));
	line->first_row = reader->first_row;
	line->nrows = reader->nrows;
	if (d->nsegment > 0 && strcmp(reader->layout->text, layout->text) == 0)
	{
		for (int i = 0; i < d->nsegment; i++)
		{
			int			k = d->segment_key[i];
			StrataColumn *col;

			col =
				strata_batch_reader_column(reader,
										   index->rd_index->indkey.values[k]);
			values[k] = col->value;
			isnull[k] = col->value_isnull;
		}
		line->group = group_of(d, values, isnull);
	}
	if (d->range_key < 0)
		return;
	summary = strata_batch_reader_summary(reader, index->rd_index->indkey
										  .values[d->range_key]);
	/* a NaN, or nothing but nulls, has no place in an order of ranges */
	line->ranged = summary != NULL && summary->has_range && !summary->has_nan;
	if (line->ranged)
	{
		line->min = summary->min;
		line->max = summary->max;
	}
}

static int
compare_lines(const void *a, const void *b, void *arg)
{
	const KeyBatch *x = a;
	const KeyBatch *y = b;
	StrataKeyDirectory *d = arg;

	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	if (x->ranged != y->ranged)
		return x->ranged ? 1 : -1;
	if (x->ranged)
		return strata_compare_default(d->range_type, x->min, y->min);
	return 0;
}

static void
sort_lines(StrataKeyDirectory *d)
{
	qsort_arg(d->batches, d->nbatches, sizeof(KeyBatch), compare_lines, d);
	for (int i = 0; i < d->nbatches; i++)
	{
		KeyBatch   *line = &d->batches[i];
		KeyBatch   *before = line - 1;

		line->max_so_far = line->max;
		if (line->ranged && i > 0 && before->group == line->group &&
			before->ranged &&
			strata_compare_default(d->range_type, before->max_so_far,
								   line->max) > 0)
			line->max_so_far = before->max_so_far;
	}
}

/* Fill the directory; false when it would be too big. */
static bool
read_batches(StrataKeyDirectory *d, StrataStore *store, Relation index,
			 const StrataLayout *layout)
{
	Snapshot	snapshot = RegisterSnapshot(GetLatestSnapshot());
	TableScanDesc scan = table_beginscan(store->batches, snapshot, 0, NULL);
	TupleTableSlot *slot = table_slot_create(store->batches, NULL);
	StrataBatchReader *reader = strata_batch_reader_create(store->rel,
														   store->schema);
	int			room = 256;
	bool		fits = true;

	d->batches = MemoryContextAlloc(d->mcxt, sizeof(KeyBatch) * room);
	while (fits && table_scan_getnextslot(scan, ForwardScanDirection, slot))
	{
		CHECK_FOR_INTERRUPTS();
		if (!strata_batch_reader_load(reader, slot))
			continue;
		if (d->nbatches == room)
		{
			room *= 2;
			fits = sizeof(KeyBatch) * room <=
				Min(get_hash_memory_limit(), MaxAllocSize);
			if (fits)
				d->batches = repalloc(d->batches, sizeof(KeyBatch) * room);
		}
		if (fits)
			describe_batch(d, index, reader, layout,
						   &d->batches[d->nbatches++]);
	}
	strata_batch_reader_free(reader);
	ExecDropSingleTupleTableSlot(slot);
	table_endscan(scan);
	d->place.position = -1;
	if (strata_enable_batch_index)
		strata_key_place_choose(store, snapshot, index, &d->place);
	UnregisterSnapshot(snapshot);
	return fits;
}

/* In a context that goes with the transaction until it is whole. */
static StrataKeyDirectory *
build(StrataStore *store, Relation index)
{
	StrataLayout *layout = strata_store_current_layout(store->rel);
	MemoryContext mcxt = AllocSetContextCreate(CurrentMemoryContext,
											   "strata key directory",
											   ALLOCSET_SMALL_SIZES);
	StrataKeyDirectory *d = MemoryContextAllocZero(mcxt,
												   sizeof(StrataKeyDirectory));

	d->mcxt = mcxt;
	d->relid = RelationGetRelid(store->rel);
	d->companion = RelationGetRelid(store->batches);
	if (init_functions(d, index))
	{
		init_search(d, store->rel, index, layout);
		d->usable = read_batches(d, store, index, layout);
		if (d->usable)
			sort_lines(d);
	}
	return d;
}

/* See change_private.h. */
StrataKeyDirectory *
strata_key_directory_get(Relation batches, Relation index)
{
	Oid			oid = RelationGetRelid(index);
	DirectoryEntry *entry;
	StrataKeyDirectory *d;

	if (directories == NULL)
		return NULL;
	entry = hash_search(directories, &oid, HASH_FIND, NULL);
	d = entry != NULL ? entry->directory : NULL;
	return d != NULL && !d->stale && d->usable &&
		d->companion == RelationGetRelid(batches) ? d : NULL;
}

/* See change_private.h. */
bool
strata_key_directory_pays(Relation batches, Relation index)
{
	Oid			oid = RelationGetRelid(index);
	DirectoryEntry *entry;
	bool		found;

	if (directories == NULL)
		init_directories();
	entry = hash_search(directories, &oid, HASH_ENTER, &found);
	if (!found)
	{
		entry->directory = NULL;
		entry->looks = 0;
	}
	return ++entry->looks > RelationGetNumberOfBlocks(batches) / LOOK_PAGES;
}

/* See change_private.h. */
StrataKeyDirectory *
strata_key_directory_open(StrataStore *store, Relation index)
{
	Oid			oid = RelationGetRelid(index);
	DirectoryEntry *entry;
	StrataKeyDirectory *d;
	bool		found;

	if (directories == NULL)
		init_directories();
	entry = hash_search(directories, &oid, HASH_ENTER, &found);
	if (!found)
	{
		entry->directory = NULL;
		entry->looks = 0;
	}
	d = entry->directory;
	if (d != NULL &&
		(d->stale || d->companion != RelationGetRelid(store->batches)))
	{
		retire(d->mcxt);
		d = entry->directory = NULL;
	}
	if (d == NULL)
	{
		/*
		 * our lock keeps batches from coming and going while this reads them
		 */
		d = build(store, index);
		entry = hash_search(directories, &oid, HASH_ENTER, &found);
		if (found && entry->directory != NULL)
			retire(entry->directory->mcxt);
		entry->directory = d;
		entry->looks = 0;
		MemoryContextSetParent(d->mcxt, CacheMemoryContext);
	}
	return d->usable ? d : NULL;
}

/*-------------------------------------------------------------------------
 * Searching
 *-------------------------------------------------------------------------
 */

/* First line of the group, or of the one after. */
static int
group_start(StrataKeyDirectory *d, uint32 group)
{
	int			low = 0;
	int			high = d->nbatches;

	while (low < high)
	{
		int			middle = (low + high) / 2;

		if (d->batches[middle].group < group)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* See change_private.h. */
void
strata_key_search_begin(StrataKeySearch *search, StrataKeyDirectory *d,
						const Datum *values, const bool *isnull)
{
	search->d = d;
	search->group = group_of(d, values, isnull);
	search->ranged = d->range_key >= 0 && !isnull[d->range_key];
	if (search->ranged)
		search->value = values[d->range_key];
	search->values = values;
	search->isnull = isnull;
	search->next = -1;
	search->others = false;
}

/* See change_private.h. */
int
strata_key_search_position(const StrataKeySearch *search)
{
	return search->ranged ? search->d->range_key : -1;
}

/* See change_private.h. */
bool
strata_key_is_absent(const StrataKeySearch *search)
{
	const StrataKeyDirectory *d = search->d;

	if (!d->absent_known)
		return false;
	for (int i = 0; i < d->nkeys; i++)
		if (search->isnull[i] != d->absent_isnull[i] ||
			(!search->isnull[i] &&
			 !datumIsEqual(search->values[i], d->absent[i], d->byval[i],
						   d->len[i])))
			return false;
	return true;
}

/* See change_private.h. */
void
strata_key_note_absent(const StrataKeySearch *search)
{
	StrataKeyDirectory *d = search->d;
	bool		known = d->absent_known;
	MemoryContext old = MemoryContextSwitchTo(d->mcxt);

	d->absent_known = false;
	for (int i = 0; i < d->nkeys; i++)
	{
		if (known && !d->byval[i] && !d->absent_isnull[i])
			pfree(DatumGetPointer(d->absent[i]));
		d->absent_isnull[i] = true;
	}
	for (int i = 0; i < d->nkeys; i++)
		if (!search->isnull[i])
		{
			d->absent[i] = datumCopy(search->values[i], d->byval[i],
									 d->len[i]);
			d->absent_isnull[i] = false;
		}
	d->absent_known = true;
	MemoryContextSwitchTo(old);
}

/*
 * Stand behind the last line of the group whose range may begin at or before
 * the value; lines are then walked downward.
 */
static void
enter_group(StrataKeySearch *search, uint32 group)
{
	StrataKeyDirectory *d = search->d;
	int			low = group_start(d, group);
	int			high;

	high = group == PG_UINT32_MAX ? d->nbatches : group_start(d, group + 1);
	search->start = low;
	while (search->ranged && low < high)
	{
		int			middle = (low + high) / 2;
		KeyBatch   *line = &d->batches[middle];

		if (!line->ranged || strata_compare_default(d->range_type, line->min,
													search->value) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	search->next = high;
}

/* See change_private.h. */
int
strata_key_search_next(StrataKeySearch *search)
{
	StrataKeyDirectory *d = search->d;

	if (search->next < 0)
		enter_group(search, search->group);
	for (;;)
	{
		while (search->next > search->start)
		{
			KeyBatch   *line = &d->batches[--search->next];

			if (!search->ranged || !line->ranged)
				return search->next;
			if (strata_compare_default(d->range_type, line->max_so_far,
									   search->value) < 0)
			{
				/* no ranged line below reaches it: on to the unranged ones */
				while (search->next > search->start &&
					   d->batches[search->next - 1].ranged)
					search->next--;
				continue;
			}
			if (strata_compare_default(d->range_type, line->max,
									   search->value) >= 0)
				return search->next;
		}
		/* batches that do not tell the key's segment are in group 0 */
		if (search->others || search->group == 0)
			return -1;
		search->others = true;
		enter_group(search, 0);
	}
}

/* See change_private.h. */
int64
strata_key_batch(StrataKeyDirectory *d, int i, int *nrows,
				 StrataKeyPrint **prints)
{
	*nrows = d->batches[i].nrows;
	*prints = d->batches[i].prints;
	return d->batches[i].first_row;
}

/* See change_private.h. */
bool
strata_key_search_asks(const StrataKeySearch *search, const bool *isnull,
					   StrataKeyPlace *place)
{
	StrataKeyDirectory *d = search->d;
	StrataKeySearch ahead = *search;
	int			unprinted = 0;
	int			lines = 0;
	int			line;

	*place = d->place;
	if (!strata_enable_batch_index || d->place.position < 0 ||
		isnull[d->place.position])
		return false;
	/* of no segment: any of many batches */
	if (d->table != NULL && search->group == 0)
		return true;
	/* as many questions as there are prints to make cost no more than these */
	if (d->nbatches <= ASK_LINES && !d->full && d->table_refused &&
		d->asked >= d->nbatches - d->nprinted)
		return false;
	while (unprinted < ASK_UNPRINTED && lines < ASK_LINES &&
		   (line = strata_key_search_next(&ahead)) >= 0)
	{
		lines++;
		if (d->batches[line].prints == NULL)
			unprinted++;
	}
	if (lines < ASK_LINES &&
		(unprinted < ASK_UNPRINTED ||
		 (!d->full && d->table_refused &&
		  d->asked >= d->nbatches - d->nprinted)))
		return false;
	d->asked = Min(d->asked, PG_INT32_MAX - 1) + 1;
	return true;
}

static int
compare_line_rows(const void *a, const void *b, void *arg)
{
	const StrataKeyDirectory *d = arg;
	int64		x = d->batches[*(const int *) a].first_row;
	int64		y = d->batches[*(const int *) b].first_row;

	return (x > y) - (x < y);
}

/* List the lines by their batches' numbers. */
static void
order_lines_by_row(StrataKeyDirectory *d)
{
	int		   *lines;

	if (d->by_row != NULL)
		return;
	lines = MemoryContextAllocHuge(d->mcxt, sizeof(int) * (d->nbatches + 1));
	for (int i = 0; i < d->nbatches; i++)
		lines[i] = i;
	qsort_arg(lines, d->nbatches, sizeof(int), compare_line_rows, d);
	d->by_row = lines;
}

/* Read the batch index into memory; it takes the place of prints there. */
static void
read_table(StrataKeyDirectory *d, Relation batches, Snapshot snapshot)
{
	MemoryContext mcxt = AllocSetContextCreate(CurrentMemoryContext,
											   "strata key table",
											   ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(mcxt);
	StrataKeyTable *table;

	order_lines_by_row(d);
	if (d->first_rows == NULL)
	{
		int64	   *numbers = MemoryContextAllocHuge(d->mcxt, sizeof(int64) *
													 (d->nbatches + 1));

		for (int i = 0; i < d->nbatches; i++)
			numbers[i] = d->batches[d->by_row[i]].first_row;
		d->first_rows = numbers;
	}
	table = strata_key_table_read(&d->place, batches, snapshot, d->first_rows,
								  d->nbatches);
	MemoryContextSwitchTo(old);
	d->table_refused = table == NULL;
	if (table == NULL)
	{
		MemoryContextDelete(mcxt);
		return;
	}
	MemoryContextSetParent(mcxt, d->mcxt);
	d->table = table;
	d->prints_bytes += strata_key_table_bytes(table);
}

/* See change_private.h. */
int
strata_key_search_places(const StrataKeySearch *search, Relation batches,
						 Datum value, StrataIndexRange **ranges)
{
	StrataKeyDirectory *d = search->d;
	const StrataKeyPlace *place = &d->place;
	Snapshot	snapshot;
	int			n;

	if (d->table != NULL)
		return strata_key_table_find(d->table,
									 hash_value(d, place->position, value,
												false), ranges);
	snapshot = RegisterSnapshot(GetLatestSnapshot());
	if (!d->table_refused &&
		d->hash[place->position].fn_oid == place->value &&
		strata_key_table_pays(place, d->asked))
		read_table(d, batches, snapshot);
	n = strata_key_place_find(place, batches, snapshot, value, ranges);
	UnregisterSnapshot(snapshot);
	return n;
}

/* See change_private.h. */
int
strata_key_next_in_places(StrataKeyDirectory *d,
						  const StrataIndexRange *ranges, int n, int64 *after)
{
	int			low = 0;
	int			high = d->nbatches;

	order_lines_by_row(d);
	for (int i = 0; i < n; i++)
	{
		int64		from = Max(ranges[i].from, *after + 1);

		if (from >= ranges[i].to)
			continue;
		for (high = d->nbatches; low < high;)
		{
			int			middle = (low + high) / 2;

			if (d->batches[d->by_row[middle]].first_row < from)
				low = middle + 1;
			else
				high = middle;
		}
		if (low == d->nbatches)
			break;
		*after = d->batches[d->by_row[low]].first_row;
		if (*after < ranges[i].to)
			return d->by_row[low];
		*after = ranges[i].to - 1;
	}
	return -1;
}

static Size
size_of_prints(const KeyBatch *line)
{
	return sizeof(StrataKeyPrint) * line->nrows;
}

/* Make room for prints of that size. */
static void
limit_prints(StrataKeyDirectory *d, Size size)
{
	while (d->nprinted > 0 &&
		   d->prints_bytes + size > get_hash_memory_limit())
	{
		int			k = (int) pg_prng_uint64_range(&pg_global_prng_state, 0,
												   d->nprinted - 1);
		KeyBatch   *line = &d->batches[d->printed[k]];

		d->prints_bytes -= size_of_prints(line);
		pfree(line->prints);
		line->prints = NULL;
		d->full = true;
		d->printed[k] = d->printed[--d->nprinted];
	}
	d->prints_bytes += size;
}

static int
compare_prints(const void *a, const void *b)
{
	uint32		x = ((const StrataKeyPrint *) a)->print;
	uint32		y = ((const StrataKeyPrint *) b)->print;

	return (x > y) - (x < y);
}

/* See change_private.h. */
bool
strata_key_batch_wants_prints(const StrataKeyDirectory *d)
{
	return !d->full || pg_prng_uint32(&pg_global_prng_state) % 8 == 0;
}

/* See change_private.h. */
bool
strata_key_batch_is_asked_seldom(StrataKeyDirectory *d, int i)
{
	KeyBatch   *line = &d->batches[i];

	return line->asked < ASKED_SELDOM && ++line->asked > 0;
}

/* See change_private.h. */
void
strata_key_batch_set_prints(StrataKeyDirectory *d, int i,
							StrataKeyPrint *prints)
{
	KeyBatch   *line = &d->batches[i];
	Size		size = size_of_prints(line);

	qsort(prints, line->nrows, sizeof(StrataKeyPrint), compare_prints);
	/* an index expression may have asked for this batch meanwhile */
	if (line->prints != NULL)
		return;
	if (d->printed == NULL)
		d->printed = MemoryContextAlloc(d->mcxt, sizeof(int) * d->nbatches);
	limit_prints(d, size);
	line->prints = memcpy(MemoryContextAllocHuge(d->mcxt, size), prints, size);
	d->printed[d->nprinted++] = i;
}

/*
 * See change_private.h.  Prints are hashes: they stand near to where they
 * would if they were spread evenly.
 */
int
strata_key_find_print(const StrataKeyPrint *prints, int n, uint32 print)
{
	int			guess = (int) (((uint64) print * n) >> 32);
	int			low = Max(guess - 32, 0);
	int			high = Min(guess + 32, n);

	/* all below low are less, all from high on are not */
	if (low > 0 && prints[low - 1].print >= print)
	{
		high = low - 1;
		low = 0;
	}
	else if (high < n && prints[high].print < print)
	{
		low = high + 1;
		high = n;
	}
	while (low < high)
	{
		int			middle = (low + high) / 2;

		if (prints[middle].print < print)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}
