/*-------------------------------------------------------------------------
 *
 * ship_private.h
 *	  What the files of src/ship share among themselves.
 *
 * src/ship/ship_private.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_SHIP_PRIVATE_H
#define STRATA_SHIP_PRIVATE_H

#include "base/base.h"
#include "batch/batch.h"
#include "ship/ship.h"

/*
 * Do values of a base type travel as they are kept?  Those whose bytes mean
 * the same on every server, and of which it can be told that they are sound.
 */
extern bool strata_ship_travels_as_value(Oid type);

/* Is one of them, not null, what its type's input function could have made? */
extern bool strata_ship_value_is_sound(Oid type, Datum value);

/* "schema.name" of a type for use in SQL, without modifier; palloc'd. */
extern char *strata_ship_type_name(Oid type);

/* The base type of an attribute's with its modifier. */
extern Oid	strata_ship_base_type(Form_pg_attribute att, int32 *typmod);

/* Append an encoded column of these values (ship_column.c), with its length. */
extern void strata_ship_encode(StringInfo buf, const StrataColumnType *type,
							   const Datum *values, const bool *isnull,
							   int nrows);

/*
 * The values of an encoded column of nrows rows, whose bytes nobody vouches
 * for; in the current context.  by-reference values may be shared by rows.
 */
extern void strata_ship_decode(const StrataUnitColumn *column,
							   const StrataColumnType *type, int nrows,
							   Datum *values, bool *isnull);

/*
 * Settings, until the GUC nest level ends, under which texts of values mean
 * the same on every server: names are qualified, as in a dump.
 */
extern void strata_ship_pin_texts(void);

/* Write a unit (ship_unit.c): its head, columns by the caller, finish. */
extern void strata_unit_begin(StringInfo buf, const StrataUnit *unit);
extern bytea *strata_unit_finish(StringInfo buf);

/* The damage that a unit has: ereport. */
pg_noreturn extern void strata_unit_corrupt(const char *what);

#endif							/* STRATA_SHIP_PRIVATE_H */
