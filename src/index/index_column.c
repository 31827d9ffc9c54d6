/*-------------------------------------------------------------------------
 *
 * index_column.c
 *	  Which columns have a batch index, and the hashes of their values.
 *
 * A b-tree or hash index of the user's is what asks for one, or a BRIN, GiST
 * or GIN index.  What is kept for a b-tree or hash index of all rows, whose
 * first column is no expression, is the column's: several such indexes share
 * it.  For others it is the index's own.
 * Hashes are not kept of a column that the companion's own indexes lead by:
 * segmentby, and the first of orderby; keys are.
 *
 * Entries outlive the session that made them, and releases: so only hash
 * functions of PostgreSQL's own are used, whose values hash indexes keep, too,
 * and of text those of collations where equal is the same bytes.
 *
 * src/index/index_column.c
 *-------------------------------------------------------------------------
 */
#include "index/index_private.h"
#include "catalog/catalog.h"

#include "access/brin_internal.h"
#include "access/gin.h"
#include "access/htup_details.h"
#include "access/stratnum.h"
#include "access/transam.h"
#include "catalog/pg_am.h"
#include "catalog/pg_class.h"
#include "catalog/pg_index.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "nodes/nodeFuncs.h"
#include "commands/defrem.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

static Oid
access_method(Oid index)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(index));
	Oid			am = InvalidOid;

	if (HeapTupleIsValid(tuple))
	{
		am = ((Form_pg_class) GETSTRUCT(tuple))->relam;
		ReleaseSysCache(tuple);
	}
	return am;
}

/* Does the index lead by the column, for all rows? */
static bool
index_serves(Oid indexoid, AttrNumber attno)
{
	HeapTuple	tuple = SearchSysCache1(INDEXRELID,
										ObjectIdGetDatum(indexoid));
	Form_pg_index form;
	bool		serves;
	Oid			am;

	if (!HeapTupleIsValid(tuple))
		return false;
	form = (Form_pg_index) GETSTRUCT(tuple);
	serves = form->indisvalid && form->indnkeyatts > 0 &&
		form->indkey.values[0] == attno &&
		heap_attisnull(tuple, Anum_pg_index_indpred, NULL);
	ReleaseSysCache(tuple);
	am = serves ? access_method(indexoid) : InvalidOid;
	return am == BTREE_AM_OID || am == HASH_AM_OID;
}

/* Are values of the type hashed by PostgreSQL's own functions alone? */
static bool
is_plain_type(Oid type)
{
	Oid			element;
	char		kind;

	type = getBaseType(type);
	kind = get_typtype(type);
	if (kind == TYPTYPE_ENUM)
		return true;
	/* those of PostgreSQL itself are of its numbers and times */
	if (kind == TYPTYPE_RANGE || kind == TYPTYPE_MULTIRANGE)
		return type < FirstGenbkiObjectId;
	if (kind != TYPTYPE_BASE)
		return false;
	element = get_base_element_type(type);
	/* those of extensions bring functions of their own */
	return OidIsValid(element) ? is_plain_type(element) :
		type < FirstGenbkiObjectId;
}

/* See index_private.h. */
Oid
strata_index_type_hash(Oid type, Oid collation)
{
	TypeCacheEntry *typcache;

	if (!is_plain_type(type) ||
		(OidIsValid(collation) && !get_collation_isdeterministic(collation)))
		return InvalidOid;
	typcache = lookup_type_cache(getBaseType(type), TYPECACHE_HASH_PROC);
	return typcache->hash_proc < FirstGenbkiObjectId ? typcache->hash_proc :
		InvalidOid;
}

/* See index_private.h. */
Oid
strata_index_hash_function(Relation rel, AttrNumber attno)
{
	Form_pg_attribute att = TupleDescAttr(RelationGetDescr(rel), attno - 1);

	return att->attisdropped ? InvalidOid :
		strata_index_type_hash(att->atttypid, att->attcollation);
}

/* See index.h. */
Oid
strata_index_of_column(Relation rel, AttrNumber attno)
{
	List	   *indexes = RelationGetIndexList(rel);
	Oid			result = InvalidOid;
	ListCell   *lc;

	if (attno > 0 && OidIsValid(strata_index_hash_function(rel, attno)))
		foreach(lc, indexes)
	{
		/* the least OID, so that it is always the same */
		if (index_serves(lfirst_oid(lc), attno))
		{
			result = lfirst_oid(lc);
			break;
		}
	}
	list_free(indexes);
	return result;
}

