/*-------------------------------------------------------------------------
 *
 * agg_stop.c
 *	  Which batches, and which rows of a batch, cannot change the result any
 *	  more, and so are not read.
 *
 * Two forms of queries:
 *
 *	TOP		GROUP BY key, ... ORDER BY key LIMIT n.  When n values of the key
 *			have been seen, rows beyond the n-th are of no interest: their
 *			groups, which may lack rows then, are cut off by LIMIT.  Of buckets
 *			it is known how far from its time a row's bucket can be ("reach").
 *	PICK	all that is asked of a group is the greatest or least of a column,
 *			or the row that has it.  A batch of one group (one segment) is
 *			passed over when its own greatest or least is no better than what
 *			is there.
 *
 * Where the column may be null: nulls that sort first are a group that must be
 * complete, so that batches with some are read; others do not matter.
 * Partitions of that column are read with the best one first; in any other
 * order the answer is the same, later.
 *
 * Rows of a row store come behind the batches of their table and are looked at
 * one by one.  A partition whose bounds say that none of its rows matters is
 * not read at all.
 *
 * Over 600 lines: all that says what cannot matter is together.
 *
 * Quals are not evaluated on rows that are passed over, so volatile ones
 * forbid all this.
 *
 * src/agg/agg_stop.c
 *-------------------------------------------------------------------------
 */
#include "agg/agg_private.h"

#include "access/nbtree.h"
#include "access/table.h"
#include "common/int.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "optimizer/tlist.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"

/* LIMITs above this are left alone. */
#define MAX_TOP 1000

/*-------------------------------------------------------------------------
 * Planning
 *-------------------------------------------------------------------------
 */

/* Is the expression a column of the relation?  May it be null? */
static bool
is_own_column(PlannerInfo *root, RelOptInfo *rel, Expr *expr, bool *nullable)
{
	Var		   *var = (Var *) expr;
	RangeTblEntry *rte = planner_rt_fetch(rel->relid, root);
	Relation	relation;

	if (!IsA(var, Var) || var->varno != rel->relid || var->varattno <= 0)
		return false;

	/*
	 * children that are no partitions may take nulls where their parent does
	 * not
	 */
	*nullable = rte->inh && rte->relkind != RELKIND_PARTITIONED_TABLE;
	if (*nullable)
		return true;
	relation = table_open(rte->relid, NoLock);
	*nullable = !strata_attribute_is_not_null(RelationGetDescr(relation),
											  var->varattno);
	table_close(relation, NoLock);
	return true;
}

/* See agg_plan_private.h. */
bool
strata_agg_is_time_column(PlannerInfo *root, RelOptInfo *rel, Expr *expr,
						  bool *nullable)
{
	return is_own_column(root, rel, expr, nullable) &&
		strata_agg_is_time_type(exprType((Node *) expr));
}

/* Do the partitions of the relation follow each other by the column? */
static bool
is_partitioned_by(const RelOptInfo *rel, const Expr *column)
{
	return rel->part_scheme != NULL &&
		rel->part_scheme->strategy == PARTITION_STRATEGY_RANGE &&
		rel->part_scheme->partnatts == 1 && rel->partexprs != NULL &&
		list_member(rel->partexprs[0], column);
}

/* The number of rows that LIMIT and OFFSET let pass; 0: unknown. */
static int
limit_of(const Query *parse)
{
	const Const *count = (const Const *) parse->limitCount;
	const Const *offset = (const Const *) parse->limitOffset;
	int64		n;
	int64		skip = 0;

	if (count == NULL || !IsA(count, Const) || count->constisnull ||
		parse->limitOption != LIMIT_OPTION_COUNT)
		return 0;
	n = DatumGetInt64(count->constvalue);
	if (offset != NULL)
	{
		if (!IsA(offset, Const))
			return 0;
		skip = offset->constisnull ? 0 : DatumGetInt64(offset->constvalue);
	}
	/* errors are LIMIT's to raise */
	if (n <= 0 || skip < 0 || n > MAX_TOP || skip > MAX_TOP ||
		n + skip > MAX_TOP)
		return 0;
	return (int) (n + skip);
}

