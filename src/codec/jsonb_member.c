/*-------------------------------------------------------------------------
 *
 * jsonb_member.c
 *	  Codec JSONB: what all documents have at one path of keys, without
 *	  putting them together.
 *
 * Hides how the values of a path are found: the path's own columns of strings
 * and numbers are decoded, and of the documents only their shapes, which say
 * of what type the value is, or that there is none.
 *
 * src/codec/jsonb_member.c
 *-------------------------------------------------------------------------
 */
#include "codec/jsonb_private.h"

/* Is this the path of that member of parent? */
static bool
is_path_of_key(const JsonPath *path, uint32_t parent, const StrataKey *key)
{
	return path->parent == parent && !path->is_element &&
		path->key_len == key->len &&
		(key->len == 0 || memcmp(path->key, key->bytes, key->len) == 0);
}

/* The path that the keys lead to; 0: no document has such a member. */
static uint32_t
path_of_keys(const JsonPath *paths, uint32_t npaths, const StrataKey *keys,
			 uint32_t nkeys)
{
	uint32_t	at = 0;

	for (uint32_t k = 0; k < nkeys; k++)
	{
		uint32_t	child = at + 1;

		/* parents come first */
		while (child < npaths && !is_path_of_key(&paths[child], at, &keys[k]))
			child++;
		if (child >= npaths)
			return 0;
		at = child;
	}
	return at;
}

/*
 * Of what kind is the value that a document has at a path?  ABSENT where the
 * shape has none, also where it is no shape.
 */
static StrataMemberKind
kind_in_shape(const uint8_t *shape, uint32_t shape_len, uint32_t path)
{
	StrataReader in = strata_reader(shape, shape_len);
	uint32_t	containers = 1;

	strata_read_u8(&in);
	for (; containers > 0 && !in.failed; containers--)
	{
		uint32_t	n = read_token(&in);

		if (in.failed || n > strata_reader_left(&in))
			break;
		for (uint32_t i = 0; i < n; i++)
		{
			uint32_t	token = read_token(&in);
			unsigned	type = token & ((1 << JSON_TYPE_BITS) - 1);

			if (token >> JSON_TYPE_BITS != path)
			{
				containers += type >= JSON_OBJECT;
				continue;
			}
			switch (type)
			{
				case JSON_STRING:
					return STRATA_MEMBER_STRING;
				case JSON_NUMBER:
					return STRATA_MEMBER_NUMBER;
				case JSON_FALSE:
					return STRATA_MEMBER_FALSE;
				case JSON_TRUE:
					return STRATA_MEMBER_TRUE;
				case JSON_NULL:
					return STRATA_MEMBER_NULL;
				default:
					return STRATA_MEMBER_CONTAINER;
			}
		}
	}
	return STRATA_MEMBER_ABSENT;
}

/*
 * The values of one column of the path, of which the shapes call for so many;
 * those of all documents call for all.
 */
static StrataCodecResult
take_leaves(const JsonbNested *column, uint32_t count, uint32_t wanted,
			bool all, StrataArena *scratch, StrataBytes *bytes)
{
	static const uint32_t zero[2] = {0, 0};

	*bytes = (StrataBytes)
	{
		0, column->payload.data, zero, NULL
	};
	if (all ? count != wanted : count < wanted)
		return STRATA_CODEC_CORRUPT;
	return wanted == 0 ? STRATA_CODEC_OK :
		column->codec->decode_bytes(&column->payload, 0, wanted, scratch,
									bytes);
}

/* Decode the columns of a path whose values were counted. */
static StrataCodecResult
decode_leaves(JsonbParts *parts, uint32_t path, uint32_t nstrings,
			  uint32_t nnumbers, bool all, StrataArena *scratch,
			  StrataMembers *out)
{
	JsonbNested column[2] = {0};
	uint32_t	count[2] = {0, 0};
	StrataCodecResult rc = STRATA_CODEC_OK;

	for (uint32_t c = 2; c <= JSON_COLUMN(path, JSON_NUMBER); c++)
	{
		rc = strata_jsonb_read_column(&parts->columns, &count[c % 2],
									  &column[c % 2]);
		if (rc != STRATA_CODEC_OK)
			return rc;
	}
	rc = take_leaves(&column[0], count[0], nstrings, all, scratch,
					 &out->strings);
	return rc != STRATA_CODEC_OK ? rc :
		take_leaves(&column[1], count[1], nnumbers, all, scratch,
					&out->numbers);
}

