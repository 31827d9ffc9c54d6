/*-------------------------------------------------------------------------
 *
 * scan_cost.c
 *	  What a StrataScan costs, and how it should find its batches.
 *
 * Everything is in PostgreSQL's units, as multiples of cpu_tuple_cost (one row
 * through a heap scan), measured on one machine: decoding a value takes about
 * a thirtieth of a heap row, handing a row up nearly as much as one.
 *
 * Selectivities are PostgreSQL's.  Quals on segmentby columns select whole
 * batches; a range of the first orderby column selects that share of each
 * segment's batches and one more at its edge.  What other quals prune is tried
 * on the summaries of some batches, where many are left (scan_share.c).
 *
 * A child's cost was computed for the whole relation (indexes do not know that
 * they hold the row store only); it is charged for the row store's share.
 *
 * Over 600 lines: all costs are measured against each other.
 *
 * src/scan/scan_cost.c
 *-------------------------------------------------------------------------
 */
#include "base/base.h"
#include "expr/expr.h"
#include "scan/scan_plan_private.h"
#include "store/store.h"

#include <math.h>

#include "access/stratnum.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "utils/float.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"

/* Multiples of cpu_tuple_cost. */
#define COST_BATCH_LOOK 0.5		/* one batch row: fetch, and try to prune */
#define COST_BATCH_OPEN 3.0		/* a batch that is read: detoast, set up */
#define COST_SKIP 4.0			/* to the next segment of the index */
#define COST_WALK 0.03			/* over an entry of it */
#define COST_COLUMN_OPEN 1.0	/* per column of it */
#define COST_DECODE_VALUE 0.03
#define COST_EMIT_ROW 0.8		/* a row that is handed up, */
#define COST_EMIT_VALUE 0.06	/* ... and each value in it, */
#define COST_EMIT_VARLENA 0.3	/* ... if that is no number, nor a segment's */
#define COST_INDEXED_ROW 2.0	/* of the row store, beyond what PostgreSQL
								 * says that an index's row costs */

/*
 * Of what a sequential scan costs, so much is saved where the row store is
 * read by our own: its pages are few and mostly in memory; and so much by who
 * takes columns, a fifth of the time.
 */
#define ROWSTORE_SAVING 0.3
#define COLUMNS_SAVING 0.5

/* Of the index on first_row. */
#define ENTRIES_PER_PAGE 290

/*
 * Batches below which what quals prune of them is not estimated: planning must
 * not cost what it saves.
 */
#define WORTH_SAMPLING 640

/* Share of a qual's cost per row when it runs on vectors. */
#define VECTOR_QUAL_SHARE 0.2

/*
 * A row for which a function of PostgreSQL's is called; and one whose value
 * had come before, as most of no more than so many do.
 */
#define COST_CALLED_ROW 1.0
#define COST_KNOWN_ROW 0.3
#define MANY_VALUES 1000

/* The quals of a candidate by what they do for batches. */
typedef struct QualShape
{
	ParamPathInfo *param_info;	/* whose clauses are added to the relation's */
	List	   *segment;		/* read segmentby columns only */
	List	   *order;			/* ranges of the first orderby column */
	List	   *lower;			/* of them, those that bound it from below
								 * only */
	List	   *upper;
	bool		equal;			/* one is an equality, which bounds it both
								 * ways */
	List	   *prefix;			/* equalities on leading segmentby columns */
	int			nprefix;
	QualCost	heap;			/* all quals, once per row of the row store */
	QualCost	batch;			/* all but segment, likewise */
	QualCost	singly;			/* of these, what is called row by row, */
	double		singly_row;		/* ... and what making that row costs, in
								 * units of cpu_tuple_cost */
	Selectivity segment_sel;
	Selectivity order_sel;
	Selectivity range_sel;		/* of batches, by the other quals on minima
								 * and maxima */
	List	   *index_options;	/* quals that indexes lead to batches for */
} QualShape;

