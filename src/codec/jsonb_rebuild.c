/*-------------------------------------------------------------------------
 *
 * jsonb_rebuild.c
 *	  Codec JSONB: putting a document together from its shape and leaves.
 *
 * Hides how PostgreSQL lays jsonb out, but for what jsonb_shred.c reads of it.
 * A shape is distrusted: nothing is written beyond the room there is, no leaf
 * taken that is not there, no member put where its path is not.
 *
 * src/codec/jsonb_rebuild.c
 *-------------------------------------------------------------------------
 */
#include "codec/jsonb_private.h"

/* Copy few bytes without a call; from and to do not overlap. */
STRATA_INLINE void
copy_short(uint8_t *to, const uint8_t *from, uint32_t len)
{
	if (len > 16)
		memcpy(to, from, len);
	else if (len >= 8)
	{
		uint64_t	first;
		uint64_t	last;

		memcpy(&first, from, 8);
		memcpy(&last, from + len - 8, 8);
		memcpy(to, &first, 8);
		memcpy(to + len - 8, &last, 8);
	}
	else if (len >= 4)
	{
		uint32_t	first = jsonb_load(from);
		uint32_t	last = jsonb_load(from + len - 4);

		jsonb_store(to, first);
		jsonb_store(to + len - 4, last);
	}
	else if (len > 0)
	{
		/* first, middle, last: of three bytes or fewer these are all */
		uint8_t		middle = from[len / 2];
		uint8_t		last = from[len - 1];

		to[0] = from[0];
		to[len / 2] = middle;
		to[len - 1] = last;
	}
}

/*
 * The next leaf of a column behind the document so far; false when there is
 * none, or no room.
 */
STRATA_INLINE bool
put_leaf(JsonRebuild *r, uint32_t column)
{
	JsonLeaves *leaves = &r->leaves[column];
	uint32_t	which;
	uint32_t	start;
	uint32_t	len;

	if (leaves->next >= leaves->n)
		return false;
	which = leaves->codes ? leaves->codes[leaves->next] : leaves->next;
	leaves->next++;
	start = leaves->offsets[which];
	len = leaves->offsets[which + 1] - start;
	if (len > r->room - r->at)
		return false;
	copy_short(r->doc + r->at, leaves->payload + start, len);
	r->at += len;
	return true;
}

/* Zeros up to the next multiple of four; false when there is no room. */
STRATA_INLINE bool
put_padding(JsonRebuild *r)
{
	uint32_t	aligned = JSONB_ALIGN(r->at);

	if (aligned > r->room)
		return false;
	for (; r->at < aligned; r->at++)
		r->doc[r->at] = 0;
	return true;
}

/* A number and the length in front of it. */
STRATA_INLINE bool
put_number(JsonRebuild *r, uint32_t column)
{
	uint32_t	head;

	if (!put_padding(r) || r->room - r->at < 4)
		return false;
	head = r->at;
	r->at += 4;
	if (!put_leaf(r, column))
		return false;
	jsonb_store(r->doc + head, jsonb_varlena_head(r->at - head));
	return true;
}

/*
 * Entry number i of a container, for a value of len bytes that ends `end`
 * bytes behind its entries.
 */
STRATA_INLINE uint32_t
entry_of(uint32_t i, unsigned type, uint32_t len, uint32_t end)
{
	uint32_t	entry = (uint32_t) type << JSONB_TYPE_SHIFT;

	return i % JSONB_STRIDE == 0 ? entry | JSONB_HAS_OFFSET | end :
		entry | len;
}

/*
 * The keys of an object, behind its entries; checks the paths of all tokens,
 * and skips them.
 */
static bool
put_keys(JsonRebuild *r, uint32_t n, bool object, uint32_t path,
		 uint8_t *entries)
{
	uint32_t	data = r->at;

	for (uint32_t i = 0; i < n; i++)
	{
		uint32_t	child = read_token(&r->shape) >> JSON_TYPE_BITS;
		const JsonPath *p;

		if (r->shape.failed || child >= r->npaths || child == 0)
			return false;
		p = &r->paths[child];
		if (p->parent != path || p->is_element == object)
			return false;
		if (!object)
			continue;
		if (p->key_len > r->room - r->at)
			return false;
		memcpy(r->doc + r->at, p->key, p->key_len);
		r->at += p->key_len;
		jsonb_store(entries + (size_t) i * 4,
					entry_of(i, JSONB_IS_STRING, p->key_len, r->at - data));
	}
	return true;
}