/* See index_private.h. */
StrataIndexTarget
strata_index_hash_target(Relation rel, AttrNumber attno)
{
	StrataIndexTarget target = {STRATA_INDEX_HASHES, attno,
	strata_index_hash_function(rel, attno)};

	return target;
}

/* Is it of all rows, its first column no expression? */
static bool
is_of_column(Oid index)
{
	HeapTuple	tuple = SearchSysCache1(INDEXRELID, ObjectIdGetDatum(index));
	bool		is;

	if (!HeapTupleIsValid(tuple))
		return false;
	is = ((Form_pg_index) GETSTRUCT(tuple))->indkey.values[0] > 0 &&
		heap_attisnull(tuple, Anum_pg_index_indpred, NULL);
	ReleaseSysCache(tuple);
	return is;
}

/* See index.h. */
StrataIndexKind
strata_index_kind(Oid index)
{
	switch (access_method(index))
	{
		case BTREE_AM_OID:
		case HASH_AM_OID:
			return is_of_column(index) ? STRATA_INDEX_HASHES :
				STRATA_INDEX_KEYS;
		case BRIN_AM_OID:
		case GIST_AM_OID:
			return STRATA_INDEX_SUMMARIES;
		case GIN_AM_OID:
			return STRATA_INDEX_KEYS;
		default:
			return STRATA_INDEX_NONE;
	}
}

/* Its operator class of the first column. */
static Oid
first_opclass(HeapTuple index)
{
	bool		isnull;
	Datum		classes = SysCacheGetAttr(INDEXRELID, index,
										  Anum_pg_index_indclass, &isnull);

	return isnull ? InvalidOid :
		((const oidvector *) DatumGetPointer(classes))->values[0];
}

/* See index_private.h. */
Oid
strata_index_first_type(HeapTuple index)
{
	const FormData_pg_index *form = (Form_pg_index) GETSTRUCT(index);
	bool		isnull;
	Datum		expressions;
	Node	   *list;

	if (form->indkey.values[0] != 0)
		return get_atttype(form->indrelid, form->indkey.values[0]);
	expressions = SysCacheGetAttr(INDEXRELID, index, Anum_pg_index_indexprs,
								  &isnull);
	if (isnull)
		return InvalidOid;
	list = stringToNode(TextDatumGetCString(expressions));
	return exprType(linitial((List *) list));
}

/* The function that hashes what an index begins with; InvalidOid: none. */
static Oid
first_hash_function(HeapTuple index, Oid collation)
{
	return strata_index_type_hash(strata_index_first_type(index), collation);
}

/*
 * Are keys of a GIN index's column that its class finds equal hashed alike?
 * Where the class compares them by a function of an extension's, who knows.
 */
static bool
keys_are_hashed(Oid index, int column, Oid opclass, Oid collation)
{
	Oid			type = get_opclass_input_type(opclass);

	return get_opfamily_proc(get_opclass_family(opclass), type, type,
							 GIN_COMPARE_PROC) < FirstGenbkiObjectId &&
		OidIsValid(strata_index_type_hash(get_atttype(index, (AttrNumber)
													  (column + 1)),
										  collation));
}

/* Is that so for all columns?  Of other kinds than GIN for the first. */
static bool
all_keys_are_hashed(Oid index, bool gin, HeapTuple tuple)
{
	int			n = ((Form_pg_index) GETSTRUCT(tuple))->indnkeyatts;
	bool		isnull;
	const oidvector *classes = (const oidvector *)
	DatumGetPointer(SysCacheGetAttr(INDEXRELID, tuple,
									Anum_pg_index_indclass, &isnull));
	const oidvector *collations = (const oidvector *)
	DatumGetPointer(SysCacheGetAttr(INDEXRELID, tuple,
									Anum_pg_index_indcollation, &isnull));

	if (!gin)
		return OidIsValid(first_hash_function(tuple, collations->values[0]));
	for (int i = 0; i < n; i++)
	{
		if (!keys_are_hashed(index, i, classes->values[i],
							 collations->values[i]))
			return false;
	}
	return true;
}

/* See index_private.h. */
bool
strata_index_class_target(Oid index, StrataIndexTarget *target)
{
	HeapTuple	tuple;
	Form_pg_index form;
	bool		serves;

	memset(target, 0, sizeof(*target));
	target->kind = strata_index_kind(index);
	if (target->kind != STRATA_INDEX_SUMMARIES &&
		target->kind != STRATA_INDEX_KEYS)
		return false;
	tuple = SearchSysCache1(INDEXRELID, ObjectIdGetDatum(index));
	if (!HeapTupleIsValid(tuple))
		return false;
	form = (Form_pg_index) GETSTRUCT(tuple);
	serves = form->indisvalid && form->indnkeyatts > 0;
	if (serves && target->kind == STRATA_INDEX_KEYS)
		serves = all_keys_are_hashed(index,
									 access_method(index) == GIN_AM_OID,
									 tuple);
	target->attno = form->indkey.values[0] > 0 ? form->indkey.values[0] :
		STRATA_INDEX_EXPRESSION;
	target->function = index;
	target->opclass = first_opclass(tuple);
	ReleaseSysCache(tuple);
	return serves;
}

