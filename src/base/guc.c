/*-------------------------------------------------------------------------
 *
 * guc.c
 *	  Every setting of pg_strata; switches in one alphabetical table.
 *
 * Whoever may set one, anybody with PGC_USERSET, changes how his own
 * statements run, and never what they may read.
 *
 * A fast path has a switch strata.enable_<path>; answers are the same with
 * each on and off.
 *
 * src/base/guc.c
 *-------------------------------------------------------------------------
 */
#include "base/base.h"

#include "miscadmin.h"
#include "utils/guc.h"

int			strata_agg_least_groups = STRATA_AGG_LEAST_GROUPS_DEFAULT;
int			strata_batch_rows = STRATA_BATCH_ROWS_DEFAULT;
int			strata_chunks_ahead = STRATA_CHUNKS_AHEAD_DEFAULT;
bool		strata_background_vacuum = true;
int			strata_dedup_min_gain = STRATA_DEDUP_MIN_GAIN_DEFAULT;
int			strata_dedup_rule = 0;
bool		strata_enable_any_agg = true;
bool		strata_enable_archive_rewrite = true;
bool		strata_enable_batch_delete = true;
bool		strata_enable_batch_index = true;
bool		strata_enable_chunks_in_turn = true;
bool		strata_enable_deduplication = true;
bool		strata_enable_direct_load = true;
bool		strata_enable_distinct_agg = true;
bool		strata_enable_early_stop = true;
bool		strata_enable_fast_output = true;
bool		strata_enable_first_rows = true;
bool		strata_enable_group_lookahead = true;
bool		strata_enable_grouping_sets = true;
bool		strata_enable_join_aggregation = true;
bool		strata_enable_join_vectors = true;
bool		strata_enable_join_pruning = true;
bool		strata_enable_key_codes = true;
bool		strata_enable_multi_insert = true;
bool		strata_enable_ordered_scan = true;
bool		strata_enable_page_scan = true;
bool		strata_enable_parallel_scan = true;
bool		strata_enable_pruning = true;
bool		strata_enable_row_cache = true;
bool		strata_enable_row_grouping = true;
bool		strata_enable_scan = true;
bool		strata_enable_spill_files = true;
bool		strata_enable_summary_agg = true;
bool		strata_enable_time_pruning = true;
bool		strata_enable_top_n = true;
bool		strata_enable_value_memo = true;
bool		strata_enable_value_parts = true;
bool		strata_enable_vector_agg = true;
bool		strata_enable_vector_expressions = true;
bool		strata_enable_vector_filter = true;
bool		strata_enable_vector_sort = true;
bool		strata_enable_window_filter = true;
bool		strata_enable_window_limit = true;
bool		strata_enable_windows = true;
int			strata_index_pages = STRATA_INDEX_PAGES_DEFAULT;
int			strata_max_job_workers = STRATA_MAX_JOB_WORKERS_DEFAULT;
int			strata_max_stat_tables = STRATA_MAX_STAT_TABLES_DEFAULT;
bool		strata_allow_drop_cascade = false;
bool		strata_report_compression = true;
bool		strata_torture = false;

typedef struct BoolSetting
{
	const char *name;
	bool	   *variable;
	bool		boot;
	int			flags;
	const char *text;
	const char *detail;
} BoolSetting;