/* GROUP BY key ORDER BY key LIMIT n? */
static void
plan_top(PlannerInfo *root, RelOptInfo *rel, bool has_having, AggShape *shape)
{
	Query	   *parse = root->parse;
	SortGroupClause *clause;
	Expr	   *key;
	Expr	   *column;
	int64		reach;
	bool		nullable;
	int			n = limit_of(parse);

	if (n == 0 || has_having || parse->sortClause == NIL ||
		parse->distinctClause != NIL || parse->hasWindowFuncs ||
		parse->hasTargetSRFs)
		return;
	clause = linitial_node(SortGroupClause, parse->sortClause);
	key = (Expr *) get_sortgroupclause_expr(clause, root->processed_tlist);
	for (shape->stop.top_key =
		 0; shape->stop.top_key < list_length(shape->keys);
		 shape->stop.top_key++)
		if (equal(list_nth(shape->keys, shape->stop.top_key), key))
			break;
	if (shape->stop.top_key == list_length(shape->keys) ||
		!strata_agg_is_time_order(clause, exprType((Node *) key),
								  &shape->stop.last))
		return;
	column = key;
	if (!IsA(key, Var))
	{
		if (!strata_agg_bucket_reach(key, shape->stop.last, &reach))
			return;
		strata_agg_bucket_width(key, &column);
	}
	if (!strata_agg_is_time_column(root, rel, column, &nullable))
		return;
	shape->stop.kind = AGG_STOP_TOP;
	shape->by = column;
	shape->stop.top_n = n;
	shape->stop.nulls_matter = nullable && clause->nulls_first;
	shape->stop.reverse = shape->stop.last && is_partitioned_by(rel, column);
}

/*
 * What the aggregate is the greatest or least of, or picks by; NULL: neither.
 */
static Expr *
extreme_of(Aggref *aggref, bool *last)
{
	const AggKernel *kernel = strata_agg_kernel_find(aggref);

	if (aggref->aggfilter != NULL)
		return NULL;
	if (kernel->result == AGG_RESULT_PICK)
	{
		*last = strata_agg_is_pick_last(kernel);
		return lsecond_node(TargetEntry, aggref->args)->expr;
	}
	if (kernel->result != AGG_RESULT_INT || kernel->kind == AGG_VALUE_INT8 ||
		(kernel->summary != AGG_SUMMARY_MIN &&
		 kernel->summary != AGG_SUMMARY_MAX))
		return NULL;
	*last = kernel->summary == AGG_SUMMARY_MAX;
	return linitial_node(TargetEntry, aggref->args)->expr;
}

/* Are all aggregates about the greatest, or least, of one column? */
static void
plan_pick(PlannerInfo *root, RelOptInfo *rel, AggShape *shape)
{
	Expr	   *by = NULL;
	bool		nullable;
	ListCell   *lc;

	foreach(lc, shape->aggrefs)
	{
		bool		last = false;
		Expr	   *one = extreme_of(lfirst_node(Aggref, lc), &last);

		if (one == NULL ||
			(by != NULL && (!equal(by, one) || last != shape->stop.last)))
			return;
		by = one;
		shape->stop.last = last;
	}

	/*
	 * nulls do not count, and a group that has nothing else is made by the
	 * first batch read
	 */
	if (by == NULL || !strata_agg_is_time_column(root, rel, by, &nullable))
		return;
	shape->by = by;
	shape->stop.kind = AGG_STOP_PICK;
	shape->stop.reverse = shape->stop.last && is_partitioned_by(rel, by);
}

/*
 * Is the row of each group the first by a column that batches have bounds of?
 */
static void
plan_first(PlannerInfo *root, RelOptInfo *rel, AggShape *shape)
{
	const List *ops;
	Expr	   *by;
	bool		nullable;

	if (shape->ranks == NIL)
		return;
	by = linitial(shape->ranks);
	ops = linitial(shape->rank_ops);
	if (!is_own_column(root, rel, by, &nullable) ||
		!strata_agg_has_words(exprType((Node *) by),
							  (Oid) linitial_int(ops), &shape->stop.last))
		return;
	shape->by = by;
	shape->stop.kind = AGG_STOP_PICK;
	shape->stop.nulls_matter = nullable && lthird_int(ops) != 0;
	shape->stop.reverse = shape->stop.last && is_partitioned_by(rel, by);
}

static bool
has_volatile_quals(const RelOptInfo *rel)
{
	ListCell   *lc;

	foreach(lc, rel->baserestrictinfo)
	{
		if (contain_volatile_functions((Node *) lfirst_node(RestrictInfo,
															lc)->clause))
			return true;
	}
	return false;
}

