/*-------------------------------------------------------------------------
 *
 * index_column.c
 *	  Which columns have a batch index, and the hashes of their values.
 *
 * A b-tree or hash index of the user's, of all rows, whose first column is no
 * expression, is what asks for one; and a BRIN, GiST or GIN index of columns
 * alone.
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

#include "access/gin.h"
#include "access/htup_details.h"
#include "access/transam.h"
#include "catalog/pg_am.h"
#include "catalog/pg_class.h"
#include "catalog/pg_index.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

/* Does the index lead by the column, for all rows? */
static bool
index_serves(Oid indexoid, AttrNumber attno)
{
	HeapTuple	tuple = SearchSysCache1(INDEXRELID,
										ObjectIdGetDatum(indexoid));
	HeapTuple	class;
	Form_pg_index form;
	bool		serves = false;

	if (!HeapTupleIsValid(tuple))
		return false;
	form = (Form_pg_index) GETSTRUCT(tuple);
	if (form->indisvalid && form->indnkeyatts > 0 &&
		form->indkey.values[0] == attno &&
		heap_attisnull(tuple, Anum_pg_index_indpred, NULL))
	{
		class = SearchSysCache1(RELOID, ObjectIdGetDatum(indexoid));
		if (HeapTupleIsValid(class))
		{
			Oid			am = ((Form_pg_class) GETSTRUCT(class))->relam;

			serves = am == BTREE_AM_OID || am == HASH_AM_OID;
			ReleaseSysCache(class);
		}
	}
	ReleaseSysCache(tuple);
	return serves;
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

/* See index.h. */
StrataIndexKind
strata_index_kind(Oid index)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(index));
	StrataIndexKind kind = STRATA_INDEX_NONE;

	if (!HeapTupleIsValid(tuple))
		return kind;
	switch (((Form_pg_class) GETSTRUCT(tuple))->relam)
	{
		case BTREE_AM_OID:
		case HASH_AM_OID:
			kind = STRATA_INDEX_HASHES;
			break;
		case BRIN_AM_OID:
		case GIST_AM_OID:
			kind = STRATA_INDEX_SUMMARIES;
			break;
		case GIN_AM_OID:
			kind = STRATA_INDEX_KEYS;
			break;
		default:
			break;
	}
	ReleaseSysCache(tuple);
	return kind;
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

/* Is that so for all columns? */
static bool
all_keys_are_hashed(Oid index, HeapTuple tuple)
{
	int			n = ((Form_pg_index) GETSTRUCT(tuple))->indnkeyatts;
	bool		isnull;
	const oidvector *classes = (const oidvector *)
	DatumGetPointer(SysCacheGetAttr(INDEXRELID, tuple,
									Anum_pg_index_indclass, &isnull));
	const oidvector *collations = (const oidvector *)
	DatumGetPointer(SysCacheGetAttr(INDEXRELID, tuple,
									Anum_pg_index_indcollation, &isnull));

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
	serves = form->indisvalid && form->indnkeyatts > 0 &&
		heap_attisnull(tuple, Anum_pg_index_indpred, NULL);
	for (int i = 0; i < form->indnkeyatts; i++)
		serves = serves && form->indkey.values[i] > 0;
	if (target->kind == STRATA_INDEX_KEYS)
		serves = serves && all_keys_are_hashed(index, tuple);
	target->attno = form->indkey.values[0];
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
		if (strata_layout_segment_index(layout, attno) < 0 &&
			(layout->norder == 0 || layout->order[0].attno != attno) &&
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
