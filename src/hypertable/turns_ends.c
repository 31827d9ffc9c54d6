/*-------------------------------------------------------------------------
 *
 * turns_ends.c
 *	  min(time) and max(time) in one query: two queries, of the first chunk
 *	  and of the last.
 *
 * SELECT min(time), max(time) FROM t becomes two sub-selects of the first row
 * by time and of the last, which is how PostgreSQL plans it, too.  Each of
 * them is told to read the chunk at its end; StrataChunksInTurn above asks all
 * chunks if there is no row in one of the two.
 *
 * src/hypertable/turns_ends.c
 *-------------------------------------------------------------------------
 */
#include "hypertable/turns_private.h"

#include "base/compat.h"
#include "catalog/pg_type_d.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "parser/parse_clause.h"
#include "parser/parse_node.h"
#include "utils/lsyscache.h"

/* Aggregates that a query asks for: [0] min(), [1] max(). */
typedef struct TurnsEnds
{
	PartitionKey key;
	Query	   *asked[2];		/* what is asked for each, once the chunks are
								 * known */
	int			n[2];
} TurnsEnds;

/* Does the tree need another value of the rows than these two? */
static bool
needs_other_than_ends(Node *node, TurnsEnds *ends)
{
	bool		desc;

	if (node == NULL)
		return false;
	if (IsA(node, Var) || IsA(node, GroupingFunc))
		return true;
	if (!IsA(node, Aggref))
		return expression_tree_walker(node, needs_other_than_ends, ends);
	if (!strata_turns_is_key_aggregate((Aggref *) node, ends->key, &desc))
		return true;
	ends->n[desc]++;
	return false;
}

/*
 * Have a query return the first value of an aggregate's order.  No key is
 * null.
 */
static void
ask_for_first(Query *query, const Aggref *agg, bool desc)
{
	TargetEntry *te = makeTargetEntry(copyObject(linitial_node(TargetEntry,
															   agg->args)
												 ->expr),
									  1, "end", false);
	SortBy	   *by = makeNode(SortBy);

	by->node = (Node *) te->expr;
	by->sortby_dir = desc ? SORTBY_DESC : SORTBY_ASC;
	/* as indexes mostly have it */
	by->sortby_nulls = desc ? SORTBY_NULLS_FIRST : SORTBY_NULLS_LAST;
	by->location = -1;
	query->hasAggs = false;
	query->targetList = list_make1(te);
	query->sortClause = addTargetToSortList(make_parsestate(NULL), te, NIL,
											query->targetList, by);
	query->limitOption = LIMIT_OPTION_COUNT;
	query->limitCount = (Node *)
		makeConst(INT8OID, -1, InvalidOid, sizeof(int64), Int64GetDatum(1),
				  false, FLOAT8PASSBYVAL);
}

/* The query in place of an aggregate. */
static Node *
replace_aggregates(Node *node, TurnsEnds *ends)
{
	SubLink    *link;
	Query	   *asked;
	bool		desc;

	if (node == NULL)
		return NULL;
	if (!IsA(node, Aggref))
		return expression_tree_mutator(node, replace_aggregates, ends);
	(void) strata_turns_is_key_aggregate((Aggref *) node, ends->key, &desc);
	asked = copyObject(ends->asked[desc]);
	ask_for_first(asked, (Aggref *) node, desc);
	link = makeNode(SubLink);
	link->subLinkType = EXPR_SUBLINK;
	link->subselect = (Node *) asked;
	link->location = -1;
	/* an aggregate's value has no modifier of its column's type */
	return (Node *) makeRelabelType((Expr *) link,
									((const Aggref *) node)->aggtype, -1,
									((const Aggref *) node)->aggcollid,
									COERCE_IMPLICIT_CAST);
}

/* The column that is the aggregate and nothing else; 0: there is none. */
static int
column_of_end(const Query *query, PartitionKey key, bool wanted)
{
	ListCell   *lc;

	foreach(lc, query->targetList)
	{
		TargetEntry *te = lfirst_node(TargetEntry, lc);
		bool		desc;

		if (IsA(te->expr, Aggref) &&
			strata_turns_is_key_aggregate((Aggref *) te->expr, key, &desc) &&
			desc == wanted)
			return te->resno;
	}
	return 0;
}

/* See turns_private.h. */
bool
strata_turns_begin_ends(Query *query, Relation rel, ParamListInfo params,
						StrataTurns *turns)
{
	TurnsEnds	ends = {.key = RelationGetPartitionKey(rel)};

	if (needs_other_than_ends((Node *) query->targetList, &ends) ||
		ends.n[0] == 0 || ends.n[1] == 0)
		return false;
	turns->aggregate = column_of_end(query, ends.key, false);
	turns->other = column_of_end(query, ends.key, true);
	if (turns->aggregate == 0 || turns->other == 0)
	{
		turns->aggregate = turns->other = 0;
		return false;
	}
	for (int desc = 0; desc < 2; desc++)
	{
		ends.asked[desc] = copyObject(query);
		(void) strata_turns_limit(ends.asked[desc], rel, desc != 0,
								  STRATA_FIRST_CHUNKS, STRATA_LEAST_CHUNKS,
								  params, &turns->edge);
		if (turns->edge == NULL)
		{
			turns->aggregate = turns->other = 0;
			return false;
		}
	}
	query->targetList = (List *)
		replace_aggregates((Node *) query->targetList, &ends);
	query->rtable = NIL;
	strata_query_clear_permissions(query);
	query->jointree = makeFromExpr(NIL, NULL);
	query->hasAggs = false;
	query->hasSubLinks = true;
	return true;
}
