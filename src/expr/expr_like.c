/*-------------------------------------------------------------------------
 *
 * expr_like.c
 *	  LIKE, ILIKE and regular expressions with a constant pattern, without
 *	  PostgreSQL's function.
 *
 * A pattern is cut at its %: literal parts, of which the first may stand at
 * the text's begin only and the last at its end only.  Those between are
 * searched for from left to right, each behind the one before; leftmost is as
 * good as any.  Bytes may be compared with bytes in UTF-8, where no character
 * begins within another, and in encodings of one byte.  A pattern of LIKE with
 * _ is given to PostgreSQL's function, directly; one of ILIKE is not ours.
 *
 * ILIKE compares lower(text) with lower(pattern).  Texts of ASCII alone are
 * folded here, where lower() does to them what it does in the C locale (not in
 * Turkish); others are given to PostgreSQL's function.
 *
 * A regular expression that says more than LIKE could (expr_regex.c) is looked
 * at for texts only that have a part which each match has; by a table, if they
 * are of ASCII, or by PostgreSQL's function.  PostgreSQL has compiled it
 * before, so no text makes it raise an error.
 *
 * Of many texts that follow each other in memory the longest part that may
 * stand anywhere is searched for in all of them at once, and only those that
 * have it are looked at.
 *
 * Over 600 lines: one matcher, of one text, of many and of a frame's.
 *
 * src/expr/expr_like.c
 *-------------------------------------------------------------------------
 */
#include "expr/expr_private.h"
#include "expr/expr_regex_private.h"

#include <ctype.h>

#include "base/words.h"
#include "catalog/pg_collation_d.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "mb/pg_wchar.h"
#include "nodes/nodeFuncs.h"
#include "port/pg_bitutils.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* Longer ones are searched by the C library. */
#define SHORT_TEXT 128
/* All strings are looked at for at least one row of so many of them. */
#define STRINGS_PER_ROW 8

typedef struct LikePart
{
	const char *data;
	Size		len;
	Size		probes[2];		/* places of bytes that are looked for first */
} LikePart;

struct StrataLike
{
	bool		negated;
	bool		exact;			/* no %: the text is the first part */
	Size		least;			/* so many bytes a text must have */
	LikePart	first;
	LikePart	last;
	int			nbetween;
	LikePart   *between;
	const LikePart *longest;	/* of those between */
	bool		folds;			/* ILIKE: parts are in lower case */
	bool		calls;			/* it has _: for PostgreSQL's function */
	const StrataRegex *regex;	/* what has the parts must match it, too */
	PGFunction	function;		/* PostgreSQL's, not negated */
	Datum		pattern;
	Oid			collation;
};

typedef struct LikeClause
{
	Expr	   *arg;
	const Const *pattern;
	Oid			collation;
	bool		negated;
	bool		folds;
	bool		prefix;			/* of starts_with(): no pattern, all literal */
	bool		regex;
} LikeClause;

/* text [NOT] LIKE, ILIKE, ~ or ~* constant, or starts_with()? */
static bool
match_like(Node *node, LikeClause *like)
{
	Oid			funcid;
	List	   *args;

	if (IsA(node, OpExpr))
	{
		set_opfuncid((OpExpr *) node);
		funcid = ((OpExpr *) node)->opfuncid;
		args = ((OpExpr *) node)->args;
		like->collation = ((OpExpr *) node)->inputcollid;
	}
	else if (IsA(node, FuncExpr))
	{
		funcid = ((FuncExpr *) node)->funcid;
		args = ((FuncExpr *) node)->args;
		like->collation = ((FuncExpr *) node)->inputcollid;
	}
	else
		return false;
	switch (funcid)
	{
		case F_TEXTLIKE:
		case F_LIKE_TEXT_TEXT:
		case F_TEXTNLIKE:
		case F_NOTLIKE_TEXT_TEXT:
		case F_TEXTICLIKE:
		case F_TEXTICNLIKE:
		case F_STARTS_WITH:
		case F_TEXTREGEXEQ:
		case F_TEXTREGEXNE:
		case F_TEXTICREGEXEQ:
		case F_TEXTICREGEXNE:
			break;
		default:
			return false;
	}
	like->negated = funcid == F_TEXTNLIKE ||
		funcid == F_NOTLIKE_TEXT_TEXT || funcid == F_TEXTICNLIKE ||
		funcid == F_TEXTREGEXNE || funcid == F_TEXTICREGEXNE;
	like->folds = funcid == F_TEXTICLIKE || funcid == F_TEXTICNLIKE ||
		funcid == F_TEXTICREGEXEQ || funcid == F_TEXTICREGEXNE;
	like->regex = funcid == F_TEXTREGEXEQ || funcid == F_TEXTREGEXNE ||
		funcid == F_TEXTICREGEXEQ || funcid == F_TEXTICREGEXNE;
	like->prefix = funcid == F_STARTS_WITH;
	like->arg = linitial(args);
	like->pattern = lsecond(args);
	return IsA(like->pattern, Const) && !like->pattern->constisnull;
}

