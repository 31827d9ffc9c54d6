/*-------------------------------------------------------------------------
 *
 * fuzz_page.h
 *	  What the fuzz targets of pages with symbols share: any page in, and out
 *	  comes one with the same rows, that leads to itself; or it is damaged.
 *
 * test/fuzz/fuzz_page.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_FUZZ_PAGE_H
#define STRATA_FUZZ_PAGE_H

#include "unit/page_sample.h"

extern int	LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* Deduplicate as `how` says, twice and by two rules; what is wrong ends the program. */
static void
fuzz_page(const PageSample *page, TupleDesc desc, uint8_t how)
{
	static PageSample out;
	static PageSample again;
	bool		plain[64] = {false};
	StrataPageOutcome outcome;
	const char *problem;

	plain[how >> 2 & 15] = true;
	problem = page_sample_deduplicate(page, desc, plain, (StrataPageRule) (how & 3), how & 64 ? 1 : -BLCKSZ, &outcome, &out);
	if (problem == NULL && outcome == STRATA_PAGE_CHANGED)
		problem = page_sample_deduplicate(&out, desc, NULL, (StrataPageRule) ((how + 1) & 3), -BLCKSZ, &outcome, &again);
	if (problem != NULL)
	{
		fprintf(stderr, "%s\n", problem);
		abort();
	}
}

#endif							/* STRATA_FUZZ_PAGE_H */
