/*-------------------------------------------------------------------------
 *
 * api_advise.c
 *	  Advice before compressing: estimate_compression(), advise_compression(),
 *	  codec_choice().
 *
 * All read, none writes.  What they show are sizes of contents, so the caller
 * must own the table, which may be a heap still.
 *
 * Over 600 lines: three functions of advice share what is estimated.
 *
 * src/api/api_advise.c
 *-------------------------------------------------------------------------
 */
#include "api/api_private.h"
#include "catalog/catalog.h"
#include "compress/compress.h"
#include "dedup/dedup.h"
#include "hypertable/hypertable.h"
#include "job/job.h"

#include <math.h>

#include "access/relation.h"
#include "access/table.h"
#include "catalog/pg_am.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type.h"
#include "common/int.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

PG_FUNCTION_INFO_V1(strata_estimate_compression);
PG_FUNCTION_INFO_V1(strata_advise_compression);
PG_FUNCTION_INFO_V1(strata_codec_choice);

/* Segments of fewer rows are not worth it. */
#define SEGMENT_ROWS_MIN 100

/* Columns, and pairs of them, that are estimated as segmentby. */
#define CANDIDATES_MAX 5
#define PAIRS_MAX 3

/*
 * A pair has to make so many times the segments that the better of its columns
 * makes.
 */
#define PAIR_GAIN 1.2

/* Chunks this many times as long are still worth a word. */
#define LONGER_MAX 64

/* A row in a heap page, beside its values. */
#define ROW_OVERHEAD (MAXALIGN(SizeofHeapTupleHeader) + sizeof(ItemIdData))

/*
 * Compression writes batches and deletes rows, beside what estimating does:
 * so many times its time (of 2 M rows of six columns; 1.0 to 1.6).
 */
#define COMPRESS_TIME_FACTOR 1.3

/*
 * Bytes of a partition, its batches as rows; the latter roughly, by the number
 * of rows that ANALYZE and VACUUM have seen.
 */
static double
partition_size(Oid leaf)
{
	Relation	rel;
	double		bytes;

	if (get_rel_relkind(leaf) != RELKIND_RELATION)
		return 0;
	rel = table_open(leaf, NoLock);
	bytes = (double) DatumGetInt64(DirectFunctionCall1(pg_total_relation_size,
													   ObjectIdGetDatum(leaf)));
	if (strata_relation_is_strata(rel) &&
		OidIsValid(strata_companion_oid(rel)))
		bytes = Max(bytes,
					strata_table_size_as_rows(rel, rel->rd_rel->reltuples));
	table_close(rel, NoLock);
	return bytes;
}

/*
 * The largest partition, which stands for all of them; or InvalidOid.  share:
 * of all, by their size in row form.
 */
static Oid
largest_partition(Oid relid, double *share)
{
	Oid			largest = InvalidOid;
	double		size = 0;
	double		all = 0;
	ListCell   *lc;

	foreach(lc, find_all_inheritors(relid, AccessShareLock, NULL))
	{
		double		bytes = partition_size(lfirst_oid(lc));

		all += bytes;
		if (bytes > size)
		{
			largest = lfirst_oid(lc);
			size = bytes;
		}
	}
	*share = all > 0 ? size / all : 1;
	return largest;
}

/*
 * Open a table to be looked at: the caller must own it; any table with rows of
 * its own, or the largest partition of one that has none.  share: of the rows
 * that it has.
 */
