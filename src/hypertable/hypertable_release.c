/*-------------------------------------------------------------------------
 *
 * hypertable_release.c
 *	  A hypertable becomes a partitioned table like others.
 *
 * src/hypertable/hypertable_release.c
 *-------------------------------------------------------------------------
 */
#include "hypertable/hypertable.h"

#include "base/base.h"
#include "catalog/catalog.h"

#include "commands/trigger.h"
#include "storage/lmgr.h"
#include "utils/lsyscache.h"

/* See hypertable.h. */
void
strata_hypertable_release(Oid relid)
{
	static const char *const policies[] = {"policy_compression",
	"policy_retention", "policy_reorder"};
	StrataHypertable *ht = strata_hypertable_get(relid);
	ListCell   *lc;

	for (int i = 0; i < lengthof(policies); i++)
	{
		int32		job = strata_job_find_policy(policies[i], relid);

		if (job != 0)
			strata_job_delete(job);
	}
	if (ht != NULL)
		foreach(lc, strata_chunk_list(ht))
			strata_divide_give_up(((StrataChunk *) lfirst(lc))->relid);
	if (OidIsValid(get_trigger_oid(relid, STRATA_GUARD_TRIGGER, true)))
		strata_sql_run(psprintf("DROP TRIGGER " STRATA_GUARD_TRIGGER " ON %s",
								strata_sql_name(relid)));
	(void) strata_settings_remove_all(relid);
}
