/*-------------------------------------------------------------------------
 *
 * filter_tree.c
 *	  What can be done with a qual's tree, by what its leaves are.
 *
 * src/scan/filter_tree.c
 *-------------------------------------------------------------------------
 */
#include "scan/filter_private.h"

#include "nodes/nodeFuncs.h"

/* See filter_private.h. */
bool
strata_filter_tree_is_vectorisable(const FilterNode *node)
{
	switch (node->op)
	{
		case FILTER_AND:
		case FILTER_OR:
			for (int i = 0; i < node->nargs; i++)
				if (!strata_filter_tree_is_vectorisable(node->args[i]))
					return false;
			return true;
		case FILTER_COMPARE:
		case FILTER_IN:
		case FILTER_NOT_IN:
			return node->kind != FILTER_KIND_NONE || node->expr != NULL;
		case FILTER_OPAQUE:
			return false;
		default:
			return true;
	}
}

/* See filter_private.h. */
bool
strata_filter_tree_can_prune(const FilterNode *node)
{
	switch (node->op)
	{
		case FILTER_AND:
			for (int i = 0; i < node->nargs; i++)
				if (strata_filter_tree_can_prune(node->args[i]))
					return true;
			return false;
		case FILTER_OR:
			for (int i = 0; i < node->nargs; i++)
				if (!strata_filter_tree_can_prune(node->args[i]))
					return false;
			return true;
		case FILTER_COMPARE:
		case FILTER_IN:
		case FILTER_NOT_IN:
			return node->cmp != NULL;
		case FILTER_EXPR:
		case FILTER_OPAQUE:
			return false;
		default:
			return true;
	}
}

/* Is there the result of a subquery, or of an outer query, in it? */
static bool
has_exec_param(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Param))
		return ((Param *) node)->paramkind == PARAM_EXEC;
	return expression_tree_walker(node, has_exec_param, context);
}

/* See filter_private.h. */
bool
strata_filter_may_skip_param(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, CaseExpr) || IsA(node, CoalesceExpr) || IsA(node, BoolExpr))
		return has_exec_param(node, NULL);
	return expression_tree_walker(node, strata_filter_may_skip_param, context);
}

/* See filter_private.h. */
Node *
strata_filter_awaited(const FilterNode *node)
{
	if (!node->avoidable)
		return NULL;
	return (Node *) (node->op == FILTER_EXPR ? node->expr : node->comparand);
}

/* See filter_private.h. */
bool
strata_filter_tree_waits(const FilterNode *node)
{
	for (int i = 0; i < node->nargs; i++)
		if (strata_filter_tree_waits(node->args[i]))
			return true;
	return has_exec_param(strata_filter_awaited(node), NULL);
}

/* See filter_private.h. */
int
strata_filter_find_equality(const StrataFilter *filter, AttrNumber attno,
							int from)
{
	for (int i = from; i < filter->nquals; i++)
	{
		const FilterNode *leaf = filter->quals[i].tree;

		if (!filter->quals[i].promotable || leaf->attno != attno ||
			!OidIsValid(leaf->opno))
			continue;
		if (leaf->op == FILTER_IN || (leaf->op == FILTER_COMPARE &&
									  leaf->strategy == BTEqualStrategyNumber))
			return i;
	}
	return -1;
}
