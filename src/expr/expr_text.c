/*-------------------------------------------------------------------------
 *
 * expr_text.c
 *	  Lengths of texts, and their first bytes.
 *
 * A function that looks at the start of a text only says the same of many
 * texts, and what it said of a start is found again by few bytes.
 *
 * src/expr/expr_text.c
 *-------------------------------------------------------------------------
 */
#include "expr/expr_private.h"

#include "base/utf8.h"
#include "mb/pg_wchar.h"
#include "utils/fmgroids.h"

/* See expr_text_private.h. */
ExprLength
strata_expr_length_kind(const Expr *expr)
{
	const FuncExpr *call = (const FuncExpr *) expr;
	const Expr *arg;

	if (!IsA(expr, FuncExpr) || list_length(call->args) != 1)
		return EXPR_LENGTH_NONE;
	arg = linitial(call->args);
	while (IsA(arg, RelabelType))
		arg = ((const RelabelType *) arg)->arg;
	if (!IsA(arg, Var))
		return EXPR_LENGTH_NONE;
	switch (call->funcid)
	{
		case F_LENGTH_TEXT:
		case F_CHAR_LENGTH_TEXT:
		case F_CHARACTER_LENGTH_TEXT:
			return EXPR_LENGTH_CHARS;
		case F_OCTET_LENGTH_TEXT:
		case F_OCTET_LENGTH_BYTEA:
		case F_LENGTH_BYTEA:
			return EXPR_LENGTH_OCTETS;
		default:
			return EXPR_LENGTH_NONE;
	}
}

/* See expr_text_private.h. */
int32
strata_expr_length(ExprLength kind, Datum value)
{
	const char *p = VARDATA_ANY(DatumGetPointer(value));
	int32		len = (int32) VARSIZE_ANY_EXHDR(DatumGetPointer(value));

	if (kind == EXPR_LENGTH_OCTETS || pg_database_encoding_max_length() == 1)
		return len;
	return GetDatabaseEncoding() == PG_UTF8 ?
		strata_utf8_length((const uint8 *) p, len) :
		pg_mbstrlen_with_len(p, len);
}

/* See expr_text_private.h. */
bool
strata_expr_lengths(ExprLength kind, const StrataColumn *col, uint64 *lengths)
{
	const StrataBytes *strings = &col->strings;
	const uint32 *offsets = strings->offsets;

	if (col->reader == NULL || offsets == NULL || col->codes == NULL ||
		strings->nentries != (uint32) col->ndict ||
		col->reader->columns[col->attno - 1].strings.offsets != offsets ||
		(kind == EXPR_LENGTH_CHARS &&
		 pg_database_encoding_max_length() > 1 &&
		 strata_has_high_byte(strings->payload + offsets[0],
							  offsets[col->ndict] - offsets[0])))
		return false;
	for (int i = 0; i < col->ndict; i++)
		lengths[i] = offsets[i + 1] - offsets[i];
	return true;
}

/* See expr_text_private.h.  Bytes below 128 are characters in any encoding. */
Datum
strata_expr_clip(const StrataPart *start, Datum value, char *buffer)
{
	const char *p = VARDATA_ANY(DatumGetPointer(value));
	Size		len = VARSIZE_ANY_EXHDR(DatumGetPointer(value));
	Size		need = Max(start->nchars, start->nbytes);
	unsigned char any = 0;

	if (len <= need || need > EXPR_START_SIZE - VARHDRSZ_SHORT)
		return value;
	for (Size i = 0; i < need; i++)
		any |= (unsigned char) p[i];
	if (any >= 128 && pg_database_encoding_max_length() > 1)
		return value;
	SET_VARSIZE_SHORT(buffer, need + VARHDRSZ_SHORT);
	memcpy(buffer + VARHDRSZ_SHORT, p, need);
	return PointerGetDatum(buffer);
}
