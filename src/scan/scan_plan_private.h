/*-------------------------------------------------------------------------
 *
 * scan_plan_private.h
 *	  Paths and plans: what is known when they are made, what they decide, and
 *	  how a plan carries that.
 *
 * src/scan/scan_plan_private.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_SCAN_PLAN_PRIVATE_H
#define STRATA_SCAN_PLAN_PRIVATE_H

#include "postgres.h"

#include "nodes/extensible.h"
#include "nodes/pathnodes.h"
#include "index/index.h"
#include "scan/filter_operator_private.h"
#include "scan/scan_vector.h"
#include "store/store.h"

/* How batch rows are found in the companion. */
typedef enum StrataAccess
{
	STRATA_ACCESS_SEQ,			/* all of them */
	STRATA_ACCESS_SEGMENT,		/* index on (layout, segment values...) */
	STRATA_ACCESS_MIN,			/* index on (layout, min of the first orderby
								 * column) */
	STRATA_ACCESS_MAX,			/* the same with max */
	STRATA_ACCESS_SEGMENT_MAX,	/* as SEGMENT, but by max within a segment */
	STRATA_ACCESS_INDEX			/* those that an index of R leads to */
} StrataAccess;

/*
 * What reading batches in the order of one bound, the best first, does to a
 * path's cost.
 */
typedef struct StrataEndCost
{
	Cost		saving;			/* when few batches are enough; 0: none, or it
								 * cannot be */
	Cost		walk;			/* of that, what is lost again when all are
								 * needed */
	bool		by_span;		/* it needs the widest batch of all */
} StrataEndCost;

/*
 * What a path decided: path and plan carry it (scan_plan_data.c).
 */
typedef struct StrataScanInfo
{
	StrataAccess access;
	char	   *layout;			/* text of the layout access is about */
	int			nkeys;			/* ordered output: sort keys, else 0 */
	StrataOrderKey *keys;
	bool		incremental;	/* ordered: access should give batches in
								 * order */
	bool		by_span;		/* a segment has so many batches that its
								 * widest is asked for */
	bool		has_child;		/* row store through an index, by the child
								 * plan */
	BlockNumber heap_pages;		/* of the row store, when planned */
	bool		best_first;		/* access gives the best bound first (of each
								 * segment), and may skip the rest */
	StrataVectorCost vector_cost;	/* paths only */
	Path	   *fewer;			/* the same with a worker less; NULL: there is
								 * none; paths only */

	/*
	 * what best_first would save, by segment or of the table as one; paths
	 * only
	 */
	Cost		segment_saving; /* 0: none, or it cannot be */
	Bitmapset  *segment;		/* segmentby columns, of partial paths too */
	Bitmapset  *cut_by;			/* the same of all paths */
	AttrNumber	order;			/* column of the bound */
	List	   *indexes;		/* access INDEX: OIDs of R's indexes, each
								 * followed by the column looked up, or 0: its
								 * operator classes are asked */
	List	   *joined;			/* StrataJoinedIndex of columns by which joins
								 * above may find batches; paths only */
	double		nread;			/* batches that are read, by all processes;
								 * paths only */
	bool		has_segment_index[2];	/* by min, by max */
	StrataEndCost end[2];		/* likewise */
	char	   *note;			/* why the aggregation above is not
								 * vectorised, or "" */
	int			nquals;			/* plans only */
	bool	   *promotable;
} StrataScanInfo;

/*
 * Of a path: the struct itself, which it shares with whoever sets or asks for
 * it.  Of a plan: without what is for paths only; what is read is in the
 * current memory context.
 */
extern void strata_scan_path_set_info(CustomPath *path, StrataScanInfo *info);
extern StrataScanInfo *strata_scan_path_info(const CustomPath *path);
extern void strata_scan_plan_write(CustomScan *cscan,
								   const StrataScanInfo *info);
extern void strata_scan_plan_read(const CustomScan *cscan,
								  StrataScanInfo *info);

/* What planning knows of a relation. */
typedef struct StrataRelInfo
{
	PlannerInfo *root;
	RelOptInfo *rel;
	TupleDesc	desc;			/* of R; valid while planning the relation */
	StrataStore *store;			/* likewise */
	StrataLayout *layout;		/* of the batches, if they all have one; else
								 * of present settings */
	StrataStoreSize size;
	double		heap_pages;		/* of the row store */
	double		heap_tuples;
	double		random_page_cost;	/* of R's tablespace */
	double		seq_page_cost;
	double		nsegments;		/* distinct segments, estimated */
	int			ncolumns;		/* columns that the query needs */
	int			nvalues;		/* of them, those that rows are returned with:
								 * by value, or a segment's */
	int			nvarlenas;		/* ... and others */
	bool		has_segment_index;
	bool		has_segment_max_index;
	bool		has_min_index;
	bool		has_max_index;
	bool		has_span_index;
	bool		by_span;		/* see StrataScanInfo */
	List	   *shapes;			/* of scan_cost.c: what it knows of the quals */
	List	   *ops;			/* and of each of them */
	List	   *batch_indexes;	/* of scan_batch_index.c: of columns */
	bool		class_indexes_known;
	List	   *class_indexes;	/* of scan_batch_class.c */
} StrataRelInfo;

