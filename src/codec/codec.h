/*-------------------------------------------------------------------------
 *
 * codec.h
 *	  Bytes <-> typed vectors: the only header of src/codec that other
 *	  folders include.
 *
 * A codec turns a vector of n non-null values into a byte string and back,
 * bit for bit.  This folder knows nothing of PostgreSQL's executor, memory
 * contexts or error reporting: the caller gives every buffer, functions
 * return a StrataCodecResult, and it builds without a server.
 *
 * Contract, for every function here
 *	- input bytes are hostile: no read past buf + len, no count believed
 *	  before it was checked against len and STRATA_CODEC_MAX_ROWS, no loop
 *	  longer than the caller's n;
 *	- the same input gives the same bytes on every CPU and build; numbers on
 *	  disk are little-endian whatever the machine is;
 *	- no allocation: encoders and decoders take a scratch area whose size the
 *	  *_scratch_size functions tell.
 *
 * docs/format.md is the normative description of the bytes.
 *
 * src/codec/codec.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_CODEC_H
#define STRATA_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A batch never holds more rows than this (the GUC's upper bound). */
#define STRATA_CODEC_MAX_ROWS 32767

typedef enum StrataCodecResult
{
	STRATA_CODEC_OK = 0,
	STRATA_CODEC_CORRUPT,		/* the bytes are not what an encoder wrote */
	STRATA_CODEC_NO_SPACE,		/* the output buffer is too small */
	STRATA_CODEC_NOT_APPLICABLE,	/* this codec cannot hold these values */
	STRATA_CODEC_UNSUPPORTED	/* codec unknown to, or not built into, this
								 * library */
} StrataCodecResult;

/* What the values are; stored in the column header, numbers never reused. */
typedef enum StrataKind
{
	STRATA_KIND_INT = 1,		/* two's complement, width 1, 2, 4 or 8 */
	STRATA_KIND_FLOAT = 2,		/* IEEE 754, width 4 or 8; bits are kept */
	STRATA_KIND_BYTES = 3		/* opaque byte strings, width 0 */
} StrataKind;

/* Codec ids; stored, never reused.  docs/format.md, "codec ids". */
typedef enum StrataCodecId
{
	STRATA_CODEC_AUTO = 0,		/* never stored: let the library choose */
	STRATA_CODEC_RAW = 1,		/* any kind: values as they are */
	STRATA_CODEC_CONSTANT = 2,	/* any kind: one value, n times */
	STRATA_CODEC_DELTA_DELTA = 3,	/* int: delta of delta, gcd scaled, bits
									 * in blocks */
	STRATA_CODEC_GORILLA = 4,	/* float: XOR with the previous value */
	STRATA_CODEC_DICTIONARY = 5,	/* any kind: distinct values + packed
									 * codes */
	STRATA_CODEC_LZ4 = 6,		/* bytes: lengths + payload in LZ4 blocks */
	STRATA_CODEC_ZSTD = 7,		/* bytes: the same with zstd */
	STRATA_CODEC_DECIMAL = 8,	/* float: scaled integers + exceptions (ALP) */
	STRATA_CODEC_NUMERIC = 9,	/* bytes: PostgreSQL's numeric as scaled
								 * integers */
	STRATA_CODEC_PACKED = 10,	/* bytes: short strings, some bits for each
								 * position */
	STRATA_CODEC_JSONB = 11,	/* bytes: PostgreSQL's jsonb as columns by
								 * path */
	STRATA_CODEC_SIMPLE8B = 12, /* int: delta of delta, simple8b-RLE words */
	STRATA_CODEC_LARGE = 13,	/* bytes: first bytes apart, the rest in
								 * blocks, parts to be read */
	STRATA_CODEC_COUNT
} StrataCodecId;

/*
 * How much work is worth how many bytes.  Levels differ in what the encoder
 * chooses; every decoder reads them all.
 */
typedef enum StrataLevel
{
	STRATA_LEVEL_BALANCED = 0,	/* small, and fast to decode */
	STRATA_LEVEL_HOT = 1,		/* fast to encode and decode: LZ4 rather than
								 * zstd */
	STRATA_LEVEL_ARCHIVE = 2	/* small: entropy coding, larger LZ blocks */
} StrataLevel;

