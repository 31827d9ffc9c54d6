/*-------------------------------------------------------------------------
 *
 * roundtrip.h
 *	  Vectors to test with, and the round trip that every codec must survive.
 *
 * test/unit/roundtrip.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_ROUNDTRIP_H
#define STRATA_ROUNDTRIP_H

#include "codec/codec.h"
#include "unit.h"

/* A vector that owns its memory, with the rows' null flags. */
typedef struct Sample
{
	StrataVector v;
	uint32_t	nrows;
	bool	   *isnull;			/* NULL: none */
	void	   *fixed;
	uint8_t    *payload;
	uint32_t   *offsets;
} Sample;

/* An encoded column in memory of exactly its size. */
typedef struct Encoded
{
	StrataCodecResult rc;
	uint8_t    *buf;
	size_t		len;
} Encoded;

/* How rows are null. */
typedef enum NullPattern
{
	NULLS_NO,
	NULLS_FEW,
	NULLS_HALF,
	NULLS_RUNS,
	NULLS_ALL_BUT_ONE,
	NULLS_EVERY,
	NULLS_COUNT
} NullPattern;

extern const char *const int_patterns[];
extern const char *const float_patterns[];
extern const char *const bytes_patterns[];

/* Samples by pattern name; free with sample_free. */
extern Sample sample_int(const char *pattern, uint8_t width, uint32_t n);
extern Sample sample_float(const char *pattern, uint8_t width, uint32_t n);
extern Sample sample_bytes(const char *pattern, uint32_t n);
extern void sample_add_nulls(Sample *s, NullPattern pattern);
extern void sample_free(Sample *s);

extern Encoded encode_sample(const Sample *s, StrataCodecId wanted);

/* Decode rows [from, from + n) and compare with the sample. */
extern void check_range(const Sample *s, const Encoded *e, uint32_t from, uint32_t n);

/* Encode, describe, decode all of it and some ranges (all of them if all_ranges). */
extern void check_roundtrip(const Sample *s, StrataCodecId wanted, bool all_ranges);

#endif							/* STRATA_ROUNDTRIP_H */
