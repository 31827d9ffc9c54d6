/*-------------------------------------------------------------------------
 *
 * batch_build.h
 *	  Sorted rows -> batch rows.
 *
 * src/batch/batch_build.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_BATCH_BUILD_H
#define STRATA_BATCH_BUILD_H

#include "postgres.h"

#include "access/htup.h"
#include "batch/batch.h"
#include "batch/batch_record.h"
#include "utils/rel.h"

typedef struct StrataBatchBuilder StrataBatchBuilder;

/*
 * codecs is NULL or an array indexed by attno - 1 of wanted codecs (AUTO: the
 * library chooses, by level).  layout and schema must outlive the builder.
 */
extern StrataBatchBuilder *strata_batch_builder_create(Relation rel,
													   const StrataBatchSchema
													   *schema,
													   const StrataLayout
													   *layout,
													   const StrataCodecId
													   *codecs,
													   StrataLevel level,
													   int max_rows);

/*
 * Offer the next row (values as slot_getallattrs gives them; may be toasted).
 * Returns false, taking nothing, when the row must start a new batch: another
 * segment, the limit of rows reached, or that of bytes.
 */
extern bool strata_batch_builder_add(StrataBatchBuilder *builder,
									 const Datum *values, const bool *isnull);

/*
 * Begin new batches after so many rows, instead of max_rows, which are more.
 */
extern void strata_batch_builder_set_limit(StrataBatchBuilder *builder,
										   int nrows);

/*
 * The rows to come are one batch whatever they take, as that of which they
 * are: columns that were added since make it larger.
 */
extern void strata_batch_builder_keep_together(StrataBatchBuilder *builder);
extern int	strata_batch_builder_nrows(const StrataBatchBuilder *builder);

/*
 * Offer n records of one segment, whose values are given, in the layout's
 * order, to a builder that is empty.  Returns how many it took, at least one.
 */
extern int	strata_batch_builder_add_records(StrataBatchBuilder *builder,
											 const StrataRecordForm *form,
											 const Datum *values,
											 const bool *isnull,
											 char *const *records, int n);

/*
 * Encode what was added into values/isnull of the companion's descriptor
 * (natts entries each; memory lives until the next add) and empty the builder.
 */
extern void strata_batch_builder_finish(StrataBatchBuilder *builder,
										int64 first_row, Datum *values,
										bool *isnull);
extern void strata_batch_builder_free(StrataBatchBuilder *builder);

/*
 * The companion's tuple of a finished batch.  Tables with hundreds of columns:
 * some then share a value, so that the tuple fits into a page (batch_pack.c).
 */
extern HeapTuple strata_batch_form_tuple(const StrataBatchSchema *schema,
										 Datum *values, bool *isnull);

/* Give what finish returned another first_row. */
extern void strata_batch_set_first_row(const StrataBatchSchema *schema,
									   int64 first_row, Datum *values,
									   const bool *isnull);

/*
 * How many rows the next batch should have, so that batches fill pages
 * (batch_goal.c, docs/adr/013).
 */
typedef struct StrataRowGoal
{
	int			base;			/* what was asked for: never fewer */
	int			most;			/* never more */
	Size		largest;		/* batch rows that are longer go out of line */
	/* learned */
	bool		known;
	double		rows;			/* of batches lately, on average, and their
								 * bytes */
	double		bytes;
	double		head;			/* of these bytes, what does not grow with
								 * rows */
	double		per_row;		/* the others, for each */
	double		deviation;		/* of batches from what was expected, on
								 * average, as a share */
	Size		room;			/* on the page that the last batch went to */
} StrataRowGoal;

extern void strata_goal_init(StrataRowGoal *goal, int base, Size largest);

/*
 * A batch row of nrows has nbytes, nothing out of line; it left that much room
 * on its page.
 */
extern void strata_goal_learn(StrataRowGoal *goal, int nrows, Size nbytes,
							  Size room);
extern int	strata_goal_rows(const StrataRowGoal *goal);

#endif							/* STRATA_BATCH_BUILD_H */
