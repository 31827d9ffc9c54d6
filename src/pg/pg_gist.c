/*-------------------------------------------------------------------------
 *
 * pg_gist.c
 *	  Summaries as the inner pages of a GiST index have them, of rows that are
 *	  no page.
 *
 * PostgreSQL's GiST keeps for each page below an inner one a key that all keys
 * of that page are in.  Here the same support functions make one of whatever
 * values the caller gives: compress as of a new row (gistFormTuple), union as
 * of a page (gistMakeUnionItVec), and compress again as for an inner page.
 * They are asked as the keys of an inner page are (gistindex_keytest): may
 * there be rows below, and how near is the nearest?
 *
 * A summary that is damaged may end the server, as a key of an index may: the
 * caller has a checksum.
 *
 * src/pg/pg_gist.c
 *-------------------------------------------------------------------------
 */
#include "base/base.h"
#include "base/compat.h"
#include "pg/pg.h"

#include <math.h>

#include "access/genam.h"
#include "access/gist_private.h"
#include "access/htup_details.h"
#include "utils/datum.h"
#include "utils/float.h"
#include "utils/memutils.h"
#include "utils/rel.h"

/* So many keys are united at a time. */
#define KEYS_TOGETHER 128

struct StrataGist
{
	MemoryContext mcxt;			/* everything here */
	Relation	index;
	GISTSTATE  *state;
	TupleDesc	desc;			/* of keys of inner pages */
	Page		inner;			/* what classes are told that a key is from */
	MemoryContext one;			/* a summary being made, or asked */
	MemoryContext parts;		/* keys of values that are not united yet */
	GistEntryVector *vectors[INDEX_MAX_KEYS];	/* by column */
	Datum		keys[INDEX_MAX_KEYS];	/* united, as an inner page has them */
	bool		united[INDEX_MAX_KEYS];
	/* keys of a question */
	ScanKey		asked;
	int			nasked;
};

/* See pg.h. */
StrataGist *
strata_gist_open(Relation index)
{
	StrataGist *gist = palloc0(sizeof(StrataGist));

	gist->mcxt = CurrentMemoryContext;
	gist->index = index;
	gist->state = initGISTstate(index);
	gist->desc = gist->state->nonLeafTupdesc;
	gist->inner = palloc0(BLCKSZ);
	gistinitpage(gist->inner, 0);
	gist->one = AllocSetContextCreate(CurrentMemoryContext,
									  "strata GiST summary",
									  ALLOCSET_DEFAULT_SIZES);
	gist->parts = AllocSetContextCreate(CurrentMemoryContext,
										"strata GiST keys",
										ALLOCSET_DEFAULT_SIZES);
	for (int i = 0; i < gist->desc->natts; i++)
		gist->vectors[i] = palloc0(GEVHDRSZ +
								   sizeof(GISTENTRY) * (KEYS_TOGETHER + 1));
	return gist;
}

/* See pg.h. */
void
strata_gist_close(StrataGist *gist)
{
	freeGISTstate(gist->state);
	MemoryContextDelete(gist->one);
	MemoryContextDelete(gist->parts);
	for (int i = 0; i < gist->desc->natts; i++)
		pfree(gist->vectors[i]);
	pfree(gist->inner);
	pfree(gist);
}

/* See pg.h. */
void
strata_gist_start(StrataGist *gist)
{
	MemoryContextReset(gist->one);
	MemoryContextReset(gist->parts);
	for (int i = 0; i < gist->desc->natts; i++)
	{
		gist->vectors[i]->n = 0;
		gist->united[i] = false;
	}
}

/* A key as a page has it, of one as support functions like it. */
static Datum
compress_key(StrataGist *gist, int column, Datum key, bool leaf)
{
	FmgrInfo   *compress = &gist->state->compressFn[column];
	GISTENTRY	entry;
	Datum		compressed;

	gistentryinit(entry, key, gist->index, (Page) NULL, (OffsetNumber) 0,
				  leaf);
	if (!OidIsValid(compress->fn_oid))
		return key;
	compressed = FunctionCall1Coll(compress,
								   gist->state->supportCollation[column],
								   PointerGetDatum(&entry));
	return ((GISTENTRY *) DatumGetPointer(compressed))->key;
}

