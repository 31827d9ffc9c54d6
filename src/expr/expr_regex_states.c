/*-------------------------------------------------------------------------
 *
 * expr_regex_states.c
 *	  Whether a text of ASCII matches a regular expression, by a table.
 *
 * The tree becomes points, which are left by a character, or for other points
 * at once; and sets of points that a text may be at become states.  A match
 * may begin anywhere, so the first point is in each of them.  A text that has
 * other characters than those of ASCII is not decided: what they belong to is
 * a matter of the collation.
 *
 * src/expr/expr_regex_states.c
 *-------------------------------------------------------------------------
 */
#include "expr/expr_regex_private.h"

#define MAX_POINTS 512
#define MAX_STATES 200
#define POINT_WORDS (MAX_POINTS / 64)

/* States that are not left any more; others come behind. */
#define STATE_NO 0
#define STATE_YES 1
#define STATE_NOT_ASCII 2
#define FIRST_STATE 3

typedef enum PointKind
{
	POINT_MATCH,
	POINT_SET,					/* left by a character of a set */
	POINT_FORK,
	POINT_BEGIN,
	POINT_END
} PointKind;

typedef struct RegexPoint
{
	PointKind	kind;
	RegexSet	set;
	int			next;
	int			other;			/* FORK */
} RegexPoint;

typedef struct PointSet
{
	uint64		words[POINT_WORDS];
} PointSet;

typedef struct RegexBuild
{
	RegexPoint	points[MAX_POINTS];
	int			npoints;
	bool		failed;			/* too many, or a node that is not known */
	int			first;			/* a point */
	PointSet	again;			/* what a match that begins later is at */
	PointSet	sets[MAX_STATES];
	int			nstates;		/* with those that are not left */
} RegexBuild;

struct RegexStates
{
	int			nclasses;
	int			nstates;
	uint8		class[256];
	bool		yes_at_end[MAX_STATES];
	uint16		next[FLEXIBLE_ARRAY_MEMBER];	/* of a state and a class: the
												 * place of a state's row, or
												 * one without a row */
};

/*-------------------------------------------------------------------------
 * Points
 *-------------------------------------------------------------------------
 */

static int
add_point(RegexBuild *b, PointKind kind, int next, int other)
{
	if (b->npoints >= MAX_POINTS)
	{
		b->failed = true;
		return 0;
	}
	b->points[b->npoints].kind = kind;
	b->points[b->npoints].next = next;
	b->points[b->npoints].other = other;
	return b->npoints++;
}

static int	add_node(RegexBuild *b, const RegexNode *node, int next);

/* node{least,most}, before next. */
static int
add_repeat(RegexBuild *b, const RegexNode *repeat, int next)
{
	const RegexNode *node = linitial(repeat->nodes);
	int			end = next;

	if (repeat->most == REGEX_NO_LIMIT)
	{
		int			fork = add_point(b, POINT_FORK, 0, next);
		int			entry = add_node(b, node, fork);

		b->points[fork].next = entry;
		next = fork;
	}
	else
		for (int i = repeat->least; i < repeat->most && !b->failed; i++)
			next = add_point(b, POINT_FORK, add_node(b, node, next), end);
	for (int i = 0; i < repeat->least && !b->failed; i++)
	{
		int			npoints = b->npoints;

		next = add_node(b, node, next);
		/* nothing, so often */
		if (b->npoints == npoints)
			break;
	}
	return next;
}

/* The point where a node begins, behind which stands next. */
static int
add_node(RegexBuild *b, const RegexNode *node, int next)
{
	int			point;

	if (b->failed)
		return 0;
	switch (node->kind)
	{
		case REGEX_ATOM:
			point = add_point(b, POINT_SET, next, 0);
			b->points[point].set = node->set;
			return point;
		case REGEX_BEGIN:
			return add_point(b, POINT_BEGIN, next, 0);
		case REGEX_END:
			return add_point(b, POINT_END, next, 0);
		case REGEX_SEQUENCE:
			for (int i = list_length(node->nodes) - 1; i >= 0; i--)
				next = add_node(b, list_nth(node->nodes, i), next);
			return next;
		case REGEX_EITHER:
			point = add_node(b, llast(node->nodes), next);
			for (int i = list_length(node->nodes) - 2; i >= 0; i--)
				point = add_point(b, POINT_FORK,
								  add_node(b, list_nth(node->nodes, i), next),
								  point);
			return point;
		case REGEX_REPEAT:
			return add_repeat(b, node, next);
		default:
			b->failed = true;
			return 0;
	}
}

/*-------------------------------------------------------------------------
 * Sets of points
 *-------------------------------------------------------------------------
 */

static inline bool
has_point(const PointSet *set, int point)
{
	return (set->words[point / 64] >> (point % 64) & 1) != 0;
}

/*
 * Add a point and where it leads to without a character, at the text's begin
 * or end, or elsewhere.
 */
static void
reach(const RegexBuild *b, int point, bool begin, bool end, PointSet *set)
{
	int			todo[MAX_POINTS * 2 + 1];
	int			n = 0;

	todo[n++] = point;
	while (n > 0)
	{
		const RegexPoint *p;
		int			at = todo[--n];

		if (has_point(set, at))
			continue;
		set->words[at / 64] |= UINT64CONST(1) << (at % 64);
		p = &b->points[at];
		if (p->kind == POINT_FORK || (p->kind == POINT_BEGIN && begin) ||
			(p->kind == POINT_END && end))
			todo[n++] = p->next;
		if (p->kind == POINT_FORK)
			todo[n++] = p->other;
	}
}

