/*-------------------------------------------------------------------------
 *
 * wire_receiver.c
 *	  The receiver of rows: one DataRow message for each.
 *
 * What is sent around the rows, as their description, is left to PostgreSQL's
 * own receiver (printtup.c).
 *
 * src/wire/wire_receiver.c
 *-------------------------------------------------------------------------
 */
#include "wire/wire_private.h"

#include "executor/tuptable.h"
#include "libpq/pqformat.h"
#include "mb/pg_wchar.h"
#include "port/pg_bswap.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

/* A length, and a value that a writer writes. */
#define MAX_FIXED (sizeof(uint32) + STRATA_WIRE_MAX_FIXED)

typedef struct WireReceiver
{
	DestReceiver pub;
	DestReceiver *client;
	const int16 *formats;		/* or NULL */
	bool		sent_row;
	MemoryContext context;
	int			ncolumns;
	StrataWireColumn *columns;
	StringInfoData row;			/* the message */
	MemoryContext scratch;		/* of types' functions, for a row; or NULL */
} WireReceiver;

static void
choose_writer(StrataWireColumn *column, Oid type, bool is_binary)
{
	memset(column, 0, sizeof(*column));
	column->type = type;
	column->is_binary = is_binary;
	/* a domain has the functions of its base type */
	type = getBaseType(type);
	if (is_binary)
		strata_wire_binary_init(column, type);
	else
		strata_wire_text_init(column, type);
}

static void
start_result(DestReceiver *self, int operation, TupleDesc desc)
{
	WireReceiver *receiver = (WireReceiver *) self;
	MemoryContext caller;

	receiver->client->rStartup(receiver->client, operation, desc);
	caller = MemoryContextSwitchTo(receiver->context);
	receiver->ncolumns = desc->natts;
	receiver->columns = palloc(sizeof(StrataWireColumn) * Max(desc->natts, 1));
	for (int i = 0; i < desc->natts; i++)
		choose_writer(&receiver->columns[i], TupleDescAttr(desc, i)->atttypid,
					  receiver->formats != NULL && receiver->formats[i] != 0);
	receiver->sent_row = false;
	initStringInfo(&receiver->row);
	MemoryContextSwitchTo(caller);
}

static inline void
put_uint32(StringInfo row, uint32 number)
{
	number = pg_hton32(number);
	memcpy(row->data + row->len, &number, sizeof(number));
	row->len += sizeof(number);
}

/*
 * A value of len bytes, while there stays room for the fixed ones of columns
 * behind it.
 */
static void
put_bytes(StringInfo row, const char *bytes, int len, int behind)
{
	enlargeStringInfo(row, (int) (sizeof(uint32) + len + behind * MAX_FIXED));
	put_uint32(row, len);
	memcpy(row->data + row->len, bytes, len);
	row->len += len;
}

/* Look the type's output or send function up, unless that was done. */
static void
find_function(WireReceiver *receiver, StrataWireColumn *column)
{
	Oid			function;
	bool		is_varlena;

	if (OidIsValid(column->function.fn_oid))
		return;
	if (column->is_binary)
		getTypeBinaryOutputInfo(column->type, &function, &is_varlena);
	else
		getTypeOutputInfo(column->type, &function, &is_varlena);
	fmgr_info_cxt(function, &column->function, receiver->context);
}

/*
 * A type that has no send function is an error once there is a row, be its
 * value null.
 */
static void
prepare_first_row(WireReceiver *receiver)
{
	for (int i = 0; i < receiver->ncolumns; i++)
	{
		StrataWireColumn *column = &receiver->columns[i];

		if (column->is_binary && column->writer == NULL &&
			column->bytes == STRATA_WIRE_NO_BYTES)
			find_function(receiver, column);
	}
	receiver->sent_row = true;
}

/* By the type's own function; a text in the client's encoding. */
static void
put_by_function(WireReceiver *receiver, StrataWireColumn *column, Datum value,
				int behind)
{
	MemoryContext caller;

	find_function(receiver, column);
	if (receiver->scratch == NULL)
		receiver->scratch = AllocSetContextCreate(receiver->context,
												  "strata values sent",
												  ALLOCSET_DEFAULT_SIZES);
	caller = MemoryContextSwitchTo(receiver->scratch);
	if (column->is_binary)
	{
		bytea	   *sent = SendFunctionCall(&column->function, value);

		put_bytes(&receiver->row, VARDATA(sent), VARSIZE(sent) - VARHDRSZ,
				  behind);
	}
	else
	{
		char	   *text = OutputFunctionCall(&column->function, value);
		int			len = (int) strlen(text);
		char	   *converted = pg_server_to_client(text, len);

		if (converted != text)
			len = (int) strlen(converted);
		put_bytes(&receiver->row, converted, len, behind);
	}
	MemoryContextSwitchTo(caller);
}

