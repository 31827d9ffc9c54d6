/*-------------------------------------------------------------------------
 *
 * jsonb_shred.c
 *	  Codec JSONB: taking documents apart, and encoding the parts.
 *
 * Hides how paths are found and leaves gathered.  Whatever jsonb's bytes are,
 * nothing outside of a document is read; a document that does not come out of
 * its parts bit for bit, or that is too deep, makes the codec refuse the lot.
 *
 * src/codec/jsonb_shred.c
 *-------------------------------------------------------------------------
 */
#include "codec/jsonb_private.h"

#define COLUMNS_MAX (2 * (JSON_PATHS_MAX + 1))
#define SLOTS 8192				/* of the hash table of paths, a power of two
								 * above twice their number */

/*
 * A nested payload's codec and length are written in front of it when they are
 * known.
 */
#define NESTED_HEAD 6

typedef struct Shredder
{
	JsonPath   *paths;
	uint32_t	npaths;
	uint16_t   *slots;			/* path by hash, or 0 */
	uint16_t   *after;			/* per path: the one that followed it last
								 * time */
	uint16_t   *first;			/* per path: the first one in it last time */
	StrataWriter shapes;
	uint32_t   *shape_ends;		/* n + 1 */
	uint32_t	nleaves;
	uint32_t	most_leaves;
	uint32_t   *column;			/* per leaf */
	uint32_t   *start;			/* where it is in the vector's payload */
	uint32_t   *length;
	uint32_t   *count;			/* per column */
	uint32_t   *nbytes;
	uint32_t	base;			/* where the document is in the vector's
								 * payload */
} Shredder;

/*
 * --- documents
 * -----------------------------------------------------------------
 */

/* Is this the path of member `key`, or of the elements, of parent? */
STRATA_INLINE bool
path_is(const JsonPath *p, uint32_t parent, bool is_element,
		const uint8_t *key, uint32_t key_len)
{
	return p->parent == parent && p->is_element == is_element &&
		p->key_len == key_len &&
		(key_len == 0 || memcmp(p->key, key, key_len) == 0);
}

static uint32_t
hash_path(uint32_t parent, bool is_element, const uint8_t *key,
		  uint32_t key_len)
{
	uint64_t	h;

	h = ((uint64_t) parent << 1 | is_element) * UINT64_C(0x9e3779b97f4a7c15) +
		key_len;
	for (; key_len >= 8; key_len -= 8, key += 8)
		h = (h ^ strata_load64(key)) * UINT64_C(0xd6e8feb86659fd93),
			h ^= h >> 32;
	h = (h ^ strata_load_partial(key, key_len)) * UINT64_C(0xd6e8feb86659fd93);
	return (uint32_t) (h >> 32);
}

/* The number of a path, a new one if need be; 0 when there are too many. */
static uint32_t
find_path(Shredder *s, uint32_t parent, bool is_element, const uint8_t *key,
		  uint32_t key_len)
{
	uint32_t	slot;

	slot = hash_path(parent, is_element, key, key_len) & (SLOTS - 1);
	for (; s->slots[slot] != 0; slot = (slot + 1) & (SLOTS - 1))
		if (path_is(&s->paths[s->slots[slot]], parent, is_element, key,
					key_len))
			return s->slots[slot];
	if (s->npaths > JSON_PATHS_MAX)
		return 0;
	s->paths[s->npaths] = (JsonPath)
	{
		parent, is_element, key, key_len
	};
	s->slots[slot] = (uint16_t) s->npaths;
	return s->npaths++;
}

/*
 * Where entry i ends, if the one before ends at *end; false when it is not
 * within `most` bytes.
 */
STRATA_INLINE bool
entry_end(const uint8_t *entries, uint32_t i, uint32_t most, uint32_t *entry,
		  uint32_t *end)
{
	uint32_t	start = *end;

	*entry = jsonb_load(entries + (size_t) i * 4);
	*end = *entry & JSONB_HAS_OFFSET ? *entry & JSONB_LENGTH : start +
		(*entry & JSONB_LENGTH);
	return *end >= start && *end <= most;
}

