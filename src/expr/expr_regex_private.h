/*-------------------------------------------------------------------------
 *
 * expr_regex_private.h
 *	  A regular expression as a tree, and as a table of states.
 *
 * src/expr/expr_regex_private.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_EXPR_REGEX_PRIVATE_H
#define STRATA_EXPR_REGEX_PRIVATE_H

#include "postgres.h"

#include "nodes/pg_list.h"

/* Longer ones are PostgreSQL's. */
#define REGEX_MAX_BYTES 512
/* {m,} has no end. */
#define REGEX_NO_LIMIT (-1)

typedef enum RegexKind
{
	REGEX_ATOM,					/* one character of a set */
	REGEX_BEGIN,				/* ^ */
	REGEX_END,					/* $ */
	REGEX_UNKNOWN,				/* a condition about what stands around */
	REGEX_SEQUENCE,
	REGEX_EITHER,
	REGEX_REPEAT
} RegexKind;

/* Which characters of ASCII. */
typedef struct RegexSet
{
	uint64		bits[2];
} RegexSet;

typedef struct RegexNode
{
	RegexKind	kind;
	RegexSet	set;			/* ATOM */
	bool		any;			/* ATOM: . */
	const char *literal;		/* ATOM: a character that stands for itself,
								 * or NULL; */
	int			len;			/* ... its bytes */
	List	   *nodes;			/* SEQUENCE, EITHER, REPEAT: of which */
	int			least;			/* REPEAT: so often, */
	int			most;			/* ... up to; or REGEX_NO_LIMIT */
} RegexNode;

static inline bool
regex_has(const RegexSet *set, int c)
{
	return (set->bits[c / 64] >> (c % 64) & 1) != 0;
}

static inline void
regex_add(RegexSet *set, int c)
{
	set->bits[c / 64] |= UINT64CONST(1) << (c % 64);
}

/* How a regular expression is read. */
typedef struct RegexRules
{
	Oid			collation;
	bool		folds;			/* case does not matter */
} RegexRules;

/*
 * expr_regex_parse.c: the tree of a valid one; NULL: it has something that is
 * not understood.  Nodes refer to its bytes.
 */
extern RegexNode *strata_regex_parse(const char *pattern, int len,
									 const RegexRules *rules);

/*
 * expr_regex_states.c: a table that decides about texts of ASCII, in one
 * chunk of memory; NULL: it would be too large, or there is a node that is
 * not known.
 */
typedef struct RegexStates RegexStates;

extern RegexStates *strata_regex_states(RegexNode *tree);
extern Size strata_regex_states_size(const RegexStates *states);

typedef enum RegexAnswer
{
	REGEX_NO,
	REGEX_YES,
	REGEX_NOT_ASCII				/* not decided */
} RegexAnswer;

extern RegexAnswer strata_regex_run(const RegexStates *states, const char *p,
									Size len);

/*
 * expr_regex.c: what a regular expression says, as LIKE would: parts, of which
 * the first stands at the text's begin and the last at its end, and those
 * between anywhere, in their order.  exact: there is but one, the whole text.
 */
typedef struct StrataRegex
{
	Size		size;			/* of all of it, a chunk of memory */
	bool		folds;			/* parts are in lower case, as texts have to
								 * be */
	bool		pure;			/* that is all it says */
	bool		exact;
	bool		leads;			/* not pure: what matches begins with the part
								 * between, and it may stand anywhere */
	int			nparts;			/* not pure: 2 or 3, the ends empty */
	int			lens[REGEX_MAX_BYTES + 2];
	char		bytes[REGEX_MAX_BYTES];
	Size		states_at;		/* from the chunk's begin on; 0: none */
} StrataRegex;

static inline const RegexStates *
regex_states(const StrataRegex *regex)
{
	return regex->states_at == 0 ? NULL :
		(const RegexStates *) ((const char *) regex + regex->states_at);
}

/* NULL: it is not understood, or not valid.  Memory: the current context. */
extern StrataRegex *strata_regex_compile(const char *pattern, int len,
										 const RegexRules *rules);

#endif							/* STRATA_EXPR_REGEX_PRIVATE_H */
