/*-------------------------------------------------------------------------
 *
 * jsonb.c
 *	  Codec JSONB: documents as columns, one for the strings and one for the
 *	  numbers of each path, and their shapes.
 *
 * For jsonb whose documents have keys in common, as events do: keys are kept
 * once for all, values of one path stand beside each other and go through the
 * codecs of byte strings and numerics.  The bytes of PostgreSQL's jsonb come
 * back, which is jsonb_shred.c's business to prove before anything is written.
 *
 *	OFFSET	SIZE	MEANING
 *	0		1-4		bytes of all documents together, varint
 *			1-2		number of paths P, at most 2047, varint
 *					if P > 0:
 *			1-5		length of the next part, varint
 *			...		integer stream (int_stream.c): for each path its parent *
 *					2, plus 1 if it is the elements of an array; paths are 1 ..
 *					P, parents come first
 *			1, 1-5	codec and length of the next part
 *			...		keys of the P paths, byte strings; empty for elements
 *			1, 1-5	codec and length of the next part
 *			...		shapes of the n documents, byte strings (jsonb_private.h)
 *					for each path, first its strings, then its numbers:
 *			1-3		how many, varint; if any:
 *			1, 1-5	codec and length of the next part
 *			...		them, byte strings; numbers without the length that
 *					PostgreSQL puts in front
 *
 * Decoding some of the documents reads the shapes of those before them, too.
 *
 * src/codec/jsonb.c
 *-------------------------------------------------------------------------
 */
#include <stdio.h>

#include "codec/jsonb_private.h"

/* Pass over the leaves of a document; false when the shape is no shape. */
static bool
skip_document(JsonRebuild *r, const uint8_t *shape, uint32_t shape_len)
{
	StrataReader in = strata_reader(shape, shape_len);
	uint32_t	containers = 1;

	strata_read_u8(&in);
	for (; containers > 0; containers--)
	{
		uint32_t	n = read_token(&in);

		if (in.failed || n > strata_reader_left(&in))
			return false;
		for (uint32_t i = 0; i < n; i++)
		{
			uint32_t	token = read_token(&in);
			unsigned	type = token & ((1 << JSON_TYPE_BITS) - 1);

			if (in.failed || token >> JSON_TYPE_BITS >= r->npaths)
				return false;
			if (type <= JSON_NUMBER)
				r->leaves[JSON_COLUMN(token >> JSON_TYPE_BITS, type)].next++;
			else if (type >= JSON_OBJECT)
				containers++;
		}
	}
	return true;
}

/*
 * --- decoding
 * --------------------------------------------------------------------
 */

/* Read the head of n > 0 byte strings in another codec. */
static StrataCodecResult
read_nested(StrataReader *in, uint32_t n, JsonbNested *nested)
{
	unsigned	id = strata_read_u8(in);
	uint64_t	len = strata_read_varint(in);
	const uint8_t *data = strata_read_bytes(in, len);

	if (data == NULL || id == STRATA_CODEC_JSONB)
		return STRATA_CODEC_CORRUPT;
	nested->codec = strata_codec_get(id);
	if (nested->codec == NULL || !nested->codec->available)
		return STRATA_CODEC_UNSUPPORTED;
	nested->payload = (StrataPayload)
	{
		STRATA_KIND_BYTES, 0, n, data, len
	};
	return nested->codec->kinds & 1U << STRATA_KIND_BYTES ?
		STRATA_CODEC_OK :
		STRATA_CODEC_CORRUPT;
}

/* Read the head of a column of leaves; *n is 0 when there are none. */
StrataCodecResult
strata_jsonb_read_column(StrataReader *in, uint32_t *n, JsonbNested *nested)
{
	uint64_t	count = strata_read_varint(in);

	*n = (uint32_t) count;
	if (in->failed || count > STRATA_CODEC_MAX_ROWS)
		return STRATA_CODEC_CORRUPT;
	return count > 0 ? read_nested(in, *n, nested) : STRATA_CODEC_OK;
}