/*
 * See agg_plan_private.h; a shape that picks rows has "by" and "last" already.
 */
void
strata_agg_stop_plan(PlannerInfo *root, RelOptInfo *rel, bool has_having,
					 AggShape *shape)
{
	shape->stop.kind = AGG_STOP_NONE;
	if (!strata_enable_early_stop || has_volatile_quals(rel))
		return;
	if (shape->ranked)
	{
		plan_first(root, rel, shape);
		return;
	}
	if (shape->picks != NIL)
	{
		shape->stop.kind = AGG_STOP_PICK;
		shape->stop.reverse =
			shape->stop.last && is_partitioned_by(rel, shape->by);
		return;
	}
	plan_pick(root, rel, shape);
	if (shape->stop.kind == AGG_STOP_NONE && shape->keys != NIL)
		plan_top(root, rel, has_having, shape);
}

/*-------------------------------------------------------------------------
 * Execution
 *-------------------------------------------------------------------------
 */

/* See agg_private.h. */
void
strata_agg_stop_init(StrataAggState *agg)
{
	const AggStopPlan *plan = &agg->plan.stop;
	AggStop    *stop = &agg->stop;

	stop->kind = plan->kind;
	stop->last = plan->last;
	switch (stop->kind)
	{
		case AGG_STOP_NONE:
			return;
		case AGG_STOP_PICK:
			stop->by = strata_agg_value_add(agg, agg->plan.by);
			stop->nulls_matter = plan->nulls_matter;
			break;
		case AGG_STOP_TOP:
			stop->key = &agg->keys[plan->top_key];
			stop->by = stop->key->value;
			if (!strata_agg_bucket_reach(list_nth(agg->plan.keys,
												  plan->top_key),
										 stop->last, &stop->reach))
				stop->reach = 0;	/* a column */
			stop->n = plan->top_n;
			stop->nulls_matter = plan->nulls_matter;
			Assert(stop->n > 0);	/* agg:G11 */
			stop->seen = palloc(sizeof(int64) * stop->n);
			stop->rows = palloc(sizeof(uint16) * STRATA_AGG_CHUNK_ROWS);
			break;
	}
	strata_agg_input_choose(agg->input, agg, plan->reverse);
}

void
strata_agg_stop_reset(StrataAggState *agg)
{
	agg->stop.nseen = 0;
	if (agg->stop.segments != NULL)
		strata_agg_table_reset(agg->stop.segments);
}

/* Least and greatest value of the column in the loaded batch. */
static bool
bounds_of(StrataBatchReader *reader, AttrNumber attno,
		  const StrataColumnType *type, int64 *min, int64 *max)
{
	const StrataBatchSchema *schema = reader->schema;
	const StrataColumnSummary *summary;
	AttrNumber	min_att = schema->min_att[attno];
	bool		no_min;
	bool		no_max;
	Datum		lo;
	Datum		hi;

	if (reader->layout->norder > 0 &&
		reader->layout->order[0].attno == attno && min_att != 0 &&
		strata_batch_schema_same_type(schema, attno, min_att))
	{
		lo = strata_batch_reader_min(reader, attno, &no_min);
		hi = strata_batch_reader_max(reader, attno, &no_max);
		if (no_min || no_max)
			return false;
	}
	else
	{
		summary = strata_batch_reader_summary(reader, attno);
		if (summary == NULL || !summary->has_range || summary->has_nan)
			return false;
		lo = summary->min;
		hi = summary->max;
	}
	*min = strata_agg_word(type, lo);
	*max = strata_agg_word(type, hi);
	/* the wrong way round: of a type the column had before */
	return *min <= *max;
}

static bool
may_have_nulls(StrataBatchReader *reader, AttrNumber attno)
{
	const StrataColumnSummary *summary = strata_batch_reader_summary(reader,
																	 attno);

	return summary == NULL || summary->nnulls != 0;
}

/*
 * Set the keys to those of a batch of one group; false when it may have
 * several.
 */
static bool
load_segment(StrataAggState *agg, StrataBatchReader *reader,
			 const AttrNumber *attnos)
{
	for (int k = 0; k < agg->nkeys; k++)
	{
		AggKey	   *key = &agg->keys[k];
		int			input = agg->values[key->value].input;
		StrataColumn *col;

		if (key->bucket != NULL || input < 0 ||
			strata_layout_segment_index(reader->layout, attnos[input]) < 0)
			return false;
		col = strata_batch_reader_column(reader, attnos[input]);
		Assert(col->constant);	/* agg:G15 */
		key->current = col->value;
		key->isnull = col->value_isnull;
	}
	return true;
}

