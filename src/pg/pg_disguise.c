/*-------------------------------------------------------------------------
 *
 * pg_disguise.c
 *	  A relation that shows another table access method for a while.
 *
 * heapam's index builds and rewrites call each other through the relation's
 * routine and expect heapam's there; with ours they would see compressed rows
 * a second time.
 *
 * src/pg/pg_disguise.c
 *-------------------------------------------------------------------------
 */
#include "pg/pg.h"
#include "base/base.h"

static StrataDisguise *disguises = NULL;

/*
 * A rebuilt relcache entry has its own routine again: put the disguise back
 * on.
 */
static void
keep_disguises(Datum arg, Oid relid)
{
	for (StrataDisguise *d = disguises; d != NULL; d = d->next)
		if ((!OidIsValid(relid) || relid == d->relid) &&
			d->rel->rd_tableam == d->own)
			d->rel->rd_tableam = d->shown;
}

/* See pg.h. */
void
strata_disguise_push(StrataDisguise *disguise, Relation rel,
					 const TableAmRoutine *shown)
{
	Assert(rel->rd_tableam != shown);	/* pg:Q1 */
	Assert(disguise != disguises);	/* pg:Q1 */
	disguise->rel = rel;
	disguise->relid = RelationGetRelid(rel);
	disguise->own = rel->rd_tableam;
	disguise->shown = shown;
	disguise->next = disguises;
	disguises = disguise;
	rel->rd_tableam = shown;
}

/* See pg.h. */
void
strata_disguise_pop(StrataDisguise *disguise)
{
	Assert(disguises == disguise);	/* pg:Q1 */
	Assert(disguise->rel->rd_tableam == disguise->shown);	/* pg:Q1 */
	disguises = disguise->next;
	disguise->rel->rd_tableam = disguise->own;
}

/* See pg.h. */
void
strata_disguise_change(StrataDisguise *disguise, const TableAmRoutine *shown)
{
	Assert(disguise->rel->rd_tableam == disguise->shown);	/* pg:Q1 */
	disguise->shown = shown;
	disguise->rel->rd_tableam = shown;
}

/* See pg.h. */
void
strata_disguise_init(void)
{
	strata_relcache_callback_add(keep_disguises);
}
