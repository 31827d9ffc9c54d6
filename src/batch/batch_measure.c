/*-------------------------------------------------------------------------
 *
 * batch_measure.c
 *	  What batches would take on disk, without writing them.
 *
 * Hides how PostgreSQL lays a companion's rows out: which columns of a batch
 * row go to TOAST, in how many chunks, how many rows fit a page.  It repeats
 * what the toaster does (the largest goes first, until the row is small
 * enough), and rounds the rest.
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

/* Bytes a varlena of so many takes in a tuple. */
static Size
varlena_size(Size nbytes)
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

/* See batch_private.h. */
void
strata_measure_add_row(StrataBatchMeasure *m, Size plain, const Size *columns,
					   int ncolumns, Size target)
{
	Size	   *left = palloc(sizeof(Size) * Max(ncolumns, 1));
	Size		total = plain;

	for (int i = 0; i < ncolumns; i++)
	{
		left[i] = varlena_size(columns[i]);
		total += left[i];
	}
	m->row_bytes = total;
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
	m->nbatches += 1;
	pfree(left);
}

/* See batch_measure.h. */
double
strata_measure_disk_bytes(const StrataBatchMeasure *m, double scale)
{
	double		bytes = m->main.pages * scale * BLCKSZ;
	double		toast = m->toast.pages * scale * BLCKSZ;

	bytes += m->index_bytes * scale * 1.1 +
		m->nindexes * INDEX_PAGES * BLCKSZ + MAP_BYTES;
	if (toast > 0)
		bytes += toast + m->toast_chunks * scale * INDEX_ENTRY * 1.4 +
			INDEX_PAGES * BLCKSZ + MAP_BYTES;
	return bytes;
}

/* See batch_private.h. */
Size
strata_measure_index_entry(Size key_bytes)
{
	return INDEX_ENTRY + MAXALIGN(key_bytes);
}
