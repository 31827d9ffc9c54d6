/*-------------------------------------------------------------------------
 *
 * agg_plan_private.h
 *	  What a query aggregates: its shape, its paths, its plan.
 *
 * src/agg/agg_plan_private.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_AGG_PLAN_PRIVATE_H
#define STRATA_AGG_PLAN_PRIVATE_H

#include "postgres.h"

#include "nodes/extensible.h"
#include "nodes/pathnodes.h"

/* What may end the reading of rows early. */
typedef enum AggStopKind
{
	AGG_STOP_NONE,
	AGG_STOP_TOP,				/* ORDER BY key LIMIT n */
	AGG_STOP_PICK				/* only the latest or first row of a group
								 * counts */
} AggStopKind;

/* Which rows can matter: see agg_stop.c. */
typedef struct AggStopPlan
{
	AggStopKind kind;
	bool		last;			/* the greatest values are wanted, not the
								 * least */
	bool		reverse;		/* they are in the last partitions */
	int			top_key;		/* AGG_STOP_TOP: number of the key */
	int			top_n;			/* and how many of its values */
	bool		nulls_matter;	/* ... beside them the nulls, which come
								 * before them */
} AggStopPlan;

/* How much of the aggregation a node does. */
typedef enum AggStage
{
	AGG_STAGE_WHOLE,
	AGG_STAGE_PARTIAL,			/* of some of the rows; returns groups as
								 * bytes */
	AGG_STAGE_FINAL,			/* combines those */
	AGG_STAGE_BELOW,			/* before a join: returns keys, and the rest
								 * of a group as bytes */
	AGG_STAGE_JOINED			/* combines what the join makes of those */
} AggStage;

/* Does a node of the stage read rows, not partial results? */
static inline bool
agg_stage_reads(AggStage stage)
{
	return stage != AGG_STAGE_FINAL && stage != AGG_STAGE_JOINED;
}

/* What a query aggregates, in terms of the input relation's columns. */
typedef struct AggShape
{
	List	   *inputs;			/* Vars of the input relation */
	List	   *keys;			/* expressions grouped by */
	List	   *eqops;			/* of each, InvalidOid: equal are the same
								 * bytes */
	List	   *outputs;		/* grouping sets: the keys as the query has
								 * them above, or NIL: the same */
	List	   *sets;			/* IntList: of each, keys it lacks, as bits */
	List	   *groupings;		/* GroupingFuncs */
	List	   *aggrefs;
	const char *reason;			/* why it cannot be done, or NULL */
	/* DISTINCT ON: of each group the row with the greatest or least "by" */
	List	   *picks;			/* Vars of that row */
	bool		ranked;			/* it is the first by these expressions
								 * instead, */
	List	   *ranks;
	List	   *rank_ops;		/* IntLists: operator, collation, nulls first */
	bool		summaries;		/* whole batches need not be decoded */
	bool		counts;			/* nor even looked at: count(*) */
	bool		has_distinct;	/* an aggregate takes equal values in once */
	bool		has_held;		/* an aggregate holds its rows */
	AggStopPlan stop;
	Expr	   *by;				/* of what the greatest or least; TOP: the
								 * column of the key */
	double		share;			/* of all groups, those that are wanted */
} AggShape;

/*
 * What a node is to do: its path and its plan carry it (agg_plan_data.c).  In
 * a path keys, aggregates, picks and by are about the input relation; in a
 * plan they refer to the child's result.
 */
typedef struct AggPlanData
{
	AggStage	stage;
	List	   *inputs;			/* Vars that the child returns */
	List	   *keys;
	List	   *eqops;			/* as in AggShape, as are these: */
	List	   *outputs;		/* paths only */
	List	   *sets;
	List	   *groupings;		/* paths: GroupingFuncs; plans: the keys of
								 * each, by number */
	List	   *aggrefs;
	List	   *picks;
	bool		ranked;
	List	   *ranks;
	List	   *rank_ops;
	Expr	   *by;
	AggStopPlan stop;
	List	   *order;			/* of the groups: strata_agg_order_plan() */
	List	   *having;			/* paths only: a plan has it as its qual */
	List	   *joined;			/* JOINED, paths only: what the join returns */
} AggPlanData;

/* path: the data itself, not a copy; plan: parts of the plan's own lists. */
extern void strata_agg_path_set_data(CustomPath *path,
									 const AggPlanData *data);
extern const AggPlanData *strata_agg_path_data(const CustomPath *path);
extern void strata_agg_plan_write(CustomScan *cscan, const AggPlanData *data);
extern void strata_agg_plan_read(const CustomScan *cscan, AggPlanData *data);

extern void strata_agg_shape(PlannerInfo *root, RelOptInfo *input_rel,
							 RelOptInfo *grouped_rel, List *having,
							 AggShape *shape);

/*
 * The same for a join: part is what fact, one of the relations, is grouped by
 * before it, beside the columns that part has as keys already; whole is what
 * the query wants.
 */
extern void strata_agg_join_shape(PlannerInfo *root, RelOptInfo *fact,
								  RelOptInfo *grouped_rel, List *having,
								  AggShape *part, AggShape *whole);

/* agg_sets.c: add the query's grouping sets to a shape that has all keys. */
extern void strata_agg_sets_shape(PlannerInfo *root, AggShape *shape);

/* The keys of GROUPING() functions, by number. */
extern List *strata_agg_sets_groupings(const PlannerInfo *root,
									   const List *functions);

/* Groups of all sets, where there are so many of all keys. */
extern double strata_agg_sets_estimate(PlannerInfo *root,
									   const AggShape *shape, double ngroups);

/* More keys there cannot be: AggGroup.nulls. */
#define AGG_MAX_KEYS 32

