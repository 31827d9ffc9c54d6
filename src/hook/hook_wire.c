/*-------------------------------------------------------------------------
 *
 * hook_wire.c
 *	  Results of queries that read batches go to the client by wire/.
 *
 * Only where it is certain which formats the client wants: those of the
 * portal that a message of the client executes, by all rows or by some at a
 * time.  Rows of FETCH and EXECUTE, whose portal has another one run its
 * query, are kept in a tuplestore before they are sent.
 *
 * src/hook/hook_wire.c
 *-------------------------------------------------------------------------
 */
#include "base/base.h"
#include "hook/hook_private.h"
#include "wire/wire.h"

#include "executor/executor.h"
#include "nodes/extensible.h"
#include "nodes/nodeFuncs.h"
#include "tcop/pquery.h"
#include "utils/portal.h"

/* The node below that the first rows come from; NULL: a scan. */
static PlanState *
first_input(PlanState *node)
{
	if (IsA(node, AppendState))
		return ((AppendState *) node)->as_nplans > 0 ?
			((AppendState *) node)->appendplans[0] :
			NULL;
	if (IsA(node, MergeAppendState))
		return ((MergeAppendState *) node)->ms_nplans > 0 ?
			((MergeAppendState *) node)->mergeplans[0] :
			NULL;
	return outerPlanState(node);
}

static bool
reads_batches(PlanState *node)
{
	PlanState  *input;

	while ((input = first_input(node)) != NULL)
		node = input;
	return IsA(node, CustomScanState) &&
		strncmp(((CustomScanState *) node)->methods->CustomName, "Strata",
				6) == 0;
}

/*
 * Does the active portal run the query, and send what it gives?  A query that
 * came as one text runs in the unnamed portal; others in any.
 */
static bool
is_for_client(const QueryDesc *query_desc)
{
	Portal		portal = ActivePortal;

	if (query_desc->operation != CMD_SELECT || portal == NULL ||
		portal->strategy != PORTAL_ONE_SELECT ||
		portal->queryDesc != query_desc ||
		!(query_desc->dest->mydest == DestRemoteExecute ||
		  (query_desc->dest->mydest == DestRemote &&
		   portal->name[0] == '\0')))
		return false;
	for (int i = 0; portal->formats != NULL && i < query_desc->tupDesc->natts;
		 i++)
		if (portal->formats[i] != 0 && portal->formats[i] != 1)
			return false;		/* PostgreSQL has an error for them */
	return true;
}

/* See hook_private.h. */
DestReceiver *
strata_wire_replace_receiver(QueryDesc *query_desc)
{
	DestReceiver *client = query_desc->dest;

	if (strata_enable_fast_output && is_for_client(query_desc) &&
		reads_batches(query_desc->planstate))
	{
		query_desc->dest = strata_wire_receiver(client,
												ActivePortal->formats);
		elog(DEBUG2, "strata writes the result");
	}
	return client;
}

/* See hook_private.h. */
void
strata_wire_give_back(QueryDesc *query_desc, DestReceiver *client)
{
	if (query_desc->dest == client)
		return;
	query_desc->dest->rDestroy(query_desc->dest);
	query_desc->dest = client;
}