/* Note a leaf. */
static bool
add_leaf(Shredder *s, uint32_t column, uint32_t start, uint32_t length)
{
	if (s->nleaves >= s->most_leaves ||
		s->count[column] >= STRATA_CODEC_MAX_ROWS)
		return false;
	s->column[s->nleaves] = column;
	s->start[s->nleaves] = s->base + start;
	s->length[s->nleaves++] = length;
	s->count[column]++;
	s->nbytes[column] += length;
	return true;
}

/* The type of a value, as in shapes; its leaf is noted. */
static bool
take_value(Shredder *s, const uint8_t *doc, uint32_t path, uint32_t entry,
		   uint32_t start, uint32_t end, JsonType *type)
{
	uint32_t	aligned = JSONB_ALIGN(start);

	switch (entry >> JSONB_TYPE_SHIFT & 7)
	{
		case JSONB_IS_STRING:
			*type = JSON_STRING;
			return add_leaf(s, JSON_COLUMN(path, JSON_STRING), start,
							end - start);
		case JSONB_IS_NUMERIC:
			*type = JSON_NUMBER;
			return end >= aligned && end - aligned >= 4 &&
				add_leaf(s, JSON_COLUMN(path, JSON_NUMBER), aligned + 4,
						 end - aligned - 4);
		case JSONB_IS_FALSE:
			*type = JSON_FALSE;
			return true;
		case JSONB_IS_TRUE:
			*type = JSON_TRUE;
			return true;
		case JSONB_IS_NULL:
			*type = JSON_NULL;
			return true;
		case JSONB_IS_CONTAINER:
			/* which of the two its head says */
			if (end < aligned || end - aligned < 4)
				return false;
			*type = jsonb_load(doc + aligned) & JSONB_OBJECT ? JSON_OBJECT :
				JSON_ARRAY;
			return true;
		default:
			return false;
	}
}

/*
 * Take the container at [at, end) of a document apart: its part of the shape,
 * its leaves, and what is in it.
 */
static bool
take_container(Shredder *s, const uint8_t *doc, uint32_t at, uint32_t end,
			   uint32_t path, unsigned depth)
{
	uint32_t	head = jsonb_load(doc + at);
	uint32_t	n = head & JSONB_COUNT;
	bool		object = head & JSONB_OBJECT;
	uint32_t	nentries = object ? 2 * n : n;
	const uint8_t *entries = doc + at + 4;
	uint32_t	data = at + 4 + nentries * 4;
	uint32_t	key_start = 0;
	uint32_t	value_end = 0;
	uint32_t	keys_end;
	uint32_t	last = 0;
	uint32_t	entry;
	uint32_t	ncontainers = 0;
	StrataReader tokens;

	if (nentries > (end - at - 4) / 4 || depth > JSON_DEPTH_MAX)
		return false;
	for (uint32_t i = 0; object && i < n; i++)
		if (!entry_end(entries, i, end - data, &entry, &value_end))
			return false;
	keys_end = value_end;
	strata_write_varint(&s->shapes, n);
	tokens = strata_reader(s->shapes.next, 0);
	for (uint32_t i = 0; i < n; i++)
	{
		const uint8_t *key = doc + data + key_start;
		uint32_t	key_end = key_start;
		uint32_t	start = value_end;
		uint32_t	child = last ? s->after[last] : s->first[path];
		JsonType	type;

		if (object && !entry_end(entries, i, end - data, &entry, &key_end))
			return false;
		if (child == 0 || !path_is(&s->paths[child], path, !object, key,
								   key_end - key_start))
		{
			child = find_path(s, path, !object, key, key_end - key_start);
			if (child == 0)
				return false;
			*(last ? &s->after[last] : &s->first[path]) = (uint16_t) child;
		}
		if (!entry_end(entries, object ? n + i : i, end - data, &entry,
					   &value_end) ||
			!take_value(s, doc, child, entry, data + start, data + value_end,
						&type))
			return false;
		strata_write_varint(&s->shapes, child << JSON_TYPE_BITS | type);
		ncontainers += type == JSON_OBJECT || type == JSON_ARRAY;
		key_start = key_end;
		last = child;
	}
	if (s->shapes.failed)
		return false;
	tokens.end = s->shapes.next;
	value_end = keys_end;
	for (uint32_t i = 0; ncontainers > 0 && i < n; i++)
	{
		uint32_t	start = value_end;
		uint32_t	token = (uint32_t) strata_read_varint(&tokens);
		unsigned	type = token & ((1 << JSON_TYPE_BITS) - 1);

		entry_end(entries, object ? n + i : i, end - data, &entry, &value_end);
		if (type != JSON_OBJECT && type != JSON_ARRAY)
			continue;
		ncontainers--;
		if (!take_container(s, doc, JSONB_ALIGN(data + start),
							data + value_end, token >> JSON_TYPE_BITS,
							depth + 1))
			return false;
	}
	return true;
}

