/*-------------------------------------------------------------------------
 *
 * pg_gin.c
 *	  Keys of values and of conditions as a GIN index has them, and what keys
 *	  that are there say of a condition.
 *
 * PostgreSQL's GIN keeps the rows of each key; here the caller keeps what he
 * likes by the same keys.  Support functions are found by initGinState, and
 * called as ginExtractEntries and ginNewScanKey call them; whether a condition
 * may hold is asked by ginlogic.c, which serves classes that have only a
 * consistent function, too.
 *
 * src/pg/pg_gin.c
 *-------------------------------------------------------------------------
 */
#include "base/base.h"
#include "pg/pg.h"

#include "access/gin_private.h"
#include "utils/memutils.h"

struct StrataGin
{
	GinState	state;
	MemoryContext one;			/* what a support function leaves behind */
};

struct StrataGinAsked
{
	StrataGin  *gin;
	GinScanKeyData key;
};

/* See pg.h. */
StrataGin *
strata_gin_open(Relation index)
{
	StrataGin  *gin = palloc0(sizeof(StrataGin));

	initGinState(&gin->state, index);
	gin->one = AllocSetContextCreate(CurrentMemoryContext,
									 "strata GIN condition",
									 ALLOCSET_SMALL_SIZES);
	return gin;
}

/* See pg.h. */
void
strata_gin_close(StrataGin *gin)
{
	MemoryContextDelete(gin->one);
	pfree(gin);
}

/* See pg.h. */
Oid
strata_gin_collation(StrataGin *gin, int column)
{
	return gin->state.supportCollation[column];
}

/* See pg.h. */
int
strata_gin_keys(StrataGin *gin, int column, Datum value, Datum **keys,
				bool **isnull)
{
	FmgrInfo   *extract = &gin->state.extractValueFn[column];
	int32		n = 0;
	Datum		found;

	Assert(column < gin->state.origTupdesc->natts); /* pg:Q10 */
	*isnull = NULL;
	found = FunctionCall3Coll(extract, gin->state.supportCollation[column],
							  value, PointerGetDatum(&n),
							  PointerGetDatum(isnull));
	*keys = (Datum *) DatumGetPointer(found);
	return *keys == NULL ? 0 : Max(n, 0);
}

/* What ginlogic.c is to be asked with. */
static void
prepare_key(StrataGinQuestion *question, StrataGin *gin, ScanKey sought,
			Pointer *extra)
{
	StrataGinAsked *asked = palloc0(sizeof(StrataGinAsked));
	GinScanKey	key = &asked->key;
	int			n = question->n;

	key->nentries = key->nuserentries = (uint32) n;
	key->entryRes = palloc0_array(GinTernaryValue, Max(n, 1));
	key->query = sought->sk_argument;
	key->queryValues = question->keys;
	key->queryCategories = palloc0_array(GinNullCategory, Max(n, 1));
	for (int i = 0; i < n; i++)
		key->queryCategories[i] = question->isnull[i] ? GIN_CAT_NULL_KEY :
			GIN_CAT_NORM_KEY;
	key->extra_data = extra;
	key->strategy = sought->sk_strategy;
	key->searchMode = question->with_empty ? GIN_SEARCH_MODE_INCLUDE_EMPTY :
		GIN_SEARCH_MODE_DEFAULT;
	key->attnum = (OffsetNumber) sought->sk_attno;
	ginInitConsistentFunction(&gin->state, key);
	asked->gin = gin;
	question->asked = asked;
}

/* See pg.h. */
StrataGinQuestion *
strata_gin_ask(StrataGin *gin, ScanKey sought)
{
	StrataGinQuestion *question = palloc0(sizeof(StrataGinQuestion));
	int			column = sought->sk_attno - 1;
	int32		n = 0;
	bool	   *partial = NULL;
	bool	   *isnull = NULL;
	Pointer    *extra = NULL;
	int32		mode = GIN_SEARCH_MODE_DEFAULT;

	Assert(column >= 0 &&
		   column < gin->state.origTupdesc->natts); /* pg:Q10 */
	question->keys = (Datum *)
		DatumGetPointer(FunctionCall7Coll(&gin->state.extractQueryFn[column],
										  gin->state.supportCollation[column],
										  sought->sk_argument,
										  PointerGetDatum(&n),
										  UInt16GetDatum(sought->sk_strategy),
										  PointerGetDatum(&partial),
										  PointerGetDatum(&extra),
										  PointerGetDatum(&isnull),
										  PointerGetDatum(&mode)));
	question->n = question->keys == NULL ? 0 : Max(n, 0);
	/* who asks for all rows, or for nothing that is known, gets all */
	question->all = mode != GIN_SEARCH_MODE_DEFAULT &&
		mode != GIN_SEARCH_MODE_INCLUDE_EMPTY;
	question->none = mode == GIN_SEARCH_MODE_DEFAULT && question->n == 0;
	question->with_empty = mode == GIN_SEARCH_MODE_INCLUDE_EMPTY;
	question->isnull = isnull != NULL ? isnull :
		palloc0_array(bool, Max(question->n, 1));
	question->partial = palloc0_array(bool, Max(question->n, 1));
	for (int i = 0; i < question->n; i++)
		question->partial[i] = partial != NULL &&
			gin->state.canPartialMatch[column] && partial[i];
	question->present = palloc0_array(bool, Max(question->n, 1));
	if (!question->all && !question->none)
		prepare_key(question, gin, sought, extra);
	return question;
}

/* See pg.h. */
bool
strata_gin_may_hold(StrataGinQuestion *question)
{
	StrataGinAsked *asked = question->asked;
	GinScanKey	key = &asked->key;
	MemoryContext old = MemoryContextSwitchTo(asked->gin->one);
	GinTernaryValue answer;

	/* a key that is there need not be in the row that others are in */
	for (int i = 0; i < question->n; i++)
		key->entryRes[i] = question->present[i] ? GIN_MAYBE : GIN_FALSE;
	answer = key->triConsistentFn(key);
	MemoryContextSwitchTo(old);
	MemoryContextReset(asked->gin->one);
	return answer != GIN_FALSE;
}