/* Is the best value of the batch better than that in the cells? */
static bool
improves(StrataAggState *agg, const AggCell *cells, int64 best)
{
	if (agg->best != NULL)
		return strata_agg_best_wants(agg->best, cells,
									 agg->stop.last ? ~best : best);
	for (int i = 0; i < agg->ncalls; i++)
	{
		const AggCell *cell = agg_cell(cells, &agg->calls[i]);
		int64		present = cell->v.i;

		if (agg->calls[i].kernel->result == AGG_RESULT_PICK)
		{
			if (!strata_agg_pick_time(cell, &present))
				return true;
		}
		else if (cell->n == 0)
			return true;
		if (agg->stop.last ? best > present : best < present)
			return true;
	}
	return false;
}

/* The worst time of a row that may be in those buckets; false: any may. */
static inline bool
limit_of_times(const AggStop *stop, int64 *limit)
{
	*limit = stop->seen[stop->n - 1];
	Assert(stop->nseen == stop->n); /* agg:G11 */
	return stop->last ? !pg_sub_s64_overflow(*limit, stop->reach, limit) :
		!pg_add_s64_overflow(*limit, stop->reach, limit);
}

/*
 * Does a row of that time, or any better one, belong to the buckets that are
 * wanted?
 */
static inline bool
time_is_wanted(const AggStop *stop, int64 x)
{
	int64		limit;

	return !limit_of_times(stop, &limit) ||
		(stop->last ? x >= limit : x <= limit);
}

/* The bound by which the batch was ranked; ~x turns the order round. */
static inline int64
bound_of(const AggStop *stop, const AggBatchRank *rank)
{
	return stop->last ? rank->rank : ~rank->rank;
}

/*
 * Would a value that good change the cells of the group that the keys' current
 * values are of?
 */
static bool
group_wants(StrataAggState *agg, int64 best)
{
	AggCell    *cells = agg->cells;

	if (agg->nkeys > 0)
	{
		AggGroup   *group = strata_agg_table_lookup(agg->table);

		if (group == NULL)
			return true;
		cells = agg_group_cells(group, agg->nkeys);
	}
	return improves(agg, cells, best);
}

/* See agg_private.h. */
bool
strata_agg_stop_wants(StrataAggState *agg, const AggBatchRank *rank)
{
	AggStop    *stop = &agg->stop;
	int64		best = bound_of(stop, rank);

	if (rank->rank == PG_INT64_MAX)
		return true;
	if (stop->kind == AGG_STOP_TOP)
		return stop->nseen < stop->n || time_is_wanted(stop, best);
	if (agg->nkeys > 0 && rank->segment == NULL)
		return true;
	for (int k = 0; k < agg->nkeys; k++)
	{
		agg->keys[k].current = agg_group_keys(rank->segment)[k];
		agg->keys[k].isnull = (rank->segment->nulls >> k) & 1;
	}
	return group_wants(agg, best);
}

/* The group of the keys' current values, among those of batches. */
static const AggGroup *
note_segment(StrataAggState *agg)
{
	AggStop    *stop = &agg->stop;

	if (stop->segments == NULL)
	{
		MemoryContext old;

		old = MemoryContextSwitchTo(agg->css.ss.ps.state->es_query_cxt);
		stop->segment_mcxt = AllocSetContextCreate(CurrentMemoryContext,
												   "StrataAgg segments",
												   ALLOCSET_DEFAULT_SIZES);
		stop->segments = strata_agg_table_create(agg, stop->segment_mcxt);
		MemoryContextSwitchTo(old);
	}
	return strata_agg_table_find(stop->segments);
}