/*
 * What strata_match_column_op() says of a clause; remembered, as it is asked
 * for by each candidate.
 */
typedef struct ClauseOp
{
	RestrictInfo *rinfo;
	bool		matches;
	StrataColumnOp op;
} ClauseOp;

/* See scan_plan_private.h. */
const StrataColumnOp *
strata_scan_clause_op(StrataRelInfo *info, RestrictInfo *rinfo)
{
	ClauseOp   *known;
	ListCell   *lc;

	foreach(lc, info->ops)
	{
		known = lfirst(lc);
		if (known->rinfo == rinfo)
			return known->matches ? &known->op : NULL;
	}
	known = palloc(sizeof(ClauseOp));
	known->rinfo = rinfo;
	known->matches = strata_match_column_op(rinfo->clause, info->rel->relid,
											&known->op);
	info->ops = lappend(info->ops, known);
	return known->matches ? &known->op : NULL;
}

/* The relation's Vars in the clause, system columns among them. */
static List *
vars_of_relation(const StrataRelInfo *info, Node *clause)
{
	List	   *result = NIL;
	ListCell   *lc;

	foreach(lc, pull_var_clause(clause, PVC_RECURSE_AGGREGATES |
								PVC_RECURSE_WINDOWFUNCS |
								PVC_RECURSE_PLACEHOLDERS))
	{
		Var		   *var = lfirst(lc);

		if (IsA(var, Var) && var->varno == (int) info->rel->relid)
			result = lappend(result, var);
	}
	return result;
}

/*
 * Are the relation's columns in the clause segmentby columns, and is there
 * one?
 */
static bool
is_segment_clause(const StrataRelInfo *info, Node *clause)
{
	ListCell   *lc;
	bool		any = false;

	foreach(lc, vars_of_relation(info, clause))
	{
		Var		   *var = lfirst(lc);

		if (var->varattno <= 0 ||
			strata_layout_segment_index(info->layout, var->varattno) < 0)
			return false;
		any = true;
	}
	return any && !contain_volatile_functions(clause);
}

/* Note a clause that bounds the first orderby column from above or below. */
static void
add_order_clause(StrataRelInfo *info, QualShape *shape, RestrictInfo *rinfo)
{
	const StrataColumnOp *op;

	op = info->layout->norder > 0 ? strata_scan_clause_op(info, rinfo) : NULL;
	if (op == NULL || op->attno != info->layout->order[0].attno ||
		!op->bounded || op->is_array)
		return;
	switch (op->strategy)
	{
		case BTLessStrategyNumber:
		case BTLessEqualStrategyNumber:
			shape->upper = lappend(shape->upper, rinfo);
			break;
		case BTGreaterStrategyNumber:
		case BTGreaterEqualStrategyNumber:
			shape->lower = lappend(shape->lower, rinfo);
			break;
		case BTEqualStrategyNumber:
			shape->equal = true;
			break;
		default:
			return;
	}
	shape->order = lappend(shape->order, rinfo);
}

/* An equality (or IN) on segmentby column number i of the layout. */
static RestrictInfo *
find_segment_equality(StrataRelInfo *info, List *clauses, int i)
{
	ListCell   *lc;

	foreach(lc, clauses)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);
		const StrataColumnOp *op = strata_scan_clause_op(info, rinfo);

		if (op != NULL && op->attno == info->layout->segment[i] &&
			op->column_order && op->strategy == BTEqualStrategyNumber)
			return rinfo;
	}
	return NULL;
}

static bool
has_filter_kernel(Node *node, void *relid)
{
	StrataColumnOp op;

	if (IsA(node, RowCompareExpr))
		return true;
	return (IsA(node, OpExpr) || IsA(node, ScalarArrayOpExpr)) &&
		strata_match_column_op((Expr *) node, *(Index *) relid, &op);
}

