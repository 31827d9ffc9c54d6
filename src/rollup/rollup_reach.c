/*-------------------------------------------------------------------------
 *
 * rollup_reach.c
 *	  Queries that reach beyond the rows there are: strata.read_archives.
 *
 * Rows that retention drops under rollups are noted as gone: times, in the
 * option strata.gone of their hypertable.  With its option read_archives an
 * aggregate query of the table that asks for such times is answered out of an
 * archive that has kept them (rollup_table.c), or not at all; what is left to
 * be told here is which queries that are.
 *
 * A plan carries what it has found: the table, the ranges that it reads of
 * what is kept, and the bounds of the time.
 *
 * Over 600 lines: what is gone, what is asked for of it, and who is refused.
 *
 * src/rollup/rollup_reach.c
 *-------------------------------------------------------------------------
 */
#include "rollup/rollup_private.h"
#include "rollup/rollup_reach_private.h"

#include "base/base.h"
#include "catalog/catalog.h"
#include "hypertable/hypertable.h"

#include "access/stratnum.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "storage/lmgr.h"
#include "utils/array.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#define OPTION_GONE "gone"

/*-------------------------------------------------------------------------
 * What is gone
 *-------------------------------------------------------------------------
 */

/* See rollup_private.h. */
bool
strata_rollup_reads_archives(Oid table)
{
	char	   *text = strata_settings_get_text(table, "read_archives");

	return text != NULL &&
		strata_option_bool(makeDefElem("read_archives",
									   (Node *) makeString(text), -1));
}

/* See rollup_private.h. */
void
strata_rollup_gone(Oid table, StrataRanges *gone)
{
	const char *text = strata_settings_get_text(table, OPTION_GONE);

	strata_rollup_read_ranges(OPTION_GONE, text == NULL ? "" : text, gone);
}

/* See rollup.h. */
void
strata_rollup_check_options(const List *options)
{
	StrataRanges gone;
	ListCell   *lc;

	foreach(lc, options)
	{
		DefElem    *def = lfirst_node(DefElem, lc);

		if (strcmp(def->defname, OPTION_GONE) == 0)
			strata_rollup_read_ranges(OPTION_GONE, defGetString(def), &gone);
	}
}

/* See rollup_private.h. */
void
strata_rollup_note_gone(Oid table, StrataRange range)
{
	StrataRanges gone;
	DefElem    *option;

	strata_rollup_gone(table, &gone);
	strata_ranges_add(&gone, range);
	Assert(strata_ranges_contain(&gone, range));	/* rollup:Z1 */
	option = makeDefElem(OPTION_GONE,
						 (Node *) makeString(strata_rollup_ranges_text(&gone)),
						 -1);
	strata_settings_store(table, list_make1(option), false);
}

/*-------------------------------------------------------------------------
 * What is asked for
 *-------------------------------------------------------------------------
 */

static bool
is_column(const Node *node, Index varno, AttrNumber attno, Oid type)
{
	const Var  *var = (const Var *) node;

	return IsA(node, Var) && (Index) var->varno == varno &&
		var->varlevelsup == 0 && var->varattno == attno &&
		var->vartype == type;
}

/*
 * A value that is compared with a column of the type as one of it; NULL: it
 * is of another type, but for integers that are not longer.
 */
static Expr *
widen_integer(Expr *value, Oid from, Oid to)
{
	Oid			cast = InvalidOid;

	if (from == to)
		return value;
	if (from == INT4OID && to == INT8OID)
		cast = F_INT8_INT4;
	else if (from == INT2OID && to == INT8OID)
		cast = F_INT8_INT2;
	else if (from == INT2OID && to == INT4OID)
		cast = F_INT4_INT2;
	if (!OidIsValid(cast))
		return NULL;
	return (Expr *) makeFuncExpr(cast, to, list_make1(value), InvalidOid,
								 InvalidOid, COERCE_IMPLICIT_CAST);
}

/*
 * Does the comparison make one of the time's type of the value, not the other
 * way round?  Then that is a bound, when it is known (rollup_use.c): by the
 * session's time zone, which may be another one when a plan is run.
 */
