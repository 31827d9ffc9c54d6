/*-------------------------------------------------------------------------
 *
 * agg_key.c
 *	  Cuts a vector into runs: stretches of selected rows whose keys are all
 *	  the same.
 *
 * In a batch the columns it is segmented by are constant, and the column it is
 * ordered by makes long runs of one bucket.  Where the smallest and the
 * greatest value of that column lie in one bucket, it is not even decoded.
 *
 * Rows whose keys differ in their bytes are in runs of their own, also where
 * the type takes them to be equal; agg_hash.c brings them together.
 *
 * src/agg/agg_key.c
 *-------------------------------------------------------------------------
 */
#include "agg/agg_private.h"

#include "catalog/pg_type_d.h"
#include "executor/executor.h"
#include "nodes/nodeFuncs.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

/* See agg_group_private.h. */
void
strata_agg_key_init(StrataAggState *agg, AggKey *key, Expr *expr, Oid eqop)
{
	Expr	   *arg = expr;
	RegProcedure hash;
	RegProcedure other;

	if (agg->plan.stage != AGG_STAGE_JOINED)
		key->bucket = strata_agg_bucket_create(agg, expr, &arg);
	if (key->bucket == NULL)
		arg = expr;
	else if (agg->plan.stage == AGG_STAGE_BELOW)
		strata_agg_bucket_defer(key->bucket, expr);
	if (agg->plan.stage == AGG_STAGE_JOINED)
		key->joined = ExecInitExpr(expr, &agg->css.ss.ps);
	else
		key->value = strata_agg_value_add(agg, arg);
	get_typlenbyval(exprType((Node *) expr), &key->typlen, &key->typbyval);
	key->by_image = !OidIsValid(eqop);
	if (key->by_image)
		return;
	if (!get_op_hash_functions(eqop, &hash, &other))
		elog(ERROR, "operator %u has no hash function", eqop);
	fmgr_info(get_opcode(eqop), &key->eq);
	fmgr_info(hash, &key->hash);
	key->collation = exprCollation((Node *) expr);
}

/* The same value for all rows; a bucket function's argument is arg. */
static void
set_constant(AggKey *key, const StrataColumnType *type, Datum value,
			 bool isnull)
{
	int64		lo;
	int64		hi;

	key->constant = true;
	key->isnull = isnull;
	key->current = value;
	if (key->bucket != NULL && !isnull)
		key->current = strata_agg_bucket_of(key->bucket,
											strata_datum_integer(value,
																 type->width),
											&lo, &hi);
}

/* Least and greatest value of the batch's rows, none of which is null. */
static bool
batch_bounds(StrataAggState *agg, AttrNumber attno,
			 const StrataColumnType *type, int64 *min, int64 *max)
{
	StrataBatchReader *reader = agg->vector->batch->reader;
	const StrataColumnSummary *summary = strata_batch_reader_summary(reader,
																	 attno);

	if (summary == NULL || !summary->has_range || summary->nnulls != 0 ||
		!strata_enable_pruning)
		return false;
	*min = strata_datum_integer(summary->min, type->width);
	*max = strata_datum_integer(summary->max, type->width);
	return true;
}

/* Are all rows of the batch in one bucket? */
static bool
is_one_bucket(StrataAggState *agg, AggKey *key)
{
	AggVector  *vector = agg->vector;
	AggValue   *value = &agg->values[key->value];
	int64		min;
	int64		max;
	int64		lo;
	int64		hi;
	Datum		bucket;

	if (!value->is_column || !strata_agg_vector_has(vector, value->input) ||
		!batch_bounds(agg, vector->attnos[value->input], &value->type, &min,
					  &max))
		return false;

	/*
	 * there may be no row of that time among those selected, whose error
	 * would be nobody's
	 */
	if (min != max && !strata_agg_bucket_is_safe(key->bucket, min))
		return false;

	/*
	 * the selected rows may lie anywhere between; so a range that holds both
	 */
	bucket = strata_agg_bucket_of(key->bucket, min, &lo, &hi);
	if (max > hi || min < lo)
		return false;
	key->constant = true;
	key->isnull = false;
	key->current = bucket;
	return true;
}

