/*-------------------------------------------------------------------------
 *
 * scan_join_key.c
 *	  The values that the inner side of a hash join has for one of its keys.
 *
 * They are read out of the join's table when the first scan asks, sorted, and
 * kept for as long as the plan is executed: whoever binds scans to a join has
 * seen to it that its inner side stays the same (scan_join.c).  Nulls are left
 * out, since the operator is strict.  Of many values, or large ones, it is
 * only known where they are (scan_join_span.c).
 *
 * All chunks of a hypertable compare the same values with columns of the same
 * type, so what the first of them has made of the values serves the others.
 *
 * src/scan/scan_join_key.c
 *-------------------------------------------------------------------------
 */
#include "scan/filter_kernel_private.h"
#include "scan/scan_join_private.h"
#include "pg/pg.h"

#include "access/detoast.h"
#include "access/transam.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/array.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/typcache.h"

/* Dictionaries are asked whether they have one of so many values. */
#define MAX_BYTES_VALUES 64

struct StrataJoinKey
{
	MemoryContext mcxt;			/* of the execution; the key is in it */
	HashJoinState *join;
	Expr	   *outer;
	Expr	   *inner;			/* of rows of the table */
	Oid			opno;			/* outer opno inner */
	Oid			collation;
	Oid			type;			/* of the values */
	int16		typlen;
	bool		typbyval;
	char		typalign;
	FmgrInfo	cmp;			/* of two values */
	Oid			opfamily;		/* it is of */
	StrataJoinValues state;
	bool		many;			/* no values, but where they are: */
	StrataJoinSpan span;
	int			nvalues;
	Datum	   *values;			/* ascending, each once */
	Datum		array;			/* the same */
	Oid			hasher;			/* InvalidOid: there are no hashes yet */
	uint32	   *hashes;			/* of them, by it, ascending */
	FilterNode *made;			/* what leaves share; NULL: nothing yet */
};

/*
 * Comparisons run on rows that the user may not see, and on values that no
 * row is joined with: only those of the types that come with the server.
 */
static bool
is_trusted_type(Oid type)
{
	return type < FirstNormalObjectId && type != RECORDOID &&
		type != RECORDARRAYOID;
}

/* Can the expression be evaluated for a row, alone and again? */
static bool
is_of_row_alone(Node *expr)
{
	while (IsA(expr, RelabelType))
		expr = (Node *) ((RelabelType *) expr)->arg;
	return IsA(expr, Var) && ((Var *) expr)->varattno > 0;
}

/* See scan_join_private.h. */
StrataJoinKey *
strata_join_key_create(HashJoinState *join, int keyno)
{
	HashJoin   *plan = (HashJoin *) join->js.ps.plan;
	Hash	   *hash = (Hash *) innerPlan(plan);
	Expr	   *inner = list_nth(hash->hashkeys, keyno);
	Oid			opno = list_nth_oid(plan->hashoperators, keyno);
	Oid			type = exprType((Node *) inner);
	TypeCacheEntry *typcache;
	StrataJoinKey *key;

	if (!is_of_row_alone((Node *) inner) || !is_trusted_type(type) ||
		!op_strict(opno))
		return NULL;
	typcache = lookup_type_cache(type, TYPECACHE_BTREE_OPFAMILY |
								 TYPECACHE_CMP_PROC_FINFO);
	if (!OidIsValid(typcache->cmp_proc) ||
		typcache->cmp_proc >= FirstNormalObjectId ||
		!OidIsValid(get_array_type(type)))
		return NULL;
	key = palloc0(sizeof(StrataJoinKey));
	key->mcxt = CurrentMemoryContext;
	key->join = join;
	key->outer = list_nth(plan->hashkeys, keyno);
	key->inner = inner;
	key->opno = opno;
	key->collation = list_nth_oid(plan->hashcollations, keyno);
	key->type = type;
	get_typlenbyvalalign(type, &key->typlen, &key->typbyval, &key->typalign);
	fmgr_info_copy(&key->cmp, &typcache->cmp_proc_finfo, key->mcxt);
	key->opfamily = typcache->btree_opf;
	return key;
}

Expr *
strata_join_key_outer(const StrataJoinKey *key)
{
	return key->outer;
}

int
strata_join_key_nvalues(const StrataJoinKey *key)
{
	return key->many ? PG_INT32_MAX : key->nvalues;
}

static int
compare_hashes(const void *a, const void *b)
{
	uint32		x = *(const uint32 *) a;
	uint32		y = *(const uint32 *) b;

	return x < y ? -1 : x > y;
}

