/*-------------------------------------------------------------------------
 *
 * agg_match.c
 *	  Which row of a hash join's small side a row is joined with, for all rows
 *	  of a vector.
 *
 * PostgreSQL's Hash has read the small side into its table.  Its rows are
 * taken apart into columns here, and found by their keys: once for a vector
 * whose keys are constant, once for each entry of a dictionary and each number
 * of a row store's values, else row by row, of which a single integer takes no
 * function calls.  Each row finds one row or none; of small sides with equal
 * keys, or that are not in memory whole, nothing is made.
 *
 * Over 600 lines: loading the rows, and both ways to find them, go by one
 * layout.
 *
 * src/agg/agg_match.c
 *-------------------------------------------------------------------------
 */
#include "agg/agg_match_private.h"

#include "access/detoast.h"
#include "access/transam.h"
#include "common/hashfn.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "pg/pg.h"
#include "port/pg_bitutils.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

/* What has not been looked up yet. */
#define NOT_LOOKED_UP (-2)

/* Integers so near each other are found by their distance from the least. */
#define MAX_SPREAD 4

/* Of so many rows no array is beyond what palloc() gives. */
#define MAX_ROWS (1 << 25)

#define HASH_FACTOR UINT64CONST(0x9e3779b97f4a7c15)

typedef struct MatchKey
{
	int			input;			/* column of the outer side, from 0 */
	int			column;			/* ... of the small side */
	Oid			collation;
	FmgrInfo	hash_outer;
	FmgrInfo	hash_inner;
	FmgrInfo	eq;
} MatchKey;

struct AggMatch
{
	HashJoinState *join;
	MemoryContext mcxt;			/* of what follows from the table */
	TupleDesc	desc;			/* rows of the small side */
	int			nkeys;
	MatchKey   *keys;
	bool		by_integer;		/* the one key is an integer */
	int			nrows;
	int			nallocated;
	Datum	  **values;			/* by column */
	bool	  **nulls;
	Size		nbytes;			/* that rows take, detoasted values and tables */
	uint32		nslots;			/* a power of two */
	int32	   *slots;			/* rows by hash, or AGG_NO_MATCH */
	uint32	   *hashes;			/* of rows */
	int64	   *integers;		/* by_integer: of rows */
	int64		least;
	uint64		range;			/* 0: not direct */
	int32	   *direct;			/* by distance from the least */
	uint64		numbering;		/* of by_number */
	int32	   *by_number;		/* of the one key */
};

/* Equality of integers and times, of whatever widths. */
static bool
is_integer_equality(Oid opno)
{
	switch (get_opcode(opno))
	{
		case F_INT2EQ:
		case F_INT4EQ:
		case F_INT8EQ:
		case F_INT24EQ:
		case F_INT42EQ:
		case F_INT28EQ:
		case F_INT82EQ:
		case F_INT48EQ:
		case F_INT84EQ:
		case F_DATE_EQ:
		case F_TIMESTAMP_EQ:
		case F_TIMESTAMPTZ_EQ:
			return true;
		default:
			return false;
	}
}

/*
 * See agg_match_private.h.  Rows of the small side are compared with each
 * other by the operator, too.  Operators of others might return nulls.
 */
bool
strata_agg_can_match_by(Oid opno)
{
	Oid			left;
	Oid			right;

	op_input_types(opno, &left, &right);
	return opno < FirstNormalObjectId && op_strict(opno) &&
		(left == right || is_integer_equality(opno));
}

/* The number, from 0, of the column that the key is; -1: it is none. */
static int
number_of_key_column(Node *expr)
{
	while (IsA(expr, RelabelType))
		expr = (Node *) ((RelabelType *) expr)->arg;
	return IsA(expr, Var) && ((Var *) expr)->varattno > 0 ?
		((Var *) expr)->varattno - 1 : -1;
}