/* Does a column of the clause have values that hardly come again in a batch? */
static bool
has_many_values(const StrataRelInfo *info, Node *clause)
{
	ListCell   *lc;

	foreach(lc, vars_of_relation(info, clause))
	{
		Var		   *var = lfirst(lc);
		VariableStatData vardata;
		bool		isdefault;
		double		n;

		if (var->varattno <= 0)
			continue;
		if (get_typbyval(var->vartype))
			return true;
		examine_variable(info->root, (Node *) var, 0, &vardata);
		n = get_variable_numdistinct(&vardata, &isdefault);
		ReleaseVariableStats(vardata);
		if (n > MANY_VALUES)
			return true;
	}
	return false;
}

/* Note what a clause costs that calls a function for each row, or value. */
static void
add_called_singly(StrataRelInfo *info, QualShape *shape, RestrictInfo *rinfo)
{
	QualCost	cost;

	if (strata_scan_clause_op(info, rinfo) != NULL ||
		!strata_expr_calls_singly((Node *) rinfo->clause, has_filter_kernel,
								  &info->rel->relid))
		return;
	if (!has_many_values(info, (Node *) rinfo->clause))
	{
		shape->singly_row = Max(shape->singly_row, COST_KNOWN_ROW);
		return;
	}
	cost_qual_eval_node(&cost, (Node *) rinfo, info->root);
	shape->singly.per_tuple += cost.per_tuple;
	shape->singly_row = COST_CALLED_ROW;
}

static Selectivity
selectivity(const StrataRelInfo *info, List *clauses)
{
	if (clauses == NIL)
		return 1.0;
	return clauselist_selectivity(info->root, clauses, 0, JOIN_INNER, NULL);
}

/*
 * Sort the clauses by what they can do: choose segments, bound the first
 * orderby column, the rest.
 */
static void
classify_quals(StrataRelInfo *info, ParamPathInfo *param_info,
			   QualShape *shape)
{
	List	   *all = list_copy(info->rel->baserestrictinfo);
	List	   *rest = NIL;
	ListCell   *lc;

	shape->param_info = param_info;
	if (param_info != NULL)
		all = list_concat(all, param_info->ppi_clauses);
	foreach(lc, all)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);

		if (rinfo->pseudoconstant)
			continue;
		if (strata_enable_pruning &&
			is_segment_clause(info, (Node *) rinfo->clause))
			shape->segment = lappend(shape->segment, rinfo);
		else
		{
			if (strata_enable_pruning)
				add_order_clause(info, shape, rinfo);
			rest = lappend(rest, rinfo);
			add_called_singly(info, shape, rinfo);
		}
	}
	for (int i = 0; i < info->layout->nsegment; i++)
	{
		RestrictInfo *rinfo = find_segment_equality(info, shape->segment, i);

		if (rinfo == NULL)
			break;
		shape->prefix = lappend(shape->prefix, rinfo);
		shape->nprefix++;
	}
	cost_qual_eval(&shape->heap, all, info->root);
	cost_qual_eval(&shape->batch, rest, info->root);
	shape->segment_sel = selectivity(info, shape->segment);
	shape->order_sel = selectivity(info, shape->order);
	shape->index_options =
		list_concat(strata_scan_batch_index(info, all, param_info != NULL),
					strata_scan_batch_class(info, all, param_info != NULL));
	shape->range_sel = 1.0;
	if (strata_enable_pruning &&
		info->size.batches * shape->segment_sel * shape->order_sel >=
		WORTH_SAMPLING)
		shape->range_sel =
			strata_scan_unpruned_share(info,
									   list_difference_ptr(rest,
														   shape->order));
}

/* The shape of the quals, found once for all candidates that have the same. */
static const QualShape *
get_shape(StrataRelInfo *info, ParamPathInfo *param_info)
{
	QualShape  *shape;
	ListCell   *lc;

	foreach(lc, info->shapes)
	{
		shape = lfirst(lc);
		if (shape->param_info == param_info)
			return shape;
	}
	shape = palloc0(sizeof(QualShape));
	classify_quals(info, param_info, shape);
	info->shapes = lappend(info->shapes, shape);
	return shape;
}