/* A path being considered: what it is, then what it costs. */
typedef struct StrataCandidate
{
	ParamPathInfo *param_info;
	Path	   *child;			/* or NULL: the row store is read as it lies */
	int			nkeys;			/* ordered output */
	const StrataOrderKey *keys;
	bool		incremental;	/* batches come in order from an index */
	int			workers;		/* > 0: partial */
	/* results */
	StrataAccess access;
	double		memory;			/* ordered: bytes of batches open at a time */
	double		rows;
	Cost		startup;
	Cost		total;
	StrataVectorCost vector_cost;
	List	   *indexes;		/* see StrataScanInfo */
	double		nread;			/* batches that are read, by all processes */
	Cost		segment_saving; /* of total: not there when one batch of each
								 * segment is looked for; 0: none */
	StrataEndCost end[2];		/* from the least, from the greatest */
} StrataCandidate;

/* Looking for batches by indexes of R. */
typedef struct StrataIndexOption
{
	List	   *uses;			/* as StrataScanInfo's indexes */
	double		share;			/* of the batches that are led to */
	Cost		cost;			/* of the look-ups */
} StrataIndexOption;

/* A batch index of a column that joins above see, and what costs go by. */
typedef struct StrataJoinedIndex
{
	AttrNumber	attno;
	StrataIndexShape shape;
	double		uncovered;		/* share of the batches that are read anyway */
	Cost		random_page;
	Cost		seq_page;
} StrataJoinedIndex;

/* scan_batch_index.c: of the columns that joins above see. */
extern List *strata_scan_joined_indexes(StrataRelInfo *info);

/* scan_batch_index.c: has the column one? */
extern bool strata_scan_has_batch_index(StrataRelInfo *info,
										AttrNumber attno);

/* scan_batch_index.c: up to the first row of the last batch; 1: none. */
extern double strata_scan_row_numbers(StrataStore *store, Snapshot snapshot);

/*
 * scan_batch_index.c: StrataIndexOption of each clause that indexes lead to
 * batches for.  repeated: the scan will be asked for many values in turn.
 */
extern List *strata_scan_batch_index(StrataRelInfo *info, List *clauses,
									 bool repeated);

/* Looking up so many hashes, in their order. */
extern Cost strata_scan_look_up_cost(const StrataIndexShape *shape,
									 double sought, Cost random_page,
									 Cost seq_page);

/*
 * scan_batch_class.c: the same by operator classes; and could the clause be
 * asked of one?
 */
extern List *strata_scan_batch_class(StrataRelInfo *info, List *clauses,
									 bool repeated);
extern bool strata_scan_class_serves(StrataRelInfo *info, RestrictInfo *rinfo);

/*
 * scan_support.c: conditions that follow from a clause that is a function's
 * call, and that the open index can be asked for; and of all the indexes that
 * a plan has.
 */
extern List *strata_scan_support(PlannerInfo *root, RelOptInfo *rel,
								 Relation index, Expr *clause);
extern List *strata_scan_support_all(PlannerInfo *root, RelOptInfo *rel,
									 const List *indexes, Expr *clause);

/* scan_cost.c: the comparison with a column that a clause is, or NULL. */
extern const StrataColumnOp *strata_scan_clause_op(StrataRelInfo *info,
												   RestrictInfo *rinfo);

/*
 * scan_start.c: what starting so many workers costs a partial path of the
 * relation, which costs so much without.
 */
extern Cost strata_scan_start_cost(PlannerInfo *root, const RelOptInfo *rel,
								   int workers, Cost partial);

/*
 * scan_start.c: charge for that the partial Appends of a parent whose children
 * were not.
 */
extern void strata_scan_charge_appends(const PlannerInfo *root,
									   RelOptInfo *rel);

/*
 * scan_cost.c: choose the access (unless incremental) and fill in the results.
 */
extern void strata_scan_cost(StrataRelInfo *info, StrataCandidate *candidate);

/* scan_cost.c: the same of a table that has no batches; info has no store. */
extern void strata_scan_cost_rowstore(const StrataRelInfo *info,
									  StrataCandidate *candidate);

/*
 * scan_share.c: of all batches, those that the clauses do not prune by
 * summaries.
 */
extern Selectivity strata_scan_unpruned_share(StrataRelInfo *info,
											  List *clauses);

/*
 * scan_index.c: the row store is about to be read from end to end, which was
 * decided when it had `planned` pages.  May have the plan made anew, next
 * time.
 */
extern void strata_scan_check_outgrown(Relation rel, BlockNumber planned,
									   BlockNumber found);

/* scan_plan.c */
extern const struct CustomPathMethods strata_path_methods;
extern const struct CustomScanMethods strata_scan_methods;

/*
 * Of a partition: forget conditions that its bounds imply.  PostgreSQL's paths
 * that have them in an index are left.
 */
extern void strata_scan_drop_implied(PlannerInfo *root, RelOptInfo *rel);

#endif							/* STRATA_SCAN_PLAN_PRIVATE_H */
