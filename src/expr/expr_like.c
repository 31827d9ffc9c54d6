/*-------------------------------------------------------------------------
 *
 * expr_like.c
 *	  LIKE with a constant pattern, without PostgreSQL's function.
 *
 * A pattern is cut at its %: literal parts, of which the first may stand at
 * the text's begin only and the last at its end only.  Those between are
 * searched for from left to right, each behind the one before; leftmost is as
 * good as any.  Bytes may be compared with bytes in UTF-8, where no character
 * begins within another, and in encodings of one byte.  A pattern with _ is
 * given to PostgreSQL's function, directly.
 *
 * src/expr/expr_like.c
 *-------------------------------------------------------------------------
 */
#include "expr/expr_private.h"

#include "catalog/pg_collation_d.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "mb/pg_wchar.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

/* Longer ones are searched by the C library. */
#define SHORT_TEXT 128

typedef struct LikePart
{
	const char *data;
	Size		len;
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
	Datum		pattern;		/* with _: for PostgreSQL's function; else 0 */
	Oid			collation;
};

typedef struct LikeClause
{
	Expr	   *arg;
	const Const *pattern;
	Oid			collation;
	bool		negated;
	bool		prefix;			/* of starts_with(): no pattern, all literal */
} LikeClause;

/* text [NOT] LIKE constant, or starts_with()? */
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
		case F_STARTS_WITH:
			break;
		default:
			return false;
	}
	like->negated = funcid == F_TEXTNLIKE || funcid == F_NOTLIKE_TEXT_TEXT;
	like->prefix = funcid == F_STARTS_WITH;
	like->arg = linitial(args);
	like->pattern = lsecond(args);
	return IsA(like->pattern, Const) && !like->pattern->constisnull;
}

/*
 * Cut the pattern; its parts are in a copy.  False: it ends with an escape
 * character, of which LIKE complains where it gets there.  *single: it has _.
 */
static bool
cut_pattern(const LikeClause *like, StrataLike *result, bool *single)
{
	text	   *pattern = DatumGetTextPP(like->pattern->constvalue);
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
	result->exact = n == 1;
	result->first = parts[0];
	result->last = parts[n - 1];
	result->between = parts;
	for (int i = 1; i < n - 1; i++)
		if (parts[i].len > 0)
			result->between[result->nbetween++] = parts[i];
	result->least = result->first.len + (n > 1 ? result->last.len : 0);
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
	result = palloc0(sizeof(StrataLike));
	if (!cut_pattern(&like, result, &single))
		return NULL;
	result->negated = like.negated;
	result->collation = like.collation;
	if (single)
		result->pattern = like.pattern->constvalue;
	*arg = like.arg;
	return result;
}

static inline bool
has_part(const char *p, LikePart part)
{
	return part.len == 0 || memcmp(p, part.data, part.len) == 0;
}

/* Where the part is first; NULL: nowhere. */
static const char *
find_part(const char *p, Size len, const LikePart *part)
{
	char		first = part->data[0];
	char		last = part->data[part->len - 1];

	if (len < part->len)
		return NULL;
	/* memmem() makes a table first */
	if (len > SHORT_TEXT)
		return memmem(p, len, part->data, part->len);
	for (const char *end = p + (len - part->len); p <= end; p++)
	{
		if (*p == first && p[part->len - 1] == last &&
			memcmp(p, part->data, part->len) == 0)
			return p;
	}
	return NULL;
}

/* Does it match, were it not negated? */
static bool
matches(const StrataLike *like, const char *p, Size len)
{
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
		p += part->len;
	}
	return true;
}

/* See expr.h. */
bool
strata_like_match(const StrataLike *like, Datum value)
{
	text	   *t = DatumGetTextPP(value);
	bool		result;

	if (like->pattern != 0)
		result = DatumGetBool(DirectFunctionCall2Coll(textlike,
													  like->collation,
													  PointerGetDatum(t),
													  like->pattern));
	else
		result = matches(like, VARDATA_ANY(t), VARSIZE_ANY_EXHDR(t));
	/* of a row store's many rows one is in memory at a time */
	if ((Pointer) t != DatumGetPointer(value))
		pfree(t);
	return result != like->negated;
}

/*
 * See expr.h.  Bytes of a character that is cut off at their end may be
 * missing.
 */
int
strata_like_first_bytes(const StrataLike *like)
{
	if (like->pattern != 0 || like->nbetween > 0 ||
		like->first.len > MaxAllocSize / 2 ||
		(!like->exact && like->last.len > 0))
		return -1;
	return (int) like->first.len + 1 + MAX_MULTIBYTE_CHAR_LEN;
}

/* See expr.h. */
int
strata_like_infixes(const StrataLike *like, StrataKey **infixes)
{
	if (like->pattern != 0 || like->exact || like->least > 0 ||
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

/*
 * See expr_private.h.  Where the column has a dictionary, once for each entry
 * that a row has.
 */
bool
strata_expr_eval_like(const StrataExprSource *source, ExprNode *node,
					  const StrataExprFrame *frame, ExprVector *out)
{
	const ExprNode *below = node->args[0];
	const StrataColumn *col = below->kind == EXPR_COLUMN &&
	below->parts == NULL ? source->column(source->arg, below->attno) : NULL;
	int64	   *v = palloc0(sizeof(int64) * frame->n);
	uint8	   *known = NULL;
	ExprVector	arg;

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
