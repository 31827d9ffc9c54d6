/*-------------------------------------------------------------------------
 *
 * catalog_private.h
 *	  What the files of src/catalog share among themselves.
 *
 * src/catalog/catalog_private.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_CATALOG_PRIVATE_H
#define STRATA_CATALOG_PRIVATE_H

#include "base/base.h"
#include "catalog/catalog.h"

#include "access/htup.h"
#include "nodes/bitmapset.h"

/*
 * Check texts of strata.codec_level and strata.codecs (or NULL); segmentby has
 * attnos.
 */
extern void strata_option_codecs_check(Relation rel, const char *level,
									   const char *text, Bitmapset *segmentby);

/*
 * Value of an option of rel, or of its nearest ancestor that has it; or NULL.
 */
extern char *strata_option_inherited_text(Relation rel, const char *name);

/* Fill in what is in force for rel, own or inherited. */
extern void strata_option_codecs_get(Relation rel, StrataSettings *settings);

/*
 * The text with a column renamed, or (new_name NULL) left out; NULL when it
 * does not name it.
 */
extern char *strata_option_codecs_rewrite(const char *text, const char *old,
										  const char *new_name);

/* Does the codec that the text names for the column hold its type? */
extern bool strata_option_codecs_fit(const char *text, Form_pg_attribute att);

/*
 * The column of this name, or NULL; the same for one that an option (its name
 * without "strata.") lists: ereports when it is not there, or is in *seen.
 */
extern Form_pg_attribute strata_option_find_column(TupleDesc desc,
												   const char *name);
extern Form_pg_attribute strata_option_take_column(Relation rel,
												   const char *option,
												   const char *column,
												   Bitmapset **seen);

/* ereport when the column is a virtual generated one. */
extern void strata_option_refuse_virtual(Form_pg_attribute att,
										 const char *option);

/*
 * catalog_compat.c: does TimescaleDB's setting ask for direct loads into rel?
 */
extern bool strata_compat_direct_load(Relation rel);

/*
 * catalog_call.c.  The text as a select list (ResTargets), and as one of calls
 * of columns with at most one constant behind them (StrataOptionCalls); NIL
 * where it is something else.
 */
typedef struct StrataOptionCall
{
	char	   *name;
	List	   *columns;		/* names */
	char	   *constant;		/* or NULL */
} StrataOptionCall;

extern List *strata_option_parse_targets(const char *text);
extern List *strata_option_parse_calls(const char *text);

/* catalog_dimension.c: as those of codecs; text may be NULL. */
extern void strata_option_dimensions_check(Relation rel, const char *text);
extern char *strata_option_dimensions_rewrite(const char *text,
											  const char *old,
											  const char *new_name);

/*
 * catalog_table.c: one statement on the extension's own tables, as their owner
 * and with a pinned search_path, between enter and leave.  execute raises
 * unless the result is the one expected (SPI_OK_...).
 */
#define STRATA_TABLE_MAX_ARGS 20

typedef struct StrataTableArgs
{
	int			n;
	Oid			types[STRATA_TABLE_MAX_ARGS];
	Datum		values[STRATA_TABLE_MAX_ARGS];
	char		nulls[STRATA_TABLE_MAX_ARGS];
} StrataTableArgs;

/* What strata_tables_enter() changed; mcxt: the context of before. */
typedef struct StrataTablesContext
{
	StrataOwnerContext owner;
	MemoryContext mcxt;
} StrataTablesContext;

extern void strata_arg_add(StrataTableArgs *args, Oid type, Datum value,
						   bool isnull);
extern void strata_arg_text(StrataTableArgs *args, const char *value);

/* A table of rollups (_strata.rollup_...); InvalidOid: there is none. */
extern Oid	strata_rollup_relation(const char *name);
extern void strata_tables_enter(StrataTablesContext *saved);
extern void strata_tables_leave(StrataTablesContext *saved);
extern void strata_tables_execute(const char *sql, StrataTableArgs *args,
								  int expected);

/* Column `number`, from 1, of a row of the result. */
extern Datum strata_table_column(HeapTuple tuple, int number, bool *isnull);

#endif							/* STRATA_CATALOG_PRIVATE_H */
