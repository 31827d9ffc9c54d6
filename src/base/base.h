/*-------------------------------------------------------------------------
 *
 * base.h
 *	  Everything process wide: settings (GUCs), error helpers, versions.
 *
 * The only header of src/base that other folders include besides compat.h.
 *
 * src/base/base.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_BASE_H
#define STRATA_BASE_H

#include "base/compat.h"
#include "catalog/pg_type_d.h"

/* Names of the schemas and of the extension. */
#define STRATA_EXTENSION "strata"
#define STRATA_SCHEMA "strata"
#define STRATA_INTERNAL_SCHEMA "_strata"

/* Bounds of the GUCs; the check ranges in guc.c are exactly these. */
#define STRATA_BATCH_ROWS_DEFAULT 1000
#define STRATA_BATCH_ROWS_MIN 10
#define STRATA_BATCH_ROWS_MAX 32767
#define STRATA_MAX_JOB_WORKERS_DEFAULT 4
#define STRATA_MAX_JOB_WORKERS_MAX 64

/* GUCs, in the order of guc.c's table. */
extern bool strata_background_vacuum;
extern int	strata_batch_rows;
extern bool strata_enable_batch_delete;
extern bool strata_enable_direct_load;
extern bool strata_enable_early_stop;
extern bool strata_enable_fast_output;
extern bool strata_enable_key_plan;
extern bool strata_enable_multi_insert;
extern bool strata_enable_ordered_scan;
extern bool strata_enable_page_scan;
extern bool strata_enable_parallel_scan;
extern bool strata_enable_pruning;
extern bool strata_enable_scan;
extern bool strata_enable_summary_agg;
extern bool strata_enable_time_pruning;
extern bool strata_enable_vector_agg;
extern bool strata_enable_vector_filter;
extern int	strata_max_job_workers;
extern bool strata_torture;

extern void strata_base_init(void);

/* Bytes of values of a type that are integers in an order of integers (dates and times are); 0: no such type. */
static inline int
strata_integer_width(Oid typid)
{
	switch (typid)
	{
		case INT2OID:
			return sizeof(int16);
		case INT4OID:
		case DATEOID:
			return sizeof(int32);
		case INT8OID:
		case TIMEOID:
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
			return sizeof(int64);
		default:
			return 0;
	}
}

/* A datum of so many bytes (2, 4 or 8) as an integer. */
static inline int64
strata_datum_integer(Datum value, int width)
{
	return width == sizeof(int16) ? DatumGetInt16(value) :
		width == sizeof(int32) ? DatumGetInt32(value) : DatumGetInt64(value);
}

/*
 * Hear of changed relations, as from CacheRegisterRelcacheCallback, which is for
 * base/ alone: PostgreSQL has room for few.
 */
typedef void (*StrataRelcacheCallback) (Datum arg, Oid relid);
extern void strata_relcache_callback_add(StrataRelcacheCallback callback);

/*
 * Call visit for a query and for each one inside it, outer ones first, until it
 * says true; that is then the result.
 */
typedef bool (*StrataQueryVisit) (struct Query *query, void *context);
extern bool strata_query_visit_all(struct Query *query, StrataQueryVisit visit, void *context);

/* Is it a function in SQL whose query the planner may put in its place? */
extern bool strata_rte_may_be_inlined(struct RangeTblEntry *rte);

/*
 * Report damaged bytes: ERRCODE_DATA_CORRUPTED with the place in errdetail.
 * `what` is a codec_result_text or our own words; column may be NULL.
 */
pg_noreturn extern void strata_error_corrupt(Relation rel, int64 first_row, const char *column,
											 const char *what);

#endif							/* STRATA_BASE_H */