/* Are the value's bytes what the client is to have? */
static bool
stands_plain(const StrataWireColumn *column, struct varlena *value)
{
	return !VARATT_IS_EXTERNAL(value) && !VARATT_IS_COMPRESSED(value) &&
		(column->bytes == STRATA_WIRE_BYTES ||
		 pg_get_client_encoding() == GetDatabaseEncoding());
}

/* Append a column's value, which is not null, with its length in front. */
static void
send_value(WireReceiver *receiver, int i, Datum value)
{
	StrataWireColumn *column = &receiver->columns[i];
	StringInfo	row = &receiver->row;
	int			behind = receiver->ncolumns - i - 1;

	Assert(column->writer == NULL ||
		   column->bytes == STRATA_WIRE_NO_BYTES);	/* wire:W2 */
	if (column->writer != NULL)
	{
		int			len = column->writer(column, value,
										 row->data + row->len +
										 sizeof(uint32));

		Assert(len <= STRATA_WIRE_MAX_FIXED);	/* wire:W1 */
		if (len >= 0)
		{
			Assert(row->len + (int) sizeof(uint32) + len <=
				   row->maxlen);	/* wire:W1 */
			put_uint32(row, len);
			row->len += len;
			return;
		}
	}
	else if (column->bytes != STRATA_WIRE_NO_BYTES)
	{
		struct varlena *bytes = (struct varlena *) DatumGetPointer(value);

		if (stands_plain(column, bytes))
		{
			put_bytes(row, VARDATA_ANY(bytes), (int) VARSIZE_ANY_EXHDR(bytes),
					  behind);
			return;
		}
	}
	put_by_function(receiver, column, value, behind);
}

/* receiveSlot: send a row as a DataRow message. */
static bool
receive(TupleTableSlot *slot, DestReceiver *self)
{
	WireReceiver *receiver = (WireReceiver *) self;
	StringInfo	row = &receiver->row;
	uint16		natts = pg_hton16((uint16) receiver->ncolumns);

	Assert(slot->tts_tupleDescriptor->natts ==
		   receiver->ncolumns); /* wire:W1 */
	if (!receiver->sent_row)
		prepare_first_row(receiver);
	slot_getallattrs(slot);
	pq_beginmessage_reuse(row, 'D');
	enlargeStringInfo(row,
					  (int) (sizeof(natts) + receiver->ncolumns * MAX_FIXED));
	memcpy(row->data, &natts, sizeof(natts));
	row->len = sizeof(natts);
	for (int i = 0; i < receiver->ncolumns; i++)
	{
		if (slot->tts_isnull[i])
			put_uint32(row, (uint32) -1);
		else
			send_value(receiver, i, slot->tts_values[i]);
	}
	pq_endmessage_reuse(row);
	if (receiver->scratch != NULL)
		MemoryContextReset(receiver->scratch);
	return true;
}

static void
shut_down(DestReceiver *self)
{
	WireReceiver *receiver = (WireReceiver *) self;

	receiver->client->rShutdown(receiver->client);
	pfree(receiver->row.data);
	pfree(receiver->columns);
	if (receiver->scratch != NULL)
		MemoryContextDelete(receiver->scratch);
	receiver->scratch = NULL;
}

/* The client's is its owner's to destroy. */
static void
destroy(DestReceiver *self)
{
	pfree(self);
}

/* See wire.h. */
DestReceiver *
strata_wire_receiver(DestReceiver *client, const int16 *formats)
{
	WireReceiver *receiver = palloc0(sizeof(WireReceiver));

	receiver->pub.receiveSlot = receive;
	receiver->pub.rStartup = start_result;
	receiver->pub.rShutdown = shut_down;
	receiver->pub.rDestroy = destroy;
	receiver->pub.mydest = client->mydest;
	receiver->client = client;
	receiver->formats = formats;
	receiver->context = CurrentMemoryContext;
	return &receiver->pub;
}
