/*-------------------------------------------------------------------------
 *
 * agg_join_private.h
 *	  Joins that have groups in the place of one relation's rows.
 *
 * src/agg/agg_join_private.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_AGG_JOIN_PRIVATE_H
#define STRATA_AGG_JOIN_PRIVATE_H

#include "postgres.h"

#include "agg/agg_private.h"

/*
 * Grouping first must make at least so many rows one, on average; and so many
 * where rows might be joined by vectors, since groups are joined one by one.
 */
#define AGG_ROWS_PER_GROUP 4
#define AGG_JOINED_ROWS_PER_GROUP 16

/* One way to group before the join. */
typedef struct JoinBelow
{
	PlannerInfo *root;
	RelOptInfo *fact;
	List	   *columns;		/* of fact, that conditions of joins read */
	List	   *keys;			/* that fact is grouped by */
	List	   *exprs;			/* what the groups return */
	Path	   *groups;			/* in fact's place */
	double		share;			/* groups of the rows there were */
} JoinBelow;

/*
 * The relation to be grouped: the one that aggregates in exprs read, or else
 * the largest of those that can be.  NULL: there is none.
 */
extern RelOptInfo *strata_agg_join_fact(PlannerInfo *root, RelOptInfo *join,
										List *exprs);

/*
 * The cheapest path of the join that can be had with groups in fact's place;
 * sets the columns that it needs of them.  NULL: there is none.
 */
extern Path *strata_agg_join_choose(JoinBelow *below, RelOptInfo *join);

/*
 * Collect fact's columns among those of the clauses; false: they read more of
 * it, or may not be evaluated for groups.
 */
extern bool strata_agg_join_add_columns(JoinBelow *below, List *clauses);

/*
 * agg_join_first.c: the groups of fact by part's keys, with the rows that it
 * picks, in fact's place; NULL: there are too many, or no such path.
 */
extern Path *strata_agg_join_distinct(JoinBelow *below, const AggShape *part);

/*
 * agg_join_semi.c: groups of the inner side of a semi or anti join by all that
 * the join's clauses read of it; NULL: there are none, or too many.
 */
extern Path *strata_agg_semi_groups(PlannerInfo *root,
									const RelOptInfo *joinrel,
									RelOptInfo *inner, List *clauses);

/* agg_join_keep.c: the planner's paths of a join, and one kept for us. */
extern List *strata_agg_join_paths(const RelOptInfo *joinrel);

/* A relation that stands for groups of rel, or joins of them. */
extern RelOptInfo *strata_agg_relation_like(const RelOptInfo *rel,
											PathTarget *target, double rows);

/* The path, one that was chosen, with groups in fact's place. */
extern Path *strata_agg_join_groups(JoinBelow *below, Path *path);

/*
 * agg_path.c: a path over input, one of rel's that gives vectors, which
 * returns the shape's inputs; NULL: there is none.  *saved: of its costs,
 * those that only making rows has.
 */
extern Path *strata_agg_child_path(PlannerInfo *root, RelOptInfo *rel,
								   Path *input, const AggShape *shape,
								   Cost *saved);

/* agg_join_path.c: can the path be read by vectors? */
extern bool strata_agg_gives_joined_vectors(PlannerInfo *root, Path *path);

/* The column as the relation returns it: an outer join above may mark it. */
extern Var *strata_agg_column_of(const RelOptInfo *rel, Var *var);

/* The cheapest path of a join that can; NULL: there is none. */
extern Path *strata_agg_cheapest_joined(PlannerInfo *root,
										const RelOptInfo *joinrel);

/* The same one, which returns the shape's inputs; *saved as above. */
extern Path *strata_agg_join_child_path(PlannerInfo *root, RelOptInfo *rel,
										const AggShape *shape, Cost *saved);

/* agg_join.c: combine the groups that a join returns. */
extern void strata_agg_read_joined(StrataAggState *agg);

/* Set the key's current value to that of the joined row in econtext. */
extern void strata_agg_load_joined_key(AggKey *key, ExprContext *econtext);

/*
 * strata_agg_group_combine() with what a group below a join has: nothing of
 * aggregates with DISTINCT, whose values are columns of the joined row.
 */
extern void strata_agg_joined_combine(StrataAggState *agg, AggCell *cells,
									  const char *in, const char *end);

/* Take those values, of the group of agg's current keys, into their sets. */
extern void strata_agg_distinct_take_joined(StrataAggState *agg,
											ExprContext *econtext);

#endif							/* STRATA_AGG_JOIN_PRIVATE_H */
