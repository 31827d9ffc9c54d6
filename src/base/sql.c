/*-------------------------------------------------------------------------
 *
 * sql.c
 *	  The one door through which the library runs SQL.
 *
 * Whatever search_path the session has, a query of ours means what it means
 * with pg_catalog alone: an operator without an exact match there would
 * otherwise be anybody's, run with the rights of who is at work.  A command,
 * which has qualified names only and no operators, leaves the path as it is
 * (owner.c pins it for who works on somebody else's table): code of the
 * owner's that it calls may need it. tools/check_sql.py keeps all other files
 * from SPI's functions that run texts.
 *
 * src/base/sql.c
 *-------------------------------------------------------------------------
 */
#include "base/base.h"

#include "access/xact.h"
#include "catalog/namespace.h"
#include "executor/spi.h"
#include "parser/parser.h"
#include "tcop/dest.h"
#include "tcop/utility.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/queryenvironment.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"

/* See base.h. */
int
strata_sql_execute(const char *sql, int nargs, Oid *types, Datum *values,
				   const char *nulls, bool read_only)
{
	int			level = NewGUCNestLevel();
	int			result;

	strata_search_path_pin();
	Assert(strcmp(namespace_search_path, "pg_catalog, pg_temp") ==
		   0);					/* base:A2 */
	result = SPI_execute_with_args(sql, nargs, types, values, nulls, read_only,
								   0);
	AtEOXact_GUC(false, level);
	return result;
}

/* See base.h. */
uint64
strata_sql_execute_at(const char *sql, Snapshot snapshot, DestReceiver *dest)
{
	int			level = NewGUCNestLevel();
	uint64		rows;

	strata_search_path_pin();
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	if (dest != NULL)
	{
		SPIExecuteOptions options = {.read_only = true,.dest = dest};

		/* what only reads does so by the active snapshot */
		PushActiveSnapshot(snapshot);
		if (SPI_execute_extended(sql, &options) < 0)
			elog(ERROR, "could not run: %s", sql);
		rows = SPI_processed;
		PopActiveSnapshot();
	}
	else
	{
		SPIPlanPtr	plan = SPI_prepare(sql, 0, NULL);

		if (plan == NULL ||
			SPI_execute_snapshot(plan, NULL, NULL, snapshot, InvalidSnapshot,
								 false, true, 0) < 0)
			elog(ERROR, "could not run: %s", sql);
		rows = SPI_processed;
	}
	SPI_finish();
	AtEOXact_GUC(false, level);
	CommandCounterIncrement();
	return rows;
}

/* See base.h. */
uint64
strata_sql_insert_rows(const char *sql, const char *name, TupleDesc desc,
					   Tuplestorestate *rows, Snapshot snapshot)
{
	EphemeralNamedRelationData relation = {0};
	int			level = NewGUCNestLevel();
	SPIPlanPtr	plan;
	uint64		n;

	relation.md.name = unconstify(char *, name);
	relation.md.tupdesc = desc;
	relation.md.enrtype = ENR_NAMED_TUPLESTORE;
	relation.md.enrtuples = tuplestore_tuple_count(rows);
	relation.reldata = rows;
	strata_search_path_pin();
	if (SPI_connect() != SPI_OK_CONNECT ||
		SPI_register_relation(&relation) != SPI_OK_REL_REGISTER)
		elog(ERROR, "SPI_connect failed");
	plan = SPI_prepare(sql, 0, NULL);
	if (plan == NULL ||
		SPI_execute_snapshot(plan, NULL, NULL, snapshot, InvalidSnapshot,
							 false, true, 0) < 0)
		elog(ERROR, "could not run: %s", sql);
	n = SPI_processed;
	SPI_finish();
	AtEOXact_GUC(false, level);
	CommandCounterIncrement();
	return n;
}

/* See base.h. */
void
strata_sql_run(const char *sql)
{
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	if (SPI_execute(sql, false, 0) < 0)
		elog(ERROR, "could not run: %s", sql);
	SPI_finish();
	CommandCounterIncrement();
}

/* See base.h. */
char *
strata_sql_name(Oid relid)
{
	return quote_qualified_identifier(
									  get_namespace_name(get_rel_namespace(relid)), get_rel_name(relid));
}

/* An error's position is in our command, not in the user's; as SPI says it. */
static void
command_context(void *arg)
{
	const char *sql = arg;
	int			position = geterrposition();

	if (position > 0)
	{
		errposition(0);
		internalerrposition(position);
		internalerrquery(sql);
	}
	else
		errcontext("SQL statement \"%s\"", sql);
}

/* See base.h. */
void
strata_sql_run_subcommand(const char *sql)
{
	PlannedStmt *stmt = makeNode(PlannedStmt);
	ErrorContextCallback callback = {.callback = command_context,
	.arg = unconstify(char *, sql)};

	callback.previous = error_context_stack;
	error_context_stack = &callback;
	stmt->commandType = CMD_UTILITY;
	stmt->canSetTag = false;
	stmt->utilityStmt =
		linitial_node(RawStmt, raw_parser(sql, RAW_PARSE_DEFAULT))->stmt;
	stmt->stmt_location = -1;
	Assert(!IsA(stmt->utilityStmt,
				SelectStmt));	/* base:A2: a command, not a query, which
								 * would be planned */
	CommandCounterIncrement();
	PushActiveSnapshot(GetTransactionSnapshot());
	ProcessUtility(stmt, sql, false, PROCESS_UTILITY_SUBCOMMAND, NULL, NULL,
				   None_Receiver, NULL);
	PopActiveSnapshot();
	CommandCounterIncrement();
	error_context_stack = callback.previous;
}
