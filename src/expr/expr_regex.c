/*-------------------------------------------------------------------------
 *
 * expr_regex.c
 *	  What a constant regular expression says of texts, as far as it can be
 *	  said without PostgreSQL's function.
 *
 * One that has nothing but characters, .* and ^ and $ at its ends is a pattern
 * of LIKE.  Of another, a text must have the longest run of characters that
 * stands in each match, and a table decides about those that have it.  What
 * neither can say is PostgreSQL's to say (expr_like.c).
 *
 * A few of them are kept by the process: an expression is looked at many times
 * while a query is planned.
 *
 * src/expr/expr_regex.c
 *-------------------------------------------------------------------------
 */
#include "expr/expr_regex_private.h"

#include "mb/pg_wchar.h"
#include "regex/regex.h"
#include "utils/memutils.h"

#define MAX_KEPT 16

/* A run of characters that follow each other in each match. */
typedef struct RegexRun
{
	int			len;
	bool		first;			/* nothing stands before it */
	char		bytes[REGEX_MAX_BYTES];
} RegexRun;

typedef struct RegexRuns
{
	const RegexRules *rules;
	RegexRun	now;
	RegexRun	best;
} RegexRuns;

typedef struct KeptRegex
{
	RegexRules	rules;
	int			len;			/* 0: nothing is kept here */
	char	   *pattern;
	StrataRegex *regex;			/* NULL: there is none */
} KeptRegex;

/*
 * Does an atom stand for one character, to be compared as bytes, of texts in
 * lower case if case does not matter?
 */
static bool
is_plain(const RegexNode *node, const RegexRules *rules)
{
	RegexSet	both = {{0}};
	char		c;

	if (node->kind != REGEX_ATOM || node->literal == NULL)
		return false;
	if (!rules->folds)
		return true;
	c = *node->literal;
	if (IS_HIGHBIT_SET(c))
		return false;
	regex_add(&both, c);
	regex_add(&both, pg_ascii_tolower((unsigned char) c));
	regex_add(&both, pg_ascii_toupper((unsigned char) c));
	return memcmp(&both, &node->set, sizeof(RegexSet)) == 0;
}

/* Write a plain atom's bytes; their number. */
static int
put_plain(const RegexNode *node, const RegexRules *rules, char *to)
{
	memcpy(to, node->literal, node->len);
	if (rules->folds)
		*to = (char) pg_ascii_tolower((unsigned char) *to);
	return node->len;
}

/*-------------------------------------------------------------------------
 * What each match has
 *-------------------------------------------------------------------------
 */

static void
finish_run(RegexRuns *runs)
{
	if (runs->now.len > runs->best.len)
		runs->best = runs->now;
	runs->now.len = 0;
	runs->now.first = false;
}

/* Go through a node's characters in their order. */
static void
collect_runs(const RegexNode *node, RegexRuns *runs)
{
	const RegexNode *below;
	ListCell   *lc;

	switch (node->kind)
	{
		case REGEX_ATOM:
			if (is_plain(node, runs->rules))
				runs->now.len += put_plain(node, runs->rules,
										   runs->now.bytes + runs->now.len);
			else
				finish_run(runs);
			break;
		case REGEX_BEGIN:
		case REGEX_END:
			break;
		case REGEX_SEQUENCE:
			foreach(lc, node->nodes)
				collect_runs(lfirst(lc), runs);
			break;
		case REGEX_REPEAT:
			below = linitial(node->nodes);
			if (node->least == 0 || below->kind != REGEX_ATOM)
				finish_run(runs);
			if (node->least > 0)
				collect_runs(below, runs);
			finish_run(runs);
			break;
		default:
			finish_run(runs);
			break;
	}
}

static bool
has_begin(const RegexNode *node)
{
	ListCell   *lc;

	foreach(lc, node->nodes)
	{
		if (has_begin(lfirst(lc)))
			return true;
	}
	return node->kind == REGEX_BEGIN;
}

/* Of one that is not a pattern of LIKE. */
static void
take_run(const RegexNode *tree, const RegexRules *rules, StrataRegex *result)
{
	RegexRuns  *runs = palloc0(sizeof(RegexRuns));

	runs->rules = rules;
	runs->now.first = true;
	collect_runs(tree, runs);
	finish_run(runs);
	result->pure = result->exact = false;
	result->nparts = 2;
	memset(result->lens, 0, sizeof(int) * 3);
	if (runs->best.len == 0)
		return;
	result->nparts = 3;
	result->lens[1] = runs->best.len;
	memcpy(result->bytes, runs->best.bytes, runs->best.len);
	result->leads = runs->best.first && !has_begin(tree);
}

/*-------------------------------------------------------------------------
 * Patterns of LIKE
 *-------------------------------------------------------------------------
 */

typedef struct PureWalk
{
	const RegexRules *rules;
	StrataRegex *result;
	int			nbytes;
	bool		begun;			/* something came already */
	bool		ended;			/* $ came */
} PureWalk;

static bool
is_anything(const RegexNode *node)
{
	return node->kind == REGEX_REPEAT && node->least == 0 &&
		node->most == REGEX_NO_LIMIT &&
		((const RegexNode *) linitial(node->nodes))->any;
}

static void
add_part(StrataRegex *result)
{
	result->lens[result->nparts++] = 0;
}