static Relation
open_table(Oid relid, double *share)
{
	char		relkind = get_rel_relkind(relid);
	Relation	rel;

	if (relkind == '\0')
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation with OID %u does not exist", relid)));
	if (!strata_table_ownercheck(relid, GetUserId()))
		aclcheck_error(ACLCHECK_NOT_OWNER, get_relkind_objtype(relkind),
					   get_rel_name(relid));
	if (relkind == RELKIND_PARTITIONED_TABLE)
	{
		Oid			largest = largest_partition(relid, share);
		double		ignored;

		if (!OidIsValid(largest))
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 errmsg("table \"%s\" has no partition with rows",
							get_rel_name(relid))));
		return open_table(largest, &ignored);
	}
	*share = 1;
	if (relkind != RELKIND_RELATION && relkind != RELKIND_MATVIEW)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is not a table with rows of its own",
						get_rel_name(relid))));
	rel = try_relation_open(relid, AccessShareLock);
	if (rel == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation with OID %u does not exist", relid)));
	if (!strata_relation_is_strata(rel) && !strata_is_dedup(rel) &&
		rel->rd_rel->relam != HEAP_TABLE_AM_OID)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" uses an access method that is neither heap nor strata",
						RelationGetRelationName(rel))));
	Assert(CheckRelationLockedByMe(rel, AccessShareLock,
								   true));	/* api:P1 */
	return rel;
}

/* What the table takes, or would take, in row form. */
static double
size_as_rows(Relation rel, const StrataEstimate *estimate)
{
	double		bytes = strata_table_size_as_rows(rel, estimate->rows);

	/* batches that were never rows, of a direct load */
	if (bytes == 0)
	{
		for (int i = 0; i < RelationGetDescr(rel)->natts; i++)
			bytes += estimate->measure.columns[i].raw * estimate->scale;
		bytes += estimate->rows * ROW_OVERHEAD;
	}
	return bytes;
}

/* One digit after the point; 0 where nothing is left. */
static double
ratio_of(double before, double after)
{
	return after > 0 ? rint(before / after * 10) / 10 : 0;
}

/* The layout of texts as the options have them; NULL: as the table has it. */
static StrataLayout *
layout_of_texts(Relation rel, const char *segmentby, const char *orderby)
{
	return strata_store_layout_of(rel, strata_settings_with(rel, segmentby,
															orderby));
}

/*
 * The codec most of a column's batches have, constants and all-null ones
 * apart.
 */
static const char *
usual_codec(const StrataColumnMeasure *column)
{
	int			best = 0;

	for (int id = 1; id < STRATA_CODEC_COUNT; id++)
		if (id != STRATA_CODEC_CONSTANT &&
			column->used[id] > column->used[best])
			best = id;
	if (best == 0 ||
		(best == STRATA_CODEC_RAW && column->used[STRATA_CODEC_CONSTANT] > 0))
		best = column->used[STRATA_CODEC_CONSTANT] > 0 ?
			STRATA_CODEC_CONSTANT :
			STRATA_CODEC_RAW;
	return strata_codec_name((StrataCodecId) best);
}

/*
 * estimate_compression(relation, segmentby, orderby)
 *		-> (column_name, codec, raw_bytes, bytes, ratio)
 */