/* Does a text that ends at one of these points match? */
static bool
matches_at_end(const RegexBuild *b, const PointSet *set, bool begin)
{
	PointSet	reached = {0};

	for (int i = 0; i < b->npoints; i++)
		if (has_point(set, i))
			reach(b, i, begin, true, &reached);
	return has_point(&reached, 0);
}

/*
 * The state of a set of points, maybe a new one; -1: there are too many.  The
 * first has no other like it: it alone is at the text's begin.
 */
static int
state_of(RegexBuild *b, const PointSet *set)
{
	static const PointSet nowhere = {0};

	if (has_point(set, 0))
		return STATE_YES;
	if (memcmp(set, &nowhere, sizeof(PointSet)) == 0)
		return STATE_NO;
	for (int i = FIRST_STATE + 1; i < b->nstates; i++)
		if (memcmp(set, &b->sets[i], sizeof(PointSet)) == 0)
			return i;
	if (b->nstates >= MAX_STATES)
		return -1;
	b->sets[b->nstates] = *set;
	return b->nstates++;
}

/* Where a character leads to. */
static void
follow_char(const RegexBuild *b, const PointSet *from, int c, PointSet *to)
{
	*to = b->again;
	for (int i = 0; i < b->npoints; i++)
		if (has_point(from, i) && b->points[i].kind == POINT_SET &&
			regex_has(&b->points[i].set, c))
			reach(b, b->points[i].next, false, false, to);
}

/*-------------------------------------------------------------------------
 * The table
 *-------------------------------------------------------------------------
 */

/* Do no points tell the characters from each other? */
static bool
is_same_class(const RegexBuild *b, int c, int d)
{
	for (int i = 0; i < b->npoints; i++)
		if (b->points[i].kind == POINT_SET &&
			regex_has(&b->points[i].set, c) !=
			regex_has(&b->points[i].set, d))
			return false;
	return true;
}

/* Classes of characters; one of each; class 0: not of ASCII. */
static int
make_classes(const RegexBuild *b, uint8 *class, int *members)
{
	int			n = 1;

	memset(class, 0, 256);
	for (int c = 1; c < 128; c++)
	{
		int			k = 1;

		while (k < n && !is_same_class(b, c, members[k]))
			k++;
		if (k == n)
			members[n++] = c;
		class[c] = (uint8) k;
	}
	return n;
}

/* Fill the row of a state; false: there are too many states. */
static bool
fill_state(RegexBuild *b, RegexStates *result, int state, const int *members)
{
	uint16	   *next = &result->next[state * result->nclasses];
	PointSet	from = b->sets[state];

	result->yes_at_end[state] =
		matches_at_end(b, &from, state == FIRST_STATE);
	next[0] = STATE_NOT_ASCII;
	for (int k = 1; k < result->nclasses; k++)
	{
		PointSet	to;
		int			found;

		follow_char(b, &from, members[k], &to);
		found = state_of(b, &to);
		Assert(found != FIRST_STATE);	/* expr:E10 */
		if (found < 0)
			return false;
		next[k] = (uint16) (found < FIRST_STATE ? found :
							found * result->nclasses);
	}
	return true;
}

/* All states that can be reached; NULL: there are too many. */
static RegexStates *
fill_table(RegexBuild *b)
{
	RegexStates *result = palloc0(offsetof(RegexStates, next) +
								  sizeof(uint16) * MAX_STATES * 128);
	int			members[129];
	PointSet	start = {0};

	result->nclasses = make_classes(b, result->class, members);
	Assert(result->nclasses <= 128);	/* expr:E10 */
	reach(b, b->first, false, false, &b->again);
	reach(b, b->first, true, false, &start);
	b->nstates = FIRST_STATE + 1;
	b->sets[FIRST_STATE] = start;
	for (int i = FIRST_STATE; i < b->nstates; i++)
		if (!fill_state(b, result, i, members))
			return NULL;
	/* what matches nothing matches at the begin of each text */
	if (has_point(&start, 0))
		for (int k = 0; k < result->nclasses; k++)
			result->next[FIRST_STATE * result->nclasses + k] = STATE_YES;
	result->nstates = b->nstates;
	return result;
}

/* See expr_regex_private.h. */
RegexStates *
strata_regex_states(RegexNode *tree)
{
	RegexBuild *b = palloc0(sizeof(RegexBuild));

	(void) add_point(b, POINT_MATCH, 0, 0);
	b->first = add_node(b, tree, 0);
	return b->failed ? NULL : fill_table(b);
}

/* See expr_regex_private.h. */
Size
strata_regex_states_size(const RegexStates *states)
{
	return offsetof(RegexStates, next) +
		sizeof(uint16) * states->nstates * states->nclasses;
}

/* See expr_regex_private.h. */
RegexAnswer
strata_regex_run(const RegexStates *states, const char *p, Size len)
{
	const unsigned char *at = (const unsigned char *) p;
	const unsigned char *end = at + len;
	unsigned	row = FIRST_STATE * (unsigned) states->nclasses;

	Assert(states->nstates > FIRST_STATE);	/* expr:E10 */

	for (; at < end; at++)
	{
		row = states->next[row + states->class[*at]];
		if (row < FIRST_STATE)
			return row == STATE_YES ? REGEX_YES :
				row == STATE_NO ? REGEX_NO : REGEX_NOT_ASCII;
	}
	return states->yes_at_end[row / (unsigned) states->nclasses] ?
		REGEX_YES : REGEX_NO;
}