static void
add_change(AggKey *key, int position, Datum bucket, bool isnull)
{
	if (key->nchanges > 0 && key->nulls[key->nchanges - 1] == isnull &&
		(isnull || key->buckets[key->nchanges - 1] == bucket))
		return;
	key->changes[key->nchanges] = position;
	key->buckets[key->nchanges] = bucket;
	key->nulls[key->nchanges] = isnull;
	key->nchanges++;
}

/* See agg_group_private.h. */
const StrataOrderKey *
strata_agg_batch_order(const AggVector *vector, const AggValue *value)
{
	StrataBatchReader *reader;
	AttrNumber	attno;
	AttrNumber	min_att;

	if (!value->is_column || !strata_agg_vector_has(vector, value->input))
		return NULL;
	reader = vector->batch->reader;
	attno = vector->attnos[value->input];
	min_att = reader->schema->min_att[attno];

	/*
	 * a column whose type was changed without a rewrite may be in another
	 * order
	 */
	return reader->layout->norder > 0 &&
		reader->layout->order[0].attno == attno && min_att != 0 &&
		strata_batch_schema_same_type(reader->schema, attno,
									  min_att) ?
		&reader->layout->order[0] :
		NULL;
}

/* See agg_group_private.h. */
bool
strata_agg_is_sorted(const AggVector *vector, const AggValue *value,
					 const StrataColumn *col)
{
	return col->isnull == NULL &&
		strata_agg_batch_order(vector, value) != NULL;
}

/*
 * The first position behind i whose value is not in [lo, hi]; the order is
 * sorted.
 */
static int
end_of_range(AggVector *vector, const StrataColumn *col, int i, int64 lo,
			 int64 hi)
{
	int			inside = i;
	int			outside = vector->nselected;

	while (outside - inside > 1)
	{
		int			mid = inside + (outside - inside) / 2;
		int64		x = strata_agg_column_int(col,
											  agg_vector_row(vector, mid));

		if (x >= lo && x <= hi)
			inside = mid;
		else
			outside = mid;
	}
	return outside;
}

/* Find where the bucket changes. */
static void
cut_buckets(StrataAggState *agg, AggKey *key, StrataColumn *col)
{
	AggVector  *vector = agg->vector;
	int			n = vector->nselected;
	bool		sorted = strata_agg_is_sorted(vector, &agg->values[key->value],
											  col);
	int64		lo = 1;
	int64		hi = 0;

	key->changes = palloc(sizeof(int) * n);
	key->buckets = palloc(sizeof(Datum) * n);
	key->nulls = palloc(sizeof(bool) * n);
	for (int i = 0; i < n;)
	{
		int			row = agg_vector_row(vector, i);
		int64		x;

		if (col->isnull != NULL && col->isnull[row])
		{
			add_change(key, i, (Datum) 0, true);
			lo = 1;
			hi = 0;
			i++;
			continue;
		}
		x = strata_agg_column_int(col, row);
		if (x < lo || x > hi)
			add_change(key, i, strata_agg_bucket_of(key->bucket, x, &lo, &hi),
					   false);
		Assert(x >= lo && x <= hi); /* agg:G5 */
		i = sorted ? end_of_range(vector, col, i, lo, hi) : i + 1;
	}
}

/*
 * mark[i] |= row i differs from the row before it, of packed values; what
 * stands at a null is any.
 */
#define MARK_CHANGES(ctype, values) \
	do { \
		const ctype *v_ = (const ctype *) (values) + vector->first; \
		if (rows == NULL && nulls == NULL) \
			for (int i_ = 1; i_ < n; i_++) \
				mark[i_] |= v_[i_] != v_[i_ - 1]; \
		else if (rows == NULL) \
			for (int i_ = 1; i_ < n; i_++) \
				mark[i_] |= (nulls[i_] ^ nulls[i_ - 1]) | \
					((v_[i_] != v_[i_ - 1]) & !nulls[i_]); \
		else if (nulls == NULL) \
			for (int i_ = 1; i_ < n; i_++) \
				mark[i_] |= v_[rows[i_]] != v_[rows[i_ - 1]]; \
		else \
			for (int i_ = 1; i_ < n; i_++) \
				mark[i_] |= (nulls[rows[i_]] ^ nulls[rows[i_ - 1]]) | \
					((v_[rows[i_]] != v_[rows[i_ - 1]]) & \
					 !nulls[rows[i_]]); \
	} while (0)