/* Take all documents apart. */
static bool
shred_document(Shredder *s, const StrataVector *v)
{
	s->npaths = 1;
	s->paths[0] = (JsonPath)
	{
		0, false, NULL, 0
	};
	s->shape_ends[0] = 0;
	for (uint32_t i = 0; i < v->n; i++)
	{
		const uint8_t *doc = v->payload + v->offsets[i];
		uint32_t	len = v->offsets[i + 1] - v->offsets[i];
		uint32_t	head;

		if (len < 4)
			return false;
		head = jsonb_load(doc);
		s->base = v->offsets[i];
		strata_write_u8(&s->shapes, head & JSONB_OBJECT ? JSON_OBJECT :
						head & JSONB_SCALAR ? JSON_SCALAR :
						JSON_ARRAY);
		if (!take_container(s, doc, 0, len, 0, 0))
			return false;
		s->shape_ends[i + 1] = (uint32_t) strata_writer_len(&s->shapes);
	}
	return true;
}

/*
 * --- parts
 * ---------------------------------------------------------------------
 */

/* The leaves by column. */
typedef struct Gathered
{
	uint8_t    *payload;
	uint32_t   *offsets;		/* of column c from first[c] on, count + 1 of
								 * them, from the column's bytes on */
	uint32_t   *first;
	uint32_t   *bytes_at;		/* where a column's bytes are in the payload */
} Gathered;

/*
 * Bring the leaves of each column together, in scratch; false when that is too
 * small.
 */
static bool
gather(const Shredder *s, const StrataVector *v, StrataArena *arena,
	   Gathered *g)
{
	uint32_t	ncolumns = 2 * s->npaths;
	uint32_t	offsets = 0;
	uint32_t	bytes = 0;
	uint32_t   *next = strata_arena_alloc(arena, ncolumns * sizeof(uint32_t));

	g->payload = strata_arena_alloc(arena, v->offsets[v->n]);
	g->offsets = strata_arena_alloc(arena, ((size_t) s->nleaves + ncolumns) *
									sizeof(uint32_t));
	g->first = strata_arena_alloc(arena, ncolumns * sizeof(uint32_t));
	g->bytes_at = strata_arena_alloc(arena, ncolumns * sizeof(uint32_t));
	if (next == NULL || g->payload == NULL || g->offsets == NULL ||
		g->first == NULL || g->bytes_at == NULL)
		return false;
	for (uint32_t c = 0; c < ncolumns; c++)
	{
		g->first[c] = next[c] = offsets;
		g->bytes_at[c] = bytes;
		g->offsets[offsets] = 0;
		offsets += s->count[c] + 1;
		bytes += s->nbytes[c];
	}
	for (uint32_t i = 0; i < s->nleaves; i++)
	{
		uint32_t	c = s->column[i];
		uint32_t	at = g->offsets[next[c]];

		memcpy(g->payload + g->bytes_at[c] + at, v->payload + s->start[i],
			   s->length[i]);
		g->offsets[++next[c]] = at + s->length[i];
	}
	return true;
}

