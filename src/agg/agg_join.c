/*-------------------------------------------------------------------------
 *
 * agg_join.c
 *	  Aggregation of a table before it is joined with others.
 *
 * One relation of a join, called fact here, is grouped by the columns that
 * the join's conditions and the query's keys read of it.  The join takes such
 * groups for rows, with the partial results of the aggregates as one more
 * column, and a StrataAgg above it combines what comes out.  The join itself
 * is one that the planner found: its paths are copied, with another input and
 * other columns.
 *
 * src/agg/agg_join.c
 *-------------------------------------------------------------------------
 */
#include "agg/agg.h"
#include "agg/agg_join_private.h"
#include "agg/agg_private.h"

#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/restrictinfo.h"
#include "optimizer/tlist.h"
#include "utils/selfuncs.h"

static bool
is_of(const RelOptInfo *fact, const Path *path)
{
	return bms_is_member((int) fact->relid, path->parent->relids);
}

/*
 * The side of the join that fact is on, provided that groups of it can be
 * joined as its rows are: each of them comes out as often as each row of the
 * group would, never as a row of nulls.
 */
static Path **
fact_side(const RelOptInfo *fact, JoinPath * join)
{
	bool		outer = is_of(fact, join->outerjoinpath);

	if (join->path.param_info != NULL ||
		join->outerjoinpath->param_info != NULL ||
		join->innerjoinpath->param_info != NULL)
		return NULL;
	switch (join->jointype)
	{
		case JOIN_INNER:
			break;
		case JOIN_LEFT:
		case JOIN_SEMI:
		case JOIN_ANTI:
			if (!outer)
				return NULL;
			break;
		case JOIN_RIGHT:
			if (outer)
				return NULL;
			break;
		default:
			return NULL;
	}
	return outer ? &join->outerjoinpath : &join->innerjoinpath;
}

/* See agg_join_private.h. */
bool
strata_agg_join_add_columns(JoinBelow *below, List *clauses)
{
	ListCell   *lc;

	foreach(lc, clauses)
	{
		Node	   *clause = (Node *) lfirst_node(RestrictInfo, lc)->clause;
		ListCell   *lc2;

		if (contain_volatile_functions(clause))
			return false;
		foreach(lc2, pull_var_clause(clause, PVC_INCLUDE_PLACEHOLDERS))
		{
			Var		   *var = lfirst(lc2);

			if (!IsA(var, Var))
				return false;
			if (var->varno == (int) below->fact->relid)
				below->columns = list_append_unique(below->columns, var);
		}
	}
	return true;
}

/*
 * Can the join be had with groups in fact's place?  Collects the columns that
 * it needs of them.  Where fact's rows are made distinct first, for a semi
 * join, its path is none that we read.
 */
static bool
can_join(JoinBelow *below, Path *path)
{
	Path	  **side;
	ListCell   *lc;

	path = strata_agg_strip_projection(path);
	if (path->parent == below->fact)
		return strata_agg_find_input(list_make1(path)) != NULL;
	if (!IsA(path, HashPath) && !IsA(path, NestPath))
		return false;
	side = fact_side(below->fact, (JoinPath *) path);
	if (side == NULL ||
		!strata_agg_join_add_columns(below,
									 ((JoinPath *) path)->joinrestrictinfo))
		return false;
	foreach(lc, pull_var_clause((Node *) path->pathtarget->exprs,
								PVC_INCLUDE_PLACEHOLDERS))
	{
		if (!IsA(lfirst(lc), Var))
			return false;
	}
	return can_join(below, *side);
}

/* See agg_join_private.h. */
RelOptInfo *
strata_agg_relation_like(const RelOptInfo *rel, PathTarget *target,
						 double rows)
{
	RelOptInfo *copy = makeNode(RelOptInfo);

	*copy = *rel;
	copy->reltarget = target;
	copy->rows = rows;
	copy->pathlist = NIL;
	copy->partial_pathlist = NIL;
	return copy;
}

