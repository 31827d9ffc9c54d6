/*-------------------------------------------------------------------------
 *
 * hook_planner.c
 *	  The planner's hooks: the one place that says what comes before what.
 *
 * src/hook/hook_planner.c
 *-------------------------------------------------------------------------
 */
#include "hook/hook_private.h"
#include "hypertable/chunk_route.h"
#include "agg/agg.h"
#include "top/top.h"
#include "window/window.h"
#include "base/base.h"
#include "gapfill/gapfill.h"
#include "hypertable/hypertable.h"
#include "load/load.h"
#include "pg/pg.h"
#include "rollup/rollup.h"
#include "scan/scan.h"
#include "store/store.h"
#include "time/time.h"

#include "access/table.h"
#include "optimizer/paths.h"
#include "optimizer/plancat.h"
#include "optimizer/planner.h"
#include "utils/syscache.h"

static planner_hook_type previous_planner = NULL;
static get_relation_info_hook_type previous_info_hook = NULL;
static set_rel_pathlist_hook_type previous_pathlist_hook = NULL;
static set_join_pathlist_hook_type previous_join_hook = NULL;
static create_upper_paths_hook_type previous_upper_hook = NULL;

/* The plan must be made anew when a function that was inlined changes. */
static void
depend_on_functions(PlannedStmt *stmt, List *functions)
{
	ListCell   *lc;

	foreach(lc, functions)
	{
		PlanInvalItem *item = makeNode(PlanInvalItem);

		item->cacheId = PROCOID;
		item->hashValue =
			GetSysCacheHashValue1(PROCOID, ObjectIdGetDatum(lfirst_oid(lc)));
		stmt->invalItems = lappend(stmt->invalItems, item);
	}
}

static void
hide_indexes(PlannerInfo *root, Oid relid, bool inhparent, RelOptInfo *rel)
{
	if (previous_info_hook)
		previous_info_hook(root, relid, inhparent, rel);
	strata_rollup_gather_gaps(root, rel);
	strata_scan_get_relation_info(root, relid, inhparent, rel);
}

/* Is it a table that may have batches, or a hypertable? */
static bool
may_have_batches(Oid relid)
{
	Relation	rel = table_open(relid, NoLock);
	bool		ours = strata_relation_is_strata(rel);

	table_close(rel, NoLock);
	return ours || strata_hypertable_is(relid);
}

/* Of a table with batches what is shown first is found without all rows. */
static void
count_apart(Query *query)
{
	Oid			relid = strata_window_table_of_total(query);

	if (OidIsValid(relid) && may_have_batches(relid))
		strata_window_replace_total(query);
}

static void
set_rel_pathlist(PlannerInfo *root, RelOptInfo *rel, Index rti,
				 RangeTblEntry *rte)
{
	if (previous_pathlist_hook)
		previous_pathlist_hook(root, rel, rti, rte);
	strata_scan_set_rel_pathlist(root, rel, rti, rte);
	strata_window_set_rel_pathlist(rel, rte);
}

static void
set_join_pathlist(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outer,
				  RelOptInfo *inner, JoinType jointype,
				  JoinPathExtraData *extra)
{
	if (previous_join_hook)
		previous_join_hook(root, joinrel, outer, inner, jointype, extra);
	strata_scan_set_join_pathlist(root, joinrel, outer, inner, jointype,
								  extra);
	strata_agg_set_semi_pathlist(root, joinrel, outer, inner, jointype, extra);
	strata_agg_set_join_pathlist(root, joinrel, outer, inner, jointype, extra);
}

/* Sorts before windows: these replace what stands above them. */
static void
create_upper_paths(PlannerInfo *root, UpperRelationKind stage,
				   RelOptInfo *input_rel, RelOptInfo *output_rel, void *extra)
{
	if (previous_upper_hook)
		previous_upper_hook(root, stage, input_rel, output_rel, extra);
	if (stage == UPPERREL_GROUP_AGG)
	{
		strata_agg_create_paths(root, input_rel, output_rel, extra);
		strata_time_estimate_groups(root, input_rel, output_rel);
	}
	else if (stage == UPPERREL_DISTINCT)
		strata_agg_create_distinct_paths(root, input_rel, output_rel);
	else if (stage == UPPERREL_WINDOW)
	{
		strata_sort_create_window_paths(root, input_rel, output_rel);
		strata_window_create_paths(root, input_rel, output_rel);
	}
	else if (stage == UPPERREL_ORDERED)
	{
		strata_top_create_paths(root, input_rel, output_rel);
		strata_sort_create_paths(root, input_rel, output_rel);
	}
	else if (stage == UPPERREL_FINAL)
		strata_gapfill_create_paths(root, output_rel);
}

