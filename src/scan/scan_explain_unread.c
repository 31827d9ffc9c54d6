/*-------------------------------------------------------------------------
 *
 * scan_explain_unread.c
 *	  EXPLAIN ANALYZE: chunks that were not read are one line together.
 *
 * PostgreSQL has printed a node's name, and its Filter, by the time that a
 * custom scan is asked what it has to say.  So a scan that was not read takes
 * these lines out again, and those of the one before it, if that was not read
 * either:
 *
 *	  ->  Custom Scan (StrataScan) on m_20240101_chunk m_2 (never executed)
 *			Filter: (v > 1)
 *	  ->  Custom Scan (StrataScan) on m_20240102_chunk m_3 (never executed)
 *			Filter: (v > 1)
 *
 * become "Custom Scan (StrataScan) on 2 chunks (never executed)".  Only what
 * looks just like this is taken out.
 *
 * src/scan/scan_explain_unread.c
 *-------------------------------------------------------------------------
 */
#include "scan/scan_private.h"

#include "commands/explain.h"
#ifdef STRATA_EXPLAIN_IS_SPLIT
#include "commands/explain_format.h"
#include "commands/explain_state.h"
#endif

#define HEAD "->  Custom Scan (StrataScan) on "
#define TAIL "(never executed)\n"

/* Spaces that a line begins with. */
static int
indent_of(const char *line)
{
	return (int) strspn(line, " ");
}

/* Where the line before `at` begins, which begins a line itself; -1: none. */
static int
line_before(const StringInfo str, int at)
{
	if (at == 0)
		return -1;
	for (at--; at > 0 && str->data[at - 1] != '\n'; at--)
		;
	return at;
}

/* Is the line that of a scan of ours, `indent` deep, which was not read? */
static bool
is_unread_scan(const char *line, int indent)
{
	const char *end = strchr(line, '\n');
	int			length = end == NULL ? 0 : (int) (end + 1 - line);
	int			tail = (int) strlen(TAIL);

	return indent_of(line) == indent && length > indent + tail &&
		strncmp(line + indent, HEAD, strlen(HEAD)) == 0 &&
		strncmp(line + length - tail, TAIL, tail) == 0;
}

/*
 * The node whose lines end at `end`: where they begin; -1: it is no scan of
 * ours that was not read.  indent: of its first line; -1: as it comes.
 */
static int
unread_scan_ending(const StringInfo str, int end, int indent)
{
	int			at = end;

	while ((at = line_before(str, at)) >= 0)
	{
		const char *line = str->data + at;

		if (strncmp(line + indent_of(line), "->", 2) != 0)
		{
			/* what belongs to a node stands deeper than it */
			if (indent >= 0 && indent_of(line) <= indent)
				return -1;
			continue;
		}
		if (indent < 0)
			indent = indent_of(line);
		return is_unread_scan(line, indent) ? at : -1;
	}
	return -1;
}

/* See scan_private.h. */
void
strata_scan_explain_unread(StringInfo str)
{
	int			own = unread_scan_ending(str, str->len, -1);
	int			indent;
	int			before;
	int			chunks = 1;

	if (own < 0)
		return;
	indent = indent_of(str->data + own);
	before = unread_scan_ending(str, own, indent);
	if (before < 0)
		return;
	/* a table's name that is a number and " chunks" has quotes around it */
	(void) sscanf(str->data + before + indent, HEAD "%d chunks ", &chunks);
	str->len = before;
	str->data[before] = '\0';
	appendStringInfoSpaces(str, indent);
	appendStringInfo(str, HEAD "%d chunks " TAIL, chunks + 1);
}
