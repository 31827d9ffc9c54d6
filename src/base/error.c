/*-------------------------------------------------------------------------
 *
 * error.c
 *	  Errors that more than one folder raises, each with its errcode.
 *
 * src/base/error.c
 *-------------------------------------------------------------------------
 */
#include "base/base.h"

/*
 * Damaged bytes in a batch.  Never returns.
 */
void
strata_error_corrupt(Relation rel, int64 first_row, const char *column,
					 const char *what)
{
	const char *relname = rel != NULL ? RelationGetRelationName(rel) : "?";

	if (column != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("compressed data of table \"%s\" is corrupt", relname),
				 errdetail("Batch starting at row %lld, column \"%s\": %s.",
						   (long long) first_row, column, what),
				 errhint("SELECT * FROM strata.verify('%s') lists every damaged batch.",
						 relname)));
	ereport(ERROR,
			(errcode(ERRCODE_DATA_CORRUPTED),
			 errmsg("compressed data of table \"%s\" is corrupt", relname),
			 errdetail("Batch starting at row %lld: %s.", (long long) first_row,
					   what),
			 errhint("SELECT * FROM strata.verify('%s') lists every damaged batch.",
					 relname)));
}
