/*-------------------------------------------------------------------------
 *
 * expr_part.c
 *	  Which parts of columns' values are all that an expression reads.
 *
 * length(col), octet_length(col) and members of a jsonb are parts themselves:
 * a variable takes their place.  Functions that look at a value's first bytes
 * only (substr from the start, left, LIKE 'x%', starts_with, = with a
 * constant) keep their place, and are given the first bytes in place of the
 * value, which makes no difference to them; and so are those that look for
 * something in it (position, strpos, LIKE '%x%'), up to where it is first.
 * The variables are of INNER_VAR, and read a slot of their own.
 *
 * src/expr/expr_part.c
 *-------------------------------------------------------------------------
 */
#include "expr/expr_private.h"

#include "access/tupdesc.h"
#include "catalog/pg_collation_d.h"
#include "catalog/pg_type_d.h"
#include "common/int.h"
#include "executor/executor.h"
#include "mb/pg_wchar.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/array.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

/* Beyond what a value is, or a character takes. */
#define CLIPPED 4

/* First bytes of values: more are read as a whole. */
#define MOST_BYTES (16 * 1024 * 1024)

typedef struct Extraction
{
	StrataParts *parts;
	List	   *types;			/* of Var, for the parts */
} Extraction;

/* The column that an argument is, whatever it is taken for; or NULL. */
static const Var *
plain_column(const Node *arg)
{
	const Var  *var;

	while (IsA(arg, RelabelType))
		arg = (const Node *) ((const RelabelType *) arg)->arg;
	var = (const Var *) arg;
	return IsA(arg, Var) && var->varattno > 0 && var->varlevelsup == 0 &&
		var->varno != INNER_VAR ? var : NULL;
}

/* The same, if it is a text, varchar or bytea, or a domain of these. */
static const Var *
byte_column(const Node *arg)
{
	const Var  *var = plain_column(arg);
	Oid			type = var != NULL ? getBaseType(var->vartype) : InvalidOid;

	return type == TEXTOID || type == VARCHAROID || type == BYTEAOID ? var :
		NULL;
}

/* A constant integer? */
static bool
constant_int(const Node *arg, int32 *value)
{
	const Const *constant = (const Const *) arg;

	if (!IsA(arg, Const) || constant->constisnull ||
		constant->consttype != INT4OID)
		return false;
	*value = DatumGetInt32(constant->constvalue);
	return true;
}

/* The function that is called, and its arguments; or InvalidOid. */
static Oid
called_function(Node *node, List **args, Oid *collation)
{
	if (IsA(node, FuncExpr))
	{
		*args = ((FuncExpr *) node)->args;
		*collation = ((FuncExpr *) node)->inputcollid;
		return ((FuncExpr *) node)->funcid;
	}
	if (IsA(node, OpExpr))
	{
		set_opfuncid((OpExpr *) node);
		*args = ((OpExpr *) node)->args;
		*collation = ((OpExpr *) node)->inputcollid;
		return ((OpExpr *) node)->opfuncid;
	}
	return InvalidOid;
}

/* The variable that stands for a part, which is new or known already. */
static Var *
part_variable(Extraction *e, const StrataPart *part, Oid type, int32 typmod,
			  Oid collation)
{
	StrataParts *parts = e->parts;
	Var		   *var;

	for (int i = 0; i < parts->n; i++)
	{
		var = list_nth_node(Var, e->types, i);
		if (parts->parts[i].attno == part->attno && var->vartype == type &&
			var->vartypmod == typmod && var->varcollid == collation &&
			strata_part_equals(&parts->parts[i], part))
			return copyObject(var);
	}
	parts->parts = parts->n == 0 ? palloc(sizeof(StrataPart)) :
		repalloc(parts->parts, sizeof(StrataPart) * (parts->n + 1));
	parts->parts[parts->n++] = *part;
	var = makeVar(INNER_VAR, (AttrNumber) parts->n, type, typmod, collation,
				  0);
	e->types = lappend(e->types, var);
	return copyObject(var);
}

/*-------------------------------------------------------------------------
 * Lengths
 *-------------------------------------------------------------------------
 */