/* See index.h. */
StrataIndexKind
strata_index_serves(Relation rel, Oid index)
{
	StrataIndexTarget target;

	if (!strata_settings_batch_index(rel))
		return STRATA_INDEX_NONE;
	if (strata_index_class_target(index, &target))
		return target.kind;
	for (AttrNumber attno = 1; attno <= RelationGetDescr(rel)->natts; attno++)
	{
		if (index_serves(index, attno) &&
			OidIsValid(strata_index_hash_function(rel, attno)))
			return STRATA_INDEX_HASHES;
	}
	return STRATA_INDEX_NONE;
}

/* Do the companion's own indexes lead by the column? */
static bool
is_led_by(const StrataLayout *layout, AttrNumber attno)
{
	return strata_layout_segment_index(layout, attno) >= 0 ||
		(layout->norder > 0 && layout->order[0].attno == attno);
}

/* What keeps values of a type, in a collation, from being hashed. */
static const char *
obstacle_of_type(Oid type, Oid collation)
{
	if (OidIsValid(strata_index_type_hash(type, collation)))
		return NULL;
	if (OidIsValid(collation) && !get_collation_isdeterministic(collation))
		return psprintf(_("Texts that the collation \"%s\" finds equal may have different bytes."),
						get_collation_name(collation));
	return psprintf(_("Of values of type %s no hashes are kept."),
					format_type_be(type));
}

/* See index.h. */
const char *
strata_index_obstacle(Relation rel, Relation index)
{
	StrataIndexTarget target;
	AttrNumber	first = index->rd_index->indkey.values[0];

	switch (strata_index_kind(RelationGetRelid(index)))
	{
		case STRATA_INDEX_NONE:
			return psprintf(_("Of indexes of access method \"%s\" nothing is kept for batches."),
							get_am_name(index->rd_rel->relam));
		case STRATA_INDEX_SUMMARIES:
			return NULL;
		case STRATA_INDEX_HASHES:
			if (is_led_by(strata_store_current_layout(rel), first))
				return NULL;
			return obstacle_of_type(TupleDescAttr(RelationGetDescr(rel),
												  first - 1)->atttypid,
									index->rd_indcollation[0]);
		case STRATA_INDEX_KEYS:
			break;
	}
	if (strata_index_is_of_values(index))
		return obstacle_of_type(strata_index_first_type(index->rd_indextuple),
								index->rd_indcollation[0]);
	return strata_index_class_target(RelationGetRelid(index), &target) ||
		!index->rd_index->indisvalid ? NULL :
		_("Of keys of its operator class no hashes are kept.");
}

/* Is it a BRIN index of all rows, with a filter of the column? */
static bool
has_filter(Oid index, AttrNumber attno)
{
	HeapTuple	tuple = SearchSysCache1(INDEXRELID, ObjectIdGetDatum(index));
	Form_pg_index form;
	const oidvector *classes;
	bool		has = false;
	bool		isnull;

	if (!HeapTupleIsValid(tuple))
		return false;
	form = (Form_pg_index) GETSTRUCT(tuple);
	classes = (const oidvector *)
		DatumGetPointer(SysCacheGetAttr(INDEXRELID, tuple,
										Anum_pg_index_indclass, &isnull));
	if (form->indisvalid && access_method(index) == BRIN_AM_OID &&
		heap_attisnull(tuple, Anum_pg_index_indpred, NULL))
		for (int i = 0; i < form->indnkeyatts; i++)
		{
			Oid			type = get_opclass_input_type(classes->values[i]);

			has |= form->indkey.values[i] == attno &&
				get_opfamily_proc(get_opclass_family(classes->values[i]),
								  type, type, BRIN_PROCNUM_OPCINFO) ==
				F_BRIN_BLOOM_OPCINFO;
		}
	ReleaseSysCache(tuple);
	return has;
}

