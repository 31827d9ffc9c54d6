/*-------------------------------------------------------------------------
 *
 * agg_first.c
 *	  What DISTINCT and DISTINCT ON want: the different keys, and of each the
 *	  first row in an order.
 *
 * src/agg/agg_first.c
 *-------------------------------------------------------------------------
 */
#include "agg/agg_plan_private.h"

#include "agg/agg_private.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "optimizer/tlist.h"

/* Does the group say what the column is in each of its rows? */
static bool
is_key_of_rows(const AggShape *shape, const Node *var)
{
	ListCell   *lc;
	ListCell   *lc2;

	forboth(lc, shape->keys, lc2, shape->eqops)
	{
		if (equal(lfirst(lc), var) && !OidIsValid(lfirst_oid(lc2)))
			return true;
	}
	return false;
}

/*
 * Columns that target reads and that are no keys come from the row that is
 * picked.
 */
static void
add_picks(PathTarget *target, Index relid, AggShape *shape)
{
	ListCell   *lc;

	foreach(lc,
			pull_var_clause((Node *) target->exprs, PVC_INCLUDE_PLACEHOLDERS))
	{
		Node	   *var = lfirst(lc);

		if (!is_key_of_rows(shape, var) &&
			strata_agg_can_evaluate(var, relid, shape))
			shape->picks = list_append_unique(shape->picks, var);
	}
}

/*
 * Does the clause sort integers and times as such, not by an operator class of
 * its own?
 */
bool
strata_agg_is_time_order(const SortGroupClause *clause, Oid type,
						 bool *descending)
{
	return strata_agg_is_time_type(type) &&
		strata_agg_has_words(type, clause->sortop, descending);
}

/*
 * Is each column one that DISTINCT compares?  What a window function sorted by
 * stays in the target when the planner has found that it need not be called.
 */
static bool
all_are_compared(Query *parse, PathTarget *target)
{
	for (int i = 0; i < list_length(target->exprs); i++)
	{
		Index		ref = get_pathtarget_sortgroupref(target, i);
		bool		found = false;
		ListCell   *lc;

		foreach(lc, parse->distinctClause)
			found |= ref != 0 &&
			lfirst_node(SortGroupClause, lc)->tleSortGroupRef == ref;
		if (!found)
			return false;
	}
	return true;
}

/* The next thing that rows of a group are ranked by. */
static void
add_rank(const SortGroupClause *clause, Node *expr, AggShape *shape)
{
	shape->ranks = lappend(shape->ranks, expr);
	shape->rank_ops = lappend(shape->rank_ops,
							  list_make3_int((int) clause->sortop,
											 (int) exprCollation(expr),
											 clause->nulls_first));
}

/*
 * Is the row that is wanted the one with the greatest or least time, which is
 * never null?  Its keys must be those of all rows of the group.
 */
static bool
is_latest(PlannerInfo *root, RelOptInfo *rel, AggShape *shape)
{
	Expr	   *by;
	bool		nullable;
	ListCell   *lc;

	if (list_length(shape->ranks) != 1)
		return false;
	foreach(lc, shape->keys)
	{
		/* those that are expressions would have to be found in the target */
		if (!IsA(lfirst(lc), Var) ||
			OidIsValid(list_nth_oid(shape->eqops, foreach_current_index(lc))))
			return false;
	}
	by = linitial(shape->ranks);
	return strata_agg_is_time_column(root, rel, by, &nullable) && !nullable &&
		!list_member(shape->keys, by) &&
		strata_agg_has_words(exprType((Node *) by),
							 (Oid) linitial_int(linitial(shape->rank_ops)),
							 &shape->stop.last);
}

/* When keys, ranks and picks are known: how the row is found. */
static void
settle_ranks(PlannerInfo *root, RelOptInfo *rel, AggShape *shape)
{
	/* without picks the keys are all there is */
	shape->ranked = shape->reason == NULL && shape->picks != NIL;
	if (!shape->ranked)
		shape->ranks = NIL;
	else if (is_latest(root, rel, shape))
	{
		shape->ranked = false;
		shape->by = linitial(shape->ranks);
		shape->ranks = NIL;
	}
	else if (!strata_enable_first_rows)
		shape->reason =
			"of DISTINCT ON without one column of time behind it in ORDER BY";
	if (shape->ranks == NIL)
		shape->rank_ops = NIL;
}

/*
 * DISTINCT ON whatever can be grouped by, of which the first row by what ORDER
 * BY has behind it.
 */