/*
 * The groups in the place of path, one of fact's.  It may be one that a join
 * leaves less to read than the others (scan_join_path.c): then so do they.
 */
static Path *
groups_of(const JoinBelow *below, const Path *path)
{
	const Path *whole = below->fact->cheapest_total_path;
	CustomPath *copy;

	if (path->param_info != NULL || path->rows >= below->fact->rows ||
		path->total_cost >= whole->total_cost)
		return below->groups;
	copy = makeNode(CustomPath);
	*copy = *(CustomPath *) below->groups;
	copy->path.startup_cost *= path->total_cost / whole->total_cost;
	copy->path.total_cost *= path->total_cost / whole->total_cost;
	copy->path.rows = clamp_row_est(copy->path.rows * path->rows /
									below->fact->rows);
	return &copy->path;
}

/* What such a join returns: groups' columns, and those of the others. */
static PathTarget *
joined_target(const JoinBelow *below, const Path *path)
{
	PathTarget *target = create_empty_pathtarget();
	ListCell   *lc;

	add_new_columns_to_pathtarget(target, below->exprs);
	foreach(lc, pull_var_clause((Node *) path->pathtarget->exprs, 0))
	{
		if (lfirst_node(Var, lc)->varno != (int) below->fact->relid)
			add_new_column_to_pathtarget(target, lfirst(lc));
	}
	return set_pathtarget_cost_width(below->root, target);
}

/* See agg_join_private.h. */
Path *
strata_agg_join_groups(JoinBelow *below, Path *path)
{
	JoinPath   *join;
	Path	  **side;
	Path	   *rows;
	Path	   *other;
	Cost		own;

	path = strata_agg_strip_projection(path);
	if (path->parent == below->fact)
		return groups_of(below, path);
	if (IsA(path, HashPath))
	{
		HashPath   *copy = makeNode(HashPath);

		*copy = *(HashPath *) path;
		copy->inner_rows_total *= is_of(below->fact,
										copy->jpath.innerjoinpath) ?
			below->share : 1;
		join = &copy->jpath;
	}
	else
	{
		NestPath   *copy = makeNode(NestPath);

		*copy = *(NestPath *) path;
		join = &copy->jpath;
	}
	side = fact_side(below->fact, join);
	Assert(side != NULL);		/* agg:G20 */
	rows = *side;
	other = rows == join->outerjoinpath ? join->innerjoinpath :
		join->outerjoinpath;
	*side = strata_agg_join_groups(below, rows);
	join->path.pathtarget = joined_target(below, path);
	join->path.rows = clamp_row_est(path->rows * below->share);
	join->path.parent = strata_agg_relation_like(path->parent,
												 join->path.pathtarget,
												 join->path.rows);
	join->path.pathkeys = NIL;
	join->path.parallel_safe = false;
	own = Max(path->total_cost - rows->total_cost - other->total_cost, 0);
	join->path.total_cost = (*side)->total_cost + other->total_cost +
		own * below->share;
	join->path.startup_cost = (*side)->startup_cost + other->startup_cost;
	return &join->path;
}

/* How many groups the query wants of so many that come out of the join. */
static double
estimate_result(const JoinBelow *below, const AggShape *whole, double rows)
{
	AggShape	own = {0};
	List	   *others = NIL;
	double		n = 1;
	ListCell   *lc;

	foreach(lc, whole->keys)
	{
		if (strata_agg_is_bucket(lfirst(lc)) &&
			list_member(below->keys, lfirst(lc)))
			own.keys = lappend(own.keys, lfirst(lc));
		else
			others = lappend(others, lfirst(lc));
	}
	if (own.keys != NIL)
		n *= strata_agg_estimate_groups(below->root, below->fact, &own,
										below->fact->rows);
	if (others != NIL)
		n *= estimate_num_groups(below->root, others, rows, NULL, NULL);
	return clamp_row_est(Min(n, rows));
}

