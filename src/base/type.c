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
		DatumGetBool(OidFunctionCall1Coll(
										  function, collation,
										  ObjectIdGetDatum(get_opclass_input_type(opclass))));
}