/* See agg_private.h. */
bool
strata_agg_stop_rank(StrataAggState *agg, StrataBatchReader *reader,
					 const AttrNumber *attnos, AggBatchRank *rank)
{
	AggStop    *stop = &agg->stop;
	const AggValue *value = &agg->values[stop->by];
	AttrNumber	attno = attnos[value->input];
	int64		min;
	int64		max;

	Assert(value->is_column);	/* agg:G11: not of an expression */

	/* greatest: the bounds are unknown, or there is nothing better */
	rank->rank = PG_INT64_MAX;
	rank->segment = NULL;
	if ((stop->nulls_matter && may_have_nulls(reader, attno)) ||
		!bounds_of(reader, attno, &value->type, &min, &max))
		return true;
	rank->rank = stop->last ? max : ~min;
	if (stop->kind == AGG_STOP_PICK && agg->nkeys > 0 &&
		load_segment(agg, reader, attnos))
		rank->segment = note_segment(agg);
	return strata_agg_stop_wants(agg, rank);
}

static inline bool
row_is_wanted(const AggStop *stop, const AggVector *vector,
			  const StrataColumn *col, int i)
{
	return time_is_wanted(stop,
						  strata_agg_column_int(col,
												agg_vector_row(vector, i)));
}

/* Of a row store's rows, those of a time that is wanted, and nulls. */
static bool
restrict_rows(StrataAggState *agg, AggVector *vector)
{
	const AggStop *stop = &agg->stop;
	const StrataColumn *col;
	int			n = 0;

	col = strata_agg_input_column(vector, agg->values[stop->by].input);
	Assert(vector->nselected <= STRATA_AGG_CHUNK_ROWS); /* agg:G1 */
	for (int i = 0; i < vector->nselected; i++)
	{
		int			row = agg_vector_row(vector, i);

		/* a row is written at or before the place it was read from */
		stop->rows[n] = (uint16) row;
		n += (col->isnull != NULL && col->isnull[row]) ||
			time_is_wanted(stop, strata_agg_column_int(col, row));
	}
	vector->rows = stop->rows;
	vector->nselected = n;
	return n > 0;
}

/*
 * See agg_private.h; of a batch in the order of the column, the rows at one
 * end.
 */
bool
strata_agg_stop_restrict(StrataAggState *agg, AggVector *vector)
{
	AggStop    *stop = &agg->stop;
	const AggValue *value = &agg->values[stop->by];
	StrataColumn *col;
	int			lo = 0;
	int			hi = vector->nselected - 1;
	bool		at_start;

	if (stop->nseen < stop->n || vector->nselected == 0)
		return true;
	if (vector->batch == NULL)
		return restrict_rows(agg, vector);
	col = strata_agg_input_column(vector, value->input);
	if (col->constant || !strata_agg_is_sorted(vector, value, col))
		return true;
	at_start = row_is_wanted(stop, vector, col, 0);
	if (at_start == row_is_wanted(stop, vector, col, hi))
		return at_start;
	/* lo is as the first row, hi as the last */
	while (hi - lo > 1)
	{
		int			mid = lo + (hi - lo) / 2;

		if (row_is_wanted(stop, vector, col, mid) == at_start)
			lo = mid;
		else
			hi = mid;
	}
	vector->whole = false;
	if (at_start)
		vector->nselected = hi;
	else
	{
		if (vector->rows != NULL)
			vector->rows += hi;
		else
			vector->first += hi;
		vector->nselected -= hi;
	}
	Assert(vector->nselected > 0 &&
		   row_is_wanted(stop, vector, col, 0));	/* agg:G11 */
	Assert(row_is_wanted(stop, vector, col,
						 vector->nselected - 1));	/* agg:G11 */
	return true;
}

/* See agg_private.h. */
void
strata_agg_stop_see(StrataAggState *agg)
{
	AggStop    *stop = &agg->stop;
	int64		x;
	int			i = stop->nseen;

	/* no nulls; and the type of a bucket is that of its argument */
	if (stop->key->isnull)
		return;
	x = strata_datum_integer(stop->key->current,
							 agg->values[stop->by].type.width);
	while (i > 0 &&
		   (stop->last ? x > stop->seen[i - 1] : x < stop->seen[i - 1]))
		i--;
	if (i == stop->n || (i > 0 && stop->seen[i - 1] == x))
		return;
	if (stop->nseen < stop->n)
		stop->nseen++;
	memmove(&stop->seen[i + 1], &stop->seen[i],
			sizeof(int64) * (stop->nseen - 1 - i));
	stop->seen[i] = x;
	Assert(i == 0 || (stop->last ? stop->seen[i - 1] > x :
					  stop->seen[i - 1] < x));	/* agg:G11 */
	Assert(i + 1 == stop->nseen ||
		   (stop->last ? x > stop->seen[i + 1] :
			x < stop->seen[i + 1]));	/* agg:G11 */
}