/* Do the parts make the documents again? */
static bool
comes_back(const Shredder *s, const StrataVector *v, const Gathered *g,
		   StrataArena arena)
{
	JsonRebuild r = {.paths = s->paths,.npaths = s->npaths};
	uint8_t    *doc;
	uint32_t	longest = 0;

	for (uint32_t i = 0; i < v->n; i++)
		longest = v->offsets[i + 1] - v->offsets[i] > longest ?
			v->offsets[i + 1] - v->offsets[i] :
			longest;
	r.leaves = strata_arena_alloc(&arena, 2 * s->npaths * sizeof(JsonLeaves));
	doc = strata_arena_alloc(&arena, longest);
	if (r.leaves == NULL || doc == NULL)
		return false;
	for (uint32_t c = 0; c < 2 * s->npaths; c++)
		r.leaves[c] = (JsonLeaves)
	{
		g->payload + g->bytes_at[c],
			g->offsets + g->first[c], NULL, 0,
			s->count[c]
	};
	for (uint32_t i = 0; i < v->n; i++)
	{
		uint32_t	len = v->offsets[i + 1] - v->offsets[i];

		r.doc = doc;
		r.room = len;
		if (!strata_jsonb_rebuild(&r, s->shapes.start + s->shape_ends[i],
								  s->shape_ends[i + 1] - s->shape_ends[i]) ||
			r.at != len || memcmp(doc, v->payload + v->offsets[i], len) != 0)
			return false;
	}
	return true;
}

/* Append byte strings as codec, length, payload. */
static StrataCodecResult
write_nested(const StrataVector *v, StrataArena *scratch, StrataWriter *out)
{
	StrataWriter w = *out;
	StrataArena arena = *scratch;
	StrataCodecId id;
	StrataCodecResult rc;
	uint8_t    *payload;
	size_t		len;

	if (strata_write_space(&w, NESTED_HEAD) == NULL)
		return STRATA_CODEC_NO_SPACE;
	payload = w.next;
	rc = strata_choose_encode(v, &arena, &w, &id);
	if (rc != STRATA_CODEC_OK)
		return rc;
	if (w.failed)
		return STRATA_CODEC_NO_SPACE;
	len = (size_t) (w.next - payload);
	strata_write_u8(out, (uint8_t) id);
	strata_write_varint(out, len);
	memmove(out->next, payload, len);
	out->next += len;
	return STRATA_CODEC_OK;
}

/* Append the paths but that of the document. */
static StrataCodecResult
write_paths(const Shredder *s, StrataLevel level, StrataArena *scratch,
			StrataWriter *out)
{
	StrataArena arena = *scratch;
	uint32_t	n = s->npaths - 1;
	int64_t    *parents = strata_arena_alloc(&arena, n * sizeof(int64_t));
	uint8_t    *stream = strata_arena_alloc(&arena, strata_ints_bound(n));
	uint32_t   *offsets = strata_arena_alloc(&arena, ((size_t) n + 1) *
											 sizeof(uint32_t));
	StrataVector keys = {.kind = STRATA_KIND_BYTES,
		.n = n,
		.offsets = offsets,
	.level = level};
	uint8_t    *payload;
	StrataWriter w;
	StrataCodecResult rc;

	strata_write_varint(out, n);
	if (n == 0)
		return out->failed ? STRATA_CODEC_NO_SPACE : STRATA_CODEC_OK;
	if (parents == NULL || stream == NULL || offsets == NULL)
		return STRATA_CODEC_NO_SPACE;
	offsets[0] = 0;
	for (uint32_t i = 0; i < n; i++)
	{
		const JsonPath *p = &s->paths[i + 1];

		parents[i] = (int64_t) p->parent * 2 + p->is_element;
		offsets[i + 1] = offsets[i] + p->key_len;
	}
	payload = strata_arena_alloc(&arena, offsets[n]);
	if (payload == NULL)
		return STRATA_CODEC_NO_SPACE;
	for (uint32_t i = 0; i < n; i++)
		if (s->paths[i + 1].key_len > 0)
			memcpy(payload + offsets[i], s->paths[i + 1].key,
				   s->paths[i + 1].key_len);
	keys.payload = payload;
	w = strata_writer(stream, strata_ints_bound(n));
	rc = strata_ints_encode(parents, n, level, &arena, &w);
	if (rc != STRATA_CODEC_OK)
		return rc;
	strata_write_varint(out, strata_writer_len(&w));
	strata_write_bytes(out, stream, strata_writer_len(&w));
	return write_nested(&keys, &arena, out);
}

