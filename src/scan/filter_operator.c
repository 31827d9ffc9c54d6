/*-------------------------------------------------------------------------
 *
 * filter_operator.c
 *	  What an operator is to a column, remembered.
 *
 * Planning and starting the shortest query asks some ten times in the catalogs
 * what "=" is to a column of type text.  PostgreSQL's own operators of its own
 * types are kept; those of others, which may change, are looked up each time.
 *
 * src/scan/filter_operator.c
 *-------------------------------------------------------------------------
 */
#include "scan/filter_operator_private.h"

#include "access/nbtree.h"
#include "access/transam.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

#define KNOWN 64				/* a power of two */

static StrataOperator known[KNOWN];

/*
 * A function has changed, or something else that syscaches do not tell apart.
 */
static void
forget(Datum arg, int cache_id, uint32 hash)
{
	memset(known, 0, sizeof(known));
}

/*
 * Strategy of opno in opfamily, FILTER_NE for the negator of =, 0 for neither.
 */
static int
operator_strategy(Oid opno, Oid opfamily)
{
	int			strategy = get_op_opfamily_strategy(opno, opfamily);
	Oid			negator;

	if (strategy == 0)
	{
		negator = get_negator(opno);
		if (OidIsValid(negator) &&
			get_op_opfamily_strategy(negator, opfamily) ==
			BTEqualStrategyNumber)
			strategy = FILTER_NE;
	}
	return strategy;
}

/*
 * The family's function of a strategy for a column and what its bounds are
 * compared with, or InvalidOid.
 */
static Oid
bound_function(const StrataOperator *op, int strategy)
{
	Oid			opno = get_opfamily_member(op->opfamily, op->lefttype,
										   op->boundtype, strategy);

	return OidIsValid(opno) ? get_opcode(opno) : InvalidOid;
}

/*
 * What there is to know of an operator on a column of this type; what could
 * not be found out stays zero.
 */
static void
look_up(Oid opno, Oid coltype, StrataOperator *op)
{
	memset(op, 0, sizeof(*op));
	op->opno = opno;
	op->coltype = coltype;
	op->basetype = getBaseType(coltype);
	op->opfamily =
		lookup_type_cache(coltype, TYPECACHE_BTREE_OPFAMILY)->btree_opf;
	op->opcode = get_opcode(opno);
	if (!OidIsValid(op->opcode))
		return;
	op->strict = func_strict(op->opcode);
	op->is_volatile = func_volatile(op->opcode) == PROVOLATILE_VOLATILE;
	op->leakproof = get_func_leakproof(op->opcode);
	op_input_types(opno, &op->lefttype, &op->righttype);
	if (!OidIsValid(op->opfamily))
		return;
	op->strategy = operator_strategy(opno, op->opfamily);
	if (op->strategy == 0)
		return;
	op->order = strata_operator_order(op->opcode, op->opfamily, op->lefttype,
									  op->righttype);
	if (op->order == STRATA_ORDER_NONE)
		return;
	op->boundtype = op->order == STRATA_ORDER_LOCAL ? TIMESTAMPOID :
		op->righttype;
	op->comparison = get_opfamily_proc(op->opfamily, op->lefttype,
									   op->boundtype, BTORDER_PROC);
	op->same = op->strategy == FILTER_NE ? InvalidOid :
		bound_function(op, op->strategy);
	op->at_most = bound_function(op, BTLessEqualStrategyNumber);
	op->at_least = bound_function(op, BTGreaterEqualStrategyNumber);
}

/* See filter_operator_private.h. */
void
strata_operator_get(Oid opno, Oid coltype, StrataOperator *op)
{
	static bool registered = false;
	StrataOperator *place = &known[(opno ^ (coltype << 2)) % KNOWN];

	if (opno >= FirstGenbkiObjectId || coltype >= FirstGenbkiObjectId)
	{
		look_up(opno, coltype, op);
		return;
	}
	if (!registered)
	{
		CacheRegisterSyscacheCallback(PROCOID, forget, (Datum) 0);
		registered = true;
	}
	if (place->opno != opno || place->coltype != coltype)
	{
		/* looking it up may make us forget it */
		look_up(opno, coltype, op);
		*place = *op;
	}
	else
		*op = *place;
}