/* Visiting n batch rows through an index, and looking at each. */
static Cost
index_access_cost(const StrataRelInfo *info, double n, bool clustered)
{
	double		per_page = Max(info->size.batches /
							   Max(info->size.main_pages, 1.0), 1.0);
	double		pages;

	pages = clustered ? ceil(n / per_page) : Min(n, info->size.main_pages);
	/* a descent for the layout, and one for those before and after it */
	return info->random_page_cost + Max(pages - 1, 0) * info->seq_page_cost +
		3 * 50.0 * cpu_operator_cost +
		n * (cpu_index_tuple_cost + COST_BATCH_LOOK * cpu_tuple_cost);
}

/*
 * Batches with the bound on the right side of the quals: those of MAX reach up
 * from the lower limit to the end of the table, or as far as the widest batch
 * does.  Where an equality stands in it nobody knows: in the middle.
 */
static double
one_sided_batches(const StrataRelInfo *info, const QualShape *shape,
				  List *clauses, double nbatches)
{
	double		fraction;

	if (info->by_span && info->layout->nsegment == 0 &&
		(shape->equal || (shape->lower != NIL && shape->upper != NIL)))
		return nbatches + 1;
	fraction = selectivity(info, clauses);

	if (shape->equal)
		fraction = Min(fraction, 0.5);
	return Max(info->size.batches * fraction, 1.0);
}

static Cost
seq_access_cost(const StrataRelInfo *info)
{
	return info->size.main_pages * info->seq_page_cost +
		info->size.batches * COST_BATCH_LOOK * cpu_tuple_cost;
}

/* Choose the way to the batches; returns what it costs to get there. */
static Cost
choose_access(const StrataRelInfo *info, StrataCandidate *candidate,
			  const QualShape *shape, double nbatches)
{
	Cost		best = seq_access_cost(info);
	Cost		cost;

	candidate->access = STRATA_ACCESS_SEQ;
	if (candidate->workers > 0 || !strata_enable_pruning)
		return best;
	if (info->has_segment_index && shape->nprefix > 0)
	{
		bool		full = shape->nprefix == info->layout->nsegment;
		double		n;

		n = full ? nbatches :
			info->size.batches * selectivity(info, shape->prefix);
		cost = index_access_cost(info, Max(n, 1), true);
		if (cost < best)
		{
			best = cost;
			candidate->access = STRATA_ACCESS_SEGMENT;
		}
	}
	if (info->has_max_index && (shape->lower != NIL || shape->equal))
	{
		cost = index_access_cost(info,
								 one_sided_batches(info, shape, shape->lower,
												   nbatches),
								 false);
		if (cost < best)
		{
			best = cost;
			candidate->access = STRATA_ACCESS_MAX;
		}
	}
	if (info->has_min_index && (shape->upper != NIL || shape->equal))
	{
		cost = index_access_cost(info,
								 one_sided_batches(info, shape, shape->upper,
												   nbatches),
								 false);
		if (cost < best)
		{
			best = cost;
			candidate->access = STRATA_ACCESS_MIN;
		}
	}
	return best;
}

/* Rows that a child fetches from the row store, before its filter. */
static double
fetched_rows(const StrataRelInfo *info, const Path *child)
{
	Cost		cost;
	Selectivity sel;

	/* the plan node makes no difference: it says what its conditions select */
	cost_bitmap_tree_node(IsA(child, BitmapHeapPath) ?
						  ((const BitmapHeapPath *) child)->bitmapqual :
						  (Path *) child, &cost, &sel);
	return sel * info->heap_tuples;
}

