/*-------------------------------------------------------------------------
 *
 * ship_unit.c
 *	  The bytes of a unit: docs/format.md, "Units".
 *
 * A unit says by itself what it has, so that units need not come in order,
 * and none is needed to read another.  Whoever sends one may be anybody: what
 * is read here is checked for where it ends, and believed in nothing else.
 *
 * src/ship/ship_unit.c
 *-------------------------------------------------------------------------
 */
#include "ship/ship_private.h"

#include "access/htup_details.h"
#include "codec/codec.h"
#include "libpq/pqformat.h"
#include "mb/pg_wchar.h"
#include "port/pg_crc32c.h"

#define UNIT_MAGIC 0x53747255	/* "StrU" */
#define UNIT_VERSION 1
#define UNIT_CRC_AT (STRATA_UNIT_KIND_AT + 2)	/* behind kind, byte order */

#ifdef WORDS_BIGENDIAN
#define BYTE_ORDER_HERE 'b'
#else
#define BYTE_ORDER_HERE 'l'
#endif

/* See ship_private.h. */
void
strata_unit_corrupt(const char *what)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATA_CORRUPTED),
			 errmsg("a unit of exported batches is damaged"),
			 errdetail("%s.", what)));
}

/* There are n bytes more. */
static void
need(StringInfo buf, Size n)
{
	if ((Size) (buf->len - buf->cursor) < n)
		strata_unit_corrupt("It ends too early");
}

static int
get_byte(StringInfo buf)
{
	need(buf, 1);
	return pq_getmsgbyte(buf);
}

static uint32
get_int(StringInfo buf, int width)
{
	need(buf, width);
	return pq_getmsgint(buf, width);
}

static int64
get_int64(StringInfo buf)
{
	need(buf, sizeof(int64));
	return pq_getmsgint64(buf);
}

/* A string with its length before it, of a byte or two; palloc'd. */
static char *
get_string(StringInfo buf, int width)
{
	uint32		len = get_int(buf, width);
	char	   *string;

	need(buf, len);
	string = pnstrdup(pq_getmsgbytes(buf, len), len);
	if (!pg_verify_mbstr(GetDatabaseEncoding(), string, strlen(string), true))
		strata_unit_corrupt("A name in it is no text");
	return string;
}

static void
put_string(StringInfo buf, const char *string, int width)
{
	int			len = strlen(string);

	if (width == 1)
		pq_sendint8(buf, (uint8) len);
	else
		pq_sendint16(buf, (uint16) len);
	appendBinaryStringInfo(buf, string, len);
}

/* See ship_private.h. */
void
strata_unit_begin(StringInfo buf, const StrataUnit *unit)
{
	const StrataUnitOrigin *origin = &unit->origin;

	initStringInfo(buf);
	appendStringInfoSpaces(buf, VARHDRSZ);	/* becomes a bytea */
	pq_sendint32(buf, UNIT_MAGIC);
	pq_sendint8(buf, UNIT_VERSION);
	pq_sendint8(buf, unit->kind);
	pq_sendint8(buf, BYTE_ORDER_HERE);
	pq_sendint32(buf, 0);		/* the checksum */
	appendBinaryStringInfo(buf, (const char *) origin->export.data, UUID_LEN);
	pq_sendint64(buf, unit->seq);
	pq_sendint64(buf, origin->source);
	pq_sendint8(buf, (origin->has_low ? 1 : 0) | (origin->has_high ? 2 : 0));
	pq_sendint64(buf, origin->low);
	pq_sendint64(buf, origin->high);
	if (unit->kind == STRATA_UNIT_END)
	{
		pq_sendint64(buf, unit->total_rows);
		return;
	}
	Assert(unit->nrows > 0 &&
		   unit->nrows <= STRATA_CODEC_MAX_ROWS);	/* ship:SH1 */
	pq_sendint16(buf, (uint16) unit->nrows);
	put_string(buf, GetDatabaseEncodingName(), 1);
	pq_sendint16(buf, (uint16) unit->ncolumns);
	for (int i = 0; i < unit->ncolumns; i++)
	{
		const StrataUnitColumn *column = &unit->columns[i];

		put_string(buf, column->name, 1);
		pq_sendint8(buf, column->form);
		if (column->form == STRATA_FORM_VALUE)
		{
			pq_sendint32(buf, column->type);
			pq_sendint32(buf, (uint32) column->typmod);
		}
		else
			put_string(buf, column->type_name, 2);
	}
}

/* Of all bytes but the checksum's own. */
static uint32
unit_checksum(const char *data, int len)
{
	pg_crc32c	crc;

	INIT_CRC32C(crc);
	COMP_CRC32C(crc, data, UNIT_CRC_AT);
	COMP_CRC32C(crc, data + UNIT_CRC_AT + 4, len - UNIT_CRC_AT - 4);
	FIN_CRC32C(crc);
	return crc;
}

/* See ship_private.h. */
bytea *
strata_unit_finish(StringInfo buf)
{
	bytea	   *unit = (bytea *) buf->data;
	uint32		crc = pg_hton32(unit_checksum(buf->data + VARHDRSZ,
											  buf->len - VARHDRSZ));

	memcpy(buf->data + VARHDRSZ + UNIT_CRC_AT, &crc, sizeof(crc));
	SET_VARSIZE(unit, buf->len);
	return unit;
}