/*
 * agg_shape.c: add a key, and can expr be evaluated on vectors?  Both collect
 * inputs, or say why not.
 */
extern void strata_agg_add_key(PlannerInfo *root, SortGroupClause *clause,
							   Index relid, AggShape *shape);
extern bool strata_agg_can_evaluate(Node *expr, Index relid, AggShape *shape);

/* Have part group by expr, unless equal values of it may differ. */
extern void strata_agg_add_part_key(Expr *expr, AggShape *part);

/*
 * agg_follow.c: group by var, too, if it follows from the primary key of its
 * table; false: it does not, or cannot be grouped by.  below: what is of relid
 * is grouped before a join, others are keys of what comes out of it.
 */
extern bool strata_agg_add_following_key(PlannerInfo *root, Index relid,
										 bool below, Var *var,
										 AggShape *shape);

/* Is an argument more than a column or a constant? */
extern bool strata_agg_computes(List *args);

/*
 * agg_first.c: the same for SELECT DISTINCT and DISTINCT ON; target is what it
 * returns.
 */
extern void strata_agg_distinct_shape(PlannerInfo *root, RelOptInfo *input_rel,
									  PathTarget *target, AggShape *shape);

/*
 * What fact, a relation of a join, is grouped by before it, beside the columns
 * that conditions of the join read, and which row of each group it takes.
 */
extern void strata_agg_first_below_shape(PlannerInfo *root, RelOptInfo *fact,
										 List *columns, AggShape *part);

/*
 * Are values of the type equal exactly when their bytes are?  Where they are
 * not (floats, numerics, some collations) the type's functions tell.
 */
extern bool strata_agg_is_equal_by_image(Oid type, Oid collation, Oid eqop);

/*
 * Does the clause sort integers and times as such, not by an operator class of
 * its own?
 */
extern bool strata_agg_is_time_order(const SortGroupClause *clause, Oid type,
									 bool *descending);

/*
 * agg_stop.c: a column of the relation that is ordered as integers are?  May
 * it be null?
 */
extern bool strata_agg_is_time_column(PlannerInfo *root, RelOptInfo *rel,
									  Expr *expr, bool *nullable);

/* Fill in what may end the reading early. */
extern void strata_agg_stop_plan(PlannerInfo *root, RelOptInfo *input_rel,
								 bool has_having, AggShape *shape);

/* Replace Vars of the inputs by references to the child's result columns. */
extern Node *strata_agg_refer_to_child(Node *node, List *inputs);

/*
 * agg_path.c: the path below projections that were put on top of the
 * relation's own.
 */
extern Path *strata_agg_strip_projection(Path *path);

/*
 * The cheapest of the paths that can be read by vectors; NULL: there is none.
 */
extern Path *strata_agg_find_input(List *paths);

/*
 * A path over input, one of rel's, that does what shape and stage say; NULL:
 * it cannot.
 */
extern CustomPath *strata_agg_reading_path(PlannerInfo *root, RelOptInfo *rel,
										   RelOptInfo *grouped_rel,
										   PathTarget *target, Path *input,
										   const AggShape *shape,
										   AggStage stage);

/* A path over child that combines its partial results, so many groups. */
extern CustomPath *strata_agg_combining_path(PlannerInfo *root,
											 RelOptInfo *grouped_rel,
											 Path *child,
											 const AggShape *shape,
											 List *having, AggStage stage,
											 double ngroups);

/* Offer a path, and the same with its groups in the order that is wanted. */
extern void strata_agg_offer(PlannerInfo *root, RelOptInfo *rel,
							 CustomPath *path, const AggShape *shape);

/* agg_join_first.c: of each group its first row before a join. */
extern void strata_agg_create_joined_distinct_paths(PlannerInfo *root,
													RelOptInfo *input_rel,
													RelOptInfo *distinct_rel);

/* agg_join.c: above a join; by_vectors: it has a path that gives vectors. */
extern void strata_agg_create_join_paths(PlannerInfo *root,
										 RelOptInfo *input_rel,
										 RelOptInfo *grouped_rel,
										 List *having, bool by_vectors);

/*
 * agg_estimate.c: groups of the shape that so many rows of the relation make.
 */
extern double strata_agg_estimate_groups(PlannerInfo *root, RelOptInfo *rel,
										 const AggShape *shape, double rows);

/*
 * Of all groups, those that one of the processes meets; path is a partial
 * StrataScan or an Append of them.
 */
extern double strata_agg_group_share(PlannerInfo *root, RelOptInfo *rel,
									 Path *path, const AggShape *shape,
									 double ngroups);

/*
 * agg_order.c: the pathkeys that groups can be sorted by, and for the plan
 * what that means; NIL: none are wanted, or cannot.
 */
extern List *strata_agg_order_plan(PlannerInfo *root, const AggShape *shape,
								   List **order);

/* agg_parallel.c: may workers share the aggregation? */
extern bool strata_agg_can_share(const RelOptInfo *input_rel,
								 const RelOptInfo *grouped_rel,
								 const AggShape *shape);

/*
 * The partial path to aggregate, or NULL; there are some.  For no more than so
 * many workers, if there is one for so few.
 */
extern Path *strata_agg_partial_input(PlannerInfo *root, RelOptInfo *rel,
									  int max_workers);

/* A Gather of a partial aggregation. */
extern Path *strata_agg_gather(PlannerInfo *root, RelOptInfo *grouped_rel,
							   CustomPath *partial);
extern List *strata_agg_partial_tlist(void);

/* The expression that stands for the column of bytes. */
extern Expr *strata_agg_partial_column(void);

extern const CustomPathMethods strata_agg_path_methods;
extern const CustomScanMethods strata_agg_scan_methods;

#endif							/* STRATA_AGG_PLAN_PRIVATE_H */