/* See scan_join_private.h. */
const uint32 *
strata_join_key_hashes(StrataJoinKey *key, Oid hasher)
{
	FmgrInfo	function;

	Assert(!key->many);			/* scan:R15 */
	if (key->hasher == hasher)
		return key->hashes;
	if (key->hashes == NULL)
		key->hashes = MemoryContextAlloc(key->mcxt, sizeof(uint32) *
										 Max(key->nvalues, 1));
	fmgr_info(hasher, &function);
	for (int i = 0; i < key->nvalues; i++)
		key->hashes[i] =
			DatumGetUInt32(FunctionCall1Coll(&function, key->collation,
											 key->values[i]));
	qsort(key->hashes, key->nvalues, sizeof(uint32), compare_hashes);
	key->hasher = hasher;
	return key->hashes;
}

/* A row of the table: its column, and where its value goes. */
typedef struct TakeState
{
	StrataJoinKey *key;
	TupleTableSlot *slot;
	AttrNumber	attno;
	Size		nbytes;			/* of values that are not of one length */
} TakeState;

/* So many bytes of values, at most; they become an array. */
static Size
max_bytes(void)
{
	return Min((Size) work_mem * 1024, MaxAllocSize / 2);
}

/* Keep a row's value, unless they have become too large together. */
static void
take_key(MinimalTuple tuple, void *arg)
{
	TakeState  *state = arg;
	StrataJoinKey *key = state->key;
	Datum		value;
	bool		isnull;

	ExecStoreMinimalTuple(tuple, state->slot, false);
	value = slot_getattr(state->slot, state->attno, &isnull);
	if (isnull || state->nbytes > max_bytes())
		return;
	if (key->typlen == -1)
		state->nbytes += toast_raw_datum_size(value);
	if (state->nbytes > max_bytes())
		return;
	if (key->typlen == -1)
		value = PointerGetDatum(PG_DETOAST_DATUM_COPY(value));
	else
		value = datumCopy(value, key->typbyval, key->typlen);
	key->values[key->nvalues++] = value;
}

static int
compare_values(const void *a, const void *b, void *arg)
{
	StrataJoinKey *key = arg;

	return DatumGetInt32(FunctionCall2Coll(&key->cmp, key->collation,
										   *(const Datum *) a,
										   *(const Datum *) b));
}

/* Leave one of each value. */
static void
sort_values(StrataJoinKey *key)
{
	int			n = 0;

	qsort_arg(key->values, key->nvalues, sizeof(Datum), compare_values, key);
	for (int i = 0; i < key->nvalues; i++)
		if (n == 0 || compare_values(&key->values[n - 1], &key->values[i],
									 key) != 0)
			key->values[n++] = key->values[i];
	key->nvalues = n;
}

/* The column of the join's table that the values are in. */
static AttrNumber
inner_attno(const StrataJoinKey *key)
{
	Expr	   *inner = key->inner;

	while (IsA(inner, RelabelType))
		inner = ((RelabelType *) inner)->arg;
	return ((Var *) inner)->varattno;
}

/*
 * Read the values out of the join's table, of so many rows; false: they take
 * too much memory.
 */
static bool
read_table_values(StrataJoinKey *key, int nrows)
{
	MemoryContext old = MemoryContextSwitchTo(key->mcxt);
	TakeState	state = {key};

	state.attno = inner_attno(key);
	state.slot =
		MakeSingleTupleTableSlot(ExecGetResultType(innerPlanState(key->join)),
								 &TTSOpsMinimalTuple);
	key->values = palloc(sizeof(Datum) * Max(nrows, 1));
	strata_hash_join_each(key->join, take_key, &state);
	ExecDropSingleTupleTableSlot(state.slot);
	Assert(key->nvalues <= nrows);	/* scan:R15 */
	if (state.nbytes > max_bytes())
	{
		for (int i = 0; i < key->nvalues; i++)
			pfree(DatumGetPointer(key->values[i]));
		pfree(key->values);
		key->values = NULL;
		key->nvalues = 0;
		MemoryContextSwitchTo(old);
		return false;
	}
	sort_values(key);
	key->array = PointerGetDatum(construct_array(key->values, key->nvalues,
												 key->type, key->typlen,
												 key->typbyval,
												 key->typalign));
	MemoryContextSwitchTo(old);
	return true;
}

/*
 * The same of where they are, for an outer side that is expected to have a
 * fourth of the rows or more; false: that would not pay.
 */