/*
 * Our planner_hook, from the moment a statement comes to its finished plan.
 * The planner may scribble on the query, and so do our steps; their order is
 * this:
 *
 *	1. The query is copied as it came, in case it has to be planned again.
 *	2. Views of rollups become queries of their archives, and conditions on
 *	   buckets go down to where these are made.  Hypertables: now() in
 *	   conditions, direct load; they read conditions as the user wrote them.
 *	3. Functions are put in the place of others (publications, gap filling),
 *	   aggregates of hypertables are answered by rollups, and comparisons of
 *	   time_bucket() taken apart; then, of queries that need the first chunks,
 *	   the others are left for later.  Last, a page of rows has these counted
 *	   apart, and NOT IN looks into different values.
 *	4. The planner, through whoever was in the hook before us.
 *	5. What the finished plan gets: names of window functions, nodes that
 *	   make chunks above those that load, and last the copy of 1, which looks
 *	   at all tables of the plan.
 */
static PlannedStmt *
plan_query(Query *query, const char *text, int cursor_options,
		   ParamListInfo params, bool in_turns)
{
	StrataStaleQuery stale;
	List	   *turns;
	List	   *functions;
	List	   *own;
	PlannedStmt *stmt;
	bool		direct_load;
	const char *obstacle;
	uint64		nwindows = strata_window_nplanned;

	strata_stale_plan_keep(query, &stale);
	strata_stale_plan_uses(query, strata_rollup_rewrite(query, &own), &stale);

	strata_time_push_quals(query);
	strata_partition_key_restore();
	strata_now_add_quals(query, params);
	obstacle = strata_load_query_obstacle(query, &direct_load);

	strata_publication_replace(query);
	strata_gapfill_rewrite(query, params, &functions);
	strata_stale_plan_uses(query,
						   strata_rollup_rewrite_tables(query, params, own),
						   &stale);
	strata_time_rewrite_quals(query);
	turns = in_turns ?
		strata_turns_begin(query, stale.query, cursor_options, params) : NIL;

	count_apart(query);
	strata_agg_look_up_once(query, may_have_batches);

	stmt = previous_planner ?
		previous_planner(query, text, cursor_options, params) :
		standard_planner(query, text, cursor_options, params);

	if (strata_window_nplanned != nwindows)
		strata_window_finish_plan(stmt);
	if (!strata_turns_plan(stmt, turns))
		return plan_query(stale.query, text, cursor_options, params, false);
	depend_on_functions(stmt, functions);
	if (direct_load)
		strata_load_plan(stmt, obstacle);
	strata_route_plan(stmt);
	strata_stale_plan_carry(stmt, cursor_options, &stale);
	return stmt;
}

/* See hook_private.h. */
PlannedStmt *
strata_plan_query(Query *query, const char *text, int cursor_options,
				  ParamListInfo params)
{
	return plan_query(query, text, cursor_options, params, true);
}

void
strata_planner_hooks_init(void)
{
	strata_plan_note_init();
	Assert(planner_hook !=
		   strata_plan_query);	/* hook:H1: or it would call itself */
	previous_planner = planner_hook;
	planner_hook = strata_plan_query;
	previous_join_hook = set_join_pathlist_hook;
	set_join_pathlist_hook = set_join_pathlist;
	previous_upper_hook = create_upper_paths_hook;
	create_upper_paths_hook = create_upper_paths;
	previous_info_hook = get_relation_info_hook;
	get_relation_info_hook = hide_indexes;
	previous_pathlist_hook = set_rel_pathlist_hook;
	set_rel_pathlist_hook = set_rel_pathlist;
}