/* The row store's part: startup and total. */
static void
rowstore_cost(const StrataRelInfo *info, const StrataCandidate *candidate,
			  const QualShape *shape, Cost *startup, Cost *total)
{
	RelOptInfo *rel = info->rel;
	double		share = Min(info->heap_tuples / Max(rel->tuples, 1.0), 1.0);
	double		tuples;

	if (candidate->child != NULL)
	{
		const Path *child = candidate->child;

		*startup = child->startup_cost;
		*total = child->startup_cost +
			(child->total_cost - child->startup_cost) * share +
			fetched_rows(info, child) * COST_INDEXED_ROW * cpu_tuple_cost;
		return;
	}
	*startup = shape->heap.startup;
	*total = *startup + (1 - ROWSTORE_SAVING) *
		(info->heap_pages * info->seq_page_cost +
		 info->heap_tuples * (cpu_tuple_cost + shape->heap.per_tuple));
	if (candidate->nkeys == 0)
		return;
	/* sorted here; all of it before the first row */
	tuples = Max(candidate->rows * share, 1);
	if (info->heap_pages > 0)
		*total += 2.0 * cpu_operator_cost * tuples *
			(log(Max(tuples, 2.0)) / 0.693147);
	*startup = *total;
}

/* What starting its workers costs, beyond parallel_setup_cost. */
static void
charge_start(const StrataRelInfo *info, StrataCandidate *candidate)
{
	Cost		cost = strata_scan_start_cost(info->root, info->rel,
											  candidate->workers,
											  candidate->total);

	candidate->startup += cost;
	candidate->total += cost;
}

static double
parallel_divisor(int workers)
{
	double		divisor = workers;
	double		leader = 1.0 - 0.3 * workers;

	if (parallel_leader_participation && leader > 0)
		divisor += leader;
	return Max(divisor, 1.0);
}

/*
 * See scan_plan_private.h.  A partial path takes the place of PostgreSQL's,
 * and costs as much beyond the start: what columns save is told apart.  The
 * other one has to cost less than PostgreSQL's, to stay beside it.
 */
void
strata_scan_cost_rowstore(const StrataRelInfo *info,
						  StrataCandidate *candidate)
{
	const RelOptInfo *rel = info->rel;
	double		divisor = 1;
	Cost		read;

	Assert(info->store == NULL && candidate->child == NULL);	/* scan:R2 */
	if (candidate->workers > 0)
		divisor = parallel_divisor(candidate->workers);
	read = rel->pages * info->seq_page_cost + rel->tuples / divisor *
		(cpu_tuple_cost + rel->baserestrictcost.per_tuple);
	candidate->access = STRATA_ACCESS_SEQ;
	candidate->rows = clamp_row_est(rel->rows / divisor);
	candidate->startup = rel->baserestrictcost.startup +
		rel->reltarget->cost.startup;
	candidate->total = candidate->startup + read +
		rel->rows / divisor * rel->reltarget->cost.per_tuple;
	if (candidate->workers > 0)
	{
		charge_start(info, candidate);
		candidate->vector_cost.rows = COLUMNS_SAVING * read;
	}
	else
		candidate->total -= COLUMNS_SAVING * read;
}

/* Rows of the path, before they are shared among workers. */
static double
path_rows(const StrataRelInfo *info, const StrataCandidate *candidate)
{
	return candidate->param_info != NULL ? candidate->param_info->ppi_rows :
		info->rel->rows;
}

static bool
is_segment_access(const StrataCandidate *candidate)
{
	return candidate->access == STRATA_ACCESS_SEGMENT ||
		candidate->access == STRATA_ACCESS_SEGMENT_MAX;
}

/*
 * Could batches be looked for from their best bound on, where now all are
 * looked at?
 */
static bool
may_be_best_first(const StrataRelInfo *info, const StrataCandidate *candidate,
				  const QualShape *shape)
{
	return candidate->nkeys == 0 && candidate->workers == 0 &&
		candidate->param_info == NULL && info->layout->norder > 0 &&
		candidate->access != STRATA_ACCESS_INDEX && shape->prefix == NIL &&
		strata_enable_pruning;
}

/*
 * What is saved where one batch of each segment is enough, by skipping through
 * the index from one to the next; 0: that is no faster than looking at all of
 * them.
 */
