/*-------------------------------------------------------------------------
 *
 * stat_file.c
 *	  Counters outlive a restart of the server that was not a crash.
 *
 * The postmaster writes them to a file when it has shut down, and reads and
 * removes that file when it starts.  A file that is not as expected is
 * removed: counters begin anew.
 *
 * src/stat/stat_file.c
 *-------------------------------------------------------------------------
 */
#include "stat/stat_private.h"

#include "pgstat.h"
#include "storage/fd.h"

#include <unistd.h>

#define STAT_FILE PGSTAT_STAT_PERMANENT_DIRECTORY "/strata.stat"
#define STAT_FILE_NEW STAT_FILE ".tmp"
#define STAT_FILE_MAGIC 0x53545231	/* "STR1": another when StatRecord changes */

/* One table in the file; a header of the same size comes first. */
typedef struct StatRecord
{
	StatKey		key;			/* header: magic number, STRATA_STATS */
	int64		counts[STRATA_STATS];	/* header: [0] is the number of tables */
	int64		last_scan;
	int64		last_compression;
	int64		since;
} StatRecord;

/* Write all tables; false, with errno, when that fails. */
static bool
write_tables(FILE *file)
{
	StatRecord	record = {0};
	HASH_SEQ_STATUS status;
	StatEntry  *entry;

	record.key.database = STAT_FILE_MAGIC;
	record.key.relid = STRATA_STATS;
	record.counts[0] = hash_get_num_entries(strata_stat_table);
	if (fwrite(&record, sizeof(record), 1, file) != 1)
		return false;
	hash_seq_init(&status, strata_stat_table);
	while ((entry = hash_seq_search(&status)) != NULL)
	{
		record.key = entry->key;
		for (int i = 0; i < STRATA_STATS; i++)
			record.counts[i] = pg_atomic_read_u64(&entry->counts[i]);
		record.last_scan = pg_atomic_read_u64(&entry->last_scan);
		record.last_compression =
			pg_atomic_read_u64(&entry->last_compression);
		record.since = pg_atomic_read_u64(&entry->since);
		if (fwrite(&record, sizeof(record), 1, file) != 1)
		{
			hash_seq_term(&status);
			return false;
		}
	}
	return true;
}

/* See stat_private.h. */
void
strata_stat_save(void)
{
	FILE	   *file = AllocateFile(STAT_FILE_NEW, PG_BINARY_W);
	bool		written = file != NULL && write_tables(file);

	if (file != NULL && FreeFile(file) != 0)
		written = false;
	if (written)
	{
		(void) durable_rename(STAT_FILE_NEW, STAT_FILE, LOG);
		return;
	}
	ereport(LOG,
			(errcode_for_file_access(),
			 errmsg("could not write file \"%s\": %m", STAT_FILE_NEW)));
	unlink(STAT_FILE_NEW);
}

/* Read it all; false: it is not as expected. */
static bool
read_tables(FILE *file)
{
	StatRecord	record;
	int64		n;

	if (fread(&record, sizeof(record), 1, file) != 1 ||
		record.key.database != STAT_FILE_MAGIC ||
		record.key.relid != STRATA_STATS)
		return false;
	n = record.counts[0];
	for (int64 i = 0; i < n; i++)
	{
		StatEntry  *entry;

		if (fread(&record, sizeof(record), 1, file) != 1)
			return false;
		entry = strata_stat_enter(&record.key);
		if (entry == NULL)
			return true;		/* strata.max_stat_tables is less now */
		for (int k = 0; k < STRATA_STATS; k++)
			pg_atomic_write_u64(&entry->counts[k], record.counts[k]);
		pg_atomic_write_u64(&entry->last_scan, record.last_scan);
		pg_atomic_write_u64(&entry->last_compression,
							record.last_compression);
		pg_atomic_write_u64(&entry->since, record.since);
	}
	return true;
}

/* See stat_private.h. */
void
strata_stat_load(void)
{
	FILE	   *file = AllocateFile(STAT_FILE, PG_BINARY_R);

	if (file == NULL)
	{
		if (errno != ENOENT)
			ereport(LOG,
					(errcode_for_file_access(),
					 errmsg("could not read file \"%s\": %m", STAT_FILE)));
		return;
	}
	if (!read_tables(file))
		ereport(LOG,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("ignoring invalid data in file \"%s\"", STAT_FILE)));
	FreeFile(file);
	unlink(STAT_FILE);
}