/*
 * The first and the last byte of a part that are none of those that stand
 * between words, which texts have many of.
 */
static void
choose_probes(LikePart *part)
{
	Size		first = 0;
	Size		last = part->len - 1;

	while (first < last && !isalnum((unsigned char) part->data[first]))
		first++;
	while (last > first && !isalnum((unsigned char) part->data[last]))
		last--;
	part->probes[0] = first;
	/* there is but one of them, or none */
	part->probes[1] = first < last ? last : first > 0 ? 0 : part->len - 1;
}

static Datum
lower_case(Datum value, Oid collation)
{
	return DirectFunctionCall1Coll(lower, collation, value);
}

/* Is all of ASCII in lower case what it is in the C locale? */
static bool
folds_as_ascii(Oid collation)
{
	char		all[128];
	text	   *t;
	const char *p;
	bool		result;

	for (int i = 1; i < lengthof(all); i++)
		all[i - 1] = (char) i;
	t = cstring_to_text_with_len(all, lengthof(all) - 1);
	t = DatumGetTextPP(lower_case(PointerGetDatum(t), collation));
	p = VARDATA_ANY(t);
	result = VARSIZE_ANY_EXHDR(t) == lengthof(all) - 1;
	for (int i = 0; i < lengthof(all) - 1 && result; i++)
		result = (unsigned char) p[i] ==
			pg_ascii_tolower((unsigned char) all[i]);
	return result;
}

/* Of n parts, the first and last at the text's ends; of one, all of it. */
static void
set_parts(StrataLike *result, LikePart *parts, int n)
{
	result->exact = n == 1;
	result->first = parts[0];
	result->last = parts[n - 1];
	result->between = parts;
	for (int i = 1; i < n - 1; i++)
		if (parts[i].len > 0)
			result->between[result->nbetween++] = parts[i];
	for (int i = 0; i < result->nbetween; i++)
		choose_probes(&result->between[i]);
	result->longest = result->between;
	for (int i = 1; i < result->nbetween; i++)
		if (result->between[i].len > result->longest->len)
			result->longest = &result->between[i];
	result->least = result->first.len + (n > 1 ? result->last.len : 0);
}

/*
 * Cut the pattern; its parts are in a copy.  False: it ends with an escape
 * character, of which LIKE complains where it gets there.  *single: it has _.
 */
static bool
cut_pattern(const LikeClause *like, StrataLike *result, bool *single)
{
	Datum		value = like->pattern->constvalue;
	text	   *pattern = DatumGetTextPP(!like->folds ? value :
										 lower_case(value, like->collation));
	const char *p = VARDATA_ANY(pattern);
	const char *end = p + VARSIZE_ANY_EXHDR(pattern);
	char	   *to = palloc(end - p + 1);
	LikePart	part = {to, 0};
	LikePart   *parts = palloc(sizeof(LikePart) * (end - p + 2));
	int			n = 0;

	*single = false;
	for (; p < end; p++)
	{
		char		special = like->prefix ? '\0' : *p;

		if (special == '%')
		{
			parts[n++] = part;
			part = (LikePart)
			{
				to, 0
			};
			continue;
		}
		if (special == '\\' && ++p == end)
			return false;
		*single |= special == '_';
		*to++ = *p;
		part.len++;
	}
	parts[n++] = part;
	if (like->prefix)
		parts[n++] = (LikePart)
	{
		to, 0
	};
	set_parts(result, parts, n);
	return true;
}