/* What AUTO may do with byte strings. */
typedef enum StrataBytesHint
{
	STRATA_BYTES_ANY = 0,
	STRATA_BYTES_LZ4 = 1,		/* LZ4, but not zstd */
	STRATA_BYTES_NO_LZ = 2,		/* leave them as they are, or find equal ones */
	STRATA_BYTES_NUMERIC = 3,	/* they are PostgreSQL's numerics */
	STRATA_BYTES_JSONB = 4		/* they are PostgreSQL's jsonb documents */
} StrataBytesHint;

/*
 * Values to encode: n values, nulls already left out.
 *
 * INT, FLOAT: `fixed` is a packed native-endian array of n values of `width`
 * bytes, aligned to width.  BYTES: value i is payload[offsets[i] ..
 * offsets[i + 1]), offsets has n + 1 entries, offsets[0] == 0.
 */
typedef struct StrataVector
{
	StrataKind	kind;
	uint8_t		width;			/* bytes per value; 0 for BYTES */
	uint32_t	n;				/* 0 .. STRATA_CODEC_MAX_ROWS */
	const void *fixed;
	const uint8_t *payload;
	const uint32_t *offsets;
	StrataLevel level;			/* only encoders look at it */
	StrataBytesHint hint;		/* the same */
} StrataVector;

/*
 * Decoded BYTES.  Two shapes: flat (codes == NULL; value i is entry i) and
 * dictionary (value i is entry codes[i]).  All pointers lie in the caller's
 * scratch area or in the input buffer and live as long as both.
 */
typedef struct StrataBytes
{
	uint32_t	nentries;		/* flat: number of values; dictionary:
								 * distinct ones */
	const uint8_t *payload;
	const uint32_t *offsets;	/* nentries + 1 */
	const uint32_t *codes;		/* n of them, each < nentries; or NULL */
} StrataBytes;

/*
 * What `describe` tells about an encoded column without decoding its values.
 */
typedef struct StrataCodecInfo
{
	StrataCodecId id;
	StrataKind	kind;
	uint8_t		width;
	uint32_t	nrows;			/* rows of the batch, nulls included */
	uint32_t	nnulls;
	uint32_t	crc;			/* as stored */
	char		detail[96];		/* "gcd 1000000, 3 blocks": for people */
} StrataCodecInfo;

/*
 * Column level: header (format version, codec id, kind, width, counts,
 * CRC-32C) + null bitmap + values.  This is what the batch layer stores.
 */

/* Upper bound of strata_column_encode's output and scratch need, in bytes. */
extern size_t strata_column_encode_bound(const StrataVector *v,
										 uint32_t nrows);
extern size_t strata_column_encode_scratch_size(const StrataVector *v,
												uint32_t nrows);

/*
 * Encode a column of nrows rows.  v holds the v->n non-null values in row
 * order; isnull is NULL when v->n == nrows, else nrows flags with exactly
 * nrows - v->n of them true.  wanted is AUTO, or a codec to use
 * (NOT_APPLICABLE when it cannot hold the values; RAW and CONSTANT fall-backs
 * are still taken when the wanted codec does not make the column smaller than
 * raw).  On success *len is the number of bytes written to out.
 */
extern StrataCodecResult strata_column_encode(const StrataVector *v,
											  uint32_t nrows,
											  const bool *isnull,
											  StrataCodecId wanted,
											  void *scratch,
											  size_t scratch_size,
											  uint8_t *out, size_t cap,
											  size_t *len);

/*
 * Seal: exclusive-or the CRC of a whole column with a number that tells where
 * the column belongs.
 */
extern void strata_column_seal(uint8_t *buf, uint32_t seal);

/*
 * Parse and check the header; verify_crc also checks the CRC of a column
 * without seal (in codec LARGE, those of its parts, too).
 */
extern StrataCodecResult strata_column_describe(const uint8_t *buf, size_t len,
												bool verify_crc,
												StrataCodecInfo *info);

/*
 * The same of a column with this seal (0: none), with checksum and without
 * info->detail, which takes longest to make.  Of codec LARGE only the head
 * need be there, and is checked: strata_large_read_block checks the rest.
 */