/*
 * The head of a container with n values, its entries, and its keys; where the
 * entries are, or NULL.  The shape is behind the container's tokens then.
 */
static uint8_t *
put_head(JsonRebuild *r, unsigned type, uint32_t n, uint32_t path)
{
	bool		object = type == JSON_OBJECT;
	uint32_t	nentries = object ? 2 * n : n;
	const uint8_t *contents = r->shape.next;
	JsonHead   *head;
	uint32_t	start;

	head = &r->heads[(uintptr_t) contents * UINT64_C(0x9e3779b97f4a7c15) >>
					 32 & (JSON_HEADS - 1)];
	if (!put_padding(r))
		return NULL;
	start = r->at;
	if (head->contents == contents)
	{
		if (head->nbytes > r->room - start)
			return NULL;
		memcpy(r->doc + start, head->bytes, head->nbytes);
		r->at += head->nbytes;
		r->shape.next = head->tokens_end;
		return r->doc + start + 4;
	}
	if (nentries > (r->room - start) / 4 || nentries * 4 + 4 > r->room - start)
		return NULL;
	jsonb_store(r->doc + start, n | (object ? JSONB_OBJECT : JSONB_ARRAY) |
				(type == JSON_SCALAR ? JSONB_SCALAR : 0));
	r->at += 4 + nentries * 4;
	if (!put_keys(r, n, object, path, r->doc + start + 4))
		return NULL;
	if (r->keeps_heads)
		*head = (JsonHead)
	{
		contents, r->shape.next, r->doc + start, r->at - start
	};
	return r->doc + start + 4;
}

/* The container of a type whose contents the shape continues with. */
static bool
put_container(JsonRebuild *r, unsigned type, uint32_t path, unsigned depth)
{
	bool		object = type == JSON_OBJECT;
	uint32_t	n = read_token(&r->shape);
	uint32_t	number = object ? n : 0;	/* of the entry */
	StrataReader tokens = r->shape;
	uint8_t    *entries;
	uint32_t	data;

	if (r->shape.failed || depth > JSON_DEPTH_MAX ||
		n > strata_reader_left(&tokens) || (type == JSON_SCALAR && n != 1))
		return false;
	entries = put_head(r, type, n, path);
	if (entries == NULL)
		return false;
	data = (uint32_t) (entries - r->doc) + (n + number) * 4;
	for (uint32_t i = 0; i < n; i++, number++)
	{
		uint32_t	token = read_token(&tokens);
		uint32_t	child = token >> JSON_TYPE_BITS;
		uint32_t	start = r->at;
		unsigned	kind;

		switch (token & ((1 << JSON_TYPE_BITS) - 1))
		{
			case JSON_STRING:
				kind = JSONB_IS_STRING;
				if (!put_leaf(r, JSON_COLUMN(child, JSON_STRING)))
					return false;
				break;
			case JSON_NUMBER:
				kind = JSONB_IS_NUMERIC;
				if (!put_number(r, JSON_COLUMN(child, JSON_NUMBER)))
					return false;
				break;
			case JSON_FALSE:
				kind = JSONB_IS_FALSE;
				break;
			case JSON_TRUE:
				kind = JSONB_IS_TRUE;
				break;
			case JSON_NULL:
				kind = JSONB_IS_NULL;
				break;
			case JSON_OBJECT:
			case JSON_ARRAY:
				kind = JSONB_IS_CONTAINER;
				if (!put_container(r, token & ((1 << JSON_TYPE_BITS) - 1),
								   child, depth + 1))
					return false;
				break;
			default:
				return false;
		}
		jsonb_store(entries + (size_t) number * 4,
					entry_of(number, kind, r->at - start, r->at - data));
	}
	return true;
}

/*
 * A document of a shape and the next leaves, at r->doc; false when the shape
 * is no shape or there is no room.
 */
bool
strata_jsonb_rebuild(JsonRebuild *r, const uint8_t *shape, uint32_t shape_len)
{
	unsigned	type;

	r->shape = strata_reader(shape, shape_len);
	r->at = 0;
	type = strata_read_u8(&r->shape);
	if (type != JSON_OBJECT && type != JSON_ARRAY && type != JSON_SCALAR)
		return false;
	return put_container(r, type, 0, 0) && strata_reader_left(&r->shape) == 0;
}