static bool
is_compared_as(Oid from, Oid to)
{
	return (from == DATEOID && (to == TIMESTAMPOID || to == TIMESTAMPTZOID)) ||
		(from == TIMESTAMPOID && to == TIMESTAMPTZOID);
}

/* See rollup_private.h. */
StrataTimeBound *
strata_rollup_match_bound(Node *qual, Index varno, AttrNumber attno, Oid type)
{
	OpExpr	   *op = (OpExpr *) qual;
	StrataTimeBound *bound;
	TypeCacheEntry *entry;
	Oid			opno;
	Oid			left;
	Oid			right;
	Expr	   *value;
	int			strategy;

	if (!IsA(qual, OpExpr) || list_length(op->args) != 2)
		return NULL;
	opno = op->opno;
	value = lsecond(op->args);
	if (!is_column(linitial(op->args), varno, attno, type))
	{
		if (!is_column(lsecond(op->args), varno, attno, type))
			return NULL;
		opno = get_commutator(opno);
		value = linitial(op->args);
	}
	if (!OidIsValid(opno) || contain_var_clause((Node *) value))
		return NULL;
	op_input_types(opno, &left, &right);
	entry = lookup_type_cache(type, TYPECACHE_BTREE_OPFAMILY);
	strategy = get_op_opfamily_strategy(opno, entry->btree_opf);
	if (left != type)
		return NULL;
	if (!is_compared_as(right, type))
		value = widen_integer(value, right, type);
	if (strategy == InvalidStrategy || value == NULL)
		return NULL;
	bound = palloc(sizeof(StrataTimeBound));
	bound->strategy = strategy;
	bound->value = value;
	return bound;
}

/* Is it other than the same for all of a statement, or of another query? */
static bool
varies(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Var) || IsA(node, SubLink) || IsA(node, Aggref))
		return true;
	if (!IsA(node, List) && contain_volatile_functions(node))
		return true;
	return expression_tree_walker(node, varies, context);
}

/* See rollup_private.h. */
bool
strata_rollup_is_finer(Oid type, Oid than)
{
	return is_compared_as(than, type);
}

/* One more bound, unless its value differs from row to row. */
static void
add_bound(List **bounds, int strategy, Expr *value)
{
	StrataTimeBound *bound;

	if (varies((Node *) value, NULL))
		return;
	bound = palloc(sizeof(StrataTimeBound));
	bound->strategy = strategy;
	bound->value = value;
	*bounds = lappend(*bounds, bound);
}

/* Values of an array that is written down, or NIL. */
static List *
array_values(Node *array)
{
	const Const *constant = (const Const *) array;
	ArrayType  *values;
	Datum	   *elements;
	bool	   *nulls;
	int			n;
	int16		length;
	bool		byval;
	char		align;
	List	   *list = NIL;

	if (IsA(array, ArrayExpr) && !((ArrayExpr *) array)->multidims)
		return ((ArrayExpr *) array)->elements;
	if (!IsA(array, Const) || constant->constisnull)
		return NIL;
	values = DatumGetArrayTypeP(constant->constvalue);
	get_typlenbyvalalign(ARR_ELEMTYPE(values), &length, &byval, &align);
	deconstruct_array(values, ARR_ELEMTYPE(values), length, byval, align,
					  &elements, &nulls, &n);
	for (int i = 0; i < n; i++)
		list = lappend(list, makeConst(ARR_ELEMTYPE(values), -1, InvalidOid,
									   length, elements[i], nulls[i], byval));
	return list;
}

