/*-------------------------------------------------------------------------
 *
 * codec_private.h
 *	  What the files of src/codec share: the codec table, the scratch arena,
 *	  the integer stream that several codecs are built on.
 *
 * Vocabulary: a *column* is what codec.h hands out (header, nulls, payload); a
 * *payload* is what one codec wrote for the n non-null values; a *stream* is a
 * part of a payload.
 *
 * src/codec/codec_private.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_CODEC_PRIVATE_H
#define STRATA_CODEC_PRIVATE_H

#ifdef STRATA_SERVER_BUILD
#include <pg_config.h>			/* USE_LZ4, USE_ZSTD */
#endif

#include "bytes.h"
#include "codec.h"

/* Compile a function for AVX2 and AVX-512 too, where that is known to work and to pay. */
#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__) && !defined(STRATA_NO_CLONES)
#if __GNUC__ >= 12
#define STRATA_CLONES __attribute__((target_clones("arch=x86-64-v4", "avx2", "default")))
#else
#define STRATA_CLONES __attribute__((target_clones("avx2", "default")))
#endif
#else
#define STRATA_CLONES
#endif

/* May AVX2 be used where the CPU has it? */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(STRATA_NO_AVX2)
#define STRATA_HAVE_AVX2
#endif

/* Work as if the CPU had no vector instructions, and with integers of 64 bits only; for tests. */
extern bool strata_codec_portable_only;

/*
 * Decoded BYTES never exceed this in one column: offsets are uint32 and some
 * arithmetic on them is signed.
 */
#define STRATA_BYTES_MAX UINT32_C(0x7fffffff)

/* --- scratch ---------------------------------------------------------------- */

/* A bump allocator over the caller's scratch area. */
typedef struct StrataArena
{
	uint8_t    *next;
	uint8_t    *end;
} StrataArena;

#define STRATA_ARENA_ALIGN 64

/* What an allocation of nbytes takes, alignment included. */
#define STRATA_ARENA_SIZE(nbytes) ((size_t) (nbytes) + STRATA_ARENA_ALIGN)

STRATA_INLINE StrataArena
strata_arena(void *data, size_t nbytes)
{
	StrataArena arena = {data, data ? (uint8_t *) data + nbytes : NULL};

	return arena;
}

/* Aligned room for nbytes, or NULL. */
STRATA_INLINE void *
strata_arena_alloc(StrataArena *arena, size_t nbytes)
{
	size_t		pad = (size_t) (-(uintptr_t) arena->next) & (STRATA_ARENA_ALIGN - 1);
	size_t		left = (size_t) (arena->end - arena->next);
	uint8_t    *at;

	if (arena->next == NULL || pad > left || nbytes > left - pad)
		return NULL;
	at = arena->next + pad;
	arena->next = at + nbytes;
	return at;
}

/* --- codecs ----------------------------------------------------------------- */

/* An encoded payload as a decoder gets it; n values, all non-null. */
typedef struct StrataPayload
{
	StrataKind	kind;
	uint8_t		width;
	uint32_t	n;
	const uint8_t *data;
	size_t		len;
} StrataPayload;

/*
 * One codec.  encode writes a payload (v->n > 0) and leaves out->failed set
 * when it does not fit, which is also how a caller says "only if it is smaller
 * than this".  decode_* give values [from, from + n), from + n <= p->n, n > 0.
 */
typedef struct StrataCodec
{
	const char *name;
	unsigned	kinds;			/* bit 1 << StrataKind for each kind it holds */
	bool		available;
	size_t		(*encode_scratch_size) (const StrataVector *v);
	StrataCodecResult (*encode) (const StrataVector *v, StrataArena *scratch, StrataWriter *out);
	StrataCodecResult (*decode_scratch_size) (const StrataPayload *p, uint32_t from, uint32_t n, size_t *size);
	StrataCodecResult (*decode_fixed) (const StrataPayload *p, uint32_t from, uint32_t n,
									   StrataArena *scratch, void *out);
	StrataCodecResult (*decode_bytes) (const StrataPayload *p, uint32_t from, uint32_t n,
									   StrataArena *scratch, StrataBytes *out);
	void		(*describe) (const StrataPayload *p, char *text, size_t size);
} StrataCodec;

extern const StrataCodec strata_codec_raw;
extern const StrataCodec strata_codec_constant;
extern const StrataCodec strata_codec_delta_delta;
extern const StrataCodec strata_codec_gorilla;
extern const StrataCodec strata_codec_dictionary;
extern const StrataCodec strata_codec_lz4;
extern const StrataCodec strata_codec_zstd;
extern const StrataCodec strata_codec_decimal;
extern const StrataCodec strata_codec_numeric;
extern const StrataCodec strata_codec_packed;
extern const StrataCodec strata_codec_jsonb;

/* The codec of an id, or NULL (AUTO included). */
extern const StrataCodec *strata_codec_get(unsigned id);

/* column_choose.c: pick a codec and encode the payload of v with it. */
extern size_t strata_choose_scratch_size(const StrataVector *v);
extern StrataCodecResult strata_choose_encode(const StrataVector *v, StrataArena *scratch,
											  StrataWriter *out, StrataCodecId *chosen);

