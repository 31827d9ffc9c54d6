/*-------------------------------------------------------------------------
 *
 * jsonb_private.h
 *	  What the files of codec JSONB share: PostgreSQL's jsonb in memory, paths,
 *	  shapes, leaves.
 *
 * A *path* is where a value stands: the path of the object or array it is in,
 * and its key, or that it is an element.  Path 0 is the document itself.  A
 * *leaf* is a string or a number; the leaves of a path are two columns.  A
 * *shape* is all that a document is besides its leaves:
 *
 *	shape		one byte, the type of the document, then contents
 *	contents	number of members or elements, varint; for each a varint, its
 *				path * 8 plus its type; then the contents of those that are
 *				objects or arrays, in order
 *
 * src/codec/jsonb_private.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_JSONB_PRIVATE_H
#define STRATA_JSONB_PRIVATE_H

#include "codec/codec_private.h"

/* Types in shapes. */
typedef enum JsonType
{
	JSON_STRING = 0,
	JSON_NUMBER = 1,
	JSON_FALSE = 2,
	JSON_TRUE = 3,
	JSON_NULL = 4,
	JSON_OBJECT = 5,
	JSON_ARRAY = 6,
	JSON_SCALAR =
	7							/* an array of one element that stands for it;
								 * documents only */
} JsonType;

#define JSON_TYPE_BITS 3

/*
 * Paths of one column of documents, and levels of one document; more are not
 * shredded.
 */
#define JSON_PATHS_MAX 2047
#define JSON_DEPTH_MAX 64

/* Bytes of all documents together. */
#define JSON_BYTES_MAX (32 * 1024 * 1024)

/*
 * A container of jsonb: 4 bytes of head, 4 for each entry (those of an
 * object's keys, then those of its values), the values.  Numbers are the
 * machine's.
 */
#define JSONB_COUNT UINT32_C(0x0fffffff)
#define JSONB_SCALAR UINT32_C(0x10000000)
#define JSONB_OBJECT UINT32_C(0x20000000)
#define JSONB_ARRAY UINT32_C(0x40000000)

#define JSONB_LENGTH UINT32_C(0x0fffffff)
#define JSONB_TYPE_SHIFT 28
#define JSONB_HAS_OFFSET UINT32_C(0x80000000)
#define JSONB_STRIDE 32			/* each so many entries have an offset */

/* Types in entries. */
#define JSONB_IS_STRING 0
#define JSONB_IS_NUMERIC 1
#define JSONB_IS_FALSE 2
#define JSONB_IS_TRUE 3
#define JSONB_IS_NULL 4
#define JSONB_IS_CONTAINER 5

#define JSONB_ALIGN(at) (((at) + 3) & ~UINT32_C(3))

STRATA_INLINE uint32_t
jsonb_load(const uint8_t *from)
{
	uint32_t	v;

	memcpy(&v, from, sizeof(v));
	return v;
}

STRATA_INLINE void
jsonb_store(uint8_t *to, uint32_t v)
{
	memcpy(to, &v, sizeof(v));
}

/* The length word of a varlena of so many bytes, itself included. */
STRATA_INLINE uint32_t
jsonb_varlena_head(uint32_t nbytes)
{
#ifdef STRATA_BIG_ENDIAN
	return nbytes;
#else
	return nbytes << 2;
#endif
}

typedef struct JsonPath
{
	uint32_t	parent;
	bool		is_element;		/* else a member: */
	const uint8_t *key;
	uint32_t	key_len;
} JsonPath;

/*
 * Columns of leaves: strings of path p in column 2 * p, numbers in 2 * p + 1.
 */
#define JSON_COLUMN(path, type) ((path) * 2 + (type))

/* The leaves of a column, and which is next. */
typedef struct JsonLeaves
{
	const uint8_t *payload;
	const uint32_t *offsets;
	const uint32_t *codes;		/* or NULL */
	uint32_t	next;
	uint32_t	n;
} JsonLeaves;

/*
 * The head of a container that was put together: head, entries, keys.  Others
 * with the same contents in the same shape have the same, but for the entries
 * of their values.
 */
typedef struct JsonHead
{
	const uint8_t *contents;	/* in a shape, or NULL */
	const uint8_t *tokens_end;
	const uint8_t *bytes;
	uint32_t	nbytes;
} JsonHead;

#define JSON_HEADS 64			/* a power of two */

/* Documents that are put together. */
typedef struct JsonRebuild
{
	const JsonPath *paths;
	uint32_t	npaths;
	JsonLeaves *leaves;			/* 2 * npaths */
	StrataReader shape;			/* what is left of the document's */
	uint8_t    *doc;
	uint32_t	at;				/* bytes of the document so far */
	uint32_t	room;
	bool		keeps_heads;	/* documents stay where they are put, and
								 * shapes too */
	JsonHead	heads[JSON_HEADS];
} JsonRebuild;

/*
 * A varint of at most four bytes; more, or the end of the input, set `failed`.
 */
STRATA_INLINE uint32_t
read_token(StrataReader *in)
{
	uint64_t	token;

	if (strata_reader_left(in) > 0 && *in->next < 0x80)
		return *in->next++;
	token = strata_read_varint(in);
	if (token >> 28)
		in->failed = true;
	return (uint32_t) token;
}

/* A part of the payload in another codec. */
typedef struct JsonbNested
{
	const StrataCodec *codec;
	StrataPayload payload;
	uint32_t	first;			/* the value that is decoded first */
} JsonbNested;

typedef struct JsonbParts
{
	uint32_t	total;			/* bytes of all documents */
	uint32_t	npaths;			/* with that of the document */
	const uint8_t *parents;
	size_t		parents_len;
	JsonbNested keys;
	JsonbNested shapes;
	StrataReader columns;
} JsonbParts;

/*
 * jsonb.c: take a payload apart; the head of its next column of leaves; what a
 * part needs, added to *size; parts and paths decoded.
 */
extern StrataCodecResult strata_jsonb_parse(const StrataPayload *p,
											JsonbParts *parts);
extern StrataCodecResult strata_jsonb_read_column(StrataReader *in,
												  uint32_t *n,
												  JsonbNested *nested);
extern StrataCodecResult strata_jsonb_nested_size(const JsonbNested *nested,
												  uint32_t n, size_t *size);
extern StrataCodecResult strata_jsonb_decode_nested(const JsonbNested *nested,
													uint32_t from, uint32_t n,
													StrataArena *scratch,
													JsonLeaves *leaves);
extern StrataCodecResult strata_jsonb_decode_paths(const JsonbParts *parts,
												   StrataArena *scratch,
												   JsonPath *paths);
extern bool strata_jsonb_rebuild(JsonRebuild *r, const uint8_t *shape,
								 uint32_t shape_len);
extern StrataCodecResult strata_jsonb_encode(const StrataVector *v,
											 StrataArena *scratch,
											 StrataWriter *out);
extern size_t strata_jsonb_encode_scratch_size(const StrataVector *v);

#endif							/* STRATA_JSONB_PRIVATE_H */