/* What is no sequence; false: it is in no such pattern. */
static bool
take_pure(const RegexNode *node, PureWalk *walk)
{
	StrataRegex *result = walk->result;
	bool		begun = walk->begun;
	int			n;

	walk->begun = true;
	if (walk->ended)
		return false;
	if (node->kind == REGEX_BEGIN)
		return !begun;
	if (!begun)
		add_part(result);
	if (node->kind == REGEX_END)
		walk->ended = true;
	else if (is_anything(node))
		add_part(result);
	else if (is_plain(node, walk->rules))
	{
		n = put_plain(node, walk->rules, result->bytes + walk->nbytes);
		walk->nbytes += n;
		result->lens[result->nparts - 1] += n;
	}
	else
		return false;
	return true;
}

/* False likewise. */
static bool
walk_pure(const RegexNode *node, PureWalk *walk)
{
	ListCell   *lc;

	if (node->kind != REGEX_SEQUENCE)
		return take_pure(node, walk);
	foreach(lc, node->nodes)
	{
		if (!walk_pure(lfirst(lc), walk))
			return false;
	}
	return true;
}

/* The parts, if it is a pattern of LIKE. */
static bool
take_pattern(const RegexNode *tree, const RegexRules *rules,
			 StrataRegex *result)
{
	PureWalk	walk = {.rules = rules,.result = result};

	add_part(result);
	if (!walk_pure(tree, &walk))
		return false;
	if (!walk.begun)
		add_part(result);
	if (!walk.ended)
		add_part(result);
	Assert(walk.nbytes <= REGEX_MAX_BYTES); /* expr:E10 */
	result->pure = true;
	result->exact = result->nparts == 1;
	return true;
}

/*-------------------------------------------------------------------------
 * All of it
 *-------------------------------------------------------------------------
 */

/* Would PostgreSQL's function take it? */
static bool
is_valid(const char *pattern, int len, const RegexRules *rules)
{
	pg_wchar   *wide = palloc(sizeof(pg_wchar) * (len + 1));
	regex_t		regex;
	int			n = pg_mb2wchar_with_len(pattern, wide, len);

	if (pg_regcomp(&regex, wide, n, REG_ADVANCED | REG_NOSUB |
				   (rules->folds ? REG_ICASE : 0), rules->collation) !=
		REG_OKAY)
		return false;
	pg_regfree(&regex);
	return true;
}

/* See expr_regex_private.h; of one that is not kept. */
static StrataRegex *
make_regex(const char *pattern, int len, const RegexRules *given)
{
	static const char folding[] = "(?i)";
	RegexRules	rules = *given;
	StrataRegex *result = palloc0(sizeof(StrataRegex));
	RegexStates *states = NULL;
	RegexNode  *tree;

	if (len > REGEX_MAX_BYTES || !is_valid(pattern, len, &rules))
		return NULL;
	if (len >= (int) strlen(folding) &&
		memcmp(pattern, folding, strlen(folding)) == 0)
	{
		pattern += strlen(folding);
		len -= (int) strlen(folding);
		rules.folds = true;
	}
	tree = strata_regex_parse(pattern, len, &rules);
	if (tree == NULL)
		return NULL;
	result->size = sizeof(StrataRegex);
	result->folds = rules.folds;
	if (take_pattern(tree, &rules, result))
		return result;
	take_run(tree, &rules, result);
	states = strata_regex_states(tree);
	if (states == NULL)
		return result->nparts == 2 || rules.folds ? NULL : result;
	result->states_at = MAXALIGN(result->size);
	result->size = result->states_at + strata_regex_states_size(states);
	result = repalloc(result, result->size);
	memcpy((char *) result + result->states_at, states,
		   strata_regex_states_size(states));
	return result;
}

/* See expr_regex_private.h. */
StrataRegex *
strata_regex_compile(const char *pattern, int len, const RegexRules *rules)
{
	static KeptRegex kept[MAX_KEPT];
	static int	turn = 0;
	KeptRegex  *entry;
	StrataRegex *result;

	for (int i = 0; i < MAX_KEPT; i++)
	{
		entry = &kept[i];
		if (entry->len == len && len > 0 &&
			entry->rules.collation == rules->collation &&
			entry->rules.folds == rules->folds &&
			memcmp(entry->pattern, pattern, len) == 0)
		{
			if (entry->regex == NULL)
				return NULL;
			return memcpy(palloc(entry->regex->size), entry->regex,
						  entry->regex->size);
		}
	}
	result = make_regex(pattern, len, rules);
	if (len == 0 || len > REGEX_MAX_BYTES)
		return result;
	entry = &kept[turn++ % MAX_KEPT];
	entry->len = 0;
	if (entry->pattern != NULL)
		pfree(entry->pattern);
	entry->pattern = NULL;
	if (entry->regex != NULL)
		pfree(entry->regex);
	entry->regex = NULL;
	entry->pattern = MemoryContextAlloc(TopMemoryContext, len);
	memcpy(entry->pattern, pattern, len);
	if (result != NULL)
		entry->regex = memcpy(MemoryContextAlloc(TopMemoryContext,
												 result->size),
							  result, result->size);
	entry->rules = *rules;
	entry->len = len;
	return result;
}
