/*-------------------------------------------------------------------------
 *
 * expr_text_private.h
 *	  Lengths of texts, and their first bytes.
 *
 * src/expr/expr_text_private.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_EXPR_TEXT_PRIVATE_H
#define STRATA_EXPR_TEXT_PRIVATE_H

#include "expr/expr.h"

/* length() and octet_length() of a column. */
typedef enum ExprLength
{
	EXPR_LENGTH_NONE,
	EXPR_LENGTH_CHARS,
	EXPR_LENGTH_OCTETS
} ExprLength;

/* Which length a call is, of a column. */
extern ExprLength strata_expr_length_kind(const Expr *expr);

/* That of a value, which is plain. */
extern int32 strata_expr_length(ExprLength kind, Datum value);

/*
 * Those of the entries of a column's dictionary, from what they were decoded
 * to; false: that does not say it.
 */
extern bool strata_expr_lengths(ExprLength kind, const StrataColumn *col,
								uint64 *lengths);

/*
 * The start of a plain value that is all that is read of it, in the buffer; or
 * the value.
 */
#define EXPR_START_SIZE 64
extern Datum strata_expr_clip(const StrataPart *start, Datum value,
							  char *buffer);

#endif							/* STRATA_EXPR_TEXT_PRIVATE_H */