Datum
strata_estimate_compression(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	Relation	rel;
	StrataLayout *layout;
	StrataSettings *settings;
	StrataEstimate estimate;
	TupleDesc	desc;
	double		share;

	if (PG_ARGISNULL(0))
		ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
						errmsg("relation cannot be null")));
	InitMaterializedSRF(fcinfo, 0);
	rel = open_table(PG_GETARG_OID(0), &share);
	desc = RelationGetDescr(rel);
	layout = layout_of_texts(rel,
							 PG_ARGISNULL(1) ?
							 NULL :
							 text_to_cstring(PG_GETARG_TEXT_PP(1)),
							 PG_ARGISNULL(2) ?
							 NULL :
							 text_to_cstring(PG_GETARG_TEXT_PP(2)));
	settings = strata_settings_get(rel);
	strata_store_estimate(rel, layout, settings->codec_level, settings->codecs,
						  false, &estimate);
	for (int i = 0; i <= desc->natts; i++)
	{
		StrataColumnMeasure *column;
		Datum		values[5] = {0};
		bool		nulls[5] = {false};
		double		raw_bytes;
		double		bytes;

		column = i < desc->natts ? &estimate.measure.columns[i] : NULL;
		raw_bytes = column != NULL ? column->raw * estimate.scale :
			size_as_rows(rel, &estimate);
		bytes = column != NULL ? column->bytes * estimate.scale :
			estimate.disk_bytes;
		if (column != NULL &&
			!strata_attribute_is_kept(TupleDescAttr(desc, i)))
			continue;
		if (column == NULL)
		{
			/* everything, with headers, indexes and TOAST */
			nulls[0] = nulls[1] = true;
		}
		else
		{
			values[0] = NameGetDatum(&TupleDescAttr(desc, i)->attname);
			values[1] =
				CStringGetTextDatum(strata_layout_segment_index(
																layout, (AttrNumber) (i + 1)) >= 0 ?
									"segmentby" :
									usual_codec(column));
		}
		values[2] = Int64GetDatum((int64) raw_bytes);
		values[3] = Int64GetDatum((int64) bytes);
		values[4] = Float8GetDatum(ratio_of(raw_bytes, bytes));
		nulls[4] = bytes <= 0;
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values,
							 nulls);
	}
	relation_close(rel, AccessShareLock);
	return (Datum) 0;
}

/* Why AUTO took a codec, or not. */
static char *
reason(StrataCodecId id, const StrataColumnMeasure *column, StrataLevel level)
{
	double		chosen = column->bytes;
	double		its = column->candidate[id];

	if (id == STRATA_CODEC_AUTO)
		return pstrdup("what is written: the best of each batch, by the rules of the level");
	if (column->held[id] == 0)
		return pstrdup(id == STRATA_CODEC_CONSTANT ?
					   "values differ" :
					   "never smaller than the values as they are, or not held");
	if (column->used[id] > 0)
		return psprintf("taken for " INT64_FORMAT " of " INT64_FORMAT
						" batches",
						column->used[id], column->batches);
	if (its > chosen)
		return psprintf("%.0f %% larger", (its / chosen - 1) * 100);
	return psprintf("%.0f %% smaller, but decodes more slowly%s",
					(1 - its / chosen) * 100,
					level == STRATA_LEVEL_ARCHIVE ?
					"" :
					"; level archive looks at size alone");
}

/*
 * codec_choice(relation) -> (column_name, codec, bytes, bytes_per_value,
 * batches, reason)
 */
Datum
strata_codec_choice(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	Relation	rel;
	StrataLayout *layout;
	StrataSettings *settings;
	StrataEstimate estimate;
	TupleDesc	desc;
	double		share;

	InitMaterializedSRF(fcinfo, 0);
	rel = open_table(PG_GETARG_OID(0), &share);
	desc = RelationGetDescr(rel);
	layout = strata_store_current_layout(rel);
	settings = strata_settings_get(rel);
	strata_store_estimate(rel, layout, settings->codec_level, settings->codecs,
						  true, &estimate);
	for (int i = 0; i < desc->natts; i++)
	{
		StrataColumnMeasure *column = &estimate.measure.columns[i];

		if (!strata_attribute_is_kept(TupleDescAttr(desc, i)) ||
			strata_layout_segment_index(layout, (AttrNumber) (i + 1)) >= 0)
			continue;
		for (int id = 0; id < STRATA_CODEC_COUNT; id++)
		{
			double		bytes;
			Datum		values[6] = {0};
			bool		nulls[6] = {false};

			bytes = id == STRATA_CODEC_AUTO ? column->bytes :
				column->candidate[id];
			if (id != STRATA_CODEC_AUTO && !column->tried[id])
				continue;
			values[0] = NameGetDatum(&TupleDescAttr(desc, i)->attname);
			values[1] =
				CStringGetTextDatum(strata_codec_name((StrataCodecId) id));
			values[2] = Int64GetDatum((int64) (bytes * estimate.scale));
			nulls[2] = nulls[3] = id != STRATA_CODEC_AUTO &&
				column->held[id] == 0;
			values[3] = Float8GetDatum(rint(bytes /
											Max(estimate.measure.rows_encoded,
												1) *
											1000) /
									   1000);
			values[4] = Int64GetDatum(id == STRATA_CODEC_AUTO ?
									  column->batches :
									  column->used[id]);
			values[5] = CStringGetTextDatum(reason((StrataCodecId) id, column,
												   settings->codec_level));
			tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values,
								 nulls);
		}
	}
	relation_close(rel, AccessShareLock);
	return (Datum) 0;
}