/* The parts of a regular expression; false: it is not ours. */
static bool
cut_regex(const LikeClause *like, StrataLike *result)
{
	text	   *pattern = DatumGetTextPP(like->pattern->constvalue);
	RegexRules	rules = {like->collation, like->folds};
	StrataRegex *regex = strata_regex_compile(VARDATA_ANY(pattern),
											  (int) VARSIZE_ANY_EXHDR(pattern),
											  &rules);
	LikePart   *parts;
	const char *bytes;

	if (regex == NULL)
		return false;
	parts = palloc0(sizeof(LikePart) * regex->nparts);
	bytes = regex->bytes;
	for (int i = 0; i < regex->nparts; i++)
	{
		parts[i].data = bytes;
		parts[i].len = (Size) regex->lens[i];
		bytes += regex->lens[i];
	}
	set_parts(result, parts, regex->nparts);
	result->regex = regex->pure ? NULL : regex;
	result->folds = regex->folds;
	result->function = like->folds ? texticregexeq : textregexeq;
	return true;
}

/* See expr.h. */
StrataLike *
strata_like_compile(Node *node, Expr **arg)
{
	LikeClause	like;
	StrataLike *result;
	bool		single;

	if (!match_like(node, &like) || !OidIsValid(like.collation) ||
		(like.collation != DEFAULT_COLLATION_OID &&
		 !get_collation_isdeterministic(like.collation)) ||
		(GetDatabaseEncoding() != PG_UTF8 &&
		 pg_database_encoding_max_length() > 1))
		return NULL;
	/* in other encodings letters are made small one by one, by other rules */
	if (like.folds && !like.regex &&
		(GetDatabaseEncoding() != PG_UTF8 || !folds_as_ascii(like.collation)))
		return NULL;
	result = palloc0(sizeof(StrataLike));
	if (like.regex)
	{
		if (!cut_regex(&like, result))
			return NULL;
	}
	else
	{
		if (!cut_pattern(&like, result, &single) || (single && like.folds))
			return NULL;
		result->folds = like.folds;
		result->calls = single;
		result->function = like.folds ? texticlike : textlike;
	}
	result->negated = like.negated;
	result->collation = like.collation;
	result->pattern = like.pattern->constvalue;
	*arg = like.arg;
	return result;
}

static inline bool
has_part(const char *p, LikePart part)
{
	return strata_same_bytes(p, part.data, part.len);
}

/* Where the part is first; NULL: nowhere. */
static const char *
find_part(const char *p, Size len, const LikePart *part)
{
	Size		at[2] = {part->probes[0], part->probes[1]};
	char		first = part->data[at[0]];
	char		last = part->data[at[1]];

	if (len < part->len)
		return NULL;
	/* memmem() makes a table first */
	if (len > SHORT_TEXT)
		return memmem(p, len, part->data, part->len);
	for (const char *end = p + (len - part->len); p <= end; p++)
	{
		if (p[at[0]] == first && p[at[1]] == last &&
			memcmp(p, part->data, part->len) == 0)
			return p;
	}
	return NULL;
}

/* PostgreSQL's answer, were it not negated. */
static bool
call_like(const StrataLike *like, const text * t)
{
	return DatumGetBool(DirectFunctionCall2Coll(like->function,
												like->collation,
												PointerGetDatum(t),
												like->pattern));
}

/* The same of bytes that are no text yet. */
static bool
call_like_bytes(const StrataLike *like, const char *p, Size len)
{
	text	   *t = cstring_to_text_with_len(p, (int) len);
	bool		result = call_like(like, t);

	pfree(t);
	return result;
}

/*
 * Does a text that has its parts match the regular expression?  at: where the
 * part between is first.
 */
static bool
matches_regex(const StrataLike *like, const char *p, Size len, const char *at)
{
	const RegexStates *states = regex_states(like->regex);
	const char *from = like->regex->leads ? at : p;
	RegexAnswer answer = states == NULL ? REGEX_NOT_ASCII :
	strata_regex_run(states, from, len - (Size) (from - p));

	Assert(from >= p && from <= p + len);	/* expr:E10 */
	/* what was folded and is not of ASCII is asked for as it was */
	return answer == REGEX_YES ||
		(answer == REGEX_NOT_ASCII && !like->folds &&
		 call_like_bytes(like, p, len));
}

