/*-------------------------------------------------------------------------
 *
 * api_dedup.c
 *	  Tables of strata_dedup: page_symbols(), dedup_stats(), estimate_dedup().
 *
 * What they show is contents of the table, rows that are deleted too, so the
 * caller must own it.
 *
 * src/api/api_dedup.c
 *-------------------------------------------------------------------------
 */
#include "api/api_private.h"
#include "dedup/dedup.h"

#include "access/relation.h"
#include "access/tupmacs.h"
#include "catalog/pg_am.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/bitmapset.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

PG_FUNCTION_INFO_V1(strata_page_symbols);
PG_FUNCTION_INFO_V1(strata_dedup_stats);
PG_FUNCTION_INFO_V1(strata_estimate_dedup);

/* Open a table that the caller owns; heaps too, if that is said. */
static Relation
open_dedup(Oid relid, bool heap_will_do)
{
	char		relkind = get_rel_relkind(relid);
	Relation	rel;

	if (relkind != '\0' && !strata_table_ownercheck(relid, GetUserId()))
		aclcheck_error(ACLCHECK_NOT_OWNER, get_relkind_objtype(relkind),
					   get_rel_name(relid));
	rel = try_relation_open(relid, AccessShareLock);
	if (rel == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation with OID %u does not exist", relid)));
	if (RELATION_IS_OTHER_TEMP(rel))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot read temporary tables of other sessions")));
	if (strata_is_dedup(rel) ||
		(heap_will_do && rel->rd_rel->relam == HEAP_TABLE_AM_OID &&
		 (relkind == RELKIND_RELATION || relkind == RELKIND_MATVIEW)))
		return rel;
	ereport(ERROR,
			(errcode(ERRCODE_WRONG_OBJECT_TYPE),
			 errmsg(heap_will_do ?
					"\"%s\" is not a table of the access method heap or %s" :
					"\"%s\" is not a table of the access method %s",
					RelationGetRelationName(rel), STRATA_DEDUP_AM)));
}

/* A value as its column's type shows it; bytes where that is not known. */
static char *
symbol_text(Relation rel, const StrataDedupSymbol *symbol)
{
	Form_pg_attribute att;
	Oid			output;
	bool		varlena;
	Datum		value;

	if (symbol->colno < 0)
		return NULL;
	att = TupleDescAttr(RelationGetDescr(rel), symbol->colno);
	if (att->attisdropped)
		return NULL;
	if (att->attbyval)
	{
		/* it stands anywhere */
		char		aligned[sizeof(Datum)] = {0};

		memcpy(aligned, symbol->bytes, att->attlen);
		value = fetch_att(aligned, true, att->attlen);
	}
	else
		value = PointerGetDatum(symbol->bytes);
	getTypeOutputInfo(att->atttypid, &output, &varlena);
	return OidOutputFunctionCall(output, value);
}

static Datum
symbol_column_names(Relation rel, const StrataDedupSymbol *symbol)
{
	Datum	   *names = palloc(sizeof(Datum) *
							   Max(bms_num_members(symbol->columns), 1));
	int			n = 0;
	int			colno = -1;

	while ((colno = bms_next_member(symbol->columns, colno)) >= 0)
		names[n++] = NameGetDatum(&TupleDescAttr(RelationGetDescr(rel),
												 colno)->attname);
	return PointerGetDatum(construct_array(names, n, NAMEOID, NAMEDATALEN,
										   false, TYPALIGN_CHAR));
}

/* page_symbols(relation, block) -> (symbol, uses, bytes, columns, value) */
Datum
strata_page_symbols(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	int64		block = PG_GETARG_INT64(1);
	Relation	rel;
	StrataDedupSymbol *symbols;
	int			n;

	InitMaterializedSRF(fcinfo, 0);
	if (block < 0 || block > MaxBlockNumber)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("block number %lld is out of range",
						(long long) block)));
	rel = open_dedup(PG_GETARG_OID(0), false);
	Assert(CheckRelationLockedByMe(rel, AccessShareLock,
								   true));	/* api:P1 */
	symbols = strata_dedup_symbols(rel, (BlockNumber) block, &n);
	for (int i = 0; i < n; i++)
	{
		char	   *text = symbol_text(rel, &symbols[i]);
		Datum		values[5] = {0};
		bool		nulls[5] = {false};

		values[0] = Int32GetDatum(symbols[i].number);
		values[1] = Int32GetDatum(symbols[i].uses);
		values[2] = Int32GetDatum(symbols[i].len);
		values[3] = symbol_column_names(rel, &symbols[i]);
		nulls[4] = text == NULL;
		if (text != NULL)
			values[4] = CStringGetTextDatum(text);
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values,
							 nulls);
	}
	relation_close(rel, AccessShareLock);
	return (Datum) 0;
}

/*
 * dedup_stats(relation) -> (pages, pages_with_symbols, row_versions,
 * row_versions_with_symbols, symbols, symbol_bytes, bytes, bytes_saved, ratio)
 */
Datum
strata_dedup_stats(PG_FUNCTION_ARGS)
{
	Relation	rel = open_dedup(PG_GETARG_OID(0), false);
	StrataDedupSummary summary;
	TupleDesc	desc;
	Datum		values[9];
	bool		nulls[9] = {false};

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	strata_dedup_summarize(rel, &summary);
	relation_close(rel, AccessShareLock);
	values[0] = Int64GetDatum(summary.pages);
	values[1] = Int64GetDatum(summary.pages_with_symbols);
	values[2] = Int64GetDatum(summary.rows);
	values[3] = Int64GetDatum(summary.rows_with_symbols);
	values[4] = Int64GetDatum(summary.symbols);
	values[5] = Int64GetDatum(summary.symbol_bytes);
	values[6] = Int64GetDatum(summary.bytes);
	values[7] = Int64GetDatum(summary.plain_bytes - summary.bytes);
	nulls[8] = summary.bytes == 0;
	values[8] = nulls[8] ? (Datum) 0 :
		Float8GetDatum((double) summary.plain_bytes / summary.bytes);
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc),
													  values, nulls)));
}

/* estimate_dedup(relation) -> (bytes, heap_bytes, dedup_bytes, ratio, sampled) */
Datum
strata_estimate_dedup(PG_FUNCTION_ARGS)
{
	Relation	rel = open_dedup(PG_GETARG_OID(0), true);
	StrataDedupEstimate estimate;
	TupleDesc	desc;
	Datum		values[5];
	bool		nulls[5] = {false};

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	strata_dedup_estimate(rel, &estimate);
	relation_close(rel, AccessShareLock);
	values[0] = Int64GetDatum((int64) estimate.bytes);
	values[1] = Int64GetDatum((int64) estimate.plain_bytes);
	values[2] = Int64GetDatum((int64) estimate.dedup_bytes);
	nulls[3] = estimate.dedup_bytes <= 0;
	values[3] = nulls[3] ? (Datum) 0 :
		Float8GetDatum(estimate.plain_bytes / estimate.dedup_bytes);
	values[4] = Float8GetDatum(estimate.sampled);
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc),
													  values, nulls)));
}