/*
 * Take a payload apart; the columns of leaves stay packed.  CORRUPT when its
 * parts do not fit into it.
 */
StrataCodecResult
strata_jsonb_parse(const StrataPayload *p, JsonbParts *parts)
{
	StrataReader in = strata_reader(p->data, p->len);
	uint64_t	total = strata_read_varint(&in);
	uint64_t	npaths = strata_read_varint(&in);
	StrataCodecResult rc = STRATA_CODEC_OK;

	if (in.failed || total > JSON_BYTES_MAX || npaths > JSON_PATHS_MAX)
		return STRATA_CODEC_CORRUPT;
	parts->total = (uint32_t) total;
	parts->npaths = (uint32_t) npaths + 1;
	if (npaths > 0)
	{
		parts->parents_len = strata_read_varint(&in);
		parts->parents = strata_read_bytes(&in, parts->parents_len);
		rc = read_nested(&in, (uint32_t) npaths, &parts->keys);
	}
	if (rc == STRATA_CODEC_OK)
		rc = read_nested(&in, p->n, &parts->shapes);
	parts->columns = in;
	return rc;
}

/*
 * Scratch for all of a nested payload, or its first n values; added to *size.
 */
StrataCodecResult
strata_jsonb_nested_size(const JsonbNested *nested, uint32_t n, size_t *size)
{
	size_t		part;
	StrataCodecResult rc = strata_codec_decode_scratch(nested->codec,
													   &nested->payload, 0, n,
													   &part);

	*size += part;
	return rc;
}

/*
 * Where the leaves of some documents are is known only when the shapes before
 * them are decoded, so there is room for all leaves.
 */
static StrataCodecResult
jsonb_decode_scratch_size(const StrataPayload *p, uint32_t from, uint32_t n,
						  size_t *size)
{
	JsonbParts	parts;
	StrataCodecResult rc = strata_jsonb_parse(p, &parts);

	*size = 0;
	if (rc != STRATA_CODEC_OK)
		return rc;
	*size = STRATA_ARENA_SIZE(parts.npaths * sizeof(JsonPath)) +
		STRATA_ARENA_SIZE(2 * parts.npaths * sizeof(JsonLeaves)) +
		STRATA_ARENA_SIZE(2 * parts.npaths * sizeof(JsonbNested)) +
		STRATA_ARENA_SIZE(parts.npaths * sizeof(uint64_t)) +
		STRATA_ARENA_SIZE(((size_t) n + 1) * sizeof(uint32_t)) +
		STRATA_ARENA_SIZE(parts.total);
	if (parts.npaths > 1)
		rc = strata_jsonb_nested_size(&parts.keys, parts.npaths - 1, size);
	if (rc == STRATA_CODEC_OK)
		rc = strata_jsonb_nested_size(&parts.shapes, from + n, size);
	for (uint32_t c = 2; c < 2 * parts.npaths && rc == STRATA_CODEC_OK; c++)
	{
		JsonbNested column;
		uint32_t	count;

		rc = strata_jsonb_read_column(&parts.columns, &count, &column);
		if (rc == STRATA_CODEC_OK && count > 0)
			rc = strata_jsonb_nested_size(&column, count, size);
	}
	if (rc == STRATA_CODEC_OK && strata_reader_left(&parts.columns) > 0)
		rc = STRATA_CODEC_CORRUPT;
	return rc;
}

/* Values [from, from + n) of a nested payload as leaves. */
StrataCodecResult
strata_jsonb_decode_nested(const JsonbNested *nested, uint32_t from,
						   uint32_t n, StrataArena *scratch,
						   JsonLeaves *leaves)
{
	StrataBytes bytes = {0};
	StrataCodecResult rc = nested->codec->decode_bytes(&nested->payload, from,
													   n, scratch, &bytes);

	*leaves = (JsonLeaves)
	{
		bytes.payload, bytes.offsets, bytes.codes, 0, n
	};
	return rc;
}

