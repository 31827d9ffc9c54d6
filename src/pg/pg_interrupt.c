/*-------------------------------------------------------------------------
 *
 * pg_interrupt.c
 *	  Was it PostgreSQL that ended a statement, or did somebody's code say so?
 *
 * Anybody may raise an error with the code of a cancellation.  Only where an
 * error was raised tells: a cancellation, and a timeout of a statement, are
 * raised by ProcessInterrupts(), and nothing that is written in SQL or a
 * trusted language gets its name into an error.
 *
 * src/pg/pg_interrupt.c
 *-------------------------------------------------------------------------
 */
#include "pg/pg.h"

#include "utils/elog.h"
#include "utils/errcodes.h"

/* See pg.h. */
bool
strata_error_is_interrupt(const ErrorData *edata)
{
	return ERRCODE_TO_CATEGORY(edata->sqlerrcode) ==
		ERRCODE_OPERATOR_INTERVENTION &&
		edata->funcname != NULL &&
		strcmp(edata->funcname, "ProcessInterrupts") == 0;
}