/* One way to lay the table out. */
typedef struct Candidate
{
	AttrNumber	segment[2];
	int			nsegment;		/* 0: no segments */
	double		distinct;		/* segments */
	double		bytes;
	double		rows;
	double		rows_per_batch;
	double		ratio;
	double		seconds;		/* to compress all of the table */
} Candidate;

/* Could rows be kept together by this column? */
static bool
can_segment(Form_pg_attribute att)
{
	Oid			type;

	if (!strata_attribute_is_kept(att))
		return false;
	type = getBaseType(att->atttypid);
	switch (type)
	{
		case INT2OID:
		case INT4OID:
		case INT8OID:
		case OIDOID:
		case BOOLOID:
		case TEXTOID:
		case VARCHAROID:
		case BPCHAROID:
		case NAMEOID:
		case UUIDOID:
		case INETOID:
			return true;
	}
	return type_is_enum(type);
}

/* The better candidate first. */
static int
compare_candidates(const void *a, const void *b)
{
	const Candidate *x = a;
	const Candidate *y = b;
	bool		x_small;
	bool		y_small;

	x_small = x->nsegment > 0 &&
		x->rows / Max(x->distinct, 1) < SEGMENT_ROWS_MIN;
	y_small = y->nsegment > 0 &&
		y->rows / Max(y->distinct, 1) < SEGMENT_ROWS_MIN;

	/*
	 * small segments come last, however small they are today: they make many
	 * batches
	 */
	if (x_small != y_small)
		return x_small ? 1 : -1;
	return x->bytes < y->bytes ? -1 : x->bytes > y->bytes;
}

/* The text of an order as strata.orderby takes it; empty if there is none. */
static char *
order_text(TupleDesc desc, const StrataLayout *layout)
{
	StringInfoData buf;

	initStringInfo(&buf);
	for (int i = 0; i < layout->norder; i++)
	{
		const StrataOrderKey *key = &layout->order[i];
		Form_pg_attribute att = TupleDescAttr(desc, key->attno - 1);

		appendStringInfo(&buf, "%s%s%s%s", i > 0 ? ", " : "",
						 quote_identifier(NameStr(att->attname)),
						 key->desc ? " DESC" : "",
						 key->nulls_first == key->desc ? "" :
						 key->nulls_first ? " NULLS FIRST" : " NULLS LAST");
	}
	return buf.data;
}

/*
 * The text of a candidate's segments as strata.segmentby takes it, or with
 * another word between two.
 */
static char *
segment_text(TupleDesc desc, const Candidate *c, const char *between)
{
	StringInfoData buf;

	initStringInfo(&buf);
	for (int i = 0; i < c->nsegment; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, c->segment[i] - 1);

		appendStringInfo(&buf, "%s%s", i > 0 ? between : "",
						 quote_identifier(NameStr(att->attname)));
	}
	return buf.data;
}

/* Does a candidate segment by this column? */
static bool
segments_by(const Candidate *c, AttrNumber attno)
{
	for (int i = 0; i < c->nsegment; i++)
		if (c->segment[i] == attno)
			return true;
	return false;
}

/*
 * The layout of a candidate: its segments, and the table's order without them.
 */