static Cost
segment_saving(const StrataRelInfo *info, Cost access, double nread,
			   Cost per_batch)
{
	double		n = info->nsegments;
	Cost		skipping;

	skipping = index_access_cost(info, n, false) +
		(n * COST_SKIP + info->size.batches * COST_WALK) * cpu_tuple_cost;
	if (info->layout->nsegment == 0)
		return 0;
	return skipping < access ?
		access - skipping + Max(nread - n, 0) * per_batch :
		0;
}

/*
 * What is saved where those with the least (greatest) bound of the table are
 * enough: of each segment the best.  Before them come those that end beyond
 * the quals, or the search for the widest batch, which tells how far beyond
 * one may end that begins within.
 */
static void
cost_end(const StrataRelInfo *info, const QualShape *shape, bool last,
		 Cost access, double nbatches, StrataEndCost *end)
{
	bool		bounded = shape->equal || (last ? shape->upper :
										   shape->lower) != NIL;
	double		behind = bounded ? info->size.batches - nbatches : 0;
	Cost		look = index_access_cost(info, behind, false);
	Cost		search;

	search = (info->layout->nsegment == 0 ? 1 : info->nsegments) * COST_SKIP *
		cpu_tuple_cost;
	if (!(last ? info->has_max_index : info->has_min_index))
		return;
	end->by_span = info->has_span_index && info->layout->nsegment <= 1 &&
		search < look;
	end->saving = access -
		index_access_cost(info, Min(info->nsegments, nbatches),
						  false) -
		(!bounded ? 0 :
		 end->by_span ? search :
		 look);
	end->walk = index_access_cost(info, nbatches, false);
}

/*
 * Share of the batches' TOAST that one takes, by the columns it is read for.
 */
static Cost
toast_cost(const StrataRelInfo *info)
{
	return info->size.toast_pages / Max(info->size.batches, 1.0) *
		info->seq_page_cost *
		Min(info->ncolumns / Max((double) info->desc->natts, 1.0), 1.0);
}

/* Opening and decoding a batch of so many rows, without quals. */
static Cost
open_cost(const StrataRelInfo *info, double rows)
{
	return COST_BATCH_OPEN * cpu_tuple_cost +
		info->ncolumns * (COST_COLUMN_OPEN + COST_DECODE_VALUE * rows) *
		cpu_tuple_cost +
		toast_cost(info);
}

/*
 * Counting the rows of all batches by an index, and looking for those not on
 * pages that all see.
 */
static Cost
count_cost(const StrataRelInfo *info)
{
	Form_pg_class companion = info->store->batches->rd_rel;
	double		unseen;

	unseen = companion->relpages <= 0 ? 1 :
		1 - Min((double) companion->relallvisible / companion->relpages, 1);
	return ceil(info->size.batches / ENTRIES_PER_PAGE) *
		info->random_page_cost +
		info->size.batches * cpu_index_tuple_cost +
		unseen * seq_access_cost(info);
}

/*
 * Charge each process its share.  child_run: what reading the row store costs
 * behind its start; toast: what fetching out of line costs all processes.
 */
static void
share_among_workers(const StrataRelInfo *info, StrataCandidate *candidate,
					Cost child_run, Cost toast)
{
	double		divisor = parallel_divisor(candidate->workers);
	Cost		run = candidate->total - candidate->startup;
	Cost		disk;

	/* as cost_seqscan() has it: workers do not make the disk faster */
	disk = info->size.main_pages * info->seq_page_cost + toast;
	/* a child's cost is per worker already */
	if (candidate->child != NULL)
		disk += child_run;
	else
		disk += (1 - ROWSTORE_SAVING) * info->heap_pages *
			info->seq_page_cost;
	disk = Min(disk, run);
	candidate->vector_cost.rows /= divisor;
	candidate->vector_cost.decode = toast +
		(candidate->vector_cost.decode - toast) / divisor;
	candidate->vector_cost.look = 0;
	candidate->total = candidate->startup + disk + (run - disk) / divisor;
	candidate->rows = clamp_row_est(candidate->rows / divisor);
	charge_start(info, candidate);
}

