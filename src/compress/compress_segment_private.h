/*-------------------------------------------------------------------------
 *
 * compress_segment_private.h
 *	  Rows on their way into batches, by segment; see compress_segment.c.
 *
 * src/compress/compress_segment_private.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_COMPRESS_SEGMENT_PRIVATE_H
#define STRATA_COMPRESS_SEGMENT_PRIVATE_H

#include "batch/batch_record.h"
#include "compress/compress_private.h"

/*
 * Some records; while it is nobody's, the first bytes are the next such piece.
 */
typedef char *StrataPiece;

/* One segment and its rows; also, with borrowed values, a key to look up. */
typedef struct StrataSegment
{
	uint32		hash;
	Datum	   *values;			/* layout->nsegment */
	bool	   *isnull;
	int			nrows;
	StrataPiece *pieces;		/* room for a batch; NULL until the first row */
	/* compress_gather.c's: */
	bool		sorted;			/* rows of it were given to the sort */
	bool		written;		/* a batch was */
	bool		reversed;		/* rows arrive against the layout's order */
	int			slack;			/* rows that wait for others to come between */
	bool		bound_isnull;
	Datum		bound;			/* first order key furthest ahead, if there is
								 * one */
} StrataSegment;

typedef struct StrataSegments
{
	MemoryContext mcxt;			/* owns everything here */
	MemoryContext chunks_mcxt;	/* by-reference values of rows */
	TupleDesc	desc;			/* of R */
	const StrataLayout *layout;
	StrataRecordForm *form;
	int			batch_rows;		/* room of a segment */
	int			piece_shift;	/* records of a piece, as a power of two */
	StrataPiece free_pieces;
	struct segments_hash *hash;
	StrataSegment *last;		/* of the row before */
	StrataSegment probe;
	TupleTableSlot *slot;		/* for one row */
	Size		pending;		/* bytes of chunks in use */
	Size		overhead;		/* bytes of segments and pieces, never given
								 * back */
	Size		spare;			/* of these, bytes of free pieces */
} StrataSegments;

/* In a context of its own below the current one. */
extern StrataSegments *strata_segments_create(Relation rel,
											  const StrataLayout *layout,
											  int batch_rows);
extern void strata_segments_free(StrataSegments *segments);

/* The segment of a row, made when it is new. */
extern StrataSegment *strata_segment_find(StrataSegments *segments,
										  TupleTableSlot *slot);

/* Was a batch written of the segment of a row? */
extern bool strata_segment_was_written(StrataSegments *segments,
									   TupleTableSlot *slot);

/* Add a row of it, which has room for one. */
extern void strata_segment_add(StrataSegments *segments,
							   StrataSegment *segment, TupleTableSlot *slot);

/* Free its rows; those marked in keep, if given, stay. */
extern void strata_segment_clear(StrataSegments *segments,
								 StrataSegment *segment, const bool *keep);

/* A row, in a slot of ours. */
extern TupleTableSlot *strata_segment_row(StrataSegments *segments,
										  const StrataSegment *segment,
										  int row);

/* That slot, cleared, its arrays with the segment's values in them. */
extern TupleTableSlot *strata_segment_columns(StrataSegments *segments,
											  const StrataSegment *segment);

/* All that have rows, in the order of their values; returns how many. */
extern int	strata_segments_list(StrataSegments *segments,
								 StrataSegment ***list);

/* Do they take more than limit, whatever can be done about it? */
extern bool strata_segments_exceed(StrataSegments *segments, Size limit);

/* The place of a record. */
static inline char *
strata_segment_record(const StrataSegments *segments,
					  const StrataSegment *segment, int row)
{
	int			shift = segments->piece_shift;

	return segment->pieces[row >> shift] +
		(Size) (row & ((1 << shift) - 1)) * segments->form->size;
}

#endif							/* STRATA_COMPRESS_SEGMENT_PRIVATE_H */