/* See agg_match_private.h. */
AggMatch *
strata_agg_match_create(HashJoinState *join)
{
	HashJoin   *plan = (HashJoin *) join->js.ps.plan;
	Hash	   *hash = (Hash *) innerPlan(plan);
	AggMatch   *match = palloc0(sizeof(AggMatch));

	match->join = join;
	match->desc = ExecGetResultType(innerPlanState(join));
	match->keys = palloc0(sizeof(MatchKey) * list_length(plan->hashkeys));
	for (int i = 0; i < list_length(plan->hashkeys); i++)
	{
		MatchKey   *key = &match->keys[match->nkeys++];
		Oid			opno = list_nth_oid(plan->hashoperators, i);
		RegProcedure outer;
		RegProcedure inner;

		key->input = number_of_key_column(list_nth(plan->hashkeys, i));
		key->column = number_of_key_column(list_nth(hash->hashkeys, i));
		if (key->input < 0 || key->column < 0 ||
			!strata_agg_can_match_by(opno))
			return NULL;
		if (!get_op_hash_functions(opno, &outer, &inner))
			elog(ERROR, "operator %u has no hash function", opno);
		key->collation = list_nth_oid(plan->hashcollations, i);
		fmgr_info(outer, &key->hash_outer);
		fmgr_info(inner, &key->hash_inner);
		fmgr_info(get_opcode(opno), &key->eq);
		match->by_integer = is_integer_equality(opno);
	}
	match->by_integer &= match->nkeys == 1;
	match->mcxt = AllocSetContextCreate(CurrentMemoryContext,
										"StrataAgg small side",
										ALLOCSET_DEFAULT_SIZES);
	return match;
}

/* See agg_match_private.h. */
int
strata_agg_match_nrows(const AggMatch *match)
{
	return match->nrows;
}

/* See agg_match_private.h. */
const Datum *
strata_agg_match_values(const AggMatch *match, int column, const bool **nulls)
{
	*nulls = match->nulls[column];
	return match->values[column];
}

/*-------------------------------------------------------------------------
 * Loading
 *-------------------------------------------------------------------------
 */

/*
 * A row of the table; values by reference stay where they are, but those that
 * are detoasted, as long as these are not too large together.
 */
static void
take_small_row(MinimalTuple tuple, void *arg)
{
	AggMatch   *match = arg;
	TupleTableSlot *slot = match->join->hj_HashTupleSlot;
	int			row = match->nrows++;

	Assert(row < match->nallocated);	/* agg:G29 */
	ExecStoreMinimalTuple(tuple, slot, false);
	slot_getallattrs(slot);
	for (int i = 0; i < match->desc->natts; i++)
	{
		Datum		value = slot->tts_values[i];

		match->nulls[i][row] = slot->tts_isnull[i];
		match->values[i][row] = value;
		if (slot->tts_isnull[i] ||
			TupleDescAttr(match->desc, i)->attlen != -1 ||
			(!VARATT_IS_EXTERNAL(DatumGetPointer(value)) &&
			 !VARATT_IS_COMPRESSED(DatumGetPointer(value))))
			continue;
		match->nbytes += toast_raw_datum_size(value);
		if (match->nbytes <= get_hash_memory_limit() / 2)
			match->values[i][row] =
				PointerGetDatum(PG_DETOAST_DATUM_PACKED(value));
	}
}

/* Has the row a null among its keys, which nothing equals? */
static bool
has_null_key(const AggMatch *match, int row)
{
	for (int k = 0; k < match->nkeys; k++)
		if (match->nulls[match->keys[k].column][row])
			return true;
	return false;
}

static inline uint32
hash_integer(int64 value)
{
	return (uint32) ((uint64) value * HASH_FACTOR >> 32);
}

static uint32
hash_small_row(AggMatch *match, int row)
{
	uint32		hash = 0;

	for (int k = 0; k < match->nkeys; k++)
	{
		MatchKey   *key = &match->keys[k];
		Datum		value = match->values[key->column][row];

		hash = hash_combine(hash,
							DatumGetUInt32(FunctionCall1Coll(&key->hash_inner,
															 key->collation,
															 value)));
	}
	return hash;
}