/* See agg_private.h. */
bool
strata_agg_stop_wants_run(StrataAggState *agg, const AggCell *cells, int from,
						  int to)
{
	const AggStop *stop = &agg->stop;
	const StrataColumn *col = strata_agg_value_column(agg, stop->by);

	for (int i = from; i < to; i++)
	{
		int			row = agg_vector_row(agg->vector, i);

		if ((col->isnull != NULL && col->isnull[row]) || col->constant ||
			improves(agg, cells, strata_agg_column_int(col, row)))
			return true;
	}
	return false;
}

/*
 * See agg_private.h.  All calls have seen the same rows, and are about the
 * best of one column: what the first of them has, they all have.
 */
int
strata_agg_stop_wanted_rows(StrataAggState *agg, AggCell *const *cells,
							uint16 *wanted)
{
	const AggStop *stop = &agg->stop;
	const StrataColumn *col = strata_agg_value_column(agg, stop->by);
	bool		pick = agg->calls[0].kernel->result == AGG_RESULT_PICK;
	int			n = 0;

	Assert(agg->ncalls > 0 && stop->kind == AGG_STOP_PICK); /* agg:G11 */
	for (int i = 0; i < agg->vector->nselected; i++)
	{
		int			row = agg_vector_row(agg->vector, i);
		int64		present;
		int64		x;
		bool		found;

		wanted[n] = (uint16) i;
		if (col->constant || (col->isnull != NULL && col->isnull[row]))
		{
			n++;
			continue;
		}
		x = strata_agg_column_int(col, row);
		if (pick)
			found = strata_agg_pick_time(cells[i], &present);
		else
		{
			present = cells[i]->v.i;
			found = cells[i]->n > 0;
		}
		found = found && (stop->last ? x <= present : x >= present);
		Assert(found != improves(agg, cells[i], x));	/* agg:G11 */
		n += !found;
	}
	return n;
}

/* See agg_private.h.  A partition by ranges has no nulls. */
bool
strata_agg_stop_wants_partition(StrataAggState *agg, PlanState *node,
								const AttrNumber *attnos)
{
	const AggStop *stop = &agg->stop;
	const AggValue *value = &agg->values[stop->by];
	int64		best;

	if ((stop->kind == AGG_STOP_TOP ? stop->nseen < stop->n :
		 agg->nkeys > 0) ||
		!strata_scan_partition_best(node, attnos[value->input], stop->last,
									value->type.width, &best))
		return true;
	return stop->kind == AGG_STOP_TOP ? time_is_wanted(stop, best) :
		improves(agg, agg->cells, best);
}

/* An integer as a value of a column of that width, or what is next to it. */
static Datum
integer_datum(int64 x, int width)
{
	switch (width)
	{
		case sizeof(int16):
			return Int16GetDatum((int16) Max(Min(x, PG_INT16_MAX),
											 PG_INT16_MIN));
		case sizeof(int32):
			return Int32GetDatum((int32) Max(Min(x, PG_INT32_MAX),
											 PG_INT32_MIN));
		default:
			return Int64GetDatum(x);
	}
}

/*
 * See agg_private.h.  Of groups, the row that is picked from each is enough;
 * of buckets those rows that may be in one of the best.
 */
bool
strata_agg_stop_by_index(StrataAggState *agg, PlanState *node,
						 const AttrNumber *attnos)
{
	const AggStop *stop = &agg->stop;
	const AggValue *by = &agg->values[stop->by];
	const AggValue *key;
	int64		limit;

	Assert(by->is_column);		/* agg:G11 */
	if (stop->kind == AGG_STOP_PICK)
	{
		/* what the index has for one value must be one group */
		key = agg->nkeys == 1 && agg->keys[0].bucket == NULL &&
			agg->best == NULL ?
			&agg->values[agg->keys[0].value] : NULL;
		if (key == NULL || !key->is_column)
			return false;
		return strata_scan_rows_by_group(node, attnos[key->input],
										 attnos[by->input], stop->last,
										 strata_agg_table_ngroups(agg->table));
	}
	if (stop->nseen < stop->n || stop->nulls_matter ||
		!limit_of_times(stop, &limit))
		return false;
	return strata_scan_rows_by_bound(node, attnos[by->input], stop->last, true,
									 integer_datum(limit, by->type.width));
}