/* nested payloads, for a codec that hands its parts to other codecs */
extern size_t strata_nested_scratch_size(const StrataVector *v);
extern StrataCodecResult strata_nested_encode(const StrataVector *v, StrataArena *scratch,
											  StrataWriter *out, StrataCodecId *chosen);
extern bool strata_nested_allowed(unsigned id);

/* The size of a payload in codec RAW, which no payload should exceed. */
extern size_t strata_raw_bound(const StrataVector *v);

/* --- nulls.c ---------------------------------------------------------------- */

typedef enum StrataNullMode
{
	STRATA_NULLS_NONE = 0,
	STRATA_NULLS_ALL = 1,
	STRATA_NULLS_RUNS = 2,
	STRATA_NULLS_BITMAP = 3
} StrataNullMode;

extern uint32_t strata_nulls_count(const bool *isnull, uint32_t nrows);
extern StrataNullMode strata_nulls_plan(const bool *isnull, uint32_t nrows, uint32_t nnulls, size_t *nbytes);
extern void strata_nulls_write(StrataNullMode mode, const bool *isnull, uint32_t nrows, StrataWriter *out);
extern bool strata_nulls_take(StrataNullMode mode, uint32_t nrows, uint32_t nnulls, StrataReader *in, bool *isnull);
extern uint32_t strata_nulls_read(StrataNullMode mode, uint32_t nrows, uint32_t nnulls, StrataReader *in,
								  uint32_t from, uint32_t n, bool *isnull, uint32_t *before);

/* nulls_simd.c */
extern uint32_t strata_nulls_simd_expand(const uint8_t *map, uint32_t n, bool *isnull);
extern bool strata_nulls_simd_spread(void *out, unsigned width, uint32_t values, const bool *isnull, uint32_t n);

/* --- int_stream.c, int_encode.c: integers of any width ------------------------ */

/* Most bytes a stream of n integers takes, whatever they are. */
extern size_t strata_ints_bound(uint32_t n);
extern size_t strata_ints_scratch_size(uint32_t n);

/* A stream that is to be written, and how many bytes it will have. */
typedef struct StrataIntPlan
{
	const int64_t *values;
	uint32_t	n;
	size_t		nbytes;
	struct IntStreamPlan *stream;
} StrataIntPlan;

extern StrataCodecResult strata_ints_plan(const int64_t *values, uint32_t n, StrataLevel level,
										  StrataArena *arena, StrataIntPlan *plan);
extern bool strata_ints_are_differences(const StrataIntPlan *plan);
extern StrataCodecResult strata_ints_write(const StrataIntPlan *plan, StrataWriter *out);

/* Append a stream of n integers; leaves out->failed set when it does not fit. */
extern StrataCodecResult strata_ints_encode(const int64_t *values, uint32_t n, StrataLevel level,
											StrataArena *scratch, StrataWriter *out);

/*
 * Integers [from, from + n) of a stream of total integers, truncated to width
 * 1, 2, 4 or 8 bytes each.
 */
extern StrataCodecResult strata_ints_decode(const uint8_t *data, size_t len, uint32_t total,
											uint32_t from, uint32_t n, unsigned width, void *out);

/*
 * What integers of 64 bits become in the end: doubles, that are they over `power`, or if
 * that is 0 the doubles of which they are the rotated bits (decimal.c).  `finish` does it
 * to n of them, where it was not done on the way.
 */
typedef struct StrataIntSink
{
	double		power;
	void		(*finish) (double power, uint64_t *values, uint32_t n);
} StrataIntSink;

extern StrataCodecResult strata_ints_decode_to(const uint8_t *data, size_t len, uint32_t total, uint32_t from,
											   uint32_t n, const StrataIntSink *sink, uint64_t *out);
extern void strata_ints_describe(const uint8_t *data, size_t len, uint32_t total, char *text, size_t size);

/* --- lz_library.c ------------------------------------------------------------- */

extern bool strata_lz_available(StrataCodecId id);
extern size_t strata_lz_scratch_size(StrataCodecId id);
extern size_t strata_lz_compress(StrataCodecId id, StrataLevel level, const uint8_t *from, size_t nbytes,
								 uint8_t *to, size_t cap, void *scratch);
extern StrataCodecResult strata_lz_decompress(StrataCodecId id, const uint8_t *from, size_t nbytes,
											  uint8_t *to, size_t raw_size);

/*
 * zstd frames that are read piece by piece: begin, then read exactly so many
 * bytes as often as wanted.  One at a time in a thread.
 */
extern StrataCodecResult strata_lz_stream_begin(const uint8_t *from, size_t nbytes);
extern StrataCodecResult strata_lz_stream_read(uint8_t *to, size_t nbytes);

/* --- lzarray.c: byte strings in blocks ------------------------------------------ */

extern StrataCodecResult strata_lzarray_encode(StrataCodecId id, const StrataVector *v, StrataArena *scratch,
											   StrataWriter *out, size_t *blocks_len);