/* Do the keys, none of them null, equal those of the row? */
static bool
equals_row(AggMatch *match, const Datum *keys, int row)
{
	for (int k = 0; k < match->nkeys; k++)
	{
		MatchKey   *key = &match->keys[k];

		if (!DatumGetBool(FunctionCall2Coll(&key->eq, key->collation, keys[k],
											match->values[key->column][row])))
			return false;
	}
	return true;
}

/* The row of a key that is an integer. */
static inline int32
look_up_integer(const AggMatch *match, int64 value)
{
	uint64		distance = (uint64) value - (uint64) match->least;

	if (match->range > 0)
		return distance < match->range ? match->direct[distance] :
			AGG_NO_MATCH;
	for (uint32 slot = hash_integer(value);; slot++)
	{
		int32		row = match->slots[slot & (match->nslots - 1)];

		if (row == AGG_NO_MATCH || match->integers[row] == value)
			return row;
	}
}

/* The row of keys with that hash value. */
static int32
look_up_hashed(AggMatch *match, uint32 hash, const Datum *keys)
{
	for (uint32 slot = hash;; slot++)
	{
		int32		row = match->slots[slot & (match->nslots - 1)];

		if (row == AGG_NO_MATCH ||
			(match->hashes[row] == hash && equals_row(match, keys, row)))
			return row;
	}
}

/* Put the row where it is found; false: there is one with the same keys. */
static bool
insert_small_row(AggMatch *match, int row, Datum *keys)
{
	uint32		slot;
	uint32		hash;

	if (match->by_integer)
	{
		if (look_up_integer(match, match->integers[row]) != AGG_NO_MATCH)
			return false;
		if (match->range > 0)
		{
			match->direct[match->integers[row] - match->least] = row;
			return true;
		}
		hash = hash_integer(match->integers[row]);
	}
	else
	{
		for (int k = 0; k < match->nkeys; k++)
			keys[k] = match->values[match->keys[k].column][row];
		hash = match->hashes[row] = hash_small_row(match, row);
		if (look_up_hashed(match, hash, keys) != AGG_NO_MATCH)
			return false;
	}
	slot = hash & (match->nslots - 1);
	while (match->slots[slot] != AGG_NO_MATCH)
		slot = (slot + 1) & (match->nslots - 1);
	match->slots[slot] = row;
	return true;
}

/* Integers of the key, and whether they lie near each other. */
static void
load_key_integers(AggMatch *match)
{
	int			column = match->keys[0].column;
	int			width = TupleDescAttr(match->desc, column)->attlen;
	int64		least = PG_INT64_MAX;
	int64		greatest = PG_INT64_MIN;

	match->integers = palloc0(sizeof(int64) * Max(match->nrows, 1));
	for (int row = 0; row < match->nrows; row++)
	{
		if (match->nulls[column][row])
			continue;
		match->integers[row] = strata_datum_integer(match->values[column][row],
													width);
		least = Min(least, match->integers[row]);
		greatest = Max(greatest, match->integers[row]);
	}
	if (least > greatest)
		return;
	match->least = least;
	if ((uint64) greatest - (uint64) least <
		(uint64) MAX_SPREAD * match->nrows)
		match->range = (uint64) greatest - (uint64) least + 1;
}

/* A table of that many places, all of them free; NULL: it is too large. */
static int32 *
make_free_places(AggMatch *match, uint64 n)
{
	int32	   *places;

	match->nbytes += sizeof(int32) * n;
	if (match->nbytes > get_hash_memory_limit() / 2)
		return NULL;
	places = palloc(sizeof(int32) * n);
	for (uint64 i = 0; i < n; i++)
		places[i] = AGG_NO_MATCH;
	return places;
}

/* What rows are found by, which is empty; false: it is too large. */
static bool
make_match_table(AggMatch *match)
{
	if (match->by_integer)
		load_key_integers(match);
	else
		match->hashes = palloc0(sizeof(uint32) * Max(match->nrows, 1));
	if (match->range > 0)
		return (match->direct = make_free_places(match, match->range)) != NULL;
	match->nslots = pg_nextpower2_32(2 * (uint32) Max(match->nrows, 1));
	return (match->slots = make_free_places(match, match->nslots)) != NULL;
}