/* The key of all keys in a vector, as an inner page has it. */
static Datum
unite_vector(StrataGist *gist, int column, GistEntryVector * vector)
{
	int			size;
	Datum		key;

	/* functions expect two at least */
	if (vector->n == 1)
		vector->vector[vector->n++] = vector->vector[0];
	key = FunctionCall2Coll(&gist->state->unionFn[column],
							gist->state->supportCollation[column],
							PointerGetDatum(vector), PointerGetDatum(&size));
	return compress_key(gist, column, key, false);
}

/* Unite what a column has, and forget the parts. */
static void
unite_parts(StrataGist *gist)
{
	MemoryContext old = CurrentMemoryContext;

	for (int i = 0; i < gist->desc->natts; i++)
	{
		GistEntryVector *vector = gist->vectors[i];
		Form_pg_attribute att = TupleDescAttr(gist->desc, i);
		Datum		key;

		if (vector->n == 0)
			continue;
		MemoryContextSwitchTo(gist->parts);
		if (gist->united[i])
			gistdentryinit(gist->state, i, &vector->vector[vector->n++],
						   gist->keys[i], gist->index, (Page) NULL,
						   (OffsetNumber) 0, false, false);
		key = unite_vector(gist, i, vector);
		MemoryContextSwitchTo(gist->one);
		gist->keys[i] = datumCopy(key, att->attbyval, att->attlen);
		gist->united[i] = true;
		vector->n = 0;
	}
	MemoryContextSwitchTo(old);
	MemoryContextReset(gist->parts);
}

/* See pg.h. */
void
strata_gist_add(StrataGist *gist, int column, Datum value, bool isnull)
{
	GistEntryVector *vector = gist->vectors[column];
	MemoryContext old;

	Assert(column < gist->desc->natts); /* pg:Q11 */
	if (isnull)
		return;
	if (vector->n == KEYS_TOGETHER)
		unite_parts(gist);
	old = MemoryContextSwitchTo(gist->parts);
	gistdentryinit(gist->state, column, &vector->vector[vector->n++],
				   compress_key(gist, column, value, true), gist->index,
				   (Page) NULL, (OffsetNumber) 0, false, false);
	MemoryContextSwitchTo(old);
}

/* See pg.h. */
const void *
strata_gist_finish(StrataGist *gist, Size *size)
{
	bool		isnull[INDEX_MAX_KEYS];
	MemoryContext old;
	MinimalTuple tuple;
	void	   *result;

	unite_parts(gist);
	for (int i = 0; i < gist->desc->natts; i++)
		isnull[i] = !gist->united[i];
	old = MemoryContextSwitchTo(gist->one);
	tuple = strata_form_minimal_tuple(gist->desc, gist->keys, isnull);
	*size = MAXALIGN(tuple->t_len);
	result = palloc0(*size);
	memcpy(result, tuple, tuple->t_len);
	MemoryContextSwitchTo(old);
	return result;
}

/* The keys of a summary, which they lie in. */
static void
deform_summary(StrataGist *gist, const void *summary, Datum *keys,
			   bool *isnull)
{
	MinimalTuple tuple = unconstify(void *, summary);
	HeapTupleData wrapped = {0};

	wrapped.t_len = tuple->t_len + MINIMAL_TUPLE_OFFSET;
	wrapped.t_data = (HeapTupleHeader) ((char *) tuple - MINIMAL_TUPLE_OFFSET);
	heap_deform_tuple(&wrapped, gist->desc, keys, isnull);
}

/* A key of an inner page as support functions like it. */
static void
init_inner_entry(StrataGist *gist, int column, Datum key, GISTENTRY * entry)
{
	gistdentryinit(gist->state, column, entry, key, gist->index, gist->inner,
				   FirstOffsetNumber, false, false);
}

/* See pg.h. */
void
strata_gist_ask(StrataGist *gist, ScanKey keys, int nkeys)
{
	if (gist->asked != NULL)
		pfree(gist->asked);
	gist->asked = MemoryContextAlloc(gist->mcxt, sizeof(ScanKeyData) *
									 Max(nkeys, 1));
	memcpy(gist->asked, keys, sizeof(ScanKeyData) * nkeys);
	gist->nasked = nkeys;
}