/* Getting to, and reading, that share of nread batches by indexes of R. */
static Cost
by_index_cost(const StrataRelInfo *info, double nread, double share,
			  Cost looking, Cost per_batch, Cost *access)
{
	double		n = Max(nread * share, 1);

	*access = looking + index_access_cost(info, n, false) +
		(n - 1) * 50 * cpu_operator_cost;
	return *access + n * per_batch;
}

/*
 * Go by indexes of R where that costs less than what the candidate has
 * chosen, reading included; *access and *nread are then of it.  A second one
 * is asked where it pays for itself; conditions are taken to be independent.
 */
static void
try_batch_index(const StrataRelInfo *info, StrataCandidate *candidate,
				List *options, Cost per_batch, Cost *access, double *nread)
{
	double		share = 1;
	double		all = *nread;
	Cost		looking = 0;
	Cost		best = *access + *nread * per_batch;

	candidate->indexes = NIL;
	if (candidate->incremental || candidate->workers > 0)
		return;
	options = list_copy(options);
	while (options != NIL)
	{
		const StrataIndexOption *chosen = NULL;
		Cost		chosen_access = 0;
		ListCell   *lc;

		foreach(lc, options)
		{
			const StrataIndexOption *option = lfirst(lc);
			Cost		to;
			Cost		cost = by_index_cost(info, all, share * option->share,
											 looking + option->cost, per_batch,
											 &to);

			if (cost >= best)
				continue;
			best = cost;
			chosen = option;
			chosen_access = to;
		}
		if (chosen == NULL)
			break;
		share *= chosen->share;
		looking += chosen->cost;
		candidate->access = STRATA_ACCESS_INDEX;
		candidate->indexes = list_concat(candidate->indexes, chosen->uses);
		*access = chosen_access;
		*nread = Max(all * share, 1);
		options = list_delete_ptr(options, (void *) chosen);
	}
}

/*
 * What who takes columns saves of rowstore_cost(), reading that share of the
 * tuples; no process makes the disk faster.
 */
static Cost
columns_saving(const StrataRelInfo *info, const StrataCandidate *candidate,
			   const QualShape *shape, double share)
{
	if (candidate->child != NULL || candidate->nkeys > 0)
		return 0;
	return (COLUMNS_SAVING - ROWSTORE_SAVING) *
		(info->heap_pages * info->seq_page_cost +
		 info->heap_tuples * share *
		 (cpu_tuple_cost + shape->heap.per_tuple));
}

/*
 * Does an ordered scan read one segment after the other?  There is one, or all
 * segmentby columns come first in the order.
 */
static bool
goes_segment_by_segment(const StrataRelInfo *info,
						const StrataCandidate *candidate)
{
	const StrataLayout *layout = info->layout;

	if (is_segment_access(candidate) && candidate->incremental)
		return true;
	if (layout->nsegment == 0 || candidate->nkeys < layout->nsegment)
		return false;
	for (int i = 0; i < layout->nsegment; i++)
	{
		if (strata_layout_segment_index(layout,
										candidate->keys[i].attno) < 0)
			return false;
	}
	return true;
}

/* Trying the quals on a row of a batch. */
static Cost
qual_cost(const QualShape *shape)
{
	return shape->singly.per_tuple + shape->singly_row * cpu_tuple_cost +
		(shape->batch.per_tuple - shape->singly.per_tuple) *
		VECTOR_QUAL_SHARE;
}

/* Making a row of the values that are wanted of a batch's. */
static Cost
emit_row_cost(const StrataRelInfo *info)
{
	return cpu_tuple_cost *
		(COST_EMIT_ROW + info->nvalues * COST_EMIT_VALUE +
		 info->nvarlenas * COST_EMIT_VARLENA);
}

