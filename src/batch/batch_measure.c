/*-------------------------------------------------------------------------
 *
 * batch_measure.c
 *	  What batches take on disk, without looking there.
 *
 * Hides how PostgreSQL lays a companion's rows out: which columns of a batch
 * row go to TOAST, in how many chunks, how many rows fit a page.  It repeats
 * what the toaster does (the largest goes first, until the row is small
 * enough), and rounds the rest.  Who writes batches asks the same how small
 * rows are best made.
 *
 * src/batch/batch_measure.c
 *-------------------------------------------------------------------------
 */
#include "batch/batch_private.h"

#include "access/detoast.h"
#include "access/heaptoast.h"
#include "access/htup_details.h"

/*
 * A tuple of the TOAST table beside its data: header, value id, chunk number,
 * length.
 */
#define CHUNK_OVERHEAD 36

/* Space of a page that tuples can have. */
#define PAGE_ROOM (BLCKSZ - 24)

/* The free space map knows free space to so many bytes. */
#define GAP_BYTES (BLCKSZ / STRATA_MEASURE_GAPS)

/* An entry of a small index with its line pointer, beside the values in it. */
#define INDEX_ENTRY 16

/*
 * Pages of an index before its first entry matters; free space and visibility
 * maps.
 */
#define INDEX_PAGES 2
#define MAP_BYTES (4 * BLCKSZ)

/* Rows are cut in another way if that saves so much of what they take. */
#define CUT_GAIN (1 / 30.0)

/* See batch_measure.h. */
Size
strata_measure_varlena(Size nbytes)
{
	return nbytes + 1 <= VARATT_SHORT_MAX ? nbytes + 1 :
		INTALIGN(nbytes + VARHDRSZ);
}

/*
 * Put a tuple on the last page, or into a gap that the last pages left, or on
 * a new one.
 */
static void
place_tuple(StrataPagesMeasure *m, Size nbytes)
{
	int			gap;

	nbytes = MAXALIGN(nbytes) + sizeof(ItemIdData);
	if (nbytes > m->page_free)
	{
		m->gaps[m->page_free / GAP_BYTES]++;
		for (gap = (int) ((nbytes + GAP_BYTES - 1) / GAP_BYTES);
			 gap < STRATA_MEASURE_GAPS && m->gaps[gap] == 0; gap++)
			;
		if (gap < STRATA_MEASURE_GAPS)
		{
			m->gaps[gap]--;
			m->page_free = (Size) gap * GAP_BYTES;
		}
		else
		{
			m->pages += 1;
			m->page_free = PAGE_ROOM;
		}
	}
	m->page_free -= Min(nbytes, m->page_free);
}

/* One row, cut down to the target as PostgreSQL's toaster does. */
static void
place_row(StrataPlaceMeasure *m, Size total, const Size *columns, int ncolumns,
		  Size target)
{
	Size	   *left = palloc(sizeof(Size) * Max(ncolumns, 1));

	for (int i = 0; i < ncolumns; i++)
		left[i] = strata_measure_varlena(columns[i]);
	while (MAXALIGN(total) > target)
	{
		int			largest = -1;
		Size		nbytes;

		for (int i = 0; i < ncolumns; i++)
			if (left[i] > MAXALIGN(TOAST_POINTER_SIZE) &&
				(largest < 0 || left[i] > left[largest]))
				largest = i;
		if (largest < 0)
			break;
		nbytes = columns[largest];
		total = total - left[largest] + TOAST_POINTER_SIZE;
		left[largest] = 0;
		for (Size done = 0; done < nbytes; done += TOAST_MAX_CHUNK_SIZE)
		{
			place_tuple(&m->toast, CHUNK_OVERHEAD + Min(nbytes - done,
														TOAST_MAX_CHUNK_SIZE));
			m->toast_chunks += 1;
		}
	}
	place_tuple(&m->main, total);
	pfree(left);
}

/* See batch_measure.h. */
Size
strata_measure_cut_row(StrataCutMeasure *m, Size plain, const Size *columns,
					   int ncolumns)
{
	Size		total = plain;

	for (int i = 0; i < ncolumns; i++)
		total += strata_measure_varlena(columns[i]);
	for (int cut = 0; cut < STRATA_BATCH_CUTS; cut++)
		place_row(&m->cut[cut], total, columns, ncolumns,
				  STRATA_BATCH_CUT_BYTES(cut));
	return total;
}

/* See batch_private.h. */
void
strata_measure_add_row(StrataBatchMeasure *m, Size plain, const Size *columns,
					   int ncolumns)
{
	m->row_bytes = strata_measure_cut_row(&m->places, plain, columns,
										  ncolumns);
	m->nbatches += 1;
}

/* Bytes of the pages, with what a TOAST table has beside them. */
static double
place_bytes(const StrataPlaceMeasure *m, double scale)
{
	double		bytes = m->main.pages * scale * BLCKSZ;

	if (m->toast.pages > 0)
		bytes += m->toast.pages * scale * BLCKSZ +
			m->toast_chunks * scale * INDEX_ENTRY * 1.4 +
			INDEX_PAGES * BLCKSZ + MAP_BYTES;
	return bytes;
}

/* See batch_measure.h. */
StrataBatchCut
strata_measure_best_cut(const StrataCutMeasure *m, StrataBatchCut now,
						double scale)
{
	StrataBatchCut best = now;

	for (int cut = 0; cut < STRATA_BATCH_CUTS; cut++)
		if (place_bytes(&m->cut[cut], scale) <
			place_bytes(&m->cut[now], scale) * (1 - CUT_GAIN))
			best = (StrataBatchCut) cut;
	return best;
}

/* See batch_measure.h. */
double
strata_measure_disk_bytes(const StrataBatchMeasure *m, double scale)
{
	StrataBatchCut cut = strata_measure_best_cut(&m->places, m->cut, scale);

	return place_bytes(&m->places.cut[cut], scale) +
		m->index_bytes * scale * 1.1 + m->nindexes * INDEX_PAGES * BLCKSZ +
		MAP_BYTES;
}

/* See batch_private.h. */
Size
strata_measure_index_entry(Size key_bytes)
{
	return INDEX_ENTRY + MAXALIGN(key_bytes);
}
