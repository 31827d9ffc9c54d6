/*-------------------------------------------------------------------------
 *
 * agg_shape.c
 *	  Which queries StrataAgg can answer: what they aggregate, and why not.
 *
 * src/agg/agg_shape.c
 *-------------------------------------------------------------------------
 */
#include "agg/agg_private.h"

#include "access/htup_details.h"
#include "access/nbtree.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_type_d.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "optimizer/tlist.h"
#include "rewrite/rewriteManip.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

/*
 * See agg_plan_private.h.  B-tree indexes ask the same before they keep one
 * image for equal keys.
 */
bool
strata_agg_is_equal_by_image(Oid type, Oid collation, Oid eqop)
{
	TypeCacheEntry *typcache = lookup_type_cache(type,
												 TYPECACHE_BTREE_OPFAMILY);
	Oid			proc;

	/*
	 * bpchar: without a length, blanks at the end are kept, but do not count
	 */
	if (getBaseType(type) == BPCHAROID || !OidIsValid(typcache->btree_opf) ||
		get_op_opfamily_strategy(eqop, typcache->btree_opf) !=
		BTEqualStrategyNumber)
		return false;
	proc = get_opfamily_proc(typcache->btree_opf, typcache->btree_opintype,
							 typcache->btree_opintype, BTEQUALIMAGE_PROC);
	return OidIsValid(proc) &&
		DatumGetBool(OidFunctionCall1Coll(
										  proc, collation, ObjectIdGetDatum(typcache->btree_opintype)));
}

/*
 * Collect the Vars of the relation (0: of any that are joined); false when
 * there is something else to it.
 */
static bool
add_inputs(Node *expr, Index relid, AggShape *shape)
{
	ListCell   *lc;

	foreach(lc, pull_var_clause(expr, PVC_INCLUDE_PLACEHOLDERS |
								PVC_INCLUDE_AGGREGATES))
	{
		Var		   *var = lfirst(lc);

		if (!IsA(var, Var) || (relid != 0 && var->varno != relid) ||
			var->varattno <= 0 ||
			var->varlevelsup != 0)
			return false;
		shape->inputs = list_append_unique(shape->inputs, var);
	}
	return true;
}

/* See agg_plan_private.h. */
bool
strata_agg_can_evaluate(Node *expr, Index relid, AggShape *shape)
{
	if (contain_volatile_functions(expr))
		shape->reason = "an expression is volatile";
	else if (contain_subplans(expr))
		shape->reason = "an aggregate or a key has a subquery";
	else if (!add_inputs(expr, relid, shape))
		shape->reason =
			"an aggregate or a key reads whole rows or system columns";
	return shape->reason == NULL;
}

/* See agg_plan_private.h. */
void
strata_agg_add_key(PlannerInfo *root, SortGroupClause *clause, Index relid,
				   AggShape *shape)
{
	Node	   *expr = strata_clause_below_grouping(root, clause);
	bool		by_image = strata_agg_is_equal_by_image(exprType(expr),
														exprCollation(expr),
														clause->eqop);

	if (!by_image && !clause->hashable)
		shape->reason = "values of a key cannot be hashed";
	else if (strata_agg_can_evaluate(expr, relid, shape) &&
			 !list_member(shape->keys, expr))
	{
		shape->keys = lappend(shape->keys, expr);
		shape->eqops = lappend_oid(shape->eqops,
								   by_image ? InvalidOid : clause->eqop);
	}
}

/* See agg_plan_private.h. */
bool
strata_agg_computes(List *args)
{
	ListCell   *lc;

	foreach(lc, args)
	{
		Expr	   *expr = lfirst_node(TargetEntry, lc)->expr;

		/*
		 * not other casts, also implicit ones: they are functions, and may
		 * raise errors
		 */
		while (IsA(expr, RelabelType))
			expr = ((RelabelType *) expr)->arg;
		if (!IsA(expr, Var) && !IsA(expr, Const) && !IsA(expr, Param))
			return true;
	}
	return false;
}

/* Why the values that DISTINCT leaves cannot be taken in; or NULL. */
static const char *
refuse_distinct(const Aggref *aggref, const AggShape *shape)
{
	if (!strata_enable_distinct_agg)
		return "an aggregate has DISTINCT";
	if (list_length(shape->keys) >= AGG_MAX_KEYS)
		return "there are too many keys";
	return NULL;
}

/* Why the rows of an aggregate cannot be held; or NULL. */
static const char *
refuse_held(Aggref *aggref)
{
	if (!strata_enable_any_agg)
		return aggref->aggorder != NIL ||
			aggref->aggkind != AGGKIND_NORMAL ?
			"an aggregate depends on the order of its rows" :
			psprintf("of the aggregate %s", get_func_name(aggref->aggfnoid));
	/* a row of them could not leave memory */
	if (list_length(aggref->args) > MaxTupleAttributeNumber)
		return "an aggregate sorts by too many columns";
	/* they are evaluated once a group */
	if (contain_var_clause((Node *) aggref->aggdirectargs) ||
		contain_volatile_functions((Node *) aggref->aggdirectargs) ||
		contain_subplans((Node *) aggref->aggdirectargs))
		return "of a direct argument of an aggregate";
	return NULL;
}

