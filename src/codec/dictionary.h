/*-------------------------------------------------------------------------
 *
 * dictionary.h
 *	  Distinct values of a vector, and the dictionary that is made of them.
 *
 * src/codec/dictionary.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_DICTIONARY_H
#define STRATA_DICTIONARY_H

#include "codec/codec_private.h"
#include "codec/int/int_stream.h"

/* Distinct values and codes; from `encoded` on only when it is planned. */
typedef struct StrataDictionary
{
	StrataVector entries;
	int64_t    *codes;
	uint32_t	n;
	StrataCodecId entries_codec;
	const uint8_t *encoded;		/* the entries */
	size_t		encoded_len;
	StrataIntPlan codes_plan;
	size_t		nbytes;
} StrataDictionary;

extern size_t strata_dictionary_scratch_size(const StrataVector *v);
extern StrataCodecResult strata_dictionary_collect(const StrataVector *v,
												   const int64_t *integers,
												   uint32_t limit,
												   StrataArena *arena,
												   StrataDictionary
												   *dictionary);
extern StrataCodecResult strata_dictionary_plan(StrataDictionary *d,
												size_t room,
												StrataArena *arena);
extern StrataCodecResult strata_dictionary_write(const StrataDictionary *d,
												 StrataWriter *out);

/*
 * --- dictionary_range.c
 * ---------------------------------------------------------
 */

typedef enum StrataDictionaryRange
{
	STRATA_DICTIONARY_FOUND,
	STRATA_DICTIONARY_TOO_MANY,
	STRATA_DICTIONARY_TOO_WIDE
} StrataDictionaryRange;

#define STRATA_DICTIONARY_RANGE 16384

extern StrataDictionaryRange strata_dictionary_by_range(const StrataVector *v,
														const int64_t
														*integers,
														uint32_t limit,
														uint32_t nslots,
														uint16_t *table,
														uint32_t *places,
														int64_t *codes,
														void *entries,
														uint32_t *nentries);

/* Is it hopeless that so many entries after so many values will pay? */
#define STRATA_DICTIONARY_SAMPLE 256

STRATA_INLINE bool
strata_dictionary_too_many(uint32_t nentries, uint32_t nvalues, uint32_t limit)
{
	return nentries > limit ||
		(nvalues == STRATA_DICTIONARY_SAMPLE &&
		 nentries > STRATA_DICTIONARY_SAMPLE * 3 / 4 && limit < UINT32_MAX);
}

#endif							/* STRATA_DICTIONARY_H */