/* Does it match, were it not negated? */
static bool
matches(const StrataLike *like, const char *p, Size len)
{
	const char *begin = p;
	const char *at = p;

	const char *end = p + len;

	if (len < like->least || !has_part(p, like->first))
		return false;
	if (like->exact)
		return len == like->first.len;
	if (!has_part(end - like->last.len, like->last))
		return false;
	p += like->first.len;
	end -= like->last.len;
	for (int i = 0; i < like->nbetween; i++)
	{
		const LikePart *part = &like->between[i];

		Assert(p <= end);		/* expr:E2 */
		p = find_part(p, end - p, part);
		if (p == NULL)
			return false;
		at = p;
		p += part->len;
	}
	return like->regex == NULL || matches_regex(like, begin, len, at);
}

/*
 * Put bytes into lower case, as far as they are ASCII; are they all?  to has
 * room for them.
 */
static bool
fold_bytes(char *to, const char *from, Size n)
{
	Size		i = 0;
	uint8		high = 0;

#ifdef __SSE2__
	__m128i		all = _mm_setzero_si128();

	for (; i + sizeof(__m128i) <= n; i += sizeof(__m128i))
	{
		__m128i		x = _mm_loadu_si128((const __m128i *) (from + i));
		__m128i		from_a = _mm_cmpgt_epi8(x, _mm_set1_epi8('A' - 1));
		__m128i		to_z = _mm_cmplt_epi8(x, _mm_set1_epi8('Z' + 1));
		__m128i		capital = _mm_and_si128(from_a, to_z);

		all = _mm_or_si128(all, x);
		x = _mm_or_si128(x, _mm_and_si128(capital, _mm_set1_epi8(0x20)));
		_mm_storeu_si128((__m128i *) (to + i), x);
	}
	high = _mm_movemask_epi8(all) != 0 ? 0x80 : 0;
#endif
	for (; i < n; i++)
	{
		high |= (uint8) from[i];
		to[i] = (char) pg_ascii_tolower((unsigned char) from[i]);
	}
	return (high & 0x80) == 0;
}

/* See expr.h. */
bool
strata_like_match(const StrataLike *like, Datum value)
{
	text	   *t = DatumGetTextPP(value);
	const char *p = VARDATA_ANY(t);
	Size		len = VARSIZE_ANY_EXHDR(t);
	bool		result;

	if (like->calls)
		result = call_like(like, t);
	else if (!like->folds)
		result = matches(like, p, len);
	else
	{
		char		few[SHORT_TEXT];
		char	   *folded = len <= sizeof(few) ? few : palloc(len);

		result = fold_bytes(folded, p, len) ? matches(like, folded, len) :
			call_like(like, t);
		if (folded != few)
			pfree(folded);
	}
	/* of a row store's many rows one is in memory at a time */
	if ((Pointer) t != DatumGetPointer(value))
		pfree(t);
	return result != like->negated;
}

/*
 * Where the part is first in many bytes; NULL: nowhere.  Looks for two bytes
 * of it, 16 places at a time.
 */
static const char *
search_part(const char *p, const char *end, const LikePart *part)
{
#ifdef __SSE2__
	const Size	at0 = part->probes[0];
	const Size	at1 = part->probes[1];
	const		__m128i first = _mm_set1_epi8(part->data[at0]);
	const		__m128i last = _mm_set1_epi8(part->data[at1]);

	while (end - p >= (ptrdiff_t) (part->len - 1 + sizeof(__m128i)))
	{
		__m128i		a = _mm_loadu_si128((const __m128i *) (p + at0));
		__m128i		b = _mm_loadu_si128((const __m128i *) (p + at1));
		uint32		both;

		a = _mm_and_si128(_mm_cmpeq_epi8(a, first), _mm_cmpeq_epi8(b, last));
		both = (uint32) _mm_movemask_epi8(a);
		for (; both != 0; both &= both - 1)
		{
			const char *found = p + pg_rightmost_one_pos32(both);

			if (strata_same_bytes(found, part->data, part->len))
				return found;
		}
		p += sizeof(__m128i);
	}
#endif
	return find_part(p, end - p, part);
}