/* Add the aggregate to the shape, or say why it cannot be done. */
static void
check_aggref(Aggref *aggref, Index relid, AggShape *shape)
{
	if (strata_agg_is_held(aggref))
	{
		/* they would be held once more for each set */
		shape->reason = shape->sets != NIL ?
			"an aggregate of grouping sets holds rows" : refuse_held(aggref);
		shape->has_held = true;
	}
	else if (strata_agg_is_distinct(aggref))
	{
		shape->reason = refuse_distinct(aggref, shape);
		shape->has_distinct = true;
	}
	if (shape->reason != NULL)
		return;
	if (strata_agg_can_evaluate((Node *) aggref->args, relid, shape) &&
		strata_agg_can_evaluate((Node *) aggref->aggfilter, relid, shape))
		shape->aggrefs = list_append_unique(shape->aggrefs, aggref);
}

typedef struct OutputContext
{
	PlannerInfo *root;
	Index		relid;
	AggShape   *shape;
	bool		below;			/* of relid, which is grouped before a join */
} OutputContext;

/*
 * An output expression may consist of keys, aggregates and what is not of the
 * relation.
 */
static bool
check_output(Node *node, OutputContext *context)
{
	AggShape   *shape = context->shape;

	if (node == NULL || shape->reason != NULL)
		return shape->reason != NULL;
	if (list_member(shape->outputs != NIL ? shape->outputs : shape->keys,
					node))
		return false;
	if (IsA(node, GroupingFunc) && shape->sets != NIL)
	{
		shape->groupings = list_append_unique(shape->groupings, node);
		return false;
	}
	if (IsA(node, Aggref))
	{
		check_aggref((Aggref *) node, context->relid, shape);
		return shape->reason != NULL;
	}
	if (IsA(node, Var))
	{
		if (strata_agg_add_following_key(context->root, context->relid,
										 context->below, (Var *) node,
										 shape))
			return false;
		shape->reason = "a column is not grouped by";
	}
	else if (IsA(node, PlaceHolderVar) || IsA(node, GroupingFunc))
		shape->reason = "of the query's form";
	if (shape->reason != NULL)
		return true;
	return expression_tree_walker(node, check_output, context);
}

/* Fill shape; shape->reason says why it cannot be done. */
void
strata_agg_shape(PlannerInfo *root, RelOptInfo *input_rel,
				 RelOptInfo *grouped_rel, List *having, AggShape *shape)
{
	Query	   *parse = root->parse;
	OutputContext context = {root, input_rel->relid, shape, false};
	ListCell   *lc;

	memset(shape, 0, sizeof(*shape));
	if (parse->hasTargetSRFs)
		shape->reason = "a function returns sets";
	else if (list_length(parse->groupClause) > AGG_MAX_KEYS)
		shape->reason = "there are too many keys";
	foreach(lc, parse->groupClause)
	{
		if (shape->reason == NULL)
			strata_agg_add_key(root, lfirst_node(SortGroupClause, lc),
							   input_rel->relid, shape);
	}
	if (shape->reason == NULL && parse->groupingSets != NIL)
		strata_agg_sets_shape(root, shape);
	if (shape->reason == NULL)
		check_output((Node *) grouped_rel->reltarget->exprs, &context);
	if (shape->reason == NULL)
		check_output((Node *) having, &context);
}

/* See agg_plan_private.h. */
void
strata_agg_add_part_key(Expr *expr, AggShape *part)
{
	TypeCacheEntry *typcache = lookup_type_cache(exprType((Node *) expr),
												 TYPECACHE_EQ_OPR);

	if (list_member(part->keys, expr))
		return;
	if (!OidIsValid(typcache->eq_opr) ||
		!strata_agg_is_equal_by_image(exprType((Node *) expr),
									  exprCollation((Node *) expr),
									  typcache->eq_opr))
		part->reason = "equal values of a key of the join may differ";
	part->keys = lappend(part->keys, expr);
	part->eqops = lappend_oid(part->eqops, InvalidOid);
}

/*
 * A key of the query's: part groups by it, or by the columns that it reads of
 * fact.
 */
