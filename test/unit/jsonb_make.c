/*-------------------------------------------------------------------------
 *
 * jsonb_make.c
 *	  JSON as text to PostgreSQL's jsonb, as jsonb_util.c would have written it.
 *
 * Knows the format by itself, not from src/codec, so that a mistake in one of the two
 * shows.
 *
 * test/unit/jsonb_make.c
 *-------------------------------------------------------------------------
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "jsonb_make.h"

#define DEPTH_MAX 64
#define DIGITS_MAX 64

typedef struct Maker
{
	const char *next;
	const char *end;
	uint8_t    *to;
	size_t		at;
	size_t		cap;
} Maker;

/* A member of an object, or an element: where its key and its value are in the text. */
typedef struct Member
{
	const char *key;
	size_t		key_len;
	const char *value;
} Member;

static bool make_value(Maker *m, uint32_t *entry, unsigned depth);

static void
skip_space(Maker *m)
{
	while (m->next < m->end && memchr(" \t\r\n", *m->next, 4))
		m->next++;
}

/* Skip a character if it is the next one. */
static bool
take(Maker *m, char c)
{
	skip_space(m);
	if (m->next >= m->end || *m->next != c)
		return false;
	m->next++;
	return true;
}

static bool
put(Maker *m, const void *data, size_t len)
{
	if (len > m->cap - m->at)
		return false;
	if (len > 0)
		memcpy(m->to + m->at, data, len);
	m->at += len;
	return true;
}

static bool
pad(Maker *m)
{
	while (m->at % 4 != 0)
		if (!put(m, "", 1))
			return false;
	return true;
}

/* Pass over a string, the quote before it taken; where it begins, and its length as it is written. */
static bool
skip_string(Maker *m, const char **text, size_t *len)
{
	*text = m->next;
	for (; m->next < m->end && *m->next != '"'; m->next++)
		if (*m->next == '\\' && ++m->next >= m->end)
			return false;
	if (m->next >= m->end)
		return false;
	*len = (size_t) (m->next++ - *text);
	return true;
}

/* Pass over any value: brackets are counted. */
static bool
skip_value(Maker *m)
{
	unsigned	depth = 0;
	const char *start;

	do
	{
		const char *text;
		size_t		len;

		skip_space(m);
		start = m->next;
		if (m->next >= m->end)
			return false;
		if (take(m, '"'))
		{
			if (!skip_string(m, &text, &len))
				return false;
		}
		else if (take(m, '{') || take(m, '['))
			depth++;
		else if (depth > 0 && (take(m, '}') || take(m, ']')))
			depth--;
		else if (depth > 0 && (take(m, ',') || take(m, ':')))
			continue;
		else
			while (m->next < m->end && !memchr(",]}:\"[{ \t\r\n", *m->next, 11))
				m->next++;
		if (m->next == start)
			return false;
	} while (depth > 0);
	return true;
}

/* Four hexadecimal digits, or -1. */
static int
read_hex(const char *s, const char *end)
{
	int			v = 0;

	if (end - s < 4)
		return -1;
	for (int i = 0; i < 4; i++)
	{
		const char *digits = "0123456789abcdef";
		const char *d = s[i] ? strchr(digits, s[i] | ((s[i] >= 'A' && s[i] <= 'F') ? 0x20 : 0)) : NULL;

		if (d == NULL)
			return -1;
		v = v * 16 + (int) (d - digits);
	}
	return v;
}

static bool
put_utf8(Maker *m, unsigned c)
{
	uint8_t		b[4];
	size_t		n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
	static const uint8_t lead[] = {0, 0, 0xc0, 0xe0, 0xf0};

	for (size_t i = n - 1; i > 0; i--, c >>= 6)
		b[i] = (uint8_t) (0x80 | (c & 0x3f));
	b[0] = (uint8_t) (lead[n] | c);
	return put(m, b, n);
}

/* A string without its escapes. */
static bool
put_string(Maker *m, const char *s, size_t len)
{
	static const char from[] = "bfnrt";
	static const char to[] = "\b\f\n\r\t";
	const char *end = s + len;

	while (s < end)
	{
		const char *known;
		int			code;

		if (*s != '\\')
		{
			if (!put(m, s++, 1))
				return false;
			continue;
		}
		if (*++s != 'u')
		{
			known = *s ? strchr(from, *s) : NULL;
			if (!put(m, known ? &to[known - from] : s, 1))
				return false;
			s++;
			continue;
		}
		code = read_hex(s + 1, end);
		s += 5;
		if (code >= 0xd800 && code < 0xdc00 && end - s >= 6 && s[0] == '\\' && s[1] == 'u')
		{
			code = 0x10000 + ((code & 0x3ff) << 10) + (read_hex(s + 2, end) & 0x3ff);
			s += 6;
		}
		if (code <= 0 || !put_utf8(m, (unsigned) code))
			return false;
	}
	return true;
}