/* See jsonb_private.h. */
StrataCodecResult
strata_jsonb_members_scratch(const StrataPayload *p, uint32_t ndocs,
							 size_t *size)
{
	JsonbParts	parts;
	size_t		largest[2] = {0, 0};
	StrataCodecResult rc = strata_jsonb_parse(p, &parts);

	*size = 0;
	if (rc != STRATA_CODEC_OK)
		return rc;
	*size = STRATA_ARENA_SIZE(parts.npaths * sizeof(JsonPath)) +
		STRATA_ARENA_SIZE(parts.npaths * sizeof(uint64_t)) +
		STRATA_ARENA_SIZE(ndocs);
	if (parts.npaths > 1)
		rc = strata_jsonb_nested_size(&parts.keys, parts.npaths - 1, size);
	if (rc == STRATA_CODEC_OK)
		rc = strata_jsonb_nested_size(&parts.shapes, ndocs, size);
	for (uint32_t c = 2; c < 2 * parts.npaths && rc == STRATA_CODEC_OK; c++)
	{
		JsonbNested column;
		uint32_t	count;
		size_t		part = 0;

		rc = strata_jsonb_read_column(&parts.columns, &count, &column);
		if (rc == STRATA_CODEC_OK && count > 0)
			rc = strata_jsonb_nested_size(&column, count, &part);
		if (part > largest[c % 2])
			largest[c % 2] = part;
	}
	*size += largest[0] + largest[1];
	return rc;
}

/* See jsonb_private.h. */
StrataCodecResult
strata_jsonb_members(const StrataPayload *p, uint32_t ndocs,
					 const StrataKey *keys, uint32_t nkeys,
					 StrataArena *scratch, StrataMembers *out)
{
	JsonbParts	parts;
	JsonLeaves	shapes;
	JsonPath   *paths;
	uint8_t    *known;
	uint32_t	path;
	uint32_t	n[2] = {0, 0};
	StrataCodecResult rc = strata_jsonb_parse(p, &parts);

	Assert(ndocs > 0 && ndocs <= p->n); /* codec:C2 */
	if (rc != STRATA_CODEC_OK)
		return rc;
	paths = strata_arena_alloc(scratch, parts.npaths * sizeof(JsonPath));
	known = strata_arena_alloc(scratch, ndocs);
	if (paths == NULL || known == NULL)
		return STRATA_CODEC_NO_SPACE;
	rc = strata_jsonb_decode_paths(&parts, scratch, paths);
	if (rc != STRATA_CODEC_OK)
		return rc;
	memset(out->kinds, STRATA_MEMBER_ABSENT, ndocs);
	path = path_of_keys(paths, parts.npaths, keys, nkeys);
	if (path == 0)
		return STRATA_CODEC_OK;
	rc = strata_jsonb_decode_nested(&parts.shapes, 0, ndocs, scratch, &shapes);
	if (rc != STRATA_CODEC_OK)
		return rc;
	/* a shape that many documents have is looked at once; 0 is unknown */
	memset(known, 0, ndocs);
	for (uint32_t i = 0; i < ndocs; i++)
	{
		uint32_t	which = shapes.codes ? shapes.codes[i] : i;
		uint32_t	start = shapes.offsets[which];
		uint8_t		kind;

		if (which < ndocs && known[which] != 0)
			kind = known[which] - 1;
		else
		{
			kind = kind_in_shape(shapes.payload + start,
								 shapes.offsets[which + 1] - start, path);
			if (which < ndocs)
				known[which] = kind + 1;
		}
		out->kinds[i] = kind;
		out->which[i] = kind == STRATA_MEMBER_STRING ? n[0]++ :
			kind == STRATA_MEMBER_NUMBER ? n[1]++ : 0;
	}
	rc = decode_leaves(&parts, path, n[0], n[1], ndocs == p->n, scratch, out);
	if (rc != STRATA_CODEC_OK)
		return rc;
	for (uint32_t i = 0; i < ndocs; i++)
	{
		const StrataBytes *bytes =
		out->kinds[i] == STRATA_MEMBER_STRING ? &out->strings :
		out->kinds[i] == STRATA_MEMBER_NUMBER ? &out->numbers : NULL;

		if (bytes != NULL && bytes->codes != NULL)
			out->which[i] = bytes->codes[out->which[i]];
	}
	out->strings.codes = out->numbers.codes = NULL;
	return STRATA_CODEC_OK;
}