/* See index.h. */
bool
strata_index_finds_equal(Relation rel, AttrNumber attno,
						 const char **obstacle)
{
	Form_pg_attribute att = TupleDescAttr(RelationGetDescr(rel), attno - 1);
	ListCell   *lc;

	*obstacle = NULL;
	if (is_led_by(strata_store_current_layout(rel), attno))
		return true;
	if (!strata_settings_batch_index(rel))
	{
		*obstacle = _("Option \"strata.batch_index\" is off.");
		return false;
	}
	if (OidIsValid(strata_index_of_column(rel, attno)))
		return true;
	foreach(lc, RelationGetIndexList(rel))
	{
		if (has_filter(lfirst_oid(lc), attno))
			return true;
	}
	*obstacle = obstacle_of_type(att->atttypid, att->attcollation);
	return false;
}

static List *
append_target(List *targets, const StrataIndexTarget *target)
{
	StrataIndexTarget *copy = palloc(sizeof(StrataIndexTarget));

	*copy = *target;
	return lappend(targets, copy);
}

/* See index_private.h. */
List *
strata_index_wanted(Relation rel)
{
	StrataLayout *layout;
	StrataIndexTarget target;
	List	   *wanted = NIL;
	List	   *indexes;
	ListCell   *lc;

	if (!rel->rd_rel->relhasindex || !strata_settings_batch_index(rel))
		return NIL;
	layout = strata_store_current_layout(rel);
	for (AttrNumber attno = 1; attno <= RelationGetDescr(rel)->natts; attno++)
		if (!is_led_by(layout, attno) &&
			OidIsValid(strata_index_of_column(rel, attno)))
		{
			target = strata_index_hash_target(rel, attno);
			wanted = append_target(wanted, &target);
		}
	indexes = RelationGetIndexList(rel);
	foreach(lc, indexes)
	{
		if (strata_index_class_target(lfirst_oid(lc), &target))
			wanted = append_target(wanted, &target);
	}
	list_free(indexes);
	return wanted;
}

/* See index.h. */
bool
strata_index_can_look_up(Oid opno, Oid collation, Oid *column, Oid *value)
{
	return (!OidIsValid(collation) ||
			get_collation_isdeterministic(collation)) &&
		get_op_hash_functions(opno, column, value) &&
		*column < FirstGenbkiObjectId && *value < FirstGenbkiObjectId;
}

/* See index.h. */
bool
strata_index_is_of_values(Relation index)
{
	return index->rd_rel->relam == BTREE_AM_OID ||
		index->rd_rel->relam == HASH_AM_OID;
}

/* See index.h. */
bool
strata_index_can_ask(Relation index, AttrNumber column, Oid opno)
{
	bool		btree = index->rd_rel->relam == BTREE_AM_OID;
	int			equal = btree ? BTEqualStrategyNumber : HTEqualStrategyNumber;
	Oid			collation;
	Oid			of_column;
	Oid			of_value;

	if (!strata_index_is_of_values(index))
		return true;
	if (column != 1 ||
		get_op_opfamily_strategy(opno, index->rd_opfamily[0]) != equal)
		return false;
	collation = index->rd_indcollation[0];
	return strata_index_can_look_up(opno, collation, &of_column, &of_value) &&
		of_column == first_hash_function(index->rd_indextuple, collation);
}

/* See index_private.h. */
int
strata_index_hashes_max(StrataBatchReader *reader, AttrNumber attno)
{
	const StrataColumn *col = strata_batch_reader_column(reader, attno);

	return col->constant ? 1 :
		col->codes != NULL ? Max(col->ndict, 1) : reader->nrows;
}

/* See index_private.h. */
int
strata_index_hash_batch(StrataBatchReader *reader, AttrNumber attno,
						FmgrInfo *function, Oid collation, uint32 *hashes)
{
	const StrataColumn *col = strata_batch_reader_column(reader, attno);
	int			n = 0;

	Assert(function->fn_oid < FirstGenbkiObjectId); /* index:I5 */
	if (col->constant)
	{
		if (!col->value_isnull)
			hashes[n++] = DatumGetUInt32(FunctionCall1Coll(function, collation,
														   col->value));
	}
	else if (col->codes != NULL)
	{
		Assert(col->from == 0 && col->n == reader->nrows);	/* index:I1 */
		for (; n < col->ndict; n++)
			hashes[n] = DatumGetUInt32(FunctionCall1Coll(function, collation,
														 col->dict[n]));
	}
	else
	{
		for (int row = 0; row < reader->nrows; row++)
		{
			bool		isnull;
			Datum		value = strata_column_get(col, row, &isnull);

			if (!isnull)
				hashes[n++] =
					DatumGetUInt32(FunctionCall1Coll(function, collation,
													 value));
		}
	}
	return n;
}