/* Offer the join, one of the planner's paths, over groups of fact. */
static void
offer_join(JoinBelow *below, Path *join, RelOptInfo *grouped_rel,
		   List *having, double rows_per_group)
{
	PlannerInfo *root = below->root;
	RelOptInfo *fact = below->fact;
	AggShape	part = {0};
	AggShape	whole;
	Path	   *input = strata_agg_find_input(fact->pathlist);
	PathTarget *target = create_empty_pathtarget();
	RelOptInfo *rel;
	CustomPath *path;
	AggPlanData data;
	double		ngroups;
	ListCell   *lc;

	part.keys = below->columns;
	strata_agg_join_shape(root, fact, grouped_rel, having, &part, &whole);
	/* without keys there would be a group where there are no rows */
	if (part.reason != NULL || part.keys == NIL)
		return;
	ngroups = strata_agg_estimate_groups(root, fact, &part, fact->rows);
	if (ngroups * rows_per_group > fact->rows)
		return;
	below->share = ngroups / fact->rows;
	below->keys = part.keys;
	foreach(lc, part.keys)
		below->exprs = lappend(below->exprs,
							   strata_agg_column_below(lfirst(lc)));
	add_new_columns_to_pathtarget(target, below->exprs);
	add_column_to_pathtarget(target, strata_agg_partial_column(), 0);
	set_pathtarget_cost_width(root, target);
	rel = strata_agg_relation_like(fact, target, ngroups);
	rel->reloptkind = RELOPT_UPPER_REL;
	rel->baserestrictinfo = NIL;
	path = strata_agg_reading_path(root, fact, rel, target, input, &part,
								   AGG_STAGE_BELOW);
	if (path == NULL)
		return;
	path->path.parallel_safe = false;
	below->groups = &path->path;
	/* where the bytes are strata_agg_read_joined() knows */
	below->exprs = lcons(strata_agg_partial_column(), below->exprs);
	join = strata_agg_join_groups(below, join);
	path = strata_agg_combining_path(root, grouped_rel, join, &whole, having,
									 AGG_STAGE_JOINED,
									 whole.keys == NIL ? 1 :
									 estimate_result(below, &whole,
													 join->rows));
	data = *strata_agg_path_data(path);
	data.joined = join->pathtarget->exprs;
	strata_agg_path_set_data(path, &data);
	strata_agg_offer(root, grouped_rel, path, &whole);
}

/* See agg_join_private.h. */
RelOptInfo *
strata_agg_join_fact(PlannerInfo *root, RelOptInfo *join, List *exprs)
{
	List	   *aggrefs = pull_var_clause((Node *) exprs,
										  PVC_INCLUDE_AGGREGATES |
										  PVC_INCLUDE_PLACEHOLDERS);
	Relids		read = NULL;
	RelOptInfo *best = NULL;
	int			relid = -1;
	ListCell   *lc;

	foreach(lc, aggrefs)
	{
		if (IsA(lfirst(lc), Aggref))
			read = bms_add_members(read, pull_varnos(root, lfirst(lc)));
	}
	while ((relid = bms_next_member(join->relids, relid)) >= 0)
	{
		RelOptInfo *rel = root->simple_rel_array[relid];

		if (rel == NULL || rel->reloptkind != RELOPT_BASEREL ||
			rel->rtekind != RTE_RELATION || IS_DUMMY_REL(rel) ||
			rel->lateral_relids != NULL ||
			(read != NULL && !bms_is_member(relid, read)) ||
			strata_agg_find_input(rel->pathlist) == NULL)
			continue;
		if (best == NULL || rel->rows > best->rows)
			best = rel;
	}
	return best;
}

/* See agg_join_private.h. */
Path *
strata_agg_join_choose(JoinBelow *below, RelOptInfo *join)
{
	Path	   *best = NULL;
	ListCell   *lc;

	foreach(lc, strata_agg_join_paths(join))
	{
		JoinBelow	of_path = {below->root, below->fact};
		Path	   *path = lfirst(lc);

		if ((best != NULL && path->total_cost >= best->total_cost) ||
			!can_join(&of_path, path))
			continue;
		best = path;
		below->columns = of_path.columns;
	}
	return best;
}