/* The first mark from i on; n: there is none. */
static int
next_mark(const uint8 *mark, int i, int n)
{
	uint64		marks;

	for (; i + (int) sizeof(marks) <= n; i += sizeof(marks))
	{
		memcpy(&marks, mark + i, sizeof(marks));
		if (marks != 0)
			break;
	}
	while (i < n && !mark[i])
		i++;
	return i;
}

/*
 * List where runs start, from the second on; returns how many there are.
 * Where runs are short there is no branch that nobody could guess.
 */
static int
list_marks(const uint8 *mark, int n, int *runs)
{
	int			nruns = 1;
	uint64		marks;
	int			end;

	for (int i = 1; i < n; i = end)
	{
		end = Min(i + (int) sizeof(marks), n);
		if (end - i == (int) sizeof(marks))
		{
			memcpy(&marks, mark + i, sizeof(marks));
			if (marks == 0)
				continue;
		}
		for (int j = i; j < end; j++)
		{
			runs[nruns] = j;
			nruns += mark[j];
		}
	}
	return nruns;
}

static bool
same_datum(const AggKey *key, Datum a, Datum b)
{
	/* expressions often have the very same value */
	return a == b ||
		(!key->typbyval && agg_same_image(a, b, key->typlen));
}

/*
 * Rows with datums that follow each other, none of them null: most of those
 * that differ do so by their addresses.
 */
static void
mark_plain_datums(const AggKey *key, const Datum *v, int n, uint8 *mark)
{
	uint8	   *differ = palloc(n);

	differ[0] = 0;
	for (int i = 1; i < n; i++)
		differ[i] = (v[i] != v[i - 1]) & !mark[i];
	for (int i = next_mark(differ, 1, n); i < n;
		 i = next_mark(differ, i + 1, n))
		mark[i] = !same_datum(key, v[i - 1], v[i]);
	pfree(differ);
}

/* Rows with datums. */
static void
mark_datums(const AggKey *key, const StrataColumn *col, AggVector *vector,
			uint8 *mark)
{
	if (vector->rows == NULL && col->isnull == NULL)
	{
		mark_plain_datums(key, col->datums + vector->first, vector->nselected,
						  mark);
		return;
	}
	for (int i = 1; i < vector->nselected; i++)
	{
		int			a = agg_vector_row(vector, i - 1);
		int			b = agg_vector_row(vector, i);
		bool		a_null = col->isnull != NULL && col->isnull[a];
		bool		b_null = col->isnull != NULL && col->isnull[b];

		if (mark[i])
			continue;
		if (a_null || b_null)
			mark[i] = a_null != b_null;
		else
			mark[i] = !same_datum(key, col->datums[a], col->datums[b]);
	}
}

/*
 * Set mark[i] for each selected row i whose value differs from that of the row
 * before it.  Rows of different codes are marked without a look at the values:
 * a dictionary seldom has one twice, and runs need not be as long as can be.
 */
static void
mark_column(const AggKey *key, const StrataColumn *col, AggVector *vector,
			uint8 *mark)
{
	const uint16 *rows = vector->rows;
	const bool *nulls = col->isnull == NULL ? NULL :
	col->isnull + vector->first;
	int			n = vector->nselected;

	if (col->codes != NULL)
	{
		MARK_CHANGES(uint32, col->codes);
		return;
	}
	if (col->fixed == NULL)
	{
		mark_datums(key, col, vector, mark);
		return;
	}
	switch (col->type.width)
	{
		case 1:
			MARK_CHANGES(int8, col->fixed);
			break;
		case 2:
			MARK_CHANGES(int16, col->fixed);
			break;
		case 4:
			MARK_CHANGES(int32, col->fixed);
			break;
		default:
			MARK_CHANGES(int64, col->fixed);
			break;
	}
}

/*
 * A function of time says the same for all rows of a batch where the least and
 * the greatest time are of the same hour, say: then they are not even decoded.
 */
static void
settle_by_times(StrataAggState *agg, AggKey *key)
{
	AggValue   *value = &agg->values[key->value];
	AggVector  *vector = agg->vector;
	AttrNumber	attno;
	StrataColumnType type;
	int64		min;
	int64		max;

	/* an error of it is that of each selected row */
	Assert(vector->nselected > 0);	/* agg:G5 */
	if (value->column != NULL || value->input >= 0 || value->call != NULL ||
		value->vector == NULL || vector->batch == NULL)
		return;
	attno = strata_expr_time_column(value->vector);
	if (attno == 0 || !strata_agg_vector_has(vector, attno - 1))
		return;
	strata_column_type_init(&type,
							TupleDescAttr(agg->input_slot->tts_tupleDescriptor,
										  attno - 1));
	if (batch_bounds(agg, vector->attnos[attno - 1], &type, &min, &max))
		strata_agg_value_at_times(agg, key->value, min, max);
}