/* Which strings have a part that may stand anywhere, and match. */
static void
match_infixes(const StrataLike *like, const StrataBytes *strings,
			  uint8 *found)
{
	const char *payload = (const char *) strings->payload;
	const uint32 *offsets = strings->offsets;
	uint32		n = strings->nentries;
	const char *end = payload + offsets[n];
	const char *p = payload + offsets[0];
	uint32		i = 0;

	memset(found, 0, n);
	while ((p = search_part(p, end, like->longest)) != NULL)
	{
		while (payload + offsets[i + 1] <= p)
			i++;
		Assert(i < n && payload + offsets[i] <= p); /* expr:E2 */
		if (p + like->longest->len > payload + offsets[i + 1])
		{
			/* it begins in one and ends in another */
			p++;
			continue;
		}
		if (like->nbetween > 1 || like->least > 0)
			found[i] = matches(like, payload + offsets[i],
							   offsets[i + 1] - offsets[i]);
		else
			found[i] = like->regex == NULL ||
				matches_regex(like, payload + offsets[i],
							  offsets[i + 1] - offsets[i], p);
		p = payload + offsets[i + 1];
	}
}

/*
 * Which strings begin and end as they should.  What they are not long enough
 * for is compared with what stands beside them: there are no branches, since
 * nobody could guess their lengths.
 */
static void
match_ends(const StrataLike *like, const StrataBytes *strings, uint8 *found)
{
	const char *payload = (const char *) strings->payload;
	const uint32 *offsets = strings->offsets;
	uint32		n = strings->nentries;
	Size		most = like->exact ? like->least : MaxAllocSize;

	for (uint32 i = 0; i < n; i++)
	{
		Size		at = offsets[i];
		Size		end = offsets[i + 1];

		found[i] = at + like->first.len <= offsets[n] &&
			end >= offsets[0] + like->last.len &&
			((end - at >= like->least) & (end - at <= most) &
			 has_part(payload + at, like->first) &
			 (like->exact ||
			  has_part(payload + end - like->last.len, like->last)));
	}
}

/* Which strings match, were the pattern not negated. */
static void
match_strings(const StrataLike *like, const StrataBytes *strings,
			  uint8 *found)
{
	const char *payload = (const char *) strings->payload;
	const uint32 *offsets = strings->offsets;

	if (like->nbetween > 0)
		match_infixes(like, strings, found);
	else if (like->regex != NULL)
		for (uint32 i = 0; i < strings->nentries; i++)
			found[i] = matches(like, payload + offsets[i],
							   offsets[i + 1] - offsets[i]);
	else
		match_ends(like, strings, found);
}

/* The same without regard to case. */
static void
match_folded_strings(const StrataLike *like, const StrataBytes *strings,
					 uint8 *found)
{
	const char *payload = (const char *) strings->payload;
	const uint32 *offsets = strings->offsets;
	Size		n = offsets[strings->nentries];
	char	   *folded = palloc(n + 1);
	StrataBytes copy = *strings;
	bool		ascii = fold_bytes(folded + offsets[0], payload + offsets[0],
								   n - offsets[0]);

	copy.payload = (const uint8 *) folded;
	match_strings(like, &copy, found);
	for (uint32 i = 0; i < strings->nentries && !ascii; i++)
	{
		const char *p = payload + offsets[i];
		Size		len = offsets[i + 1] - offsets[i];

		if (!fold_bytes(folded, p, len))
			found[i] = call_like_bytes(like, p, len);
	}
	pfree(folded);
}

/* See expr.h.  Nothing PostgreSQL's function would have to say of them all. */
bool
strata_like_takes_strings(const StrataLike *like)
{
	return !like->calls;
}

/* See expr.h. */
void
strata_like_strings(const StrataLike *like, const StrataBytes *strings,
					bool negated, uint8 *found)
{
	Assert(strata_like_takes_strings(like));	/* expr:E2 */
	if (like->folds)
		match_folded_strings(like, strings, found);
	else
		match_strings(like, strings, found);
	if (like->negated != negated)
		for (uint32 i = 0; i < strings->nentries; i++)
			found[i] ^= 1;
}

/*
 * See expr.h.  Bytes of a character that is cut off at their end may be
 * missing.
 */
int
strata_like_first_bytes(const StrataLike *like)
{
	if (like->calls || like->folds || like->regex != NULL ||
		like->nbetween > 0 ||
		like->first.len > MaxAllocSize / 2 ||
		(!like->exact && like->last.len > 0))
		return -1;
	return (int) like->first.len + 1 + MAX_MULTIBYTE_CHAR_LEN;
}