static void
add_joined_key(PlannerInfo *root, SortGroupClause *clause, Index relid,
			   AggShape *part, AggShape *whole)
{
	Node	   *expr = strata_clause_below_grouping(root, clause);
	bool		by_image = strata_agg_is_equal_by_image(exprType(expr),
														exprCollation(expr),
														clause->eqop);
	List	   *vars = pull_var_clause(expr, PVC_INCLUDE_PLACEHOLDERS);
	bool		of_fact = vars != NIL;
	ListCell   *lc;

	if ((!by_image && !clause->hashable) ||
		contain_volatile_functions(expr) || contain_subplans(expr))
		part->reason = "of a key of the join";
	if (!list_member(whole->keys, expr))
	{
		whole->keys = lappend(whole->keys, expr);
		whole->eqops = lappend_oid(whole->eqops,
								   by_image ? InvalidOid : clause->eqop);
	}
	foreach(lc, vars)
	{
		if (!IsA(lfirst(lc), Var))
			part->reason = "of the query's form";
		else if (lfirst_node(Var, lc)->varno != (int) relid)
			of_fact = false;
	}
	if (part->reason != NULL)
		return;
	/* others are evaluated for rows that are joined only: they may raise */
	if (of_fact && strata_agg_bucket_can_defer((Expr *) expr))
		strata_agg_add_part_key((Expr *) expr, part);
	else
	{
		foreach(lc, vars)
		{
			if (lfirst_node(Var, lc)->varno == (int) relid)
				strata_agg_add_part_key(lfirst(lc), part);
		}
	}
}

/*
 * Part groups by the column that DISTINCT is about, too: then each of its
 * values comes out of the join where a row with it would.
 */
static void
add_distinct_part_key(const Aggref *aggref, AggShape *part)
{
	Expr	   *arg = linitial_node(TargetEntry, aggref->args)->expr;

	while (IsA(arg, RelabelType))
		arg = ((RelabelType *) arg)->arg;
	if (!IsA(arg, Var) || aggref->aggfilter != NULL)
		part->reason = "of an aggregate with DISTINCT above a join";
	else
		strata_agg_add_part_key(arg, part);
}

/* See agg_plan_private.h. */
void
strata_agg_join_shape(PlannerInfo *root, RelOptInfo *fact,
					  RelOptInfo *grouped_rel, List *having, AggShape *part,
					  AggShape *whole)
{
	Query	   *parse = root->parse;
	List	   *columns = part->keys;
	OutputContext context = {root, fact->relid, whole, true};
	ListCell   *lc;

	memset(part, 0, sizeof(*part));
	memset(whole, 0, sizeof(*whole));
	if (parse->hasTargetSRFs ||
		list_length(parse->groupClause) > AGG_MAX_KEYS)
		part->reason = "of the query's form";
	foreach(lc, columns)
	{
		if (part->reason == NULL)
			strata_agg_add_part_key(lfirst(lc), part);
	}
	foreach(lc, parse->groupClause)
	{
		if (part->reason == NULL)
			add_joined_key(root, lfirst_node(SortGroupClause, lc),
						   fact->relid, part, whole);
	}
	if (part->reason == NULL && parse->groupingSets != NIL)
	{
		strata_agg_sets_shape(root, whole);
		part->reason = whole->reason;
	}
	if (part->reason != NULL)
		return;
	check_output((Node *) grouped_rel->reltarget->exprs, &context);
	check_output((Node *) having, &context);
	foreach(lc, whole->aggrefs)
	{
		Aggref	   *aggref = lfirst_node(Aggref, lc);

		/* for rows that the join drops, too */
		if (strata_agg_computes(aggref->args) ||
			aggref->aggfnoid == F_SUM_MONEY ||
			aggref->aggfnoid == F_SUM_INTERVAL ||
			aggref->aggfnoid == F_AVG_INTERVAL ||
			contain_leaked_vars((Node *) aggref->aggfilter))
			whole->reason = "an aggregate may raise errors below a join";
		/* rows of several groups are not in order */
		if (strata_agg_is_held(aggref))
			whole->reason = "an aggregate above a join holds rows";
		if (!strata_agg_is_distinct(aggref))
			part->aggrefs = lappend(part->aggrefs, aggref);
		else if (whole->reason == NULL)
			add_distinct_part_key(aggref, part);
	}
	if (part->reason == NULL && list_length(part->keys) > AGG_MAX_KEYS)
		part->reason = "there are too many keys";
	if (whole->reason != NULL)
		part->reason = whole->reason;
	part->inputs = list_copy(whole->inputs);
	foreach(lc, part->keys)
	{
		if (part->reason == NULL)
			strata_agg_can_evaluate(lfirst(lc), fact->relid, part);
	}
}

/*
 * A copy of the expression with whatever is among the inputs, each Var at
 * least, replaced by the child's column of its number.
 */
static Node *
refer_mutator(Node *node, List *inputs)
{
	ListCell   *lc;

	if (node == NULL)
		return NULL;
	foreach(lc, inputs)
	{
		Node	   *input = lfirst(lc);
		Var		   *var;

		if (!equal(input, node) && !equal(strata_agg_deferred(input), node))
			continue;
		var = makeVar(OUTER_VAR,
					  (AttrNumber) (foreach_current_index(lc) + 1),
					  exprType(node), exprTypmod(node),
					  exprCollation(node), 0);
		return equal(input, node) ? (Node *) var :
			strata_agg_settle_deferred(node, var);
	}
	if (IsA(node, Var))
		elog(ERROR, "a column of an aggregate is not among the inputs");
	return expression_tree_mutator(node, refer_mutator, inputs);
}

/* See agg_plan_private.h. */
Node *
strata_agg_refer_to_child(Node *node, List *inputs)
{
	return refer_mutator(node, inputs);
}