static StrataLayout *
candidate_layout(const StrataLayout *present, const Candidate *c)
{
	StrataLayout *layout = palloc0(sizeof(StrataLayout));

	layout->segment = palloc(sizeof(AttrNumber) * 2);
	layout->order = palloc(sizeof(StrataOrderKey) * Max(present->norder, 1));
	for (int i = 0; i < c->nsegment; i++)
		layout->segment[layout->nsegment++] = c->segment[i];
	for (int i = 0; i < present->norder; i++)
		if (!segments_by(c, present->order[i].attno))
			layout->order[layout->norder++] = present->order[i];
	layout->text = strata_layout_format(layout);
	return layout;
}

/*
 * The hypertable that a relation is, or is a chunk of; NULL where it is
 * neither.
 */
static StrataHypertable *
advised_hypertable(Oid relid)
{
	return strata_hypertable_get(strata_partition_root(relid));
}

/*
 * Segments that do not fill a batch in a chunk would do so in a longer one,
 * unless they were far too small.
 */
static void
append_chunk_length(StringInfo buf, const Candidate *c,
					const StrataHypertable *ht)
{
	double		rows = c->rows / Max(c->distinct, 1);
	int64		times = (int64) ceil(strata_batch_rows / Max(rows, 1));
	bool		integer = strata_time_type_is_integer(ht->key_type);
	char	   *length;
	int64		longer;

	appendStringInfo(buf, " in a chunk of %s",
					 strata_time_interval_to_text(ht->key_type, ht->interval));
	if (times <= 1 || times > LONGER_MAX ||
		pg_mul_s64_overflow(ht->interval, times, &longer))
		return;
	length = strata_time_interval_to_text(ht->key_type, longer);
	appendStringInfo(buf, "; chunks of %s would fill batches: SELECT set_chunk_time_interval(%s, %s%s)",
					 length,
					 quote_literal_cstr(strata_sql_name(ht->relid)),
					 integer ? "" : "interval ",
					 integer ? length : quote_literal_cstr(length));
}

/* What there is to say about a candidate; ht: of a hypertable, or NULL. */
static char *
advice(Relation rel, const Candidate *c, const StrataLayout *layout,
	   const Candidate *none, const StrataHypertable *ht)
{
	TupleDesc	desc = RelationGetDescr(rel);
	StringInfoData buf;

	initStringInfo(&buf);
	if (c->nsegment == 0)
		appendStringInfo(&buf, "no segments: batches of %.0f rows in order",
						 c->rows_per_batch);
	else
		appendStringInfo(&buf, "about %.0f segments of %.0f rows", c->distinct,
						 c->rows / Max(c->distinct, 1));
	if (c->nsegment > 0 && ht != NULL)
		append_chunk_length(&buf, c, ht);
	if (c->nsegment > 0 && c->rows / Max(c->distinct, 1) < SEGMENT_ROWS_MIN)
		appendStringInfo(&buf, "; segments are too small, at least %d rows are wanted",
						 SEGMENT_ROWS_MIN);
	if (c->nsegment > 0 && none != NULL && none->bytes > 0)
		appendStringInfo(&buf,
						 "; %.0f %% %s than without segments, and queries for one %s read its batches alone",
						 fabs(c->bytes / none->bytes - 1) * 100,
						 c->bytes <= none->bytes ? "smaller" : "larger",
						 segment_text(desc, c, " and "));
	if (layout->norder == 0)
		appendStringInfoString(&buf,
							   "; no order: the table has no column of a date or time, name one in strata.orderby");
	strata_api_advise_indexes(&buf, rel, layout);
	return buf.data;
}

/*
 * Put a candidate among those with more segments, which are what batches gain
 * by; how many there are then.
 */
static int
add_candidate(Candidate *candidates, int n, int most, const Candidate *c)
{
	int			at = n;

	while (at > 0 && candidates[at - 1].distinct < c->distinct)
		at--;
	if (at >= most)
		return n;
	n = Min(n + 1, most);
	memmove(&candidates[at + 1], &candidates[at],
			sizeof(Candidate) * (n - 1 - at));
	candidates[at] = *c;
	return n;
}