/* See expr.h. */
int
strata_like_infixes(const StrataLike *like, StrataKey **infixes)
{
	if (like->calls || like->folds || like->regex != NULL ||
		like->exact || like->least > 0 ||
		like->nbetween == 0)
		return 0;
	*infixes = palloc(sizeof(StrataKey) * like->nbetween);
	for (int i = 0; i < like->nbetween; i++)
	{
		(*infixes)[i].bytes = like->between[i].data;
		(*infixes)[i].len = (uint32) like->between[i].len;
	}
	return like->nbetween;
}

/* Which of the frame's rows are null; NULL: none is. */
static const uint8 *
like_nulls(const StrataColumn *col, const StrataExprFrame *frame)
{
	uint8	   *null;

	if (col->isnull == NULL)
		return NULL;
	null = palloc(frame->n);
	for (int i = 0; i < frame->n; i++)
		null[i] = col->isnull[expr_row(frame, i)];
	return null;
}

/* The column that the node's text is; NULL: it is none. */
static const StrataColumn *
like_column(const StrataExprSource *source, const ExprNode *node)
{
	const ExprNode *below = node->args[0];

	return below->kind == EXPR_COLUMN && below->parts == NULL ?
		source->column(source->arg, below->attno) : NULL;
}

/*
 * All strings of a column of a batch at once, as they were decoded; false: it
 * has none, or the frame has few rows of them.  Null rows are any.
 */
static bool
like_strings(const StrataLike *like, const StrataColumn *col,
			 const StrataExprFrame *frame, uint8 *truth)
{
	const StrataBytes *strings = &col->strings;
	const StrataColumn *own;
	uint8	   *found;

	if (col->constant || col->reader == NULL || strings->offsets == NULL ||
		!strata_like_takes_strings(like) ||
		strings->nentries / STRINGS_PER_ROW > (uint32) frame->n)
		return false;
	/* col may be a copy of the reader's, whose rows begin elsewhere */
	own = &col->reader->columns[col->attno - 1];
	if (own->strings.offsets != strings->offsets)
		return false;
	found = palloc(Max(strings->nentries, 1));
	strata_like_strings(like, strings, false, found);
	if (col->codes == NULL)
		for (int i = 0; i < frame->n; i++)
			truth[i] = found[expr_row(frame, i) - own->from];
	else
		for (int i = 0; i < frame->n; i++)
			truth[i] = found[col->codes[expr_row(frame, i)]];
	pfree(found);
	return true;
}

/* See expr_private.h. */
bool
strata_expr_like_truth(const StrataExprSource *source, const ExprNode *node,
					   const StrataExprFrame *frame, uint8 *truth)
{
	const StrataColumn *col = like_column(source, node);

	if (col == NULL || !like_strings(node->like, col, frame, truth))
		return false;
	if (col->isnull != NULL)
		for (int i = 0; i < frame->n; i++)
			truth[i] &= !col->isnull[expr_row(frame, i)];
	return true;
}

/*
 * See expr_private.h.  Where the column has a dictionary, once for each entry
 * that a row has.
 */
bool
strata_expr_eval_like(const StrataExprSource *source, ExprNode *node,
					  const StrataExprFrame *frame, ExprVector *out)
{
	const StrataColumn *col = like_column(source, node);
	int64	   *v = palloc0(sizeof(int64) * frame->n);
	uint8	   *known = NULL;
	uint8	   *truth;
	ExprVector	arg;

	if (col != NULL)
	{
		truth = palloc(frame->n);
		if (like_strings(node->like, col, frame, truth))
		{
			for (int i = 0; i < frame->n; i++)
				v[i] = truth[i];
			out->v = v;
			out->null = like_nulls(col, frame);
			return true;
		}
	}
	if (!strata_expr_eval(source, node->args[0], frame, &arg))
		return false;
	if (col != NULL && !col->constant && col->codes != NULL)
		known = palloc0(Max(col->ndict, 1));
	for (int i = 0; i < frame->n; i++)
	{
		uint8		one = 0;
		uint8	   *entry = &one;

		if (expr_is_null(&arg, i))
			continue;
		if (known != NULL)
			entry = &known[col->codes[expr_row(frame, i)]];
		if (*entry == 0)
			*entry = 1 + strata_like_match(node->like,
										   ((Datum *) arg.v)[i]);
		v[i] = *entry - 1;
	}
	out->v = v;
	out->null = arg.null;
	return true;
}
