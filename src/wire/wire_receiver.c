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

/* A length, and a value that is not a text. */
#define MAX_FIXED (sizeof(uint32) + STRATA_WIRE_MAX_TEXT)

typedef struct WireReceiver
{
	DestReceiver pub;
	DestReceiver *client;
	MemoryContext context;
	int			ncolumns;
	StrataWireColumn *columns;
	StringInfoData row;			/* the message */
	MemoryContext scratch;		/* of output functions, for a row; or NULL */
} WireReceiver;

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
		strata_wire_column_init(&receiver->columns[i],
								TupleDescAttr(desc, i)->atttypid);
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

/* By the type's output function, in the client's encoding. */
static void
put_output(WireReceiver *receiver, StrataWireColumn *column, Datum value,
		   int behind)
{
	MemoryContext caller;
	char	   *text;
	char	   *converted;
	int			len;

	if (!OidIsValid(column->output.fn_oid))
	{
		Oid			function;
		bool		is_varlena;

		getTypeOutputInfo(column->type, &function, &is_varlena);
		fmgr_info_cxt(function, &column->output, receiver->context);
	}
	if (receiver->scratch == NULL)
		receiver->scratch = AllocSetContextCreate(receiver->context,
												  "strata values as text",
												  ALLOCSET_DEFAULT_SIZES);
	caller = MemoryContextSwitchTo(receiver->scratch);
	text = OutputFunctionCall(&column->output, value);
	len = (int) strlen(text);
	converted = pg_server_to_client(text, len);
	if (converted != text)
		len = (int) strlen(converted);
	put_bytes(&receiver->row, converted, len, behind);
	MemoryContextSwitchTo(caller);
}

/* Does the value's text stand in it as the client is to have it? */
static bool
is_plain_text(struct varlena *value)
{
	return !VARATT_IS_EXTERNAL(value) && !VARATT_IS_COMPRESSED(value) &&
		pg_get_client_encoding() == GetDatabaseEncoding();
}

/* Append a column's value, which is not null, with its length in front. */
static void
send_value(WireReceiver *receiver, int i, Datum value)
{
	StrataWireColumn *column = &receiver->columns[i];
	StringInfo	row = &receiver->row;
	int			behind = receiver->ncolumns - i - 1;

	Assert(column->writer == NULL || !column->is_text); /* wire:W2 */
	if (column->writer != NULL)
	{
		int			len = column->writer(column, value,
										 row->data + row->len +
										 sizeof(uint32));

		Assert(len <= STRATA_WIRE_MAX_TEXT);	/* wire:W1 */
		if (len >= 0)
		{
			Assert(row->len + (int) sizeof(uint32) + len <=
				   row->maxlen);	/* wire:W1 */
			put_uint32(row, len);
			row->len += len;
			return;
		}
	}
	else if (column->is_text)
	{
		struct varlena *text = (struct varlena *) DatumGetPointer(value);

		if (is_plain_text(text))
		{
			put_bytes(row, VARDATA_ANY(text), (int) VARSIZE_ANY_EXHDR(text),
					  behind);
			return;
		}
	}
	put_output(receiver, column, value, behind);
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
strata_wire_receiver(DestReceiver *client)
{
	WireReceiver *receiver = palloc0(sizeof(WireReceiver));

	receiver->pub.receiveSlot = receive;
	receiver->pub.rStartup = start_result;
	receiver->pub.rShutdown = shut_down;
	receiver->pub.rDestroy = destroy;
	receiver->pub.mydest = client->mydest;
	receiver->client = client;
	receiver->context = CurrentMemoryContext;
	return &receiver->pub;
}