/* Is the key known for all rows without decoding its column? */
static bool
is_constant(StrataAggState *agg, AggKey *key)
{
	key->constant = false;
	key->column = NULL;
	key->nchanges = 0;
	key->next_change = 0;
	if (key->bucket != NULL && is_one_bucket(agg, key))
		return true;
	settle_by_times(agg, key);
	key->column = strata_agg_value_column(agg, key->value);
	if (key->column->constant)
		set_constant(key, &key->column->type, key->column->value,
					 key->column->value_isnull);
	return key->constant;
}

/* Runs where any of the keys changes. */
static int
cut_by_marks(StrataAggState *agg)
{
	AggVector  *vector = agg->vector;
	int			n = vector->nselected;
	uint8	   *mark = palloc0(n);
	int			nruns;

	for (int k = 0; k < agg->nkeys; k++)
	{
		AggKey	   *key = &agg->keys[k];

		if (key->constant || agg->rows_have_codes)
			continue;
		if (key->bucket == NULL)
			mark_column(key, key->column, vector, mark);
		for (int i = 0; i < key->nchanges; i++)
			mark[key->changes[i]] = 1;
	}
	agg->runs = palloc(sizeof(int) * (n + 1));
	agg->runs[0] = 0;
	if (agg->rows_have_codes)
		memset(mark, 1, n);
	nruns = list_marks(mark, n, agg->runs);
	agg->runs[nruns] = n;
	return nruns;
}

/* See agg_group_private.h.  Memory: the current context. */
int
strata_agg_load_keys(StrataAggState *agg)
{
	int			nvarying = 0;

	for (int k = 0; k < agg->nkeys; k++)
	{
		AggKey	   *key = &agg->keys[k];

		if (is_constant(agg, key))
			continue;
		if (key->bucket != NULL)
			cut_buckets(agg, key, key->column);
		nvarying++;
	}
	return nvarying;
}

/* See agg_group_private.h. */
int
strata_agg_cut_runs(StrataAggState *agg)
{
	int			n = agg->vector->nselected;
	int			nvarying;
	AggKey	   *varying = NULL;
	int			nruns = 1;
	MemoryContext old = MemoryContextSwitchTo(agg->vector_mcxt);

	nvarying = strata_agg_load_keys(agg);
	for (int k = 0; k < agg->nkeys; k++)
		if (!agg->keys[k].constant)
			varying = &agg->keys[k];
	if (nvarying > 1 || (nvarying == 1 && varying->bucket == NULL))
		nruns = cut_by_marks(agg);
	else
	{
		/* one run, or those of the one key */
		if (nvarying == 1)
			nruns = varying->nchanges;
		agg->runs = palloc(sizeof(int) * (nruns + 1));
		agg->runs[0] = 0;
		if (nvarying == 1)
			memcpy(agg->runs, varying->changes, sizeof(int) * nruns);
		agg->runs[nruns] = n;
	}
	Assert(nruns >= 1 && agg->runs[0] == 0 &&
		   agg->runs[nruns] == n);	/* agg:G3 */
	MemoryContextSwitchTo(old);
	return nruns;
}

/* See agg_group_private.h. */
void
strata_agg_load_run(StrataAggState *agg, int i)
{
	int			position = agg->runs[i];
	int			row = agg_vector_row(agg->vector, position);

	Assert(position < agg->runs[i + 1]);	/* agg:G3 */
	for (int k = 0; k < agg->nkeys; k++)
	{
		AggKey	   *key = &agg->keys[k];

		if (key->constant)
			continue;
		if (key->bucket == NULL)
			key->current = strata_column_get(key->column, row, &key->isnull);
		else
		{
			while (key->next_change + 1 < key->nchanges &&
				   key->changes[key->next_change + 1] <= position)
				key->next_change++;
			Assert(key->changes[key->next_change] <= position); /* agg:G3 */
			key->current = key->buckets[key->next_change];
			key->isnull = key->nulls[key->next_change];
		}
	}
}
