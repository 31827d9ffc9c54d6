/*-------------------------------------------------------------------------
 *
 * dedup_inspect.c
 *	  What pages hold: symbols of one, numbers of all.
 *
 * Pages are copied and looked at without a lock.
 *
 * src/dedup/dedup_inspect.c
 *-------------------------------------------------------------------------
 */
#include "dedup/dedup_private.h"

#include "access/htup_details.h"
#include "access/transam.h"
#include "access/xact.h"
#include "miscadmin.h"
#include "storage/procarray.h"

static StrataPageValue values[MaxTupleAttributeNumber];

/* See dedup_private.h. */
void
strata_dedup_copy_page(Relation rel, BlockNumber block,
					   BufferAccessStrategy strategy, char *copy)
{
	Buffer		buffer = ReadBufferExtended(rel, MAIN_FORKNUM, block,
											RBM_NORMAL, strategy);

	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	memcpy(copy, BufferGetPage(buffer), BLCKSZ);
	UnlockReleaseBuffer(buffer);
}

/*
 * Was the tuple written by what has been rolled back?  Then the table may have
 * had other columns, of other types.
 */
static bool
is_rolled_back(HeapTupleHeader tuple)
{
	TransactionId xid = HeapTupleHeaderGetRawXmin(tuple);

	if (HeapTupleHeaderXminCommitted(tuple))
		return false;
	if (HeapTupleHeaderXminInvalid(tuple) || !TransactionIdIsValid(xid))
		return true;
	/* in this order, as a transaction commits before it ends */
	return !TransactionIdIsCurrentTransactionId(xid) &&
		!TransactionIdIsInProgress(xid) && !TransactionIdDidCommit(xid);
}

/*
 * See dedup_private.h.  That a line pointer is within the page is checked
 * here, all else by src/page.
 */
HeapTupleHeader
strata_dedup_copied_tuple(Relation rel, BlockNumber block, char *copy,
						  OffsetNumber offnum, uint32 *len,
						  StrataPageValue *tuple_values)
{
	ItemId		id = PageGetItemId(copy, offnum);
	const char *problem = "line pointer is wrong";
	HeapTupleHeader tuple;

	if (!ItemIdIsNormal(id))
		return NULL;
	*len = ItemIdGetLength(id);
	tuple = (HeapTupleHeader) PageGetItem(copy, id);
	if (ItemIdGetOffset(id) == MAXALIGN(ItemIdGetOffset(id)) &&
		ItemIdGetOffset(id) + *len <= BLCKSZ && *len >= SizeofHeapTupleHeader)
	{
		if (is_rolled_back(tuple))
			return NULL;		/* dedup:DD8 */
		problem = strata_page_values(copy, tuple, *len, RelationGetDescr(rel),
									 tuple_values);
	}
	if (problem != NULL)
	{
		ItemPointerData tid;

		ItemPointerSet(&tid, block, offnum);
		strata_dedup_damaged(RelationGetRelid(rel), &tid, problem);
	}
	return tuple;
}

static const StrataPageTable *
dedup_table_of(Relation rel, BlockNumber block, char *copy)
{
	const StrataPageTable *table;
	const char *problem = strata_page_table(copy, &table);
	ItemPointerData tid;

	if (problem == NULL)
		return table;
	ItemPointerSet(&tid, block, InvalidOffsetNumber);
	strata_dedup_damaged(RelationGetRelid(rel), &tid, problem);
}

/* Add what a copied page holds. */
static void
summarize_page(Relation rel, BlockNumber block, char *copy,
			   StrataDedupSummary *summary)
{
	const StrataPageTable *table = dedup_table_of(rel, block, copy);

	summary->pages++;
	if (PageIsNew(copy))
		return;
	if (table != NULL)
	{
		Size		size = BLCKSZ - ((PageHeader) copy)->pd_special;

		summary->pages_with_symbols++;
		summary->symbols += table->nsymbols;
		summary->symbol_bytes += size;
		summary->bytes += size;
	}
	for (OffsetNumber i = FirstOffsetNumber;
		 i <= PageGetMaxOffsetNumber(copy); i++)
	{
		uint32		len;
		HeapTupleHeader tuple = strata_dedup_copied_tuple(rel, block, copy, i,
														  &len, values);

		if (tuple == NULL)
			continue;
		summary->rows++;
		summary->bytes += MAXALIGN(len) + sizeof(ItemIdData);
		if (strata_page_is_flagged(tuple))
		{
			summary->rows_with_symbols++;
			len = strata_page_plain_size(tuple, RelationGetDescr(rel),
										 values);
		}
		summary->plain_bytes += MAXALIGN(len) + sizeof(ItemIdData);
	}
}