/* The variable for a length, in place of the call; or NULL. */
static Node *
take_length(Extraction *e, Oid funcid, List *args)
{
	StrataPart	part = {0};
	const Var  *var;

	switch (funcid)
	{
		case F_LENGTH_TEXT:
		case F_CHAR_LENGTH_TEXT:
		case F_CHARACTER_LENGTH_TEXT:
			part.kind = STRATA_PART_CHARS;
			break;
		case F_OCTET_LENGTH_TEXT:
		case F_OCTET_LENGTH_BYTEA:
		case F_LENGTH_BYTEA:
			part.kind = STRATA_PART_OCTETS;
			break;
		default:
			return NULL;
	}
	var = byte_column(linitial(args));
	if (var == NULL)
		return NULL;
	part.attno = var->varattno;
	return (Node *) part_variable(e, &part, INT4OID, -1, InvalidOid);
}

/*-------------------------------------------------------------------------
 * First bytes
 *-------------------------------------------------------------------------
 */

/* How many characters from the first on does the call look at?  -1: all. */
static int
first_characters(Oid funcid, List *args)
{
	int32		start = 1;
	int32		len;
	int32		end;

	switch (funcid)
	{
		case F_LEFT:
			if (!constant_int(lsecond(args), &len) || len < 0)
				return -1;
			return len;
		case F_SUBSTR_TEXT_INT4_INT4:
		case F_SUBSTRING_TEXT_INT4_INT4:
		case F_SUBSTR_BYTEA_INT4_INT4:
		case F_SUBSTRING_BYTEA_INT4_INT4:
			if (!constant_int(lsecond(args), &start) ||
				!constant_int(lthird(args), &len))
				return -1;
			break;
		default:
			return -1;
	}
	/* a negative length is an error, whatever the value */
	if (len < 0)
		return 0;
	if (pg_add_s32_overflow(start, len, &end))
		return -1;
	return Max(end - 1, 0);
}

static bool
is_deterministic(Oid collation)
{
	return OidIsValid(collation) && (collation == DEFAULT_COLLATION_OID ||
									 get_collation_isdeterministic(collation));
}

/* = and <> with a constant: how many bytes say which; -1: another call. */
static int
compared_bytes(Oid funcid, List *args, Oid collation)
{
	Const	   *constant = lsecond(args);
	struct varlena *value;

	if (funcid != F_TEXTEQ && funcid != F_TEXTNE && funcid != F_BYTEAEQ &&
		funcid != F_BYTEANE)
		return -1;
	if (!IsA(constant, Const) || constant->constisnull ||
		(funcid != F_BYTEAEQ && funcid != F_BYTEANE &&
		 !is_deterministic(collation)))
		return -1;
	value = PG_DETOAST_DATUM_PACKED(constant->constvalue);
	return (int) Min(VARSIZE_ANY_EXHDR(value), MOST_BYTES) + 1 + CLIPPED;
}

static void
append_key(StrataPart *part, const text * key)
{
	StrataKey  *keys = palloc(sizeof(StrataKey) * (part->nkeys + 1));

	for (int i = 0; i < part->nkeys; i++)
		keys[i] = part->keys[i];
	keys[part->nkeys].bytes = VARDATA_ANY(key);
	keys[part->nkeys].len = VARSIZE_ANY_EXHDR(key);
	part->keys = keys;
	part->nkeys++;
}

/*
 * position(), strpos() and LIKE '%x%': the part of the first argument until
 * what is looked for has been found; false: another call.  In UTF-8 and in
 * encodings of one byte, what is found as bytes is there as characters.
 */
static bool
bytes_until(Node *node, Oid funcid, List *args, Oid collation,
			StrataPart *part)
{
	const Const *constant;
	struct varlena *needle;
	StrataLike *like;
	Expr	   *arg;

	if (list_length(args) != 2)
		return false;
	part->kind = STRATA_PART_UNTIL;
	if (funcid != F_POSITION_TEXT_TEXT && funcid != F_STRPOS &&
		funcid != F_POSITION_BYTEA_BYTEA)
	{
		like = strata_like_compile(node, &arg);
		if (like == NULL)
			return false;
		part->nkeys = strata_like_infixes(like, &part->keys);
		return part->nkeys > 0;
	}
	constant = lsecond(args);
	if (!IsA(constant, Const) || constant->constisnull ||
		(funcid != F_POSITION_BYTEA_BYTEA &&
		 (!is_deterministic(collation) ||
		  (GetDatabaseEncoding() != PG_UTF8 &&
		   pg_database_encoding_max_length() > 1))))
		return false;
	needle = PG_DETOAST_DATUM_PACKED(constant->constvalue);
	if (VARSIZE_ANY_EXHDR(needle) == 0)
		return false;
	append_key(part, (text *) needle);
	return true;
}