/* See scan_plan_private.h. */
void
strata_scan_cost(StrataRelInfo *info, StrataCandidate *candidate)
{
	const StrataStoreSize *size = &info->size;
	double		rows_per_batch = size->rows / Max(size->batches, 1.0);
	double		batch_share;
	const QualShape *shape = get_shape(info, candidate->param_info);
	double		segments;
	double		nbatches;		/* to look at */
	double		nread;			/* of them: not pruned then */
	double		open;
	Cost		access;
	Cost		per_batch;
	Cost		toast;
	Cost		emit;
	Cost		heap_startup;
	Cost		heap_total;

	batch_share = size->rows / Max(size->rows + info->heap_tuples, 1.0);
	candidate->rows = path_rows(info, candidate);
	segments = Max(info->nsegments * shape->segment_sel, 1.0);
	nbatches = size->batches * shape->segment_sel;
	if (shape->order != NIL)
		nbatches = Min(nbatches, nbatches * shape->order_sel + segments);
	nbatches = Min(Max(nbatches, 1.0), Max(size->batches, 1.0));
	nread = candidate->nread = Max(nbatches * shape->range_sel, 1.0);

	if (candidate->incremental && is_segment_access(candidate))
		access = index_access_cost(info, nbatches, true);
	else if (candidate->incremental)
		access = index_access_cost(info, size->batches, false);
	else
		access = choose_access(info, candidate, shape, nbatches);

	toast = toast_cost(info);
	per_batch = open_cost(info, rows_per_batch) +
		rows_per_batch * qual_cost(shape);
	try_batch_index(info, candidate, shape->index_options, per_batch, &access,
					&nread);
	candidate->nread = nread;
	emit = candidate->rows * batch_share * emit_row_cost(info) +
		candidate->rows * info->rel->reltarget->cost.per_tuple;
	rowstore_cost(info, candidate, shape, &heap_startup, &heap_total);

	candidate->startup = heap_startup + shape->batch.startup +
		info->rel->reltarget->cost.startup;
	candidate->total = heap_total + shape->batch.startup +
		info->rel->reltarget->cost.startup + access +
		nread * per_batch + emit;
	candidate->vector_cost.rows = emit;
	candidate->vector_cost.decode = nread * (per_batch -
											 COST_BATCH_OPEN * cpu_tuple_cost);
	candidate->vector_cost.look = Max(access +
									  nread * COST_BATCH_OPEN *
									  cpu_tuple_cost -
									  count_cost(info),
									  0);
	if (may_be_best_first(info, candidate, shape))
	{
		candidate->segment_saving = segment_saving(info, access, nread,
												   per_batch);
		for (int last = 0; last < 2; last++)
			cost_end(info, shape, last != 0, access, nbatches,
					 &candidate->end[last]);
	}
	if (candidate->nkeys > 0)
	{
		/* the batches that lie side by side are open at the same time */
		open = goes_segment_by_segment(info, candidate) ?
			1 :
			Min(segments, Min(nbatches, nread));
		candidate->memory = open * rows_per_batch * (info->ncolumns + 1) *
			sizeof(Datum);
		candidate->startup += open * per_batch;
		if (candidate->incremental)
			candidate->startup +=
				index_access_cost(info,
								  is_segment_access(candidate) ?
								  1 :
								  Min(info->nsegments, size->batches),
								  false);
		else
			candidate->startup += access;
		candidate->total += candidate->rows * 2.0 * cpu_operator_cost *
			(1.0 + log(open + 1.0) / 0.693147);
	}
	if (candidate->workers > 0)
		share_among_workers(info, candidate, heap_total - heap_startup,
							nread * toast);
	candidate->vector_cost.rows +=
		columns_saving(info, candidate, shape,
					   candidate->workers > 0 ?
					   1 / parallel_divisor(candidate->workers) : 1);
	candidate->total = Max(candidate->total, candidate->startup);
}