/* See agg_plan_private.h. */
void
strata_agg_create_join_paths(PlannerInfo *root, RelOptInfo *input_rel,
							 RelOptInfo *grouped_rel, List *having,
							 bool by_vectors)
{
	JoinBelow	below = {root};
	Path	   *join;

	if (!strata_enable_vector_agg || !strata_enable_join_aggregation ||
		IS_DUMMY_REL(input_rel))
		return;
	below.fact = strata_agg_join_fact(root, input_rel,
									  list_concat_copy(grouped_rel->reltarget->exprs,
													   having));
	if (below.fact == NULL)
		return;
	join = strata_agg_join_choose(&below, input_rel);
	if (join != NULL)
		offer_join(&below, join, grouped_rel, having,
				   by_vectors ? AGG_JOINED_ROWS_PER_GROUP :
				   AGG_ROWS_PER_GROUP);
}

/* See agg_private.h. */
void
strata_agg_load_joined_key(AggKey *key, ExprContext *econtext)
{
	key->current = ExecEvalExpr(key->joined, econtext, &key->isnull);
	if (!key->isnull && key->typbyval)
		key->current = strata_datum_of_tuple(key->current, key->typlen);
	else if (!key->isnull && key->typlen == -1)
		key->current = PointerGetDatum(PG_DETOAST_DATUM_PACKED(key->current));
}

/* See agg_private.h. */
void
strata_agg_read_joined(StrataAggState *agg)
{
	PlanState  *child = linitial(agg->css.custom_ps);
	ExprContext *econtext = agg->input_econtext;
	TupleTableSlot *slot;

	Assert(agg->input == NULL &&
		   agg->stop.kind == AGG_STOP_NONE);	/* agg:G13 */
	while (slot = ExecProcNode(child), !TupIsNull(slot))
	{
		MemoryContext old;
		bool		isnull;
		bytea	   *data;

		CHECK_FOR_INTERRUPTS();
		MemoryContextReset(agg->vector_mcxt);
		ResetExprContext(econtext);
		old = MemoryContextSwitchTo(agg->vector_mcxt);
		econtext->ecxt_outertuple = slot;
		for (int k = 0; k < agg->nkeys; k++)
			strata_agg_load_joined_key(&agg->keys[k], econtext);
		data = DatumGetByteaPP(slot_getattr(slot, 1, &isnull));
		strata_agg_joined_combine(agg, agg->table == NULL ? agg->cells :
								  agg_group_cells(strata_agg_table_find(agg->table),
												  agg->nkeys),
								  VARDATA_ANY(data),
								  (char *) data + VARSIZE_ANY(data));
		strata_agg_distinct_take_joined(agg, econtext);
		MemoryContextSwitchTo(old);
		if (agg->table != NULL && strata_agg_table_is_full(agg->table))
			strata_agg_table_spill(agg->table);
	}
	econtext->ecxt_outertuple = agg->input_slot;
}

/* See agg.h. */
AttrNumber
strata_agg_child_column(PlanState *node, AttrNumber resno)
{
	CustomScan *cscan = (CustomScan *) node->plan;
	AggPlanData data;
	Var		   *var;

	if (cscan->methods != &strata_agg_scan_methods)
		return 0;
	var = (Var *) list_nth_node(TargetEntry, cscan->scan.plan.targetlist,
								resno - 1)->expr;
	strata_agg_plan_read(cscan, &data);
	if ((data.stage != AGG_STAGE_BELOW && data.stage != AGG_STAGE_WHOLE) ||
		data.sets != NIL || data.stop.kind == AGG_STOP_TOP ||
		!IsA(var, Var) || var->varno != INDEX_VAR ||
		var->varattno > list_length(data.keys))
		return 0;
	Assert(data.stage == AGG_STAGE_WHOLE ||
		   data.stop.kind == AGG_STOP_NONE);	/* agg:G13 */
	var = list_nth(data.keys, var->varattno - 1);
	return IsA(var, Var) && var->varno == OUTER_VAR ? var->varattno : 0;
}
