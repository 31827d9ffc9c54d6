/*-------------------------------------------------------------------------
 *
 * uuid_time.c
 *	  Times in UUIDs of version 7 (RFC 9562), and such UUIDs of times.
 *
 * The first 48 bits are milliseconds since 1970, the 12 bits behind the
 * version say how far into the millisecond it is, in 4096ths (method 3 of the
 * RFC, as PostgreSQL 18's uuidv7() has it).  Microseconds are rounded up on
 * the way in and down on the way out, so that the order of UUIDs is that of
 * their times, exactly: a UUID is >= the boundary of a time if and only if its
 * time is >= that time.
 *
 * src/time/uuid_time.c
 *-------------------------------------------------------------------------
 */
#include "base/base.h"
#include "time/time.h"

#include "access/transam.h"
#include "catalog/dependency.h"
#include "catalog/pg_proc.h"
#include "commands/extension.h"
#include "fmgr.h"
#include "utils/datetime.h"
#include "utils/lsyscache.h"
#include "utils/uuid.h"

PG_FUNCTION_INFO_V1(strata_generate_uuidv7);
PG_FUNCTION_INFO_V1(strata_to_uuidv7);
PG_FUNCTION_INFO_V1(strata_to_uuidv7_boundary);
PG_FUNCTION_INFO_V1(strata_uuid_timestamp);
PG_FUNCTION_INFO_V1(strata_uuid_timestamp_micros);
PG_FUNCTION_INFO_V1(strata_uuid_version);

/* negative */
#define EPOCH_USECS ((UNIX_EPOCH_JDATE - POSTGRES_EPOCH_JDATE) * USECS_PER_DAY)
#define USECS_PER_MSEC INT64CONST(1000)
#define MSEC_PARTS 4096

static int
version_of(const pg_uuid_t *uuid)
{
	return uuid->data[6] >> 4;
}

/* Of version 7, and of the variant that has versions? */
static bool
is_version_7(const pg_uuid_t *uuid)
{
	return version_of(uuid) == 7 && uuid->data[8] >> 6 == 2;
}

/* See time.h. */
TimestampTz
strata_uuid_bound_time(const pg_uuid_t *uuid)
{
	int64		msecs = 0;
	int64		part = ((uuid->data[6] & 0x0f) << 8) | uuid->data[7];

	for (int i = 0; i < 6; i++)
		msecs = (msecs << 8) | uuid->data[i];
	return msecs * USECS_PER_MSEC + part * USECS_PER_MSEC / MSEC_PARTS +
		EPOCH_USECS;
}

/* See time.h. */
TimestampTz
strata_uuid_time(const pg_uuid_t *uuid)
{
	if (!is_version_7(uuid))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("not a version 7 UUID"),
				 errdetail("Only UUIDs of version 7 say a time in the order in which they sort."),
				 errhint("SELECT generate_uuidv7();")));
	return strata_uuid_bound_time(uuid);
}

/* See time.h. */
void
strata_uuid_boundary(TimestampTz time, pg_uuid_t *uuid)
{
	int64		usecs;
	int64		msecs;
	int64		part;

	if (time < STRATA_UUID_MIN_TIME || time > STRATA_UUID_MAX_TIME)
		ereport(ERROR,
				(errcode(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE),
				 errmsg("timestamp out of range for a UUID"),
				 errdetail("UUIDs of version 7 have times from 1970 to 10889.")));
	usecs = time - EPOCH_USECS;
	msecs = usecs / USECS_PER_MSEC;
	part = (usecs % USECS_PER_MSEC * MSEC_PARTS + USECS_PER_MSEC - 1) /
		USECS_PER_MSEC;
	Assert(part <= 0xfff && msecs >> 48 ==
		   0);					/* time:U4: no bit is cut off */
	memset(uuid, 0, sizeof(*uuid));
	for (int i = 5; i >= 0; i--, msecs >>= 8)
		uuid->data[i] = (unsigned char) msecs;
	uuid->data[6] = (unsigned char) (0x70 | part >> 8);
	uuid->data[7] = (unsigned char) part;
	uuid->data[8] = 0x80;
}

/* See time.h. */
bool
strata_uuid_is_boundary(Oid funcid)
{
	char	   *name;
	Oid			extension;

	name = funcid >= FirstNormalObjectId ? get_func_name(funcid) : NULL;
	extension = name != NULL && strcmp(name, "to_uuidv7_boundary") == 0 ?
		getExtensionOfObject(ProcedureRelationId, funcid) : InvalidOid;
	return OidIsValid(extension) &&
		extension == get_extension_oid(STRATA_EXTENSION, true);
}

static Datum
random_of_time(TimestampTz time)
{
	pg_uuid_t  *uuid = palloc(sizeof(pg_uuid_t));

	strata_uuid_boundary(time, uuid);
	if (!pg_strong_random(uuid->data + 8, 8))
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg("could not generate random values")));
	uuid->data[8] = (uuid->data[8] & 0x3f) | 0x80;
	PG_RETURN_UUID_P(uuid);
}

Datum
strata_generate_uuidv7(PG_FUNCTION_ARGS)
{
	return random_of_time(GetCurrentTimestamp());
}

Datum
strata_to_uuidv7(PG_FUNCTION_ARGS)
{
	return random_of_time(PG_GETARG_TIMESTAMPTZ(0));
}

Datum
strata_to_uuidv7_boundary(PG_FUNCTION_ARGS)
{
	pg_uuid_t  *uuid = palloc(sizeof(pg_uuid_t));

	strata_uuid_boundary(PG_GETARG_TIMESTAMPTZ(0), uuid);
	PG_RETURN_UUID_P(uuid);
}

/* Milliseconds, which are all that every version 7 has. */
Datum
strata_uuid_timestamp(PG_FUNCTION_ARGS)
{
	int64		usecs = strata_uuid_time(PG_GETARG_UUID_P(0)) - EPOCH_USECS;

	PG_RETURN_TIMESTAMPTZ(usecs - usecs % USECS_PER_MSEC + EPOCH_USECS);
}

Datum
strata_uuid_timestamp_micros(PG_FUNCTION_ARGS)
{
	PG_RETURN_TIMESTAMPTZ(strata_uuid_time(PG_GETARG_UUID_P(0)));
}

Datum
strata_uuid_version(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT32(version_of(PG_GETARG_UUID_P(0)));
}