/*
 * Pairs of single candidates whose segments are large enough, and many more
 * than those of either column: one that says nothing new is constant in the
 * other's segments anyway.
 */
static int
find_pairs(Relation rel, const Candidate *singles, int nsingles,
		   Candidate *pairs)
{
	Candidate	all[CANDIDATES_MAX * (CANDIDATES_MAX - 1) / 2];
	AttrNumber	attnos[lengthof(all)][2];
	double	   *distinct;
	double		rows;
	int			npairs = 0;
	int			n = 0;

	for (int i = 0; i < nsingles; i++)
		for (int k = i + 1; k < nsingles; k++)
		{
			/* the one with fewer values first: that is how people write it */
			all[npairs] = (Candidate)
			{
				.segment =
				{
					singles[k].segment[0],
						singles[i].segment[0]
				},
					.nsegment = 2,
					.distinct = singles[i].distinct
			};
			attnos[npairs][0] = all[npairs].segment[0];
			attnos[npairs][1] = all[npairs].segment[1];
			npairs++;
		}
	if (npairs == 0)
		return 0;
	distinct = strata_store_count_pairs(rel, attnos, npairs, &rows);
	for (int i = 0; i < npairs; i++)
	{
		bool		gains = distinct[i] > all[i].distinct * PAIR_GAIN;

		all[i].distinct = distinct[i];
		if (gains && rows / distinct[i] >= SEGMENT_ROWS_MIN)
			n = add_candidate(pairs, n, PAIRS_MAX, &all[i]);
	}
	return n;
}

/* Columns to segment by, those that suit best first; how many. */
static int
find_candidates(Relation rel, double *distinct, Candidate *candidates,
				double rows)
{
	TupleDesc	desc = RelationGetDescr(rel);
	int			n = 0;

	for (int i = 0; i < desc->natts; i++)
		if (can_segment(TupleDescAttr(desc, i)) && distinct[i] > 1 &&
			rows / distinct[i] >= SEGMENT_ROWS_MIN / 2)
		{
			Candidate	c = {.segment = {(AttrNumber) (i + 1)},
			.nsegment = 1,
			.distinct = distinct[i]};

			n = add_candidate(candidates, n, CANDIDATES_MAX, &c);
		}
	return n;
}

/* The row of advise_compression() that says strata_dedup, if it is better. */
static bool
put_dedup_advice(ReturnSetInfo *rsinfo, Relation rel, const Candidate *best,
				 const char *kind, const char *name)
{
	StrataDedupAdvice dedup;
	Datum		values[9] = {0};
	bool		nulls[9] = {false, true, true, false, false, true, true, false,
	false};

	if (!strata_api_advise_dedup(rel, best->rows, best->bytes, &dedup))
		return false;
	values[0] = Int32GetDatum(1);
	values[3] = Int64GetDatum((int64) dedup.bytes);
	values[4] = Float8GetDatum(ratio_of(dedup.before, dedup.bytes));
	values[7] = CStringGetTextDatum(dedup.reason);
	nulls[8] = dedup.is_dedup;
	values[8] = CStringGetTextDatum(psprintf("ALTER %s %s SET ACCESS METHOD %s;",
											 kind, name, STRATA_DEDUP_AM));
	tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	return true;
}

/*
 * advise_compression(relation)
 *		-> (rank, segmentby, orderby, predicted_bytes, ratio, rows_per_batch,
 *		takes, reason, command)
 */
