/*-------------------------------------------------------------------------
 *
 * type.c
 *	  What types say of their values.
 *
 * src/base/type.c
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/base.h"

#include "access/nbtree.h"
#include "catalog/pg_am_d.h"
#include "commands/defrem.h"
#include "fmgr.h"
#include "utils/lsyscache.h"
#include "utils/sortsupport.h"
#include "utils/typcache.h"

/* See base.h. */
bool
strata_equal_is_identical(Oid type, Oid collation)
{
	Oid			opclass = GetDefaultOpClass(type, BTREE_AM_OID);
	Oid			function;

	if (!OidIsValid(opclass))
		return false;
	function = get_opfamily_proc(get_opclass_family(opclass),
								 get_opclass_input_type(opclass),
								 get_opclass_input_type(opclass),
								 BTEQUALIMAGE_PROC);
	return OidIsValid(function) &&
		DatumGetBool(OidFunctionCall1Coll(function, collation,
										  ObjectIdGetDatum(get_opclass_input_type(opclass))));
}

/* See base.h. */
void
strata_sort_init(SortSupport sort, Oid type, Oid collation, bool desc,
				 bool nulls_first, MemoryContext mcxt)
{
	TypeCacheEntry *entry;

	entry = lookup_type_cache(type, desc ? TYPECACHE_GT_OPR :
							  TYPECACHE_LT_OPR);
	memset(sort, 0, sizeof(SortSupportData));
	sort->ssup_cxt = mcxt;
	sort->ssup_collation = collation;
	sort->ssup_nulls_first = nulls_first;
	PrepareSortSupportFromOrderingOp(desc ? entry->gt_opr : entry->lt_opr,
									 sort);
}

/* See base.h. */
bool
strata_types_compare_alike(Oid a, Oid b)
{
	TypeCacheEntry *types[2];

	if (getBaseType(a) == getBaseType(b))
		return true;
	types[0] = lookup_type_cache(a, TYPECACHE_BTREE_OPFAMILY);
	types[1] = lookup_type_cache(b, TYPECACHE_BTREE_OPFAMILY);
	return OidIsValid(types[0]->btree_opf) &&
		types[0]->btree_opf == types[1]->btree_opf &&
		types[0]->btree_opintype == types[1]->btree_opintype &&
		!IsPolymorphicType(types[0]->btree_opintype);
}