/* IN, = ANY: from the least to the greatest value. */
static void
add_array_bounds(const ScalarArrayOpExpr *op, Index varno, AttrNumber attno,
				 Oid type, List **bounds)
{
	TypeCacheEntry *entry = lookup_type_cache(type, TYPECACHE_BTREE_OPFAMILY);
	List	   *values = array_values(lsecond(op->args));
	Oid			left;
	Oid			right;

	op_input_types(op->opno, &left, &right);
	if (!op->useOr || values == NIL || left != type ||
		!is_column(linitial(op->args), varno, attno, type) ||
		get_op_opfamily_strategy(op->opno, entry->btree_opf) !=
		BTEqualStrategyNumber)
		return;
	for (int i = 0; i < 2; i++)
	{
		MinMaxExpr *extreme = makeNode(MinMaxExpr);
		Expr	   *value = (Expr *) extreme;

		extreme->minmaxtype = right;
		extreme->op = i == 0 ? IS_LEAST : IS_GREATEST;
		extreme->args = copyObject(values);
		extreme->location = -1;
		if (!is_compared_as(right, type) &&
			!strata_rollup_is_finer(right, type))
			value = widen_integer(value, right, type);
		if (value != NULL)
			add_bound(bounds, i == 0 ? BTGreaterEqualStrategyNumber :
					  BTLessEqualStrategyNumber, value);
	}
}

/* A comparison with a time of a finer type. */
static void
add_near_bounds(const OpExpr *op, Index varno, AttrNumber attno, Oid type,
				List **bounds)
{
	TypeCacheEntry *entry = lookup_type_cache(type, TYPECACHE_BTREE_OPFAMILY);
	Oid			opno = op->opno;
	Expr	   *value;
	Oid			left;
	Oid			right;
	int			strategy;

	if (list_length(op->args) != 2)
		return;
	value = lsecond(op->args);
	if (!is_column(linitial(op->args), varno, attno, type))
	{
		opno = get_commutator(opno);
		value = linitial(op->args);
		if (!is_column(lsecond(op->args), varno, attno, type) ||
			!OidIsValid(opno))
			return;
	}
	op_input_types(opno, &left, &right);
	strategy = get_op_opfamily_strategy(opno, entry->btree_opf);
	if (left != type || strategy == InvalidStrategy ||
		!strata_rollup_is_finer(right, type))
		return;
	if (strategy >= BTEqualStrategyNumber)
		add_bound(bounds, BTGreaterEqualStrategyNumber, value);
	if (strategy <= BTEqualStrategyNumber)
		add_bound(bounds, BTLessEqualStrategyNumber, value);
}

/* Bounds of the time that all rows of the query are in; some of them. */
static void
collect_bounds(Node *quals, Index varno, AttrNumber attno, Oid type,
			   List **bounds)
{
	ListCell   *lc;

	if (quals == NULL)
		return;
	if (is_andclause(quals))
	{
		foreach(lc, ((BoolExpr *) quals)->args)
			collect_bounds(lfirst(lc), varno, attno, type, bounds);
	}
	else if (IsA(quals, List))
	{
		foreach(lc, (List *) quals)
			collect_bounds(lfirst(lc), varno, attno, type, bounds);
	}
	else
	{
		StrataTimeBound *bound = strata_rollup_match_bound(quals, varno,
														   attno, type);

		if (bound != NULL)
			add_bound(bounds, bound->strategy, bound->value);
		else if (IsA(quals, ScalarArrayOpExpr))
			add_array_bounds((ScalarArrayOpExpr *) quals, varno, attno, type,
							 bounds);
		else if (IsA(quals, OpExpr))
			add_near_bounds((OpExpr *) quals, varno, attno, type, bounds);
	}
}

/* Those of all that a query reads; outer joins keep rows despite their own. */
static void
collect_join_bounds(Node *item, Index varno, AttrNumber attno, Oid type,
					List **bounds)
{
	if (IsA(item, FromExpr))
	{
		FromExpr   *from = (FromExpr *) item;
		ListCell   *lc;

		foreach(lc, from->fromlist)
			collect_join_bounds(lfirst(lc), varno, attno, type, bounds);
		collect_bounds(from->quals, varno, attno, type, bounds);
	}
	else if (IsA(item, JoinExpr))
	{
		JoinExpr   *join = (JoinExpr *) item;

		collect_join_bounds(join->larg, varno, attno, type, bounds);
		collect_join_bounds(join->rarg, varno, attno, type, bounds);
		if (join->jointype == JOIN_INNER)
			collect_bounds(join->quals, varno, attno, type, bounds);
	}
}

