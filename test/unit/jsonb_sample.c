/*-------------------------------------------------------------------------
 *
 * jsonb_sample.c
 *	  Documents to test codec JSONB with.
 *
 * test/unit/jsonb_sample.c
 *-------------------------------------------------------------------------
 */
#include <stdarg.h>
#include <stdio.h>

#include "jsonb_make.h"
#include "unit.h"

static char text[16384];
static size_t used;

static void
__attribute__((format(printf, 1, 2)))
add(const char *format,...)
{
	va_list		args;

	va_start(args, format);
	used += (size_t) vsnprintf(text + used, sizeof(text) - used, format, args);
	va_end(args);
}

static const char *
word(void)
{
	static const char *const words[] = {"", "a", "fox", "quick \\\"brown\\\"", "\\u00e9t\\u00e9", "jumps over", "the lazy dog", "\\ud83d\\ude00"};

	return words[unit_below(8)];
}

/* An event: the same keys in all, some of them null or of several types. */
static void
add_event(uint32_t i)
{
	/*
	 * compilers evaluate arguments in an order of their own: one that draws
	 * in each call
	 */
	uint32_t	bytes = unit_below(100000);
	const char *level = unit_below(9) ? "info" : "error";
	const char *code;
	const char *ok;
	const char *words[3];
	uint32_t	cents;
	uint32_t	whole;

	add("{\"time\": \"2026-01-01T00:%02u:%02u.%03uZ\", \"level\": \"%s\", \"bytes\": %u, ", i / 60 % 60, i % 60,
		unit_below(1000), level, bytes);
	code = unit_below(4) ? "null" : "404";
	ok = unit_below(3) ? "true" : "false";
	add("\"user\": \"user_%u\", \"ok\": %s, \"code\": %s, ", unit_below(400), ok, code);
	for (int k = 2; k >= 0; k--)
		words[k] = word();
	cents = unit_below(100);
	whole = unit_below(300);
	add("\"price\": %s%u.%02u, \"message\": \"%s %s %s\"}", unit_below(2) ? "-" : "", whole, cents, words[0], words[1], words[2]);
}

/* Objects in objects, arrays of several lengths (also above 32, where entries have offsets). */
static void
add_nested(uint32_t i)
{
	uint32_t	n = unit_below(20) ? unit_below(6) : 30 + unit_below(10);
	const char *admin = unit_below(2) ? "true" : "false";

	add("{\"id\": %u, \"actor\": {\"login\": \"%s\", \"site\": {\"admin\": %s, \"url\": \"https://example.org/%u\"}}, \"tags\": [", i, word(), admin, i);
	for (uint32_t k = 0; k < n; k++)
		add("%s\"%s\"", k ? "," : "", word());
	add("], \"commits\": [");
	for (uint32_t k = unit_below(4); k > 0; k--)
	{
		uint32_t	file = unit_below(50);

		add("{\"sha\": \"%08x\", \"n\": %u, \"files\": [%u, [], {}]}%s", (unsigned) unit_random() & 0xffffff, k, file, k > 1 ? "," : "");
	}
	add("]}");
}

/* Any value; of not more paths than are shredded. */
static void
add_ragged(unsigned depth)
{
	uint32_t	n = unit_below(depth == 0 ? 40 : 5);
	uint32_t	thousandths;
	const char *end;

	switch (unit_below(depth > 2 ? 6 : 8))
	{
		case 0:
			add("null");
			break;
		case 1:
			add("%s", unit_below(2) ? "true" : "false");
			break;
		case 2:
			end = unit_below(2) ? "" : ".500";
			add("%u%s", unit_below(1000), end);
			break;
		case 3:
			thousandths = unit_below(1000);
			add("-%u%u.%u", (unsigned) unit_random() >> 1, 123456789, thousandths);
			break;
		case 4:
		case 5:
			add("\"%s\"", word());
			break;
		case 6:
			add("[");
			for (uint32_t k = 0; k < n; k++)
			{
				add("%s", k ? ", " : "");
				add_ragged(depth + 1);
			}
			add("]");
			break;
		default:
			add("{");
			for (uint32_t k = 0; k < n; k++)
			{
				add("%s\"%s%u\": ", k ? ", " : "", k % 7 ? "k" : "key_number_", k);
				add_ragged(depth + 1);
			}
			add("}");
	}
}

size_t
jsonb_sample(const char *pattern, uint32_t i, uint8_t *to, size_t cap)
{
	used = 0;
	if (pattern[5] == '\0')
		add_event(i);
	else if (pattern[6] == 'n')
		add_nested(i);
	else
		add_ragged(0);
	return jsonb_make(text, used, to, cap);
}