static void
pick_first(PlannerInfo *root, RelOptInfo *input_rel, PathTarget *target,
		   AggShape *shape)
{
	Query	   *parse = root->parse;
	Index		relid = input_rel->relid;
	ListCell   *lc;

	for_each_from(lc, parse->sortClause,
				  Min(list_length(parse->distinctClause),
					  list_length(parse->sortClause)))
	{
		SortGroupClause *clause = lfirst_node(SortGroupClause, lc);
		Node	   *expr = get_sortgroupclause_expr(clause,
													root->processed_tlist);

		if (!strata_agg_can_evaluate(expr, relid, shape))
			return;
		add_rank(clause, expr, shape);
	}
	add_picks(target, relid, shape);
	settle_ranks(root, input_rel, shape);
}

/* See agg_plan_private.h. */
void
strata_agg_distinct_shape(PlannerInfo *root, RelOptInfo *input_rel,
						  PathTarget *target, AggShape *shape)
{
	Query	   *parse = root->parse;
	Index		relid = input_rel->relid;
	ListCell   *lc;

	memset(shape, 0, sizeof(*shape));
	if (parse->hasTargetSRFs)
		shape->reason = "a function returns sets";
	else if (list_length(parse->distinctClause) > AGG_MAX_KEYS)
		shape->reason = "there are too many keys";
	else if (contain_volatile_functions((Node *) target->exprs) ||
			 contain_subplans((Node *) target->exprs))
		shape->reason = "an expression is volatile, or has a subquery";
	else if (!parse->hasDistinctOn && !all_are_compared(parse, target))
		shape->reason = "of a column that DISTINCT does not compare";
	foreach(lc, parse->distinctClause)
	{
		if (shape->reason == NULL)
			strata_agg_add_key(root, lfirst_node(SortGroupClause, lc),
							   relid, shape);
	}
	if (shape->reason == NULL && parse->hasDistinctOn)
		pick_first(root, input_rel, target, shape);
}

/* The columns of fact that an expression above a join reads are keys below. */
static void
add_keys_below(Node *expr, const RelOptInfo *fact, AggShape *part)
{
	ListCell   *lc;

	foreach(lc, pull_var_clause(expr, PVC_INCLUDE_PLACEHOLDERS))
	{
		if (!IsA(lfirst(lc), Var))
			part->reason = "of the query's form";
		else if (lfirst_node(Var, lc)->varno == (int) fact->relid &&
				 part->reason == NULL)
			strata_agg_add_part_key(lfirst(lc), part);
	}
}

/*
 * What ORDER BY ranks rows by, as far as it is columns of fact.  What is
 * computed might raise errors, for rows that the join drops.
 */
static void
add_ranks_below(PlannerInfo *root, RelOptInfo *fact, AggShape *part)
{
	ListCell   *lc;

	for_each_from(lc, root->parse->sortClause,
				  Min(list_length(root->parse->distinctClause),
					  list_length(root->parse->sortClause)))
	{
		SortGroupClause *clause = lfirst_node(SortGroupClause, lc);
		Node	   *expr = get_sortgroupclause_expr(clause,
													root->processed_tlist);

		if (!bms_is_member((int) fact->relid, pull_varnos(root, expr)))
			continue;
		if (IsA(expr, Var))
			add_rank(clause, expr, part);
		else
			part->reason = "an order may raise errors below a join";
	}
}

/* See agg_plan_private.h. */
void
strata_agg_first_below_shape(PlannerInfo *root, RelOptInfo *fact,
							 List *columns, AggShape *part)
{
	ListCell   *lc;

	memset(part, 0, sizeof(*part));
	if (root->parse->hasTargetSRFs ||
		contain_volatile_functions((Node *) root->processed_tlist) ||
		contain_subplans((Node *) root->processed_tlist))
		part->reason = "of the query's form";
	foreach(lc, columns)
		strata_agg_add_part_key(lfirst(lc), part);
	foreach(lc, root->parse->distinctClause)
		add_keys_below(get_sortgroupclause_expr(lfirst_node(SortGroupClause,
															lc),
												root->processed_tlist),
					   fact, part);
	add_ranks_below(root, fact, part);
	if (list_length(part->keys) > AGG_MAX_KEYS)
		part->reason = "there are too many keys";
	foreach(lc, part->keys)
	{
		if (part->reason == NULL)
			(void) strata_agg_can_evaluate(lfirst(lc), fact->relid, part);
	}
	foreach(lc, part->ranks)
	{
		if (part->reason == NULL)
			(void) strata_agg_can_evaluate(lfirst(lc), fact->relid, part);
	}
	if (part->reason == NULL)
		add_picks(fact->reltarget, fact->relid, part);
	settle_ranks(root, fact, part);
}
