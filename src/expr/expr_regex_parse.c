/*-------------------------------------------------------------------------
 *
 * expr_regex_parse.c
 *	  A regular expression of PostgreSQL's (ARE) as a tree.
 *
 * Whether it is valid is asked of PostgreSQL's compiler (expr_regex.c), so
 * what is wrong need not be found here.  What single characters stand for, as
 * in [[:alpha:]] and \d, is asked of it, too: the text of such an atom is a
 * regular expression by itself, and each character of ASCII is tried.  So the
 * rules of collations are known to PostgreSQL alone.
 *
 * src/expr/expr_regex_parse.c
 *-------------------------------------------------------------------------
 */
#include "expr/expr_regex_private.h"

#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "regex/regex.h"

/* Parentheses may be so deep. */
#define MAX_DEPTH 32

typedef struct RegexInput
{
	const char *p;
	const char *end;
	const RegexRules *rules;
	int			depth;
} RegexInput;

static RegexNode *parse_either(RegexInput *in);

static RegexNode *
new_node(RegexKind kind)
{
	RegexNode  *node = palloc0(sizeof(RegexNode));

	node->kind = kind;
	return node;
}

/* Has it both cases of each letter it has? */
static bool
has_both_cases(const RegexSet *set)
{
	for (int c = 'a'; c <= 'z'; c++)
		if (regex_has(set, c) != regex_has(set, c - 'a' + 'A'))
			return false;
	return true;
}

/*
 * What an atom stands for, of ASCII: each is tried.  False: it is no regular
 * expression by itself, or texts in lower case would not do as well.
 */
static bool
ask_set(const char *atom, int len, const RegexRules *rules, RegexSet *set)
{
	pg_wchar	wide[REGEX_MAX_BYTES + 1];
	regex_t		regex;
	int			n = pg_mb2wchar_with_len(atom, wide, len);
	int			rc = REG_NOMATCH;

	if (pg_regcomp(&regex, wide, n, REG_ADVANCED | REG_NOSUB |
				   (rules->folds ? REG_ICASE : 0), rules->collation) !=
		REG_OKAY)
		return false;
	memset(set, 0, sizeof(RegexSet));
	for (pg_wchar c = 1; c < 128 && (rc == REG_OKAY || rc == REG_NOMATCH);
		 c++)
	{
		rc = pg_regexec(&regex, &c, 1, 0, NULL, 0, NULL, 0);
		if (rc == REG_OKAY)
			regex_add(set, (int) c);
	}
	pg_regfree(&regex);
	return (rc == REG_OKAY || rc == REG_NOMATCH) &&
		(!rules->folds || has_both_cases(set));
}

/*
 * The set of a letter without regard to case, which is asked for once in a
 * collation.
 */
static bool
ask_letter(char c, const RegexRules *rules, RegexSet *set)
{
	static Oid	collation = InvalidOid;
	static RegexSet sets[128];

	if (collation != rules->collation)
	{
		memset(sets, 0, sizeof(sets));
		collation = rules->collation;
	}
	*set = sets[(int) c];
	if ((set->bits[0] | set->bits[1]) == 0)
	{
		if (!ask_set(&c, 1, rules, set))
			return false;
		sets[(int) c] = *set;
	}
	return true;
}

/* A character that stands for itself, behind a backslash maybe. */
static RegexNode *
literal_atom(const char *p, int len, const RegexRules *rules)
{
	RegexNode  *node = new_node(REGEX_ATOM);
	bool		letter = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z');

	node->literal = p;
	node->len = len;
	if (!rules->folds || (!IS_HIGHBIT_SET(*p) && !letter))
	{
		if (!IS_HIGHBIT_SET(*p))
			regex_add(&node->set, *p);
		return node;
	}
	if (!(letter ? ask_letter(*p, rules, &node->set) :
		  ask_set(p, len, rules, &node->set)))
		return NULL;
	return node;
}

/* An atom whose set PostgreSQL knows. */
static RegexNode *
asked_atom(const char *atom, const char *end, const RegexRules *rules)
{
	RegexNode  *node = new_node(REGEX_ATOM);

	return ask_set(atom, (int) (end - atom), rules, &node->set) ? node : NULL;
}

/* Behind [: the end of the brackets; NULL: there is none, or no set. */
static const char *
end_of_brackets(const char *p, const char *end)
{
	if (p < end && *p == '^')
		p++;
	if (p < end && *p == ']')
		p++;
	while (p < end && *p != ']')
	{
		if (*p == '\\')
			p += 2;
		else if (*p == '[' && p + 1 < end &&
				 (p[1] == ':' || p[1] == '.' || p[1] == '='))
		{
			char		kind = p[1];

			p += 2;
			/* [[:<:]] is a condition */
			if (p < end && (*p == '<' || *p == '>'))
				return NULL;
			while (p + 1 < end && !(p[0] == kind && p[1] == ']'))
				p++;
			if (p + 1 >= end)
				return NULL;
			p += 2;
		}
		else
			p++;
	}
	return p < end ? p + 1 : NULL;
}

/* Behind a backslash. */
static RegexNode *
parse_escape(RegexInput *in)
{
	const char *p = in->p;

	if (p >= in->end || IS_HIGHBIT_SET(*p))
		return NULL;
	in->p++;
	if ((*p < '0' || *p > '9') && (*p < 'a' || *p > 'z') &&
		(*p < 'A' || *p > 'Z'))
		return literal_atom(p, 1, in->rules);
	switch (*p)
	{
		case 'd':
		case 's':
		case 'w':
		case 'D':
		case 'S':
		case 'W':
		case 't':
		case 'n':
		case 'r':
		case 'f':
		case 'v':
		case 'e':
			return asked_atom(p - 1, in->p, in->rules);
		case 'A':
			return new_node(REGEX_BEGIN);
		case 'Z':
			return new_node(REGEX_END);
		case 'm':
		case 'M':
		case 'y':
		case 'Y':
			return new_node(REGEX_UNKNOWN);
		default:
			/* among them back references and codes of characters */
			return NULL;
	}
}