/* Have all rows found by their keys; false: some have the same. */
static bool
insert_small_rows(AggMatch *match, bool any)
{
	Datum	   *keys = palloc(sizeof(Datum) * match->nkeys);

	for (int row = 0; row < match->nrows; row++)
	{
		CHECK_FOR_INTERRUPTS();
		if (!has_null_key(match, row) &&
			!insert_small_row(match, row, keys) && !any)
			return false;
	}
	return true;
}

/* Bytes that so many rows take here, but for the table. */
static double
bytes_of_rows(double nrows, int ncolumns)
{
	return nrows * (ncolumns * (sizeof(Datum) + 1) + sizeof(int64));
}

/* See agg_match_private.h. */
bool
strata_agg_can_match_rows(double nrows, int ncolumns)
{
	return nrows <= MAX_ROWS &&
		bytes_of_rows(nrows, ncolumns) <= get_hash_memory_limit() / 2.0;
}

/* See agg_match_private.h. */
const char *
strata_agg_match_load(AggMatch *match, bool any)
{
	const char *refusal = NULL;
	double		nrows;
	MemoryContext old;

	strata_agg_match_forget(match);
	if (strata_hash_join_side(match->join, &nrows) != STRATA_HASH_WHOLE)
		return "the small side is not in memory whole";
	if (!strata_agg_can_match_rows(nrows, match->desc->natts))
		return "the small side takes too much memory";
	match->nbytes = (Size) bytes_of_rows(nrows, match->desc->natts);
	old = MemoryContextSwitchTo(match->mcxt);
	match->nallocated = (int) nrows;
	match->values = palloc(sizeof(Datum *) * Max(match->desc->natts, 1));
	match->nulls = palloc(sizeof(bool *) * Max(match->desc->natts, 1));
	for (int i = 0; i < match->desc->natts; i++)
	{
		match->values[i] = palloc0(sizeof(Datum) * Max(match->nallocated, 1));
		match->nulls[i] = palloc0(sizeof(bool) * Max(match->nallocated, 1));
	}
	strata_hash_join_each(match->join, take_small_row, match);
	ExecClearTuple(match->join->hj_HashTupleSlot);
	if (match->nbytes > get_hash_memory_limit() / 2 ||
		!make_match_table(match))
		refusal = "the small side takes too much memory";
	else if (!insert_small_rows(match, any))
		refusal = "the small side has equal keys";
	MemoryContextSwitchTo(old);
	if (refusal != NULL)
		strata_agg_match_forget(match);
	return refusal;
}

/* See agg_match_private.h. */
void
strata_agg_match_forget(AggMatch *match)
{
	MemoryContextReset(match->mcxt);
	match->nrows = 0;
	match->nbytes = 0;
	match->range = 0;
	match->direct = NULL;
	match->by_number = NULL;
}

/*-------------------------------------------------------------------------
 * Finding
 *-------------------------------------------------------------------------
 */

/* The row of keys, none of them null. */
static int32
look_up_keys(AggMatch *match, const Datum *keys,
			 const StrataColumn *const *columns)
{
	uint32		hash = 0;

	if (match->by_integer)
		return look_up_integer(match,
							   strata_datum_integer(keys[0],
													columns[0]->type.width));
	for (int k = 0; k < match->nkeys; k++)
	{
		MatchKey   *key = &match->keys[k];

		hash = hash_combine(hash,
							DatumGetUInt32(FunctionCall1Coll(&key->hash_outer,
															 key->collation,
															 keys[k])));
	}
	return look_up_hashed(match, hash, keys);
}

/* The same of one row of the vector. */
static int32
look_up_row(AggMatch *match, const StrataColumn *const *columns, int row,
			Datum *keys)
{
	for (int k = 0; k < match->nkeys; k++)
	{
		bool		isnull;

		keys[k] = strata_column_get(columns[k], row, &isnull);
		if (isnull)
			return AGG_NO_MATCH;
	}
	return look_up_keys(match, keys, columns);
}