/* See dedup.h. */
void
strata_dedup_summarize(Relation rel, StrataDedupSummary *summary)
{
	BufferAccessStrategy strategy = GetAccessStrategy(BAS_BULKREAD);
	BlockNumber nblocks = RelationGetNumberOfBlocks(rel);
	PGAlignedBlock copy;

	memset(summary, 0, sizeof(StrataDedupSummary));
	for (BlockNumber block = 0; block < nblocks; block++)
	{
		CHECK_FOR_INTERRUPTS();
		strata_dedup_copy_page(rel, block, strategy, copy.data);
		summarize_page(rel, block, copy.data, summary);
	}
	FreeAccessStrategy(strategy);
}

/* See dedup.h. */
StrataDedupSymbol *
strata_dedup_symbols(Relation rel, BlockNumber block, int *n)
{
	char	   *copy = palloc(BLCKSZ);
	const StrataPageTable *table;
	StrataDedupSymbol *symbols;

	*n = 0;
	if (block >= RelationGetNumberOfBlocks(rel))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("table \"%s\" has no block %u",
						RelationGetRelationName(rel), block)));
	strata_dedup_copy_page(rel, block, NULL, copy);
	table = dedup_table_of(rel, block, copy);
	if (table == NULL)
		return NULL;
	symbols = palloc0(sizeof(StrataDedupSymbol) * (table->nsymbols + 1));
	for (int i = 0; i < table->nsymbols; i++)
	{
		symbols[i].number = i;
		symbols[i].colno = -1;
		symbols[i].len = table->start[i + 1] - table->start[i];
	}
	for (OffsetNumber i = FirstOffsetNumber;
		 i <= PageGetMaxOffsetNumber(copy); i++)
	{
		uint32		len;
		HeapTupleHeader tuple = strata_dedup_copied_tuple(rel, block, copy, i,
														  &len, values);

		for (int c = 0; tuple != NULL && c < HeapTupleHeaderGetNatts(tuple);
			 c++)
		{
			StrataDedupSymbol *symbol;

			if (values[c].bytes == NULL || values[c].symbol < 0)
				continue;
			symbol = &symbols[values[c].symbol];
			symbol->uses++;
			symbol->columns = bms_add_member(symbol->columns, c);
			if (symbol->colno >= 0)
				continue;
			symbol->colno = c;
			symbol->bytes = values[c].bytes;
			symbol->len = values[c].len;
		}
	}
	*n = table->nsymbols;
	return symbols;
}

/* Is a column of these a symbol in the copied page? */
static bool
page_has_symbols_of(Relation rel, BlockNumber block, char *copy,
					const bool *columns)
{
	for (OffsetNumber i = FirstOffsetNumber;
		 i <= PageGetMaxOffsetNumber(copy); i++)
	{
		uint32		len;
		HeapTupleHeader tuple = strata_dedup_copied_tuple(rel, block, copy, i,
														  &len, values);

		if (tuple == NULL || !strata_page_is_flagged(tuple))
			continue;
		for (int c = 0; c < HeapTupleHeaderGetNatts(tuple); c++)
			if ((columns == NULL || columns[c]) && values[c].bytes != NULL &&
				values[c].symbol >= 0)
				return true;
	}
	return false;
}

/* See dedup.h. */
bool
strata_dedup_identity_is_lost(Relation rel)
{
	BlockNumber nblocks = RelationGetNumberOfBlocks(rel);
	BufferAccessStrategy strategy;
	PGAlignedBlock copy;
	bool	   *columns;
	bool		lost = false;
	bool		full = !strata_dedup_plain_columns(rel, &columns);

	/* no identity at all: nothing is logged */
	if (!full && columns == NULL)
		return false;
	strategy = GetAccessStrategy(BAS_BULKREAD);
	for (BlockNumber block = 0; block < nblocks && !lost; block++)
	{
		CHECK_FOR_INTERRUPTS();
		strata_dedup_copy_page(rel, block, strategy, copy.data);
		lost = !PageIsNew(copy.data) &&
			page_has_symbols_of(rel, block, copy.data, full ? NULL : columns);
	}
	FreeAccessStrategy(strategy);
	return lost;
}