/* The part of a call's first argument that it looks at; false: all of it. */
static bool
first_bytes(Node *node, Oid funcid, List *args, Oid collation,
			StrataPart *part)
{
	Expr	   *arg;
	StrataLike *like;
	int			n;

	part->kind = STRATA_PART_START;
	if (list_length(args) < 2)
		return false;
	n = first_characters(funcid, args);
	if (n >= 0)
	{
		/* of bytea these are bytes */
		part->nchars = n;
		return (int64) n * pg_database_encoding_max_length() <= MOST_BYTES;
	}
	n = list_length(args) == 2 ? compared_bytes(funcid, args, collation) : -1;
	if (n < 0 && (like = strata_like_compile(node, &arg)) != NULL)
		n = strata_like_first_bytes(like);
	part->nbytes = n;
	return n >= 0 && n <= MOST_BYTES;
}

/* A call with its first argument's first bytes in place of it; or NULL. */
static Node *
take_start(Extraction *e, Node *node, Oid funcid, List *args, Oid collation)
{
	StrataPart	part = {0};
	const Var  *var = args != NIL ? byte_column(linitial(args)) : NULL;
	Var		   *start;
	Node	   *copy;
	Node	   *arg;

	if (var == NULL)
		return NULL;
	if (!first_bytes(node, funcid, args, collation, &part))
	{
		memset(&part, 0, sizeof(part));
		if (!bytes_until(node, funcid, args, collation, &part))
			return NULL;
	}
	if (getBaseType(var->vartype) == BYTEAOID)
	{
		part.nbytes = Max(part.nbytes, part.nchars);
		part.nchars = 0;
	}
	part.attno = var->varattno;
	start = part_variable(e, &part, var->vartype, var->vartypmod,
						  var->varcollid);
	copy = copyObject(node);
	args = IsA(copy, FuncExpr) ? ((FuncExpr *) copy)->args :
		((OpExpr *) copy)->args;
	arg = linitial(args);
	if (IsA(arg, Var))
		linitial(args) = start;
	else
	{
		while (IsA(((RelabelType *) arg)->arg, RelabelType))
			arg = (Node *) ((RelabelType *) arg)->arg;
		((RelabelType *) arg)->arg = (Expr *) start;
	}
	return copy;
}

/*-------------------------------------------------------------------------
 * Members of documents
 *-------------------------------------------------------------------------
 */

/* Is it a key that is no number of an element of an array for #>? */
static bool
is_no_index(const text * key)
{
	unsigned char first;

	if (VARSIZE_ANY_EXHDR(key) == 0)
		return false;
	first = *(const unsigned char *) VARDATA_ANY(key);
	return first >= 'A' || first == '_';
}

/* Keys of a constant path, as of #>; false: they may be others. */
static bool
add_path(StrataPart *part, const Const *path)
{
	Datum	   *elements;
	bool	   *nulls;
	int			n;

	if (!IsA(path, Const) || path->constisnull ||
		path->consttype != TEXTARRAYOID)
		return false;
	deconstruct_array(DatumGetArrayTypeP(path->constvalue), TEXTOID, -1,
					  false, TYPALIGN_INT, &elements, &nulls, &n);
	for (int i = 0; i < n; i++)
	{
		if (nulls[i] || !is_no_index(DatumGetTextPP(elements[i])))
			return false;
		append_key(part, DatumGetTextPP(elements[i]));
	}
	return n > 0;
}

/*
 * The column and the keys of doc -> 'a' -> 'b' ->> 'c', or #>> '{a,b,c}';
 * false: it is something else.
 */