/* What was exported has another form than this server's. */
static void
refuse_unit(const char *detail, const char *hint)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("a unit of exported batches does not fit this server"),
			 errdetail("%s", detail),
			 errhint("%s", hint)));
}

/* Head of the head: before the checksum, and the checksum itself. */
static void
parse_start(StringInfo buf, StrataUnit *unit)
{
	uint32		crc;
	int			order;

	if (get_int(buf, 4) != UNIT_MAGIC)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("these bytes are no unit of exported batches"),
				 errhint("Units are what strata.export_batches() returns in its column \"unit\".")));
	if (get_byte(buf) != UNIT_VERSION)
		refuse_unit("It has another version of the format.",
					"Export with this version of the extension, or import with a newer one.");
	unit->kind = get_byte(buf);
	order = get_byte(buf);
	crc = get_int(buf, 4);
	if (crc != unit_checksum(buf->data, buf->len))
		strata_unit_corrupt("Its checksum differs");
	if (unit->kind != STRATA_UNIT_BATCH && unit->kind != STRATA_UNIT_ROWS &&
		unit->kind != STRATA_UNIT_END)
		strata_unit_corrupt("Its kind is unknown");
	if (order != BYTE_ORDER_HERE)
		refuse_unit("It was made by a server with another byte order.",
					"COPY the table, as text or binary, instead.");
}

/* What the head says of a column. */
static void
parse_unit_column(StringInfo buf, StrataUnitColumn *column)
{
	char	   *name = get_string(buf, 1);

	if (strlen(name) == 0 || strlen(name) >= NAMEDATALEN)
		strata_unit_corrupt("A column's name has a length that no name has");
	strlcpy(column->name, name, NAMEDATALEN);
	column->form = get_byte(buf);
	column->type = InvalidOid;
	column->typmod = -1;
	column->type_name = NULL;
	if (column->form == STRATA_FORM_VALUE)
	{
		column->type = get_int(buf, 4);
		column->typmod = (int32) get_int(buf, 4);
		if (!strata_ship_travels_as_value(column->type))
			strata_unit_corrupt("A column is of a type whose values do not travel as they are");
	}
	else if (column->form == STRATA_FORM_TEXT)
		column->type_name = get_string(buf, 2);
	else
		strata_unit_corrupt("A column's form is unknown");
}

/* See ship.h. */
StrataUnit *
strata_unit_parse(const bytea *bytes)
{
	StrataUnit *unit = palloc0(sizeof(StrataUnit));
	StringInfoData buf = {0};
	int			flags;
	char	   *encoding;

	buf.data = VARDATA_ANY(bytes);
	buf.len = buf.maxlen = VARSIZE_ANY_EXHDR(bytes);
	parse_start(&buf, unit);
	need(&buf, UUID_LEN);
	memcpy(unit->origin.export.data, pq_getmsgbytes(&buf, UUID_LEN), UUID_LEN);
	unit->seq = get_int64(&buf);
	unit->origin.source = get_int64(&buf);
	flags = get_byte(&buf);
	unit->origin.has_low = (flags & 1) != 0;
	unit->origin.has_high = (flags & 2) != 0;
	unit->origin.low = get_int64(&buf);
	unit->origin.high = get_int64(&buf);
	if (unit->seq < 1 || unit->seq == PG_INT64_MAX || flags > 3)
		strata_unit_corrupt("Its number is none that units have");
	if (unit->kind == STRATA_UNIT_END)
	{
		unit->total_rows = get_int64(&buf);
		return unit;
	}
	unit->nrows = (int) get_int(&buf, 2);
	if (unit->nrows < 1 || unit->nrows > STRATA_CODEC_MAX_ROWS)
		strata_unit_corrupt("It has a number of rows that units do not have");
	encoding = get_string(&buf, 1);
	if (strcmp(encoding, GetDatabaseEncodingName()) != 0)
		refuse_unit(psprintf("Its texts are in encoding \"%s\", this database's are in \"%s\".",
							 pg_valid_server_encoding(encoding) >= 0 ?
							 encoding : "unknown",
							 GetDatabaseEncodingName()),
					"COPY the table instead, which converts, or make a database with that encoding.");
	unit->ncolumns = (int) get_int(&buf, 2);
	if (unit->ncolumns < 1 || unit->ncolumns > MaxTupleAttributeNumber)
		strata_unit_corrupt("It has a number of columns that tables do not have");
	unit->columns = palloc0(sizeof(StrataUnitColumn) * unit->ncolumns);
	for (int i = 0; i < unit->ncolumns; i++)
		parse_unit_column(&buf, &unit->columns[i]);
	for (int i = 0; i < unit->ncolumns; i++)
	{
		unit->columns[i].nbytes = get_int(&buf, 4);
		need(&buf, unit->columns[i].nbytes);
		unit->columns[i].bytes = (const uint8 *)
			pq_getmsgbytes(&buf, (int) unit->columns[i].nbytes);
	}
	if (buf.cursor != buf.len)
		strata_unit_corrupt("There are bytes behind its last column");
	return unit;
}