/* See pg.h. */
bool
strata_gist_may_hold(StrataGist *gist, const void *summary)
{
	Datum		values[INDEX_MAX_KEYS];
	bool		isnull[INDEX_MAX_KEYS];
	MemoryContext old;
	bool		may = true;

	MemoryContextReset(gist->one);
	old = MemoryContextSwitchTo(gist->one);
	deform_summary(gist, summary, values, isnull);
	for (int i = 0; i < gist->nasked && may; i++)
	{
		const ScanKeyData *key = &gist->asked[i];
		int			column = key->sk_attno - 1;
		FmgrInfo   *consistent = &gist->state->consistentFn[column];
		bool		recheck = true;
		GISTENTRY	entry;

		/* operators of an index are strict */
		may = !isnull[column];
		if (!may)
			break;
		init_inner_entry(gist, column, values[column], &entry);
		may = DatumGetBool(FunctionCall5Coll(consistent, key->sk_collation,
											 PointerGetDatum(&entry),
											 key->sk_argument,
											 Int16GetDatum(key->sk_strategy),
											 ObjectIdGetDatum(key->sk_subtype),
											 PointerGetDatum(&recheck)));
	}
	MemoryContextSwitchTo(old);
	return may;
}

/* See pg.h. */
double
strata_gist_distance(StrataGist *gist, const void *summary, ScanKey key)
{
	int			column = key->sk_attno - 1;
	double		distance = get_float8_infinity();
	bool		recheck = true;
	Datum		values[INDEX_MAX_KEYS];
	bool		isnull[INDEX_MAX_KEYS];
	MemoryContext old;

	MemoryContextReset(gist->one);
	old = MemoryContextSwitchTo(gist->one);
	deform_summary(gist, summary, values, isnull);
	if (!isnull[column])
	{
		GISTENTRY	entry;

		init_inner_entry(gist, column, values[column], &entry);
		distance =
			DatumGetFloat8(FunctionCall5Coll(&gist->state->distanceFn[column],
											 key->sk_collation,
											 PointerGetDatum(&entry),
											 key->sk_argument,
											 Int16GetDatum(key->sk_strategy),
											 ObjectIdGetDatum(key->sk_subtype),
											 PointerGetDatum(&recheck)));
	}
	MemoryContextSwitchTo(old);
	/* what is no number says nothing */
	return isnan(distance) ? -get_float8_infinity() : distance;
}

/* See pg.h. */
bool
strata_gist_covers(StrataGist *gist, const void *summary, const void *part)
{
	Datum		all[INDEX_MAX_KEYS];
	Datum		some[INDEX_MAX_KEYS];
	bool		all_null[INDEX_MAX_KEYS];
	bool		some_null[INDEX_MAX_KEYS];
	MemoryContext old = MemoryContextSwitchTo(gist->one);
	bool		covers = true;

	deform_summary(gist, summary, all, all_null);
	deform_summary(gist, part, some, some_null);
	for (int i = 0; i < gist->desc->natts && covers; i++)
	{
		GISTENTRY	united;
		GISTENTRY	before;
		Datum		key;
		GistEntryVector *vector = gist->vectors[i];

		if (some_null[i])
			continue;
		covers = !all_null[i];
		if (!covers)
			break;
		vector->n = 2;
		gistdentryinit(gist->state, i, &vector->vector[0], all[i],
					   gist->index, (Page) NULL, (OffsetNumber) 0, false,
					   false);
		gistdentryinit(gist->state, i, &vector->vector[1], some[i],
					   gist->index, (Page) NULL, (OffsetNumber) 0, false,
					   false);
		before = vector->vector[0];
		key = unite_vector(gist, i, vector);
		gistdentryinit(gist->state, i, &united, key,
					   gist->index, (Page) NULL, (OffsetNumber) 0, false,
					   false);
		vector->n = 0;
		covers = gistKeyIsEQ(gist->state, i, before.key, united.key);
	}
	MemoryContextSwitchTo(old);
	return covers;
}