static const BoolSetting bool_settings[] = {
	{"strata.allow_drop_cascade", &strata_allow_drop_cascade, false, 0,
		"Allows DROP EXTENSION strata CASCADE to drop tables with their rows.",
	NULL},
	{"strata.background_vacuum", &strata_background_vacuum, true, 0,
		"Vacuums a table's row store in the background after compression.",
	"Otherwise the space of compressed rows waits for VACUUM or autovacuum."},
	{"strata.enable_any_agg", &strata_enable_any_agg, true, GUC_EXPLAIN,
		"Enables StrataAgg for aggregates of any kind, such as percentiles, array_agg and your own.",
	"Their rows are held, and given to PostgreSQL's functions once a group is complete."},
	{"strata.enable_archive_rewrite", &strata_enable_archive_rewrite, true,
		GUC_EXPLAIN,
		"Enables continuous aggregates to be answered from their archives.",
	"When off, they are computed from the rows."},
	{"strata.enable_batch_delete", &strata_enable_batch_delete, true, 0,
	"Enables DELETE of batches, or of many of their rows, at once.", NULL},
	{"strata.enable_batch_index", &strata_enable_batch_index, true,
		GUC_EXPLAIN, "Enables looking for batches by indexes of the table.",
	NULL},
	{"strata.enable_chunks_in_turn", &strata_enable_chunks_in_turn, true,
		GUC_EXPLAIN,
		"Enables ORDER BY time LIMIT, min(time) and max(time) to plan chunks when their turn comes.",
	"When off, all chunks are planned at once."},
	{"strata.enable_deduplication", &strata_enable_deduplication, true, 0,
		"Enables pages of strata_dedup tables to be deduplicated when they are full.",
	"Also by VACUUM FULL and CLUSTER. When off, new pages are a heap's."},
	{"strata.enable_direct_load", &strata_enable_direct_load, true,
		GUC_EXPLAIN,
		"Enables COPY and INSERT ... SELECT to write batches, for tables with strata.direct_load.",
	"When off, all rows go into the row store."},
	{"strata.enable_distinct_agg", &strata_enable_distinct_agg, true,
		GUC_EXPLAIN,
		"Enables StrataAgg for aggregates with DISTINCT, such as count(DISTINCT x).",
	NULL},
	{"strata.enable_early_stop", &strata_enable_early_stop, true, GUC_EXPLAIN,
		"Enables StrataAgg to pass over batches that cannot change its result.",
	"Applies to the latest row of each group, and to ORDER BY time LIMIT of groups."},
	{"strata.enable_fast_output", &strata_enable_fast_output, true, 0,
		"Enables a way of our own of sending results of queries that read compressed rows.",
	"When off, or in other formats, they are sent as all others; the bytes are the same."},
	{"strata.enable_first_rows", &strata_enable_first_rows, true, GUC_EXPLAIN,
		"Enables StrataAgg to find the first row of each group in any order.",
	"When off, DISTINCT ON sorts all rows, but for those by one time alone."},
	{"strata.enable_group_lookahead", &strata_enable_group_lookahead, true, 0,
		"Enables StrataAgg to look the groups of many rows up together.",
	"Rows that come in short runs are added to their groups one aggregate after the other."},
	{"strata.enable_grouping_sets", &strata_enable_grouping_sets, true,
		GUC_EXPLAIN,
		"Enables StrataAgg for GROUPING SETS, ROLLUP and CUBE.",
	"Groups are combined from those of all keys."},
	{"strata.enable_join_aggregation", &strata_enable_join_aggregation, true,
		GUC_EXPLAIN,
		"Enables StrataAgg to group a table before it is joined with others.",
	"When off, its rows are joined one by one and aggregated afterwards."},
	{"strata.enable_join_pruning", &strata_enable_join_pruning, true,
		GUC_EXPLAIN,
		"Enables scans to skip batches by the values of the other side of a join.",
	"The other side is in the memory of a hash join before the scan begins."},
	{"strata.enable_join_vectors", &strata_enable_join_vectors, true,
		GUC_EXPLAIN,
		"Enables StrataAgg to join batches with a small table without making rows of them.",
	"When off, rows of the join come one by one."},
	{"strata.enable_key_codes", &strata_enable_key_codes, true, 0,
		"Enables StrataAgg to look each group up once for many rows, where keys have few values.",
	NULL},
	{"strata.enable_multi_insert", &strata_enable_multi_insert, true, 0,
	"Enables COPY into hypertables to insert many rows at a time.", NULL},
	{"strata.enable_ordered_scan", &strata_enable_ordered_scan, true,
		GUC_EXPLAIN, "Enables ordered output of StrataScan and StrataAgg.",
	"A merge of batches and row store, or ranks of groups, replace a sort."},
	{"strata.enable_page_scan", &strata_enable_page_scan, true, 0,
		"Enables a way of our own through all pages of a table.",
	"When off, they are read as those of any heap."},
	{"strata.enable_parallel_scan", &strata_enable_parallel_scan, true,
	GUC_EXPLAIN, "Enables parallel StrataScan plans.", NULL},
	{"strata.enable_pruning", &strata_enable_pruning, true, GUC_EXPLAIN,
		"Enables skipping of batches by segment values, minima and maxima.",
	NULL},
	{"strata.enable_row_cache", &strata_enable_row_cache, true, 0,
		"Enables keeping decoded rows for changes that come back to more batches than stay decoded.",
	NULL},
	{"strata.enable_row_grouping", &strata_enable_row_grouping, true, 0,
		"Enables StrataAgg to bring rows of the row store together by group before it adds them.",
	NULL},
	{"strata.enable_scan", &strata_enable_scan, true, GUC_EXPLAIN,
		"Enables StrataScan, the planner's way to read compressed rows.",
	"When off, tables with compressed rows are read by sequential scans only."},
	{"strata.enable_spill_files", &strata_enable_spill_files, true, 0,
		"Enables StrataAgg to write groups that outgrow memory to files by hash value.",
	"When off, they are sorted by it."},
	{"strata.enable_summary_agg", &strata_enable_summary_agg, true,
		GUC_EXPLAIN,
		"Enables StrataAgg to take whole batches by what is stored of them: counts, minima, maxima, sums.",
	NULL},
	{"strata.enable_time_pruning", &strata_enable_time_pruning, true,
		GUC_EXPLAIN,
		"Enables conditions with time_bucket() or now() to prune as comparisons of time do.",
	"Chunks are pruned at plan time then, batches too."},
	{"strata.enable_top_n", &strata_enable_top_n, true, GUC_EXPLAIN,
		"Enables StrataTop, the first rows of ORDER BY ... LIMIT out of whole batches.",
	"When off, all rows go through PostgreSQL's sort."},
	{"strata.enable_value_memo", &strata_enable_value_memo, true, 0,
		"Enables expressions of one column to be evaluated once for values that batches share.",
	"When off, they are evaluated once for each entry of each batch's dictionary."},
	{"strata.enable_value_parts", &strata_enable_value_parts, true, 0,
		"Enables reading parts of values: lengths, first bytes, members of documents.",
	"When off, columns are read whole."},
	{"strata.enable_vector_agg", &strata_enable_vector_agg, true, GUC_EXPLAIN,
	"Enables StrataAgg, aggregation over whole batches.", NULL},
	{"strata.enable_vector_expressions", &strata_enable_vector_expressions,
		true, GUC_EXPLAIN,
	"Enables evaluation of expressions for many rows at a time.", NULL},
	{"strata.enable_vector_filter", &strata_enable_vector_filter, true,
		GUC_EXPLAIN, "Enables evaluation of filters on whole columns of a batch.",
	NULL},
	{"strata.enable_vector_sort", &strata_enable_vector_sort, true,
		GUC_EXPLAIN,
		"Enables StrataSort, sorting all rows of a table out of whole batches.",
	"When off, they go through PostgreSQL's sort."},
	{"strata.enable_window_filter", &strata_enable_window_filter, true,
		GUC_EXPLAIN,
		"Enables StrataWindow to leave out rows that conditions of the query around it do not want.",
	"When off, it returns all rows."},
	{"strata.enable_window_limit", &strata_enable_window_limit, true,
		GUC_EXPLAIN,
		"Enables ordered scans below row_number() OVER (PARTITION BY ...) <= k to pass over other rows.",
	NULL},
	{"strata.enable_windows", &strata_enable_windows, true, GUC_EXPLAIN,
		"Enables lag(), lead(), row_number(), ranks and first_value() to be computed as rows come (StrataWindow).",
	"When off, rows of each partition are kept for them."},
	{"strata.report_compression", &strata_report_compression, true, 0,
		"Reports rows, batches and bytes when compress_chunk() is done.",
	NULL},
};