/* Behind (. */
static RegexNode *
parse_group(RegexInput *in)
{
	bool		condition = false;
	RegexNode  *node;

	if (in->p < in->end && *in->p == '?')
	{
		if (++in->p >= in->end)
			return NULL;
		if (*in->p == '<')
			in->p++;
		condition = in->p < in->end && (*in->p == '=' || *in->p == '!');
		if (!condition && (in->p >= in->end || in->p[0] != ':' ||
						   in->p[-1] != '?'))
			return NULL;
		in->p++;
	}
	node = parse_either(in);
	if (node == NULL || in->p >= in->end || *in->p != ')')
		return NULL;
	in->p++;
	return condition ? new_node(REGEX_UNKNOWN) : node;
}

/* What a quantifier may stand behind; not at the end. */
static RegexNode *
parse_atom(RegexInput *in)
{
	const char *p = in->p;
	RegexNode  *node;
	int			len;

	switch (*p)
	{
		case '(':
			in->p++;
			return parse_group(in);
		case '[':
			in->p = end_of_brackets(p + 1, in->end);
			return in->p == NULL ? NULL : asked_atom(p, in->p, in->rules);
		case '.':
			in->p++;
			node = asked_atom(p, in->p, in->rules);
			if (node != NULL)
				node->any = true;
			return node;
		case '^':
			in->p++;
			return new_node(REGEX_BEGIN);
		case '$':
			in->p++;
			return new_node(REGEX_END);
		case '\\':
			in->p++;
			return parse_escape(in);
		case '*':
		case '+':
		case '?':
			return NULL;
		case '{':
			if (p + 1 < in->end && p[1] >= '0' && p[1] <= '9')
				return NULL;
			break;
		default:
			break;
	}
	len = pg_mblen(p);
	if (len > in->end - p)
		return NULL;
	in->p += len;
	return literal_atom(p, len, in->rules);
}

/* Digits; false: there are none, or too many. */
static bool
parse_number(RegexInput *in, int *n)
{
	const char *begin = in->p;

	*n = 0;
	while (in->p < in->end && *in->p >= '0' && *in->p <= '9')
	{
		*n = *n * 10 + (*in->p++ - '0');
		if (*n > 255)
			return false;
	}
	return in->p > begin;
}

/* Behind { and before a digit. */
static bool
parse_bounds(RegexInput *in, RegexNode *repeat)
{
	if (!parse_number(in, &repeat->least))
		return false;
	repeat->most = repeat->least;
	if (in->p < in->end && *in->p == ',')
	{
		in->p++;
		repeat->most = REGEX_NO_LIMIT;
		if (in->p < in->end && *in->p != '}' &&
			!parse_number(in, &repeat->most))
			return false;
	}
	if (in->p >= in->end || *in->p != '}')
		return false;
	in->p++;
	return true;
}

/* An atom and how often it is wanted; greedy or not matches the same texts. */
static RegexNode *
parse_quantified(RegexInput *in)
{
	RegexNode  *node = parse_atom(in);
	RegexNode  *repeat;

	if (node == NULL || in->p >= in->end)
		return node;
	repeat = new_node(REGEX_REPEAT);
	repeat->nodes = list_make1(node);
	repeat->most = REGEX_NO_LIMIT;
	switch (*in->p)
	{
		case '*':
			in->p++;
			break;
		case '+':
			in->p++;
			repeat->least = 1;
			break;
		case '?':
			in->p++;
			repeat->most = 1;
			break;
		case '{':
			if (in->p + 1 >= in->end || in->p[1] < '0' || in->p[1] > '9')
				return node;
			in->p++;
			if (!parse_bounds(in, repeat))
				return NULL;
			break;
		default:
			return node;
	}
	if (in->p < in->end && *in->p == '?')
		in->p++;
	return repeat;
}

static RegexNode *
parse_sequence(RegexInput *in)
{
	RegexNode  *result = new_node(REGEX_SEQUENCE);

	while (in->p < in->end && *in->p != '|' && *in->p != ')')
	{
		RegexNode  *node = parse_quantified(in);

		if (node == NULL)
			return NULL;
		result->nodes = lappend(result->nodes, node);
	}
	return result;
}

/* Alternatives, up to a closing parenthesis or the end. */
static RegexNode *
parse_either(RegexInput *in)
{
	RegexNode  *result = new_node(REGEX_EITHER);

	if (in->depth++ >= MAX_DEPTH)
		return NULL;
	for (;;)
	{
		RegexNode  *node = parse_sequence(in);

		if (node == NULL)
			return NULL;
		result->nodes = lappend(result->nodes, node);
		if (in->p >= in->end || *in->p != '|')
			break;
		in->p++;
	}
	in->depth--;
	return list_length(result->nodes) == 1 ? linitial(result->nodes) : result;
}

/* See expr_regex_private.h. */
RegexNode *
strata_regex_parse(const char *pattern, int len, const RegexRules *rules)
{
	RegexInput	in = {pattern, pattern + len, rules, 0};
	RegexNode  *node = parse_either(&in);

	/* what begins with *** or with options was not understood, or is left */
	return in.p == in.end ? node : NULL;
}