/* Decode the paths. */
StrataCodecResult
strata_jsonb_decode_paths(const JsonbParts *parts, StrataArena *scratch,
						  JsonPath *paths)
{
	uint32_t	n = parts->npaths - 1;
	uint64_t   *parents = strata_arena_alloc(scratch,
											 parts->npaths * sizeof(uint64_t));
	JsonLeaves	keys;
	StrataCodecResult rc;

	paths[0] = (JsonPath)
	{
		0, false, NULL, 0
	};
	if (n == 0)
		return STRATA_CODEC_OK;
	if (parents == NULL)
		return STRATA_CODEC_NO_SPACE;
	rc = strata_ints_decode(parts->parents, parts->parents_len, n, 0, n,
							sizeof(uint64_t), parents);
	if (rc == STRATA_CODEC_OK)
		rc = strata_jsonb_decode_nested(&parts->keys, 0, n, scratch, &keys);
	for (uint32_t i = 0; i < n && rc == STRATA_CODEC_OK; i++)
	{
		uint32_t	which = keys.codes ? keys.codes[i] : i;

		if (parents[i] >> 1 > i)
			return STRATA_CODEC_CORRUPT;
		paths[i + 1] = (JsonPath)
		{
			(uint32_t) (parents[i] >> 1), parents[i] & 1,
				keys.payload + keys.offsets[which],
				keys.offsets[which + 1] -
				keys.offsets[which]
		};
	}
	return rc;
}

/* Pass over documents [from, to). */
static bool
skip_documents(JsonRebuild *r, const JsonLeaves *shapes, uint32_t from,
			   uint32_t to)
{
	for (uint32_t i = from; i < to; i++)
	{
		uint32_t	which = shapes->codes ? shapes->codes[i] : i;

		if (!skip_document(r, shapes->payload + shapes->offsets[which],
						   shapes->offsets[which + 1] -
						   shapes->offsets[which]))
			return false;
	}
	return true;
}

/*
 * The leaves that documents [from, from + n) of ndocs need, whose shapes are
 * given from the first document on.
 */
static StrataCodecResult
decode_columns(JsonbParts *parts, const JsonLeaves *shapes, uint32_t from,
			   uint32_t n, uint32_t ndocs, JsonRebuild *r,
			   StrataArena *scratch)
{
	JsonbNested *columns;
	uint32_t	ncolumns = 2 * parts->npaths;

	columns = strata_arena_alloc(scratch, 2 * parts->npaths *
								 sizeof(JsonbNested));
	Assert(parts->npaths > 0);	/* codec:C12 */
	if (columns == NULL)
		return STRATA_CODEC_NO_SPACE;
	memset(r->leaves, 0, ncolumns * sizeof(JsonLeaves));
	for (uint32_t c = 2; c < ncolumns; c++)
	{
		StrataCodecResult rc;

		rc = strata_jsonb_read_column(&parts->columns, &r->leaves[c].n,
									  &columns[c]);
		if (rc != STRATA_CODEC_OK)
			return rc;
	}
	if (!skip_documents(r, shapes, 0, from))
		return STRATA_CODEC_CORRUPT;
	for (uint32_t c = 2; c < ncolumns; c++)
		columns[c].first = r->leaves[c].next;
	if (from + n < ndocs && !skip_documents(r, shapes, from, from + n))
		return STRATA_CODEC_CORRUPT;
	for (uint32_t c = 2; c < ncolumns; c++)
	{
		uint32_t	end;
		StrataCodecResult rc;

		end = from + n < ndocs ? r->leaves[c].next : r->leaves[c].n;
		if (columns[c].first > end || end > r->leaves[c].n)
			return STRATA_CODEC_CORRUPT;
		r->leaves[c].next = r->leaves[c].n = 0;
		if (columns[c].first == end)
			continue;
		rc = strata_jsonb_decode_nested(&columns[c], columns[c].first,
										end - columns[c].first, scratch, &r->leaves[c]);
		if (rc != STRATA_CODEC_OK)
			return rc;
	}
	return STRATA_CODEC_OK;
}

/*
 * Documents [from, from + n), put together in scratch: shapes from the first
 * one on, leaves as far as they are needed.
 */