/* In the order of StrataPageRule. */
static const struct config_enum_entry dedup_rules[] = {
	{"seed", 0, false}, {"exact", 1, false}, {"any", 2, false},
	{"all", 3, false}, {NULL, 0, false}
};

/* Define all settings; called once by _PG_init. */
void
strata_base_init(void)
{
	DefineCustomIntVariable(
							"strata.agg_least_groups",
							"Sets how many groups fit into memory, however small work_mem is.",
							"For developers: with few, few rows show what groups on disk do.",
							&strata_agg_least_groups,
							STRATA_AGG_LEAST_GROUPS_DEFAULT, 1,
							STRATA_AGG_LEAST_GROUPS_DEFAULT, PGC_USERSET,
							GUC_NOT_IN_SAMPLE, NULL, NULL, NULL);

	DefineCustomIntVariable(
							"strata.batch_rows", "Sets the number of rows in a batch.",
							"A batch closes earlier at the end of its segment or at its byte limit.",
							&strata_batch_rows, STRATA_BATCH_ROWS_DEFAULT,
							STRATA_BATCH_ROWS_MIN,
							STRATA_BATCH_ROWS_MAX, PGC_USERSET, 0, NULL, NULL,
							NULL);

	DefineCustomIntVariable(
							"strata.chunks_ahead",
							"Sets how many chunks are made ahead of the one that rows come into.",
							"Zero: a chunk is made when the first row needs it.",
							&strata_chunks_ahead, STRATA_CHUNKS_AHEAD_DEFAULT,
							0,
							STRATA_CHUNKS_AHEAD_MAX, PGC_USERSET, 0, NULL,
							NULL, NULL);

	DefineCustomIntVariable(
							"strata.dedup_min_gain",
							"Sets how many bytes a full page of a strata_dedup table must gain to be deduplicated.",
							"Less makes tables smaller, and writes more of the log.",
							&strata_dedup_min_gain,
							STRATA_DEDUP_MIN_GAIN_DEFAULT, 1, BLCKSZ,
							PGC_USERSET, GUC_UNIT_BYTE, NULL, NULL, NULL);

	DefineCustomEnumVariable(
							 "strata.dedup_rule",
							 "Sets which values of a page are worth to be kept once.",
							 "For developers: others than seed take more space.",
							 &strata_dedup_rule, 0, dedup_rules, PGC_USERSET,
							 GUC_NOT_IN_SAMPLE, NULL, NULL, NULL);

	DefineCustomIntVariable(
							"strata.index_pages",
							"Sets from how many pages on batches of a table have all of their indexes.",
							"Smaller ones do without those by the beginning of batches and of the widest batch.",
							&strata_index_pages, STRATA_INDEX_PAGES_DEFAULT,
							0, STRATA_INDEX_PAGES_MAX, PGC_USERSET,
							0, NULL, NULL, NULL);

	DefineCustomIntVariable(
							"strata.max_job_workers", "Sets how many jobs may run at a time.",
							"Zero stops the scheduler. Takes from max_worker_processes.",
							&strata_max_job_workers,
							STRATA_MAX_JOB_WORKERS_DEFAULT, 0,
							STRATA_MAX_JOB_WORKERS_MAX, PGC_SIGHUP, 0, NULL,
							NULL, NULL);

	/* later than that there is no memory to get, whatever is said */
	DefineCustomIntVariable(
							"strata.max_stat_tables",
							"Sets for how many tables there is room in strata.stat_tables.",
							"Zero: nothing is counted. Chunks count as tables.",
							&strata_max_stat_tables,
							STRATA_MAX_STAT_TABLES_DEFAULT, 0,
							STRATA_MAX_STAT_TABLES_MAX,
							process_shared_preload_libraries_in_progress ?
							PGC_POSTMASTER : PGC_SIGHUP, 0, NULL, NULL, NULL);

	for (int i = 0; i < (int) lengthof(bool_settings); i++)
	{
		Assert(*bool_settings[i].variable ==
			   bool_settings[i].boot);	/* base:A1 */
		DefineCustomBoolVariable(bool_settings[i].name, bool_settings[i].text,
								 bool_settings[i].detail,
								 bool_settings[i].variable,
								 bool_settings[i].boot, PGC_USERSET,
								 bool_settings[i].flags, NULL, NULL, NULL);
	}

	/* takes locks to the end of the transaction that others wait for */
	DefineCustomBoolVariable(
							 "strata.torture",
							 "Compresses a strata table of the user after every statement that wrote to it.",
							 "For developers: runs any test suite on compressed rows.",
							 &strata_torture, false, PGC_SUSET,
							 GUC_NOT_IN_SAMPLE, NULL, NULL,
							 NULL);

	MarkGUCPrefixReserved("strata");
}