extern StrataCodecResult strata_column_check(const uint8_t *buf, size_t len,
											 uint32_t seal,
											 StrataCodecInfo *info);

/* Scratch needed to decode n rows of this column (BYTES: payload included). */
extern StrataCodecResult strata_column_decode_scratch_size(const uint8_t *buf,
														   size_t len,
														   uint32_t from,
														   uint32_t n,
														   size_t *size);

/*
 * Decode rows [from, from + n), nulls included.
 *
 * isnull gets n flags; *hasnull says whether any is true.  INT, FLOAT: out
 * gets n values of the column's width at their row positions, zero where null;
 * it must be aligned to width.  Decoding the last k rows costs O(k + one
 * mini-block), not O(nrows), but for what zstd keeps.  The CRC is not looked
 * at here.
 */
extern StrataCodecResult strata_column_decode_fixed(const uint8_t *buf,
													size_t len, uint32_t from,
													uint32_t n, void *scratch,
													size_t scratch_size,
													void *out, bool *isnull,
													bool *hasnull);

/*
 * The same values of a FLOAT column as integers of width 2, 4 or 8 bytes,
 * where it has no nulls and its bytes say at once that all of them are
 * integers (and none is -0), which the caller knows to fit; else
 * NOT_APPLICABLE.  Needs no scratch.
 */
extern StrataCodecResult strata_column_decode_integers(const uint8_t *buf,
													   size_t len,
													   uint32_t from,
													   uint32_t n,
													   unsigned width,
													   void *out);

/*
 * The same values of a column in codec NUMERIC as integers / 10^*scale, 0
 * where they are null, and how many decimals each is shown with; else
 * NOT_APPLICABLE.  Scratch as for strata_column_decode_bytes.
 */
extern StrataCodecResult strata_column_decode_scaled(const uint8_t *buf,
													 size_t len, uint32_t from,
													 uint32_t n, void *scratch,
													 size_t scratch_size,
													 int64_t *out,
													 uint8_t *displays,
													 unsigned *scale,
													 bool *isnull,
													 bool *hasnull);

/*
 * A numeric as codec NUMERIC takes it, without its length: with how many
 * decimals it is shown, and how many of them are not 0; then the integer
 * value * 10^scale, for a scale of at least these.  False: it has another
 * form, or too many digits.
 */
extern bool strata_numeric_decimals(const uint8_t *value, size_t len,
									int64_t *display, unsigned *decimals);
extern bool strata_numeric_integer(const uint8_t *value, size_t len,
								   unsigned scale, int64_t *integer);

/*
 * The bytes of integer / 10^scale, shown with at most 63 decimals; returns
 * their number, 0: it is too large.
 */
#define STRATA_NUMERIC_BYTES 12

extern uint32_t strata_numeric_write(int64_t integer, unsigned scale,
									 unsigned display, uint8_t *to);

/*
 * The same for BYTES.  In the flat shape `out->offsets` has n + 1 entries and
 * a null row is an empty string; in the dictionary shape a null row's code is
 * 0 (and nentries may be 0 when all n rows are null).
 */
extern StrataCodecResult strata_column_decode_bytes(const uint8_t *buf,
													size_t len, uint32_t from,
													uint32_t n, void *scratch,
													size_t scratch_size,
													StrataBytes *out,
													bool *isnull,
													bool *hasnull);

/*
 * Parts of columns in codec LARGE (large.c): lengths, and some blocks of the
 * stream, which is the first `lead` bytes of each value, then the rest of
 * each.  Offsets are from the column's first byte.
 */
typedef struct StrataLargeBlock
{
	uint32_t	raw_at;			/* where it begins in the stream */
	uint32_t	crc;
	uint64_t	stored_at;		/* where its bytes are */
	bool		compressed;
} StrataLargeBlock;

typedef struct StrataLarge
{
	StrataCodecId library;
	uint32_t	n;				/* values, nulls not counted */
	uint32_t	lead;
	uint32_t	largest;		/* bytes of the largest block */
	uint32_t	nblocks;
	StrataLargeBlock *blocks;	/* and one more, where all end */
	uint32_t   *lengths;		/* of the values */
	uint32_t   *tails;			/* of their bytes, those from 0x80 to 0xbf */
	uint32_t   *lead_at;		/* first bytes of each value in the stream */
	uint32_t   *body_at;		/* the rest of it, if it has more */
} StrataLarge;