/* See rollup_private.h. */
void
strata_rollup_needed(Oid table, const List *bounds, Oid type,
					 ParamListInfo params, StrataRanges *needed)
{
	int64		lo = PG_INT64_MIN;
	int64		hi = PG_INT64_MAX;
	ListCell   *lc;

	/* a bound that is not known leaves nothing out */
	foreach(lc, bounds)
	{
		int64		from;
		int64		to;

		if (!strata_rollup_window(list_make1(lfirst(lc)), type, params, &from,
								  &to))
			continue;
		lo = Max(lo, from);
		hi = Min(hi, to);
	}
	strata_rollup_gone(table, needed);
	strata_ranges_clip(needed, lo < hi ? strata_range(lo, hi) :
					   strata_range(lo, lo));
}

/*-------------------------------------------------------------------------
 * What a plan carries
 *-------------------------------------------------------------------------
 */

/* See rollup_private.h. */
List *
strata_rollup_reach_use(Oid table, const StrataRanges *kept,
						const List *bounds)
{
	return lcons(makeInteger(0), strata_rollup_make_use(table, kept, bounds));
}

/* See rollup_private.h. */
bool
strata_rollup_reach_holds(const List *use, ParamListInfo params)
{
	StrataRanges ranges;
	StrataRanges needed;
	List	   *bounds;
	Oid			table = strata_rollup_read_use(list_copy_tail(use, 1), &ranges,
											   &bounds);
	StrataHypertable *ht = strata_hypertable_get(table);

	if (ht == NULL || !strata_rollup_reads_archives(table))
		return false;
	strata_rollup_needed(table, bounds, ht->key_type, params, &needed);
	strata_ranges_remove(&needed, &ranges);
	if (needed.n > 0)
		return false;
	return ranges.n == 0 ||
		strata_rollup_within(&ranges, bounds, ht->key_type, params);
}

/*-------------------------------------------------------------------------
 * Who is not answered
 *-------------------------------------------------------------------------
 */
typedef struct ReachCheck
{
	ParamListInfo params;
	const List *exempt;			/* queries that know what they do */
	List	   *uses;
	bool		aggregated;		/* by a query around the one that is visited */
} ReachCheck;

/* Names of views that have something of the table. */
static char *
name_archives(Oid table)
{
	StringInfoData names;
	ListCell   *lc;

	initStringInfo(&names);
	foreach(lc, strata_rollups_of_source(table))
		appendStringInfo(&names, "%s%s", names.len > 0 ? ", " : "",
						 strata_sql_name(lfirst_oid(lc)));
	return names.data;
}

static char *
text_of_time(Oid type, int64 time)
{
	Oid			output;
	bool		is_varlena;

	getTypeOutputInfo(type, &output, &is_varlena);
	return OidOutputFunctionCall(output, strata_time_to_datum(type, time));
}

/* Rows from some of these times on are asked for, of which no archive knows. */
static void
refuse_reach(Oid table, const StrataHypertable *ht, const StrataRanges *needed)
{
	char	   *names = name_archives(table);
	char	   *until = text_of_time(ht->key_type,
									 needed->r[needed->n - 1].hi);

	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("rows of \"%s\" before %s are gone, and no archive has what the query asks for",
					get_rel_name(table), until),
			 names[0] != '\0' ?
			 errhint("Ask the table alone for buckets, groups and aggregates of %s, between times where buckets begin; or ALTER TABLE %s SET (strata.read_archives = false) for what rows there are.",
					 names, strata_sql_name(table)) :
			 errhint("ALTER TABLE %s SET (strata.read_archives = false) for what rows there are.",
					 strata_sql_name(table))));
}

/* See rollup_reach_private.h. */
void
strata_rollup_refuse_reach(Oid table)
{
	StrataHypertable *ht = strata_hypertable_get(table);
	StrataRanges gone;

	strata_rollup_gone(table, &gone);
	if (ht != NULL && gone.n > 0)
		refuse_reach(table, ht, &gone);
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("rows of the table are gone, and no archive has what the query asks for")));
}