/* The one key has codes: each is looked up once. */
static void
find_by_codes(AggMatch *match, const AggVector *vector,
			  const StrataColumn *col, int32 *found)
{
	int32	   *of_code = palloc(sizeof(int32) * Max(col->ndict, 1));

	for (int i = 0; i < col->ndict; i++)
		of_code[i] = NOT_LOOKED_UP;
	for (int i = 0; i < vector->nselected; i++)
	{
		int			row = agg_vector_row(vector, i);
		int32	   *at;

		found[i] = AGG_NO_MATCH;
		if (col->isnull != NULL && col->isnull[row])
			continue;
		at = &of_code[col->codes[row]];
		if (*at == NOT_LOOKED_UP)
			*at = look_up_keys(match, &col->dict[col->codes[row]], &col);
		found[i] = *at;
	}
}

/* Have by_number for the vector's numbering. */
static void
prepare_numbers(AggMatch *match, const AggVector *vector)
{
	if (match->by_number != NULL && match->numbering == vector->numbering)
		return;
	if (match->by_number == NULL)
		match->by_number =
			MemoryContextAlloc(match->mcxt,
							   sizeof(int32) * STRATA_MAX_NUMBERS);
	for (int i = 0; i < STRATA_MAX_NUMBERS; i++)
		match->by_number[i] = NOT_LOOKED_UP;
	match->numbering = vector->numbering;
}

/* The one key's values have numbers: each is looked up once a numbering. */
static void
find_by_numbers(AggMatch *match, const AggVector *vector,
				const StrataColumn *col, const uint16 *numbers, int32 *found)
{
	Datum		key;

	prepare_numbers(match, vector);
	for (int i = 0; i < vector->nselected; i++)
	{
		int			row = agg_vector_row(vector, i);
		bool		isnull = col->isnull != NULL && col->isnull[row];

		if (isnull || numbers[row] == STRATA_NO_NUMBER)
			found[i] = look_up_row(match, &col, row, &key);
		else
		{
			int32	   *at = &match->by_number[numbers[row]];

			if (*at == NOT_LOOKED_UP)
				*at = look_up_row(match, &col, row, &key);
			found[i] = *at;
		}
	}
}

/* The one key is packed integers. */
static void
find_by_integers(const AggMatch *match, const AggVector *vector,
				 const StrataColumn *col, int32 *found)
{
	for (int i = 0; i < vector->nselected; i++)
	{
		int			row = agg_vector_row(vector, i);

		found[i] = col->isnull != NULL && col->isnull[row] ? AGG_NO_MATCH :
			look_up_integer(match, strata_agg_column_int(col, row));
	}
}

/* See agg_match_private.h.  What is made on the way is in this context. */
void
strata_agg_match_find(AggMatch *match, AggVector *vector, int32 *found)
{
	const StrataColumn **columns = palloc(sizeof(StrataColumn *) *
										  match->nkeys);
	Datum	   *keys = palloc(sizeof(Datum) * match->nkeys);
	bool		constant = true;
	const uint16 *numbers = NULL;

	for (int k = 0; k < match->nkeys; k++)
	{
		columns[k] = strata_agg_input_column(vector, match->keys[k].input);
		constant &= columns[k]->constant;
	}
	if (vector->numbers != NULL)
		numbers = vector->numbers[match->keys[0].input];
	if (constant)
	{
		int32		row = look_up_row(match, columns,
									  agg_vector_row(vector, 0), keys);

		for (int i = 0; i < vector->nselected; i++)
			found[i] = row;
	}
	else if (match->nkeys == 1 && columns[0]->codes != NULL)
		find_by_codes(match, vector, columns[0], found);
	else if (match->by_integer)
		find_by_integers(match, vector, columns[0], found);
	else if (match->nkeys == 1 && numbers != NULL)
		find_by_numbers(match, vector, columns[0], numbers, found);
	else
		for (int i = 0; i < vector->nselected; i++)
			found[i] = look_up_row(match, columns, agg_vector_row(vector, i),
								   keys);
}
