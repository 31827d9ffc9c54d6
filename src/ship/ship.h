/*-------------------------------------------------------------------------
 *
 * ship.h
 *	  Batches on their way to another server: units of bytes, made of a
 *	  table's rows and made rows again.
 *
 * src/ship/ship.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_SHIP_H
#define STRATA_SHIP_H

#include "postgres.h"

#include "lib/stringinfo.h"
#include "nodes/execnodes.h"
#include "utils/uuid.h"

/* What a unit has; the numbers are on the wire. */
typedef enum StrataUnitKind
{
	STRATA_UNIT_BATCH = 'b',	/* rows of a batch */
	STRATA_UNIT_ROWS = 'r',		/* rows that were in no batch */
	STRATA_UNIT_END = 'e'		/* none: the export's last, and how many there
								 * were */
} StrataUnitKind;

/* How a column's values travel; the numbers are on the wire. */
typedef enum StrataUnitForm
{
	STRATA_FORM_VALUE = 'v',	/* as they are kept */
	STRATA_FORM_TEXT = 't'		/* as their type's output function gives them */
} StrataUnitForm;

/* A column of a unit, as its head says it. */
typedef struct StrataUnitColumn
{
	char		name[NAMEDATALEN];
	StrataUnitForm form;
	Oid			type;			/* form VALUE: one of PostgreSQL's own */
	int32		typmod;
	char	   *type_name;		/* form TEXT: with schema and modifier */
	const uint8 *bytes;			/* the encoded column, in the unit */
	Size		nbytes;
} StrataUnitColumn;

/* From where, and of which times: half-open, in units of the time column. */
typedef struct StrataUnitOrigin
{
	pg_uuid_t	export;			/* one snapshot of one table, and the
								 * arguments */
	int64		source;			/* the table, of all tables of all servers */
	bool		has_low;
	bool		has_high;
	int64		low;
	int64		high;
} StrataUnitOrigin;

/* A unit taken apart; points into it, the rest is in the current context. */
typedef struct StrataUnit
{
	StrataUnitKind kind;
	StrataUnitOrigin origin;
	int64		seq;			/* from 1 */
	int			nrows;			/* 0: the end */
	int64		total_rows;		/* of the end: of all units before it */
	int			ncolumns;
	StrataUnitColumn *columns;
} StrataUnit;

/* Which byte of a unit, from 0, is its kind. */
#define STRATA_UNIT_KIND_AT 5

/* ereports where these are no unit's bytes, or another kind of server's. */
extern StrataUnit *strata_unit_parse(const bytea *bytes);

/*
 * A table's rows as units, one after the other, by one snapshot; what the user
 * may read is checked.  low, high: text of the time column's type, or NULL.
 * columns: names (char *), NIL: all.  next: NULL after the end; the result and
 * *unit, without columns, are in the current context.
 */
typedef struct StrataExport StrataExport;
extern StrataExport *strata_export_begin(Oid relid, const char *low,
										 const char *high, List *columns);
extern bytea *strata_export_next(StrataExport *export, StrataUnit *unit);
extern void strata_export_end(StrataExport *export);

/*
 * A unit's rows into the tuplestore of a function that returns records,
 * checked value by value; ship_rows.c.
 */
extern void strata_unit_rows(const StrataUnit *unit, ReturnSetInfo *rsinfo);

/* Numbers of units, as sorted ranges. */
typedef struct StrataUnitSet
{
	int			nranges;
	int			room;
	int64		(*ranges)[2];	/* from, to (inclusive) */
} StrataUnitSet;

/* add: false, and nothing done, when one of them was there. */
extern bool strata_unit_set_add(StrataUnitSet *set, int64 from, int64 to);
extern int64 strata_unit_set_count(const StrataUnitSet *set);

/*
 * Names of the columns that a unit has, which the table has to have, and for
 * each what the function that takes units apart has to return for it.
 */
extern void strata_unit_match(Oid relid, const StrataUnit *unit,
							  StringInfo columns, StringInfo definitions);

/*
 * Import what is in `source`, in transactions of `limit` units where that is
 * allowed (not atomic; 0: one transaction); ship_import.c.  The caller has
 * connected to SPI.  How many units and rows have come.
 */
extern void strata_import_run(Oid relid, Oid source, int limit, bool atomic,
							  int64 *units, int64 *rows);

/* For the statement that does it: token is the import's, 0: of none. */
extern void strata_import_rows(int token, const bytea *bytes,
							   ReturnSetInfo *rsinfo);

/* Forget imports into a table (export NULL: all); how many there were. */
extern int64 strata_import_forget(Oid relid, const pg_uuid_t *export);

#endif							/* STRATA_SHIP_H */
