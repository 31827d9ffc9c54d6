/*-------------------------------------------------------------------------
 *
 * pg_copy_input.c
 *	  COPY FROM that reads a column by a function of ours.
 *
 * COPY calls the input functions it has looked up through their addresses in
 * CopyFromState, with the arguments that InputFunctionCall passes.
 *
 * src/pg/pg_copy_input.c
 *-------------------------------------------------------------------------
 */
#include "pg/pg.h"

#include "commands/copyfrom_internal.h"

/* See pg.h. */
void
strata_copy_replace_input(CopyFromState copy, AttrNumber attno,
						  PGFunction input)
{
	copy->in_functions[attno - 1].fn_addr = input;
}
