/*-------------------------------------------------------------------------
 *
 * catalog_space.c
 *	  Tables whose freed space is to be given back: _strata.space_queue.
 *
 * Entries are only added, in the transaction that frees the space: several may
 * be of one table, and are taken together.  docs/adr/027.
 *
 * src/catalog/catalog_space.c
 *-------------------------------------------------------------------------
 */
#include "catalog/catalog_private.h"

#include "access/transam.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "utils/timestamp.h"

/*
 * When to try again what could not be done: after half the time that it has
 * waited, between a second and a minute.
 */
#define NEXT_TRY \
	"pg_catalog.clock_timestamp() + least(interval '1 minute'," \
	" greatest(interval '1 second', (pg_catalog.clock_timestamp() - q.since) / 2))"

/* See catalog.h. */
void
strata_space_queue_add(Oid relid, bool batches)
{
	StrataTableArgs args = {0};
	StrataTablesContext saved;
	uint64		before = U64FromFullTransactionId(ReadNextFullTransactionId());

	strata_arg_add(&args, OIDOID, ObjectIdGetDatum(relid), false);
	strata_arg_add(&args, BOOLOID, BoolGetDatum(batches), false);
	strata_arg_add(&args, INT8OID, Int64GetDatum((int64) before), false);
	strata_tables_enter(&saved);
	strata_tables_execute("INSERT INTO _strata.space_queue"
						  " (relation, batches, before) VALUES ($1, $2, $3)",
						  &args, SPI_OK_INSERT);
	strata_tables_leave(&saved);
}

/* See catalog.h. */
void
strata_space_queue_hold(uint64 horizon)
{
	StrataTableArgs args = {0};
	StrataTablesContext saved;

	strata_arg_add(&args, INT8OID, Int64GetDatum((int64) horizon), false);
	strata_tables_enter(&saved);
	strata_tables_execute("UPDATE _strata.space_queue q"
						  " SET waits_for = 'snapshot', tries = tries + 1,"
						  " next_try = " NEXT_TRY
						  " WHERE before > $1 AND next_try <= pg_catalog.clock_timestamp()",
						  &args, SPI_OK_UPDATE);
	strata_tables_leave(&saved);
}

/* See catalog.h. */
bool
strata_space_queue_take(uint64 horizon, StrataSpaceEntry *entry)
{
	StrataTableArgs args = {0};
	StrataTablesContext saved;
	bool		isnull;
	bool		found;

	strata_arg_add(&args, INT8OID, Int64GetDatum((int64) horizon), false);
	strata_tables_enter(&saved);
	/* if the process dies over it, others come first, and this one later */
	strata_tables_execute("UPDATE _strata.space_queue q SET tries = tries + 1,"
						  " next_try = " NEXT_TRY
						  " WHERE before <= $1 AND relation = (SELECT relation FROM _strata.space_queue"
						  " WHERE before <= $1 AND next_try <= pg_catalog.clock_timestamp()"
						  " ORDER BY next_try, id LIMIT 1)"
						  " RETURNING id, relation, batches, tries",
						  &args, SPI_OK_UPDATE_RETURNING);
	found = SPI_processed > 0;
	memset(entry, 0, sizeof(*entry));
	for (uint64 i = 0; i < SPI_processed; i++)
	{
		HeapTuple	tuple = SPI_tuptable->vals[i];

		entry->last = Max(entry->last,
						  DatumGetInt64(strata_table_column(tuple, 1,
															&isnull)));
		entry->relid = DatumGetObjectId(strata_table_column(tuple, 2,
															&isnull));
		entry->batches |= DatumGetBool(strata_table_column(tuple, 3,
														   &isnull));
		entry->tries = Max(entry->tries,
						   DatumGetInt32(strata_table_column(tuple, 4,
															 &isnull)));
	}
	strata_tables_leave(&saved);
	return found;
}

/* See catalog.h. */
void
strata_space_queue_finish(const StrataSpaceEntry *entry, const char *waits_for)
{
	StrataTableArgs args = {0};
	StrataTablesContext saved;

	Assert(OidIsValid(entry->relid) && entry->last > 0 &&
		   entry->tries > 0);	/* catalog:T5 */
	strata_arg_add(&args, OIDOID, ObjectIdGetDatum(entry->relid), false);
	strata_arg_add(&args, INT8OID, Int64GetDatum(entry->last), false);
	strata_tables_enter(&saved);
	if (waits_for == NULL)
		strata_tables_execute("DELETE FROM _strata.space_queue WHERE relation = $1 AND id <= $2",
							  &args, SPI_OK_DELETE);
	else
	{
		strata_arg_text(&args, waits_for);
		strata_tables_execute("UPDATE _strata.space_queue q SET waits_for = $3,"
							  " next_try = " NEXT_TRY
							  " WHERE relation = $1 AND id <= $2",
							  &args, SPI_OK_UPDATE);
	}
	strata_tables_leave(&saved);
}

/* See catalog.h. */
TimestampTz
strata_space_queue_earliest(void)
{
	StrataTableArgs args = {0};
	StrataTablesContext saved;
	bool		isnull;
	Datum		value;

	strata_tables_enter(&saved);
	strata_tables_execute("SELECT pg_catalog.min(next_try) FROM _strata.space_queue",
						  &args, SPI_OK_SELECT);
	value = strata_table_column(SPI_tuptable->vals[0], 1, &isnull);
	strata_tables_leave(&saved);
	return isnull ? DT_NOEND : DatumGetTimestampTz(value);
}
