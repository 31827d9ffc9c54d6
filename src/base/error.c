/*-------------------------------------------------------------------------
 *
 * error.c
 *	  Errors that more than one folder raises, each with its errcode.
 *
 * src/base/error.c
 *-------------------------------------------------------------------------
 */
#include "base/base.h"

#include "access/xact.h"
#include "utils/memutils.h"
#include "utils/resowner.h"

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

/* A TOAST chunk that is gone, or a page that cannot be read, is damage too. */
static bool
is_damage(const ErrorData *error)
{
	return error->sqlerrcode == ERRCODE_DATA_CORRUPTED ||
		error->sqlerrcode == ERRCODE_INDEX_CORRUPTED ||
		error->sqlerrcode == ERRCODE_IO_ERROR ||
		error->sqlerrcode == ERRCODE_INTERNAL_ERROR;
}

/* See base.h. */
char *
strata_error_damage_of(void (*work) (void *arg), void *arg)
{
	MemoryContext mcxt = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	char	   *volatile damage = NULL;

	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(mcxt);
	PG_TRY();
	{
		work(arg);
		ReleaseCurrentSubTransaction();
	}
	PG_CATCH();
	{
		ErrorData  *error;

		MemoryContextSwitchTo(mcxt);
		error = CopyErrorData();
		if (!is_damage(error))
			PG_RE_THROW();
		FlushErrorState();
		RollbackAndReleaseCurrentSubTransaction();
		damage = error->detail != NULL ? error->detail : error->message;
	}
	PG_END_TRY();
	MemoryContextSwitchTo(mcxt);
	CurrentResourceOwner = owner;
	return damage;
}