/*
 * How many bytes of a column the head takes, of which the first len are
 * given: if *need is above len, ask again with so many.  NOT_APPLICABLE:
 * another codec.
 */
extern StrataCodecResult strata_large_need(const uint8_t *buf, size_t len,
										   size_t *need);

/*
 * Take the head apart, which has been checked, and flag the column's rows that
 * are null; large points into scratch.
 */
extern StrataCodecResult strata_large_scratch_size(const uint8_t *buf,
												   size_t len, size_t *size);
extern StrataCodecResult strata_large_open(const uint8_t *buf, size_t len,
										   void *scratch, size_t scratch_size,
										   StrataLarge *large, bool *isnull);

/* The block with byte `at` of the stream, which is that long. */
extern uint32_t strata_large_find_block(const StrataLarge *large, uint32_t at);

/* Check block b, whose bytes are at stored, and put what it holds at `to`. */
extern StrataCodecResult strata_large_read_block(const StrataLarge *large,
												 uint32_t b,
												 const uint8_t *stored,
												 uint8_t *to);

/* Which of the column's rows are null; *nnulls: how many. */
extern StrataCodecResult strata_column_nulls(const uint8_t *buf, size_t len,
											 uint32_t nrows, bool *isnull,
											 uint32_t *nnulls);

/*
 * How many bytes each of the column's rows has, 0 where it is null, where that
 * is known without the bytes: codecs LARGE, RAW, LZ4 and ZSTD; else
 * NOT_APPLICABLE.  tails: likewise of those from 0x80 to 0xbf, LARGE only; or
 * NULL.
 */
extern StrataCodecResult strata_column_decode_lengths(const uint8_t *buf,
													  size_t len,
													  void *scratch,
													  size_t scratch_size,
													  uint32_t *lengths,
													  uint32_t *tails,
													  bool *isnull,
													  bool *hasnull);

/*
 * What the documents of a column in codec JSONB have at a path of keys
 * (jsonb_member.c), those of the first n > 0 rows; else NOT_APPLICABLE.  The
 * caller gives kinds, which and isnull, an entry for each of these; scratch as
 * members_scratch_size says.
 */
typedef struct StrataKey
{
	const char *bytes;
	uint32_t	len;
} StrataKey;

typedef enum StrataMemberKind
{
	STRATA_MEMBER_ABSENT,
	STRATA_MEMBER_STRING,
	STRATA_MEMBER_NUMBER,
	STRATA_MEMBER_FALSE,
	STRATA_MEMBER_TRUE,
	STRATA_MEMBER_NULL,
	STRATA_MEMBER_CONTAINER		/* an object or array */
} StrataMemberKind;

typedef struct StrataMembers
{
	uint8_t    *kinds;			/* of each row; ABSENT of one that is null */
	uint32_t   *which;			/* STRING, NUMBER: entry of these: */
	StrataBytes strings;		/* entries, never codes */
	StrataBytes numbers;		/* PostgreSQL's numerics without their length */
} StrataMembers;

extern StrataCodecResult strata_column_members_scratch_size(const uint8_t *buf,
															size_t len,
															uint32_t n,
															size_t *size);
extern StrataCodecResult strata_column_decode_members(const uint8_t *buf,
													  size_t len,
													  uint32_t n,
													  const StrataKey *keys,
													  uint32_t nkeys,
													  void *scratch,
													  size_t scratch_size,
													  StrataMembers *out,
													  bool *isnull);

/* Names for options, views and EXPLAIN: "delta_delta", "gorilla", ... */
extern const char *strata_codec_name(StrataCodecId id);
extern StrataCodecId strata_codec_by_name(const char
										  *name);	/* AUTO when unknown */
extern bool strata_codec_supports(StrataCodecId id, StrataKind kind,
								  uint8_t width);
extern bool strata_codec_available(StrataCodecId
								   id); /* built into this library */

/* CRC-32C (Castagnoli), as stored in column headers and batch summaries. */
extern uint32_t strata_crc32c(const void *data, size_t len);

extern const char *strata_codec_result_text(StrataCodecResult rc);

#endif							/* STRATA_CODEC_H */