/* Append a column of leaves. */
static StrataCodecResult
write_leaf_column(const Shredder *s, const Gathered *g, uint32_t column,
				  StrataLevel level, StrataArena *scratch, StrataWriter *out)
{
	StrataVector leaves = {.kind = STRATA_KIND_BYTES,
		.n = s->count[column],
		.payload = g->payload + g->bytes_at[column],
		.offsets = g->offsets + g->first[column],
		.level = level,
		.hint = column % 2 == JSON_NUMBER ?
		STRATA_BYTES_NUMERIC :
	STRATA_BYTES_ANY};

	strata_write_varint(out, leaves.n);
	if (leaves.n == 0)
		return out->failed ? STRATA_CODEC_NO_SPACE : STRATA_CODEC_OK;
	return write_nested(&leaves, scratch, out);
}

/*
 * --- the codec
 * ------------------------------------------------------------------
 */

/* Most entries of all documents: each takes four bytes. */
static uint32_t
most_leaves(const StrataVector *v)
{
	return v->offsets[v->n] / 4 + 1;
}

/*
 * Scratch of strata_jsonb_encode: the parts, and what the largest of their
 * codecs needs.
 */
size_t
strata_jsonb_encode_scratch_size(const StrataVector *v)
{
	uint32_t	total = v->n > 0 ? v->offsets[v->n] : 0;
	uint32_t	leaves = v->n > 0 ? most_leaves(v) : 0;
	StrataVector part = {.kind = STRATA_KIND_BYTES,
		.hint = STRATA_BYTES_NUMERIC,
	.level = v->level};

	if (v->hint != STRATA_BYTES_JSONB || total > JSON_BYTES_MAX)
		return 0;
	/* the largest part, its bytes aside */
	part.n = leaves > v->n ? leaves : v->n;
	if (part.n > STRATA_CODEC_MAX_ROWS)
		part.n = STRATA_CODEC_MAX_ROWS;
	return STRATA_ARENA_SIZE((JSON_PATHS_MAX + 1) * sizeof(JsonPath)) +
		STRATA_ARENA_SIZE(SLOTS * sizeof(uint16_t)) +
		2 * STRATA_ARENA_SIZE((JSON_PATHS_MAX + 1) * sizeof(uint16_t)) +
		STRATA_ARENA_SIZE((size_t) total + v->n) +
		STRATA_ARENA_SIZE(((size_t) v->n + 1) * sizeof(uint32_t)) +
		3 * STRATA_ARENA_SIZE((size_t) leaves * sizeof(uint32_t)) +
		5 * STRATA_ARENA_SIZE(COLUMNS_MAX * sizeof(uint32_t)) +
		STRATA_ARENA_SIZE(total) +
		STRATA_ARENA_SIZE(((size_t) leaves + COLUMNS_MAX) *
						  sizeof(uint32_t)) +
		STRATA_ARENA_SIZE(COLUMNS_MAX * sizeof(JsonLeaves)) +
		STRATA_ARENA_SIZE((JSON_PATHS_MAX + 1) * sizeof(int64_t)) +
		STRATA_ARENA_SIZE(strata_ints_bound(JSON_PATHS_MAX + 1)) +
		STRATA_ARENA_SIZE(total) +
		STRATA_ARENA_SIZE((JSON_PATHS_MAX + 2) * sizeof(uint32_t)) +
		strata_choose_scratch_size(&part) +
		3 * STRATA_ARENA_SIZE((size_t) total + v->n);
}

