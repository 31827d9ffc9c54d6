/*-------------------------------------------------------------------------
 *
 * agg_plan_data.c
 *	  AggPlanData in paths and plans: the only file that knows how it lies in
 *	  custom_private.
 *
 * A path has the struct itself, which is possible because the planner neither
 * copies nor prints it.  A plan is copied, stored and sent to workers,
	so there
 * it is a list of nodes: the lists of the struct, "by", and the numbers.
 *
 * src/agg/agg_plan_data.c
 *-------------------------------------------------------------------------
 */
#include "agg/agg_plan_private.h"

/* What is where in a plan's list. */
enum
{
	PLAN_NUMBERS,				/* IntList, in the order of
								 * write_number_list() */
	PLAN_INPUTS,
	PLAN_KEYS,
	PLAN_EQOPS,
	PLAN_AGGREFS,
	PLAN_PICKS,
	PLAN_RANKS,
	PLAN_RANK_OPS,
	PLAN_BY,
	PLAN_ORDER,
	PLAN_SETS,
	PLAN_GROUPINGS
};

/* See agg_plan_private.h. */
void
strata_agg_path_set_data(CustomPath *path, const AggPlanData *data)
{
	AggPlanData *copy = palloc(sizeof(AggPlanData));

	*copy = *data;
	path->custom_private = list_make1(copy);
}

/* See agg_plan_private.h. */
const AggPlanData *
strata_agg_path_data(const CustomPath *path)
{
	return linitial(path->custom_private);
}

static List *
write_number_list(const AggPlanData *data)
{
	List	   *numbers = list_make1_int(data->stage);

	numbers = lappend_int(numbers, data->stop.kind);
	numbers = lappend_int(numbers, data->stop.last);
	numbers = lappend_int(numbers, data->stop.reverse);
	numbers = lappend_int(numbers, data->stop.top_key);
	numbers = lappend_int(numbers, data->stop.top_n);
	numbers = lappend_int(numbers, data->stop.nulls_matter);
	return lappend_int(numbers, data->ranked);
}

static void
read_numbers(const List *numbers, AggPlanData *data)
{
	data->stage = (AggStage) list_nth_int(numbers, 0);
	data->stop.kind = (AggStopKind) list_nth_int(numbers, 1);
	data->stop.last = list_nth_int(numbers, 2) != 0;
	data->stop.reverse = list_nth_int(numbers, 3) != 0;
	data->stop.top_key = list_nth_int(numbers, 4);
	data->stop.top_n = list_nth_int(numbers, 5);
	data->stop.nulls_matter = list_nth_int(numbers, 6) != 0;
	data->ranked = list_nth_int(numbers, 7) != 0;
}

/* See agg_plan_private.h. */
void
strata_agg_plan_write(CustomScan *cscan, const AggPlanData *data)
{
	List	   *list = list_make5(write_number_list(data), data->inputs,
								  data->keys, data->eqops, data->aggrefs);

	list = lappend(list, data->picks);
	list = lappend(list, data->ranks);
	list = lappend(list, data->rank_ops);
	list = lappend(list, data->by);
	list = lappend(list, data->order);
	list = lappend(list, data->sets);
	cscan->custom_private = lappend(list, data->groupings);
}

/* See agg_plan_private.h. */
void
strata_agg_plan_read(const CustomScan *cscan, AggPlanData *data)
{
	const List *list = cscan->custom_private;

	memset(data, 0, sizeof(*data));
	read_numbers(list_nth(list, PLAN_NUMBERS), data);
	data->inputs = list_nth(list, PLAN_INPUTS);
	data->keys = list_nth(list, PLAN_KEYS);
	data->eqops = list_nth(list, PLAN_EQOPS);
	data->aggrefs = list_nth(list, PLAN_AGGREFS);
	data->picks = list_nth(list, PLAN_PICKS);
	data->ranks = list_nth(list, PLAN_RANKS);
	data->rank_ops = list_nth(list, PLAN_RANK_OPS);
	data->by = list_nth(list, PLAN_BY);
	data->order = list_nth(list, PLAN_ORDER);
	data->sets = list_nth(list, PLAN_SETS);
	data->groupings = list_nth(list, PLAN_GROUPINGS);
}