Datum
strata_advise_compression(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	Relation	rel;
	StrataLayout *present;
	StrataSettings *settings;
	Candidate	candidates[CANDIDATES_MAX + PAIRS_MAX + 1];
	Candidate	none = {0};
	double	   *distinct;
	double		share;
	StrataHypertable *ht = advised_hypertable(PG_GETARG_OID(0));
	const char *how = "";
	const char *kind;
	char	   *name;
	int			first;
	int			n;

	InitMaterializedSRF(fcinfo, 0);
	rel = open_table(PG_GETARG_OID(0), &share);
	present = strata_store_current_layout(rel);
	settings = strata_settings_get(rel);
	distinct = strata_store_count_distinct(rel, &none.rows);
	n = find_candidates(rel, distinct, candidates, none.rows);
	n += find_pairs(rel, candidates, n, candidates + n);
	candidates[n++] = (Candidate)
	{
		.nsegment = 0,.distinct = 1
	};
	for (int i = 0; i < n; i++)
	{
		MemoryContext mcxt = AllocSetContextCreate(CurrentMemoryContext,
												   "strata advice",
												   ALLOCSET_DEFAULT_SIZES);
		MemoryContext old = MemoryContextSwitchTo(mcxt);
		StrataEstimate estimate;

		strata_store_estimate(rel, candidate_layout(present, &candidates[i]),
							  settings->codec_level, settings->codecs, false,
							  &estimate);
		candidates[i].bytes = estimate.disk_bytes;
		candidates[i].rows = estimate.rows;
		candidates[i].rows_per_batch = estimate.rows_per_batch;
		candidates[i].ratio = ratio_of(size_as_rows(rel, &estimate),
									   estimate.disk_bytes);
		candidates[i].seconds = estimate.seconds * COMPRESS_TIME_FACTOR /
			share;
		if (candidates[i].nsegment == 0)
			none = candidates[i];
		MemoryContextSwitchTo(old);
		MemoryContextDelete(mcxt);
	}
	qsort(candidates, n, sizeof(Candidate), compare_candidates);
	name = strata_sql_name(PG_GETARG_OID(0));
	kind = rel->rd_rel->relkind == RELKIND_MATVIEW ? "MATERIALIZED VIEW" :
		"TABLE";
	if (!strata_relation_is_strata(rel) &&
		RelationGetRelid(rel) == PG_GETARG_OID(0))
		how = psprintf("ALTER %s %s SET ACCESS METHOD strata; ", kind, name);
	first = RelationGetRelid(rel) == PG_GETARG_OID(0) &&
		put_dedup_advice(rsinfo, rel, &candidates[0], kind, name) ? 2 : 1;
	for (int i = 0; i < n; i++)
	{
		StrataLayout *layout = candidate_layout(present, &candidates[i]);
		const char *segment = segment_text(RelationGetDescr(rel),
										   &candidates[i], ", ");
		char	   *order = order_text(RelationGetDescr(rel), layout);
		Interval	takes = {.time = (TimeOffset)
		ceil(candidates[i].seconds) * USECS_PER_SEC};
		Datum		values[9];
		bool		nulls[9] = {false};

		values[0] = Int32GetDatum(first + i);
		values[1] = CStringGetTextDatum(segment);
		values[2] = CStringGetTextDatum(order);
		values[3] = Int64GetDatum((int64) candidates[i].bytes);
		values[4] = Float8GetDatum(candidates[i].ratio);
		values[5] = Int64GetDatum((int64) candidates[i].rows_per_batch);
		values[6] = IntervalPGetDatum(&takes);
		values[7] = CStringGetTextDatum(advice(rel, &candidates[i], layout,
											   &none, ht));
		values[8] = CStringGetTextDatum(psprintf("%sALTER %s %s SET (strata.segmentby = %s, strata.orderby = %s); SELECT compress_chunk(%s, recompress => true);",
												 how, kind, name,
												 quote_literal_cstr(segment),
												 quote_literal_cstr(order),
												 quote_literal_cstr(name)));
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values,
							 nulls);
	}
	relation_close(rel, AccessShareLock);
	return (Datum) 0;
}