static bool
read_table_span(StrataJoinKey *key, double nrows)
{
	MemoryContext old;

	if (outerPlan(key->join->js.ps.plan)->plan_rows < nrows / 4)
		return false;
	old = MemoryContextSwitchTo(key->mcxt);
	key->many = strata_join_span_read(&key->span, key->join, nrows,
									  inner_attno(key), key->type, &key->cmp,
									  key->collation);
	if (key->many)
		key->array =
			PointerGetDatum(construct_array(key->span.ends,
											key->span.empty ? 0 : 2, key->type,
											key->typlen, key->typbyval,
											key->typalign));
	MemoryContextSwitchTo(old);
	return key->many;
}

/* See scan_join_private.h. */
StrataJoinValues
strata_join_key_ready(StrataJoinKey *key)
{
	double		nrows = 0;

	if (key->state != STRATA_JOIN_NOT_YET)
		return key->state;
	switch (strata_hash_join_side(key->join, &nrows))
	{
		case STRATA_HASH_NOT_YET:
			break;
		case STRATA_HASH_PARTLY:
			key->state = STRATA_JOIN_NEVER;
			break;
		case STRATA_HASH_WHOLE:
			key->state = (nrows <= STRATA_JOIN_MAX_ROWS &&
						  read_table_values(key, (int) nrows)) ||
				read_table_span(key, nrows) ? STRATA_JOIN_KNOWN :
				STRATA_JOIN_NEVER;
			break;
	}
	return key->state;
}

/* See scan_join_private.h. */
Expr *
strata_join_key_clause(const StrataJoinKey *key, Expr *column)
{
	ScalarArrayOpExpr *clause = makeNode(ScalarArrayOpExpr);
	Oid			type = exprType((Node *) key->outer);

	Assert(key->state == STRATA_JOIN_KNOWN);	/* scan:R15 */
	clause->opno = key->opno;
	clause->opfuncid = get_opcode(key->opno);
	clause->useOr = true;
	clause->inputcollid = key->collation;
	clause->location = -1;
	if (exprType((Node *) column) != type)
		column = (Expr *) makeRelabelType(copyObject(column), type,
										  -1,
										  exprCollation((Node *) key->outer),
										  COERCE_IMPLICIT_CAST);
	clause->args = list_make2(copyObject(column),
							  makeConst(get_array_type(key->type), -1,
										key->collation, -1, key->array, false,
										false));
	return (Expr *) clause;
}

/*
 * What a leaf's column is compared with, as strata_filter_prepare() would make
 * it of the array.
 */
static void
make_values(StrataJoinKey *key, FilterNode *leaf)
{
	MemoryContext old = MemoryContextSwitchTo(key->mcxt);

	leaf->never = key->many ? key->span.empty : key->nvalues == 0;
	leaf->always = false;
	leaf->value = key->array;
	leaf->sorted = key->opfamily == leaf->opfamily &&
		key->collation == leaf->collation;
	if (key->many)
	{
		leaf->nvalues = 1;
		leaf->lows = &key->span.ends[0];
		leaf->highs = &key->span.ends[1];
		if (leaf->kind != FILTER_KIND_NONE)
			leaf->keys = key->span.keys;
		leaf->by_bytes = false;
		MemoryContextSwitchTo(old);
		return;
	}
	leaf->nvalues = key->nvalues;
	leaf->values = leaf->lows = leaf->highs = key->values;
	if (leaf->kind != FILTER_KIND_NONE)
		strata_filter_prepare_in(leaf);
	leaf->by_bytes = leaf->by_bytes && key->nvalues <= MAX_BYTES_VALUES;
	if (leaf->by_bytes)
		strata_filter_prepare_bytes(leaf);
	MemoryContextSwitchTo(old);
}

/* See scan_join_private.h. */
void
strata_join_key_fill(StrataJoinKey *key, FilterNode *leaf)
{
	const FilterNode *made = key->made;

	leaf->given = key;
	leaf->spans = key->many;
	/* no index can be asked for them */
	if (key->many)
		leaf->opno = InvalidOid;
	if (made == NULL || made->kind != leaf->kind ||
		made->opfamily != leaf->opfamily || made->lefttype != leaf->lefttype)
	{
		make_values(key, leaf);
		if (made == NULL)
			key->made = leaf;
		return;
	}
	leaf->never = made->never;
	leaf->value = made->value;
	leaf->nvalues = made->nvalues;
	leaf->values = made->values;
	leaf->lows = made->lows;
	leaf->highs = made->highs;
	leaf->sorted = made->sorted;
	leaf->keys = made->keys;
	leaf->by_bytes = made->by_bytes;
	leaf->hashes = made->hashes;
	leaf->bytes = made->bytes;
	leaf->slots = made->slots;
	leaf->slot_mask = made->slot_mask;
}
