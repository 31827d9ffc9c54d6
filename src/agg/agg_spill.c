/*-------------------------------------------------------------------------
 *
 * agg_spill.c
 *	  Partial results on disk, in files by the bits of their hash value.
 *
 * A file is a tape of PostgreSQL's, and all tapes of a table are in one file
 * of the operating system, which takes longer to make a file than to write
 * what a little memory holds.
 *
 * A file holds all partial results of its groups, in the order in which they
 * were written.  Files are read one after the other.  What is written while
 * one is being read comes from that file, and goes into files by the next bits
 * of the hash value, which are read next.  So each file has to be divided only
 * as far as its groups do not fit into memory.
 *
 * src/agg/agg_spill.c
 *-------------------------------------------------------------------------
 */
#include "agg/agg_spill_private.h"

#include "commands/tablespace.h"
#include "utils/logtape.h"
#include "utils/memutils.h"

/* Files that a file is divided into, as bits: as many as buffers may be. */
#define MIN_BITS 4
#define MAX_BITS 5
#define HASH_BITS 32

typedef struct SpillFile
{
	LogicalTape *file;
	int			depth;			/* bits of the hash value that are the same */
} SpillFile;

struct AggSpill
{
	MemoryContext mcxt;			/* of files and their buffers */
	LogicalTapeSet *tapes;
	int			bits;
	int			depth;			/* of what is written now */
	LogicalTape **parts;		/* being written, by the next bits; NULL:
								 * there are no such partial results yet */
	List	   *waiting;		/* SpillFile, what is read next first */
	LogicalTape *current;		/* being read; NULL: none is */
	char	   *bytes;			/* of the partial result last read */
	Size		space;
};

/* See agg_spill_private.h.  Memory: the current context. */
AggSpill *
strata_agg_spill_create(Size limit)
{
	AggSpill   *spill = palloc0(sizeof(AggSpill));

	spill->mcxt = CurrentMemoryContext;
	spill->bits = MIN_BITS;
	while (spill->bits < MAX_BITS &&
		   ((Size) 4 * BLCKSZ << spill->bits) <= limit)
		spill->bits++;
	spill->parts = palloc0(sizeof(LogicalTape *) << spill->bits);
	PrepareTempTablespaces();
	spill->tapes = LogicalTapeSetCreate(false, NULL, -1);
	return spill;
}

/* See agg_spill_private.h. */
bool
strata_agg_spill_divides(const AggSpill *spill)
{
	return spill->depth + spill->bits <= HASH_BITS;
}

/* See agg_spill_private.h. */
void
strata_agg_spill_put(AggSpill *spill, uint32 hash, const char *bytes, Size len)
{
	uint32		part = hash << spill->depth >> (HASH_BITS - spill->bits);
	LogicalTape **file = &spill->parts[part];
	MemoryContext old = MemoryContextSwitchTo(spill->mcxt);

	Assert(strata_agg_spill_divides(spill));	/* agg:G25 */
	if (*file == NULL)
		*file = LogicalTapeCreate(spill->tapes);
	LogicalTapeWrite(*file, &hash, sizeof(hash));
	LogicalTapeWrite(*file, &len, sizeof(len));
	LogicalTapeWrite(*file, unconstify(char *, bytes), len);
	MemoryContextSwitchTo(old);
}

/* What was written waits to be read, ahead of what waits already. */
static void
close_parts(AggSpill *spill)
{
	MemoryContext old = MemoryContextSwitchTo(spill->mcxt);

	for (int i = (1 << spill->bits) - 1; i >= 0; i--)
	{
		SpillFile  *waiting;

		if (spill->parts[i] == NULL)
			continue;
		waiting = palloc(sizeof(SpillFile));
		waiting->file = spill->parts[i];
		/* its last block is written, and its buffer given back */
		LogicalTapeRewindForRead(waiting->file, BLCKSZ);
		waiting->depth = spill->depth + spill->bits;
		spill->waiting = lcons(waiting, spill->waiting);
		spill->parts[i] = NULL;
	}
	MemoryContextSwitchTo(old);
}

/* See agg_spill_private.h. */
bool
strata_agg_spill_open_next(AggSpill *spill)
{
	SpillFile  *next;

	if (spill->current != NULL)
		LogicalTapeClose(spill->current);
	spill->current = NULL;
	close_parts(spill);
	if (spill->waiting == NIL)
		return false;
	next = linitial(spill->waiting);
	spill->waiting = list_delete_first(spill->waiting);
	spill->current = next->file;
	spill->depth = next->depth;
	pfree(next);
	return true;
}

/* Read so many bytes; false: there are none. */
static bool
read_spilled(AggSpill *spill, void *to, Size len)
{
	MemoryContext old = MemoryContextSwitchTo(spill->mcxt);
	Size		n = LogicalTapeRead(spill->current, to, len);

	MemoryContextSwitchTo(old);
	if (n != len && n != 0)
		elog(ERROR, "a temporary file of groups ends after %zu of %zu bytes",
			 n, len);
	return n == len;
}

/* See agg_spill_private.h. */
const char *
strata_agg_spill_get(AggSpill *spill, uint32 *hash, Size *len)
{
	if (!read_spilled(spill, hash, sizeof(*hash)))
		return NULL;
	if (!read_spilled(spill, len, sizeof(*len)))
		elog(ERROR, "a temporary file of groups ends in a group");
	if (*len > spill->space)
	{
		if (spill->bytes != NULL)
			pfree(spill->bytes);
		spill->bytes = NULL;
		spill->space = Max(*len, 1024);
		spill->bytes = MemoryContextAllocHuge(spill->mcxt, spill->space);
	}
	if (!read_spilled(spill, spill->bytes, *len))
		elog(ERROR, "a temporary file of groups ends in a group");
	return spill->bytes;
}

/* See agg_spill_private.h. */
void
strata_agg_spill_end(AggSpill *spill)
{
	ListCell   *lc;

	for (int i = 0; i < 1 << spill->bits; i++)
		if (spill->parts[i] != NULL)
			LogicalTapeClose(spill->parts[i]);
	foreach(lc, spill->waiting)
		LogicalTapeClose(((SpillFile *) lfirst(lc))->file);
	list_free_deep(spill->waiting);
	if (spill->current != NULL)
		LogicalTapeClose(spill->current);
	LogicalTapeSetClose(spill->tapes);
	if (spill->bytes != NULL)
		pfree(spill->bytes);
	pfree(spill->parts);
	pfree(spill);
}