static bool
match_member(Node *node, StrataPart *part)
{
	List	   *args;
	Oid			collation;
	Oid			funcid = called_function(node, &args, &collation);
	Const	   *key;
	const Var  *var;

	if (funcid != F_JSONB_OBJECT_FIELD && funcid != F_JSONB_EXTRACT_PATH &&
		funcid != F_JSONB_OBJECT_FIELD_TEXT &&
		funcid != F_JSONB_EXTRACT_PATH_TEXT)
		return false;
	var = plain_column(linitial(args));
	if (var != NULL)
	{
		if (getBaseType(var->vartype) != JSONBOID)
			return false;
		part->attno = var->varattno;
	}
	else if (!match_member(linitial(args), part) ||
			 part->kind != STRATA_PART_MEMBER)
		return false;
	part->kind = funcid == F_JSONB_OBJECT_FIELD ||
		funcid == F_JSONB_EXTRACT_PATH ? STRATA_PART_MEMBER :
		STRATA_PART_MEMBER_TEXT;
	key = lsecond(args);
	if (funcid == F_JSONB_EXTRACT_PATH || funcid == F_JSONB_EXTRACT_PATH_TEXT)
		return add_path(part, key);
	if (!IsA(key, Const) || key->constisnull || key->consttype != TEXTOID)
		return false;
	append_key(part, DatumGetTextPP(key->constvalue));
	return true;
}

static Node *
take_member(Extraction *e, Node *node)
{
	StrataPart	part = {0};

	if (!match_member(node, &part))
		return NULL;
	return (Node *) part_variable(e, &part, exprType(node), -1,
								  exprCollation(node));
}

/*-------------------------------------------------------------------------
 * Expressions
 *-------------------------------------------------------------------------
 */

/* The expression with variables in place of parts, which are noted. */
static Node *
take_parts(Node *node, void *context)
{
	Extraction *e = context;
	List	   *args = NIL;
	Oid			collation;
	Oid			funcid;
	Node	   *result = NULL;

	if (node == NULL)
		return NULL;
	funcid = called_function(node, &args, &collation);
	if (OidIsValid(funcid) && args != NIL)
	{
		result = take_length(e, funcid, args);
		if (result == NULL)
			result = take_member(e, node);
		if (result == NULL)
			result = take_start(e, node, funcid, args, collation);
	}
	return result != NULL ? result :
		expression_tree_mutator(node, take_parts, context);
}

/* Are columns read as a whole of which parts are read, too (expr:E7)? */
static bool
reads_whole(Node *node, const StrataParts *parts)
{
	ListCell   *lc;

	foreach(lc, pull_var_clause(node, PVC_RECURSE_AGGREGATES |
								PVC_RECURSE_WINDOWFUNCS |
								PVC_INCLUDE_PLACEHOLDERS))
	{
		Var		   *var = lfirst(lc);

		if (!IsA(var, Var))
			return true;
		if (var->varno == INNER_VAR)
			continue;
		/* the whole row has all of them */
		if (var->varattno == 0)
			return true;
		for (int i = 0; i < parts->n; i++)
			if (parts->parts[i].attno == var->varattno)
				return true;
	}
	return false;
}

/* See expr.h. */
StrataParts *
strata_parts_extract(Node *node, Node **result)
{
	Extraction	e = {palloc0(sizeof(StrataParts)), NIL};
	TupleDesc	desc;

	if (!strata_enable_value_parts)
		return NULL;
	*result = take_parts(node, &e);
	if (e.parts->n == 0 || reads_whole(*result, e.parts))
		return NULL;
	desc = CreateTemplateTupleDesc(e.parts->n);
	for (int i = 0; i < e.parts->n; i++)
	{
		Var		   *var = list_nth_node(Var, e.types, i);

		TupleDescInitEntry(desc, (AttrNumber) (i + 1), NULL, var->vartype,
						   var->vartypmod, 0);
	}
	e.parts->columns = palloc0(sizeof(StrataColumn *) * e.parts->n);
	e.parts->slot = MakeSingleTupleTableSlot(desc, &TTSOpsVirtual);
	ExecStoreAllNullTuple(e.parts->slot);
	return e.parts;
}

/* See expr.h. */
bool
strata_parts_find(StrataParts *parts, const StrataExprSource *source,
				  const StrataExprFrame *frame)
{
	if (source->part == NULL)
		return false;
	for (int i = 0; i < parts->n; i++)
	{
		parts->columns[i] = source->part(source->arg, &parts->parts[i],
										 frame);
		if (parts->columns[i] == NULL)
			return false;
	}
	return true;
}

/* See expr.h. */
void
strata_parts_load(StrataParts *parts, StrataColumn *const *columns,
				  ExprContext *econtext, int row)
{
	TupleTableSlot *slot = parts->slot;

	for (int i = 0; i < parts->n; i++)
		slot->tts_values[i] = strata_column_get(columns[i], row,
												&slot->tts_isnull[i]);
	econtext->ecxt_innertuple = slot;
}