/* A numeric with its varlena header. */
static bool
put_number(Maker *m)
{
	int16_t		digits[DIGITS_MAX] = {0};
	unsigned	n = 0;
	unsigned	first = 0;
	bool		negative = m->next < m->end && *m->next == '-';
	const char *whole = m->next += negative;
	size_t		before;
	size_t		after = 0;
	int			weight;
	uint32_t	len;
	uint16_t	head;

	while (m->next < m->end && *m->next >= '0' && *m->next <= '9')
		m->next++;
	before = (size_t) (m->next - whole);
	if (m->next < m->end && *m->next == '.')
		for (m->next++; m->next < m->end && *m->next >= '0' && *m->next <= '9'; m->next++)
			after++;
	if (before == 0 || before > 100 || after > 63 || (m->next < m->end && memchr("eE+-.", *m->next, 5)))
		return false;
	/* groups of four digits, the point between two of them */
	weight = (int) ((before + 3) / 4) - 1;
	for (size_t i = 0; i < before; i++)
	{
		unsigned	group = (unsigned) ((4 - before % 4) % 4 + i) / 4;

		digits[group] = (int16_t) (digits[group] * 10 + (whole[i] - '0'));
		n = group + 1;
	}
	for (size_t i = 0; i < (after + 3) / 4 * 4; i++)
	{
		unsigned	group = (unsigned) (weight + 1) + (unsigned) i / 4;

		digits[group] = (int16_t) (digits[group] * 10 + (i < after ? whole[before + 1 + i] - '0' : 0));
		n = group + 1;
	}
	while (n > 0 && digits[n - 1] == 0)
		n--;
	for (; first < n && digits[first] == 0; first++)
		weight--;
	if (first >= n)
		n = first = 0, weight = 0, negative = false;
	head = (uint16_t) (0x8000 | negative << 13 | (unsigned) after << 7 | ((unsigned) weight & 0x7f));
	len = (uint32_t) (4 + 2 + 2 * (n - first));
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	len <<= 2;
#endif
	return pad(m) && put(m, &len, 4) && put(m, &head, 2) && put(m, digits + first, 2 * (size_t) (n - first));
}

static int
compare_members(const void *pa, const void *pb)
{
	const Member *a = pa;
	const Member *b = pb;
	int			order;

	if (a->key_len != b->key_len)
		return a->key_len < b->key_len ? -1 : 1;
	order = memcmp(a->key, b->key, a->key_len);
	return order ? order : a->value < b->value ? -1 : 1;
}

/* The members or elements of what `open` began. */
static bool
find_members(Maker *m, bool object, Member **members, size_t *n)
{
	char		close = object ? '}' : ']';

	*n = 0;
	if (take(m, close))
		return true;
	do
	{
		Member		member = {NULL, 0, NULL};

		if (object && (!take(m, '"') || !skip_string(m, &member.key, &member.key_len) || !take(m, ':')))
			return false;
		skip_space(m);
		member.value = m->next;
		if (!skip_value(m))
			return false;
		if (*n % 64 == 0)
			*members = realloc(*members, (*n + 64) * sizeof(Member));
		(*members)[(*n)++] = member;
	} while (take(m, ','));
	return take(m, close);
}

static void
set_entry(Maker *m, size_t entries, size_t i, uint32_t entry, size_t data)
{
	if (i % 32 == 0)
		entry = (entry & 0x70000000) | 0x80000000 | (uint32_t) (m->at - data);
	memcpy(m->to + entries + i * 4, &entry, 4);
}

/* An object or array whose bracket was taken, or a scalar that is a document. */
static bool
put_container(Maker *m, bool object, Member *members, size_t n, uint32_t flags, unsigned depth)
{
	size_t		nentries = object ? 2 * n : n;
	size_t		entries;
	size_t		data;
	uint32_t	head = (uint32_t) n | flags;
	uint32_t	entry;
	const char *behind = m->next;

	if (!pad(m) || !put(m, &head, 4) || nentries * 4 > m->cap - m->at || depth > DEPTH_MAX)
		return false;
	entries = m->at;
	m->at += nentries * 4;
	data = m->at;
	for (size_t i = 0; object && i < n; i++)
	{
		size_t		start = m->at;

		if (!put_string(m, members[i].key, members[i].key_len))
			return false;
		set_entry(m, entries, i, (uint32_t) (m->at - start), data);
	}
	for (size_t i = 0; i < n; i++)
	{
		m->next = members[i].value;
		if (!make_value(m, &entry, depth + 1))
			return false;
		set_entry(m, entries, object ? n + i : i, entry, data);
	}
	m->next = behind;
	return true;
}

static bool
take_word(Maker *m, const char *word)
{
	size_t		len = strlen(word);

	if ((size_t) (m->end - m->next) < len || memcmp(m->next, word, len) != 0)
		return false;
	m->next += len;
	return true;
}

/* A value of any kind, and its entry. */
static bool
make_value(Maker *m, uint32_t *entry, unsigned depth)
{
	size_t		start = m->at;
	uint32_t	type = 0;
	const char *text;
	size_t		len;
	bool		object;

	skip_space(m);
	if (take(m, '"'))
	{
		if (!skip_string(m, &text, &len) || !put_string(m, text, len))
			return false;
	}
	else if ((object = take(m, '{')) || take(m, '['))
	{
		Member	   *members = NULL;
		bool		good = find_members(m, object, &members, &len);

		type = 5;
		if (good && object && len > 0)
			qsort(members, len, sizeof(Member), compare_members);
		good = good && put_container(m, object, members, len, object ? 0x20000000 : 0x40000000, depth);
		free(members);
		if (!good)
			return false;
	}
	else if (take_word(m, "false"))
		type = 2;
	else if (take_word(m, "true"))
		type = 3;
	else if (take_word(m, "null"))
		type = 4;
	else
	{
		type = 1;
		if (!put_number(m))
			return false;
	}
	*entry = type << 28 | (uint32_t) (m->at - start);
	return true;
}

size_t
jsonb_make(const char *text, size_t len, uint8_t *to, size_t cap)
{
	Maker		m = {text, text + len, to, 0, cap};
	uint32_t	entry;
	bool		good;

	skip_space(&m);
	if (m.next < m.end && *m.next != '{' && *m.next != '[')
	{
		Member		scalar = {NULL, 0, m.next};

		good = put_container(&m, false, &scalar, 1, 0x50000000, 0) && skip_value(&m);
	}
	else
		good = make_value(&m, &entry, 0);
	skip_space(&m);
	return good && m.next == m.end ? m.at : 0;
}
