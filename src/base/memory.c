/*-------------------------------------------------------------------------
 *
 * memory.c
 *	  What the C library does with memory that a query has given back.
 *
 * glibc hands the end of its heap back to the system when more than 128 kB of
 * it are free, and gets blocks of that size from the system one by one.  A
 * query over a few dozen batches takes more than that, so each one faults
 * several hundred pages in anew, which costs as much as its work.  glibc
 * raises both limits by itself when it frees a block that it had got alone:
 * this one is freed where the library is loaded, for all processes.
 *
 * Other C libraries do nothing of the kind, and nothing is lost there.
 *
 * src/base/memory.c
 *-------------------------------------------------------------------------
 */
#include "base/base.h"

/*
 * Blocks up to this size come from the heap, of which twice as much stays with
 * the process.
 */
#define KEPT_BLOCK (4 * 1024 * 1024)

/* See base.h. */
void
strata_memory_init(void)
{
	static bool raised PG_USED_FOR_ASSERTS_ONLY = false;
	void	   *volatile block; /* else the compiler may leave it out */

	block = malloc(KEPT_BLOCK);

	Assert(!raised);			/* base:A6 */
	raised = true;
	free(block);
}