/* Look at a table of an aggregate query that no archive answers. */
static void
check_reach_of(ReachCheck *check, Query *query, Index varno)
{
	RangeTblEntry *rte = rt_fetch(varno, query->rtable);
	StrataHypertable *ht;
	List	   *bounds = NIL;
	StrataRanges needed;
	StrataRanges none = {0};
	StrataRanges *read = &none;
	ListCell   *lc;

	if (rte->rtekind != RTE_RELATION || !rte->inh ||
		rte->relkind != RELKIND_PARTITIONED_TABLE ||
		!strata_rollup_reads_archives(rte->relid))
		return;
	ht = strata_hypertable_get(rte->relid);
	if (ht == NULL)
		return;
	collect_join_bounds((Node *) query->jointree, varno, ht->attno,
						ht->key_type, &bounds);
	strata_rollup_needed(rte->relid, bounds, ht->key_type, check->params,
						 &needed);
	if (needed.n > 0)
	{
		/* parameters may come, and say less */
		foreach(lc, bounds)
		{
			if (strata_rollup_awaits(lfirst(lc), check->params))
				needed.n = 0;
		}
	}
	/* a plan that is proven when it runs has read them, as it were */
	if (needed.n > 0 &&
		strata_rollup_within(&needed, bounds, ht->key_type, check->params) &&
		strata_rollup_guard_ends(query, varno, rte->relid, ht->attno,
								 ht->key_type, &needed))
		read = &needed;
	else if (needed.n > 0)
		refuse_reach(rte->relid, ht, &needed);
	Assert(read->n == needed.n);	/* rollup:Z9 */
	check->uses = lappend(check->uses,
						  strata_rollup_reach_use(rte->relid, read, bounds));
}

/* Entries that the query itself reads. */
static bool
find_read_entries(Node *node, void *context)
{
	Relids	   *varnos = context;

	if (node == NULL || IsA(node, Query))
		return false;
	if (IsA(node, RangeTblRef))
		*varnos = bms_add_member(*varnos, ((RangeTblRef *) node)->rtindex);
	return expression_tree_walker(node, find_read_entries, context);
}

static bool check_node(Node *node, void *context);

/*
 * A query, whose own level aggregates, or one around it does.  What makes one
 * value out of many rows aggregates: DISTINCT and window functions, too.
 */
static bool
check_query(Query *query, ReachCheck *check, bool aggregated)
{
	bool		before = check->aggregated;
	Relids		varnos = NULL;
	int			varno = -1;

	if (list_member_ptr(check->exempt, query))
		aggregated = false;
	else
		aggregated |= query->hasAggs || query->hasWindowFuncs ||
			query->groupClause != NIL || query->groupingSets != NIL ||
			(query->distinctClause != NIL && !query->hasDistinctOn);
	if (aggregated)
		(void) find_read_entries((Node *) query->jointree, &varnos);
	while ((varno = bms_next_member(varnos, varno)) >= 0)
		if (!list_member_ptr(check->exempt, rt_fetch(varno, query->rtable)))
			check_reach_of(check, query, varno);
	check->aggregated = aggregated;
	(void) query_tree_walker(query, check_node, check, 0);
	check->aggregated = before;
	return false;
}

/* A walker: queries on the way, at any level. */
static bool
check_node(Node *node, void *context)
{
	ReachCheck *check = context;

	if (node == NULL)
		return false;
	if (IsA(node, Query))
		return check_query((Query *) node, check, check->aggregated);
	if (IsA(node, SubLink))
	{
		SubLink    *link = (SubLink *) node;

		/* what it finds is no row of the aggregate */
		return check_node(link->testexpr, context) ||
			check_query((Query *) link->subselect, check,
						link->subLinkType == ARRAY_SUBLINK);
	}
	return expression_tree_walker(node, check_node, context);
}

/* See rollup_private.h. */
List *
strata_rollup_check_reach(Query *query, ParamListInfo params,
						  const List *exempt)
{
	ReachCheck	check = {params, exempt, NIL, false};

	(void) check_query(query, &check, false);
	return check.uses;
}