extern size_t strata_lzarray_scratch_size(StrataCodecId id, const StrataVector *v);
extern StrataCodecResult strata_lzarray_decode(StrataCodecId id, const StrataPayload *p, uint32_t from,
											   uint32_t n, StrataArena *scratch, StrataBytes *out);
extern StrataCodecResult strata_lzarray_decode_size(const StrataPayload *p, uint32_t from, uint32_t n,
													size_t *size);
extern void strata_lzarray_describe(const StrataPayload *p, char *text, size_t size);

/* --- packed.c ------------------------------------------------------------------- */

extern size_t strata_packed_size(const StrataVector *v);

/* --- delta_delta.c, decimal.c, gorilla.c: payloads before they are written ------- */

typedef struct StrataDecimalPlan
{
	unsigned	exponent;
	uint32_t	nexceptions;
	const uint64_t *bad;		/* not 0 where a value is an exception */
	const int64_t *exact;		/* the integers of all values, if they are decimals without exception; or NULL */
	StrataIntPlan integers;
	size_t		nbytes;
} StrataDecimalPlan;

extern StrataCodecResult strata_delta_delta_plan(const StrataVector *v, StrataArena *arena, StrataIntPlan *plan);
extern StrataCodecResult strata_decimal_plan(const StrataVector *v, StrataArena *arena, StrataDecimalPlan *plan);
extern StrataCodecResult strata_decimal_write(const StrataVector *v, const StrataDecimalPlan *plan,
											  StrataWriter *out);
/* Values [from, from + n), if all are integers, as such; else NOT_APPLICABLE. */
extern StrataCodecResult strata_decimal_decode_integers(const StrataPayload *p, uint32_t from, uint32_t n,
														unsigned width, void *out);
/* Values [from, from + n) as integers / 10^*scale, and their display scales. */
extern StrataCodecResult strata_numeric_decode_scaled(const StrataPayload *p, uint32_t from, uint32_t n,
													  StrataArena *scratch, int64_t *out,
													  uint8_t *displays, unsigned *scale);

/*
 * Adding this to a double below 2^51 in absolute value rounds it to an integer,
 * which then stands in the low bits: the conversion between double and int64
 * that every CPU can do on vectors.
 */
#define STRATA_DECIMAL_MAGIC 6755399441055744.0
#define STRATA_DECIMAL_MAGIC_BITS UINT64_C(0x4338000000000000)

/*
 * The encoder stays below half of that, 2^50: there the product with the power of
 * ten is off by less than a quarter, so its integer does not depend on whether the
 * compiler fuses multiplication and addition (C11).
 */
#define STRATA_DECIMAL_LIMIT 1125899906842624.0

/* decimal_simd.c: 0 where they are of no use */
extern uint32_t strata_decimal_simd_to_doubles(uint64_t *values, uint32_t n, double power);
extern uint32_t strata_decimal_simd_to_floats(const uint64_t *values, uint32_t n, double power, float *out);
extern uint32_t strata_decimal_simd_to_integers(const double *values, uint32_t n, double power, int64_t *integers,
												uint64_t *bad);

extern size_t strata_gorilla_size(const StrataVector *v, size_t room);

/* --- dictionary_plan.c ---------------------------------------------------------- */

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
extern StrataCodecResult strata_dictionary_collect(const StrataVector *v, const int64_t *integers, uint32_t limit,
												   StrataArena *arena, StrataDictionary *dictionary);
extern StrataCodecResult strata_dictionary_plan(StrataDictionary *d, size_t room, StrataArena *arena);
extern StrataCodecResult strata_dictionary_write(const StrataDictionary *d, StrataWriter *out);

/* --- dictionary_range.c --------------------------------------------------------- */

typedef enum StrataDictionaryRange
{
	STRATA_DICTIONARY_FOUND,
	STRATA_DICTIONARY_TOO_MANY,
	STRATA_DICTIONARY_TOO_WIDE
} StrataDictionaryRange;

#define STRATA_DICTIONARY_RANGE 16384

extern StrataDictionaryRange strata_dictionary_by_range(const StrataVector *v, const int64_t *integers, uint32_t limit,
														uint32_t nslots, uint16_t *table, uint32_t *places,
														int64_t *codes, void *entries, uint32_t *nentries);

/* Is it hopeless that so many entries after so many values will pay? */
#define STRATA_DICTIONARY_SAMPLE 256

STRATA_INLINE bool
strata_dictionary_too_many(uint32_t nentries, uint32_t nvalues, uint32_t limit)
{
	return nentries > limit ||
		(nvalues == STRATA_DICTIONARY_SAMPLE && nentries > STRATA_DICTIONARY_SAMPLE * 3 / 4 && limit < UINT32_MAX);
}

/* --- crc32c.c ------------------------------------------------------------------- */

extern uint32_t strata_crc32c_extend(uint32_t crc, const void *data, size_t len);
extern uint32_t strata_crc32c_table(uint32_t crc, const void *data, size_t len);

#endif							/* STRATA_CODEC_PRIVATE_H */
