/*-------------------------------------------------------------------------
 *
 * agg_follow.c
 *	  Columns that follow from a primary key that is grouped by.
 *
 * They become keys, too: a group is of one row of their table, so groups stay
 * what they are.
 *
 * src/agg/agg_follow.c
 *-------------------------------------------------------------------------
 */
#include "agg/agg_private.h"

#include "access/sysattr.h"
#include "catalog/pg_class_d.h"
#include "catalog/pg_constraint.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

/*
 * Is the column var of a relation whose primary key's column attno is grouped
 * by?
 */
static bool
groups_by_column(const AggShape *shape, const Var *var, AttrNumber attno)
{
	ListCell   *lc;

	foreach(lc, shape->keys)
	{
		Var		   *key = lfirst(lc);
		Var		   *same;

		if (!IsA(key, Var) || key->varattno != attno)
			continue;
		/* what outer joins made null must be the same of both */
		same = copyObject(key);
		same->varattno = var->varattno;
		same->vartype = var->vartype;
		same->vartypmod = var->vartypmod;
		same->varcollid = var->varcollid;
		if (equal(same, var))
			return true;
	}
	return false;
}

/*
 * Is the column the same in all rows of a group, since the primary key of its
 * table is grouped by?  PostgreSQL's parser has found that once, but what is
 * left of an expression after planning may read columns that do not follow:
 * a AND b, grouped by, in a AND b AND c.
 */
static bool
follows_from_key(PlannerInfo *root, const AggShape *shape, const Var *var)
{
	const RangeTblEntry *rte;
	Bitmapset  *attnos;
	Oid			constraint;
	int			i = -1;

	if (var->varlevelsup > 0 || var->varattno <= 0)
		return false;
	rte = planner_rt_fetch(var->varno, root);
	/* children of a table that is no partitioned one have keys of their own */
	if (rte->rtekind != RTE_RELATION ||
		(rte->inh && rte->relkind != RELKIND_PARTITIONED_TABLE))
		return false;
	attnos = get_primary_key_attnos(rte->relid, false, &constraint);

	/*
	 * that of ONLY a partitioned table holds as soon as all partitions have
	 * it; PostgreSQL's parser does not look, and takes any row's value
	 */
	if (attnos == NULL ||
		!get_index_isvalid(get_constraint_index(constraint)))
		return false;
	while ((i = bms_next_member(attnos, i)) >= 0)
	{
		if (!groups_by_column(shape, var,
							  i + FirstLowInvalidHeapAttributeNumber))
			return false;
	}
	return true;
}

/* See agg_plan_private.h. */
bool
strata_agg_add_following_key(PlannerInfo *root, Index relid, bool below,
							 Var *var, AggShape *shape)
{
	TypeCacheEntry *typcache;
	bool		by_image;

	/* a set of values for DISTINCT has one key more */
	if (shape->sets != NIL || (below && var->varno == (int) relid) ||
		list_length(shape->keys) + (shape->has_distinct ? 1 : 0) >=
		AGG_MAX_KEYS || !follows_from_key(root, shape, var))
		return false;
	typcache = lookup_type_cache(var->vartype,
								 TYPECACHE_EQ_OPR | TYPECACHE_HASH_PROC);
	if (!OidIsValid(typcache->eq_opr))
		return false;
	by_image = strata_agg_is_equal_by_image(var->vartype, var->varcollid,
											typcache->eq_opr);
	if ((!by_image && !OidIsValid(typcache->hash_proc)) ||
		(!below && !strata_agg_can_evaluate((Node *) var, relid, shape)))
		return false;
	shape->keys = lappend(shape->keys, var);
	shape->eqops = lappend_oid(shape->eqops,
							   by_image ? InvalidOid : typcache->eq_opr);
	return true;
}