/* Take room for everything from the scratch. */
static bool
shred_prepare(Shredder *s, const StrataVector *v, StrataArena *arena)
{
	size_t		shapes = (size_t) v->offsets[v->n] + v->n;

	memset(s, 0, sizeof(*s));
	s->most_leaves = most_leaves(v);
	s->paths = strata_arena_alloc(arena,
								  (JSON_PATHS_MAX + 1) * sizeof(JsonPath));
	s->slots = strata_arena_alloc(arena, SLOTS * sizeof(uint16_t));
	s->after = strata_arena_alloc(arena,
								  (JSON_PATHS_MAX + 1) * sizeof(uint16_t));
	s->first = strata_arena_alloc(arena,
								  (JSON_PATHS_MAX + 1) * sizeof(uint16_t));
	s->shapes = strata_writer(strata_arena_alloc(arena, shapes), shapes);
	s->shape_ends = strata_arena_alloc(arena,
									   ((size_t) v->n + 1) * sizeof(uint32_t));
	s->column = strata_arena_alloc(arena,
								   (size_t) s->most_leaves * sizeof(uint32_t));
	s->start = strata_arena_alloc(arena,
								  (size_t) s->most_leaves * sizeof(uint32_t));
	s->length = strata_arena_alloc(arena,
								   (size_t) s->most_leaves * sizeof(uint32_t));
	s->count = strata_arena_alloc(arena, COLUMNS_MAX * sizeof(uint32_t));
	s->nbytes = strata_arena_alloc(arena, COLUMNS_MAX * sizeof(uint32_t));
	if (s->paths == NULL || s->slots == NULL || s->after == NULL ||
		s->first == NULL || s->shapes.start == NULL || s->shape_ends == NULL ||
		s->column == NULL || s->start == NULL || s->length == NULL ||
		s->count == NULL || s->nbytes == NULL)
		return false;
	memset(s->slots, 0, SLOTS * sizeof(uint16_t));
	memset(s->after, 0, (JSON_PATHS_MAX + 1) * sizeof(uint16_t));
	memset(s->first, 0, (JSON_PATHS_MAX + 1) * sizeof(uint16_t));
	memset(s->count, 0, COLUMNS_MAX * sizeof(uint32_t));
	memset(s->nbytes, 0, COLUMNS_MAX * sizeof(uint32_t));
	return true;
}

/*
 * Encode documents; NOT_APPLICABLE when they are not jsonb, or not as
 * PostgreSQL writes it.
 */
StrataCodecResult
strata_jsonb_encode(const StrataVector *v, StrataArena *scratch,
					StrataWriter *out)
{
	StrataArena arena = *scratch;
	StrataVector shapes = {.kind = STRATA_KIND_BYTES,
		.n = v->n,
	.level = v->level};
	Shredder	s;
	Gathered	g;
	StrataCodecResult rc;

	if (v->hint != STRATA_BYTES_JSONB || v->offsets[v->n] > JSON_BYTES_MAX)
		return STRATA_CODEC_NOT_APPLICABLE;
	if (!shred_prepare(&s, v, &arena))
		return STRATA_CODEC_NO_SPACE;
	if (!shred_document(&s, v))
		return STRATA_CODEC_NOT_APPLICABLE;
	if (!gather(&s, v, &arena, &g))
		return STRATA_CODEC_NO_SPACE;
	if (!comes_back(&s, v, &g, arena))
		return STRATA_CODEC_NOT_APPLICABLE;
	shapes.payload = s.shapes.start;
	shapes.offsets = s.shape_ends;
	strata_write_varint(out, v->offsets[v->n]);
	rc = write_paths(&s, v->level, &arena, out);
	if (rc == STRATA_CODEC_OK)
		rc = write_nested(&shapes, &arena, out);
	for (uint32_t c = 2; c < 2 * s.npaths && rc == STRATA_CODEC_OK; c++)
		rc = write_leaf_column(&s, &g, c, v->level, &arena, out);
	return rc;
}