static StrataCodecResult
jsonb_decode_bytes(const StrataPayload *p, uint32_t from, uint32_t n,
				   StrataArena *scratch, StrataBytes *out)
{
	JsonbParts	parts;
	JsonRebuild r;
	JsonLeaves	shapes;
	JsonPath   *paths;
	uint32_t   *offsets;
	uint8_t    *bytes;
	StrataCodecResult rc = strata_jsonb_parse(p, &parts);

	Assert(n <= p->n && from <= p->n - n);	/* codec:C2 */
	if (rc != STRATA_CODEC_OK)
		return rc;
	paths = strata_arena_alloc(scratch, parts.npaths * sizeof(JsonPath));
	offsets = strata_arena_alloc(scratch, ((size_t) n + 1) * sizeof(uint32_t));
	bytes = strata_arena_alloc(scratch, parts.total);
	r = (JsonRebuild)
	{
		.paths = paths,
			.npaths = parts.npaths,
			.leaves = strata_arena_alloc(scratch,
										 2 * parts.npaths *
										 sizeof(JsonLeaves)),
			.keeps_heads = true
	};
	if (paths == NULL || offsets == NULL || bytes == NULL || r.leaves == NULL)
		return STRATA_CODEC_NO_SPACE;
	rc = strata_jsonb_decode_paths(&parts, scratch, paths);
	if (rc == STRATA_CODEC_OK)
		rc = strata_jsonb_decode_nested(&parts.shapes, 0, from + n, scratch,
										&shapes);
	if (rc == STRATA_CODEC_OK)
		rc = decode_columns(&parts, &shapes, from, n, p->n, &r, scratch);
	if (rc != STRATA_CODEC_OK)
		return rc;
	offsets[0] = 0;
	for (uint32_t i = 0; i < n; i++)
	{
		uint32_t	which = shapes.codes ? shapes.codes[from + i] : from + i;
		uint32_t	at = shapes.offsets[which];

		r.doc = bytes + offsets[i];
		r.room = parts.total - offsets[i];
		if (!strata_jsonb_rebuild(&r, shapes.payload + at,
								  shapes.offsets[which + 1] - at))
			return STRATA_CODEC_CORRUPT;
		Assert(r.at <= r.room); /* codec:C12 */
		offsets[i + 1] = offsets[i] + r.at;
	}
	/* with all documents, all bytes and leaves are accounted for */
	if (n == p->n && offsets[n] != parts.total)
		return STRATA_CODEC_CORRUPT;
	for (uint32_t c = 2; c < 2 * parts.npaths; c++)
		if (r.leaves[c].next != r.leaves[c].n)
			return STRATA_CODEC_CORRUPT;
	*out = (StrataBytes)
	{
		n, bytes, offsets, NULL
	};
	return STRATA_CODEC_OK;
}

/*
 * For people: "21 paths; shapes in dictionary: 12 entries in lz4; values,
 * bits, 4 blocks of 256".
 */
static void
jsonb_describe(const StrataPayload *p, char *text, size_t size)
{
	JsonbParts	parts;
	char		shapes[64];

	text[0] = '\0';
	if (strata_jsonb_parse(p, &parts) != STRATA_CODEC_OK)
		return;
	shapes[0] = '\0';
	parts.shapes.codec->describe(&parts.shapes.payload, shapes,
								 sizeof(shapes));
	snprintf(text, size, "%u paths; shapes in %s%s%s", parts.npaths - 1,
			 parts.shapes.codec->name, shapes[0] ? ": " : "", shapes);
}

const StrataCodec strata_codec_jsonb = {
	.name = "jsonb",
	.kinds = 1U << STRATA_KIND_BYTES,
	.available = true,
	.encode_scratch_size = strata_jsonb_encode_scratch_size,
	.encode = strata_jsonb_encode,
	.decode_scratch_size = jsonb_decode_scratch_size,
	.decode_bytes = jsonb_decode_bytes,
	.describe = jsonb_describe,
};
