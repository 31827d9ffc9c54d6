/*-------------------------------------------------------------------------
 *
 * pg_partition_desc.c
 *	  A partitioned table's list of partitions, made as PostgreSQL makes it in
 *	  a tenth of the time.
 *
 * RelationBuildPartitionDesc() (partdesc.c) looks up each partition's row of
 * pg_class, and reads the bound in it with stringToNode().  A session's first
 * query of a table with thousands of partitions waits for that, and so does
 * each new partition.  Here the rows come in one index scan, and a bound whose
 * text is that of another one but for bytes of its values is read by those.
 *
 * What is put into the relcache entry is what PostgreSQL would have put there.
 * Where anything is unusual (default partitions, partitions being detached,
 * rows that are missing) nothing is, and PostgreSQL makes its own.
 *
 * src/pg/pg_partition_desc.c
 *-------------------------------------------------------------------------
 */
#include "base/compat.h"
#include "pg/pg.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/tableam.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "partitioning/partbounds.h"
#include "partitioning/partdesc.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/memutils.h"
#include "utils/partcache.h"
#include "utils/snapmgr.h"

/* The list while it is put together, in the order of pg_class_oid_index. */
typedef struct PartitionList
{
	int			count;
	Oid		   *oids;
	bool	   *is_leaf;
	PartitionBoundSpec **bounds;
	/* a bound as it is in the catalog, and read; NULL before the first */
	char	   *model_text;
	PartitionBoundSpec *model;
} PartitionList;

/*-------------------------------------------------------------------------
 * Bounds
 *-------------------------------------------------------------------------
 */

/* The one value of one end of a range, or NULL: it has none, or several. */
static Const *
bound_value(List *datums)
{
	PartitionRangeDatum *datum;

	if (list_length(datums) != 1)
		return NULL;
	datum = linitial_node(PartitionRangeDatum, datums);
	return datum->kind == PARTITION_RANGE_DATUM_VALUE &&
		IsA(datum->value, Const) ?
		(Const *) datum->value :
		NULL;
}

/* Can bounds be read by their difference to this one? */
static bool
is_model(PartitionBoundSpec *spec)
{
	Const	   *lower;
	Const	   *upper;

	if (spec->strategy != PARTITION_STRATEGY_RANGE)
		return false;
	lower = bound_value(spec->lowerdatums);
	upper = bound_value(spec->upperdatums);
	return lower != NULL && upper != NULL && !lower->constisnull &&
		!upper->constisnull && lower->constlen > 0 && upper->constlen > 0;
}

/*
 * Read "[ 1 -2 3 ]" from *text on, size bytes as the server writes a value's,
 * and leave *text behind it.
 */
static bool
read_bytes(const char **text, int size, char *bytes)
{
	const char *at = *text + 1;

	for (int i = 0; i < size; i++)
	{
		bool		negative;
		int			byte = 0;

		while (*at == ' ')
			at++;
		negative = *at == '-';
		if (negative)
			at++;
		if (*at < '0' || *at > '9')
			return false;
		while (*at >= '0' && *at <= '9' && byte <= 255)
			byte = byte * 10 + (*at++ - '0');
		if (byte > 255)
			return false;
		bytes[i] = (char) (negative ? -byte : byte);
	}
	while (*at == ' ')
		at++;
	*text = at + 1;
	return *at == ']';
}

/* A value like the model's, of these bytes. */
static Datum
value_of_bytes(const Const *model, const char *bytes)
{
	Datum		value;
	char	   *copy;

	if (model->constbyval)
	{
		memcpy(&value, bytes, sizeof(Datum));
		return value;
	}
	copy = palloc(model->constlen);
	memcpy(copy, bytes, model->constlen);
	return PointerGetDatum(copy);
}

/* Where a text stood in a statement says nothing. */
static const char *
skip_location(const char *at)
{
	static const char word[] = ":location ";

	if (strncmp(at, word, sizeof(word) - 1) != 0)
		return NULL;
	at += sizeof(word) - 1;
	return at + strspn(at, "-0123456789");
}

/*
 * The two values of a bound, if its text is the model's but for them and for
 * locations.
 */
static bool
read_like_model(const PartitionList *list, const char *text, Datum *values)
{
	const char *model = list->model_text;
	const Const *ends[2] = {
		bound_value(list->model->lowerdatums),
		bound_value(list->model->upperdatums)
	};
	int			found = 0;

	while (*model != '\0')
	{
		char		bytes[NAMEDATALEN];
		const char *behind;
		int			size;

		if (*model != *text)
			return false;
		if (*model == ':' && (behind = skip_location(model)) != NULL)
		{
			model = behind;
			text = skip_location(text);
			if (text == NULL)
				return false;
			continue;
		}
		if (*model != '[')
		{
			model++;
			text++;
			continue;
		}
		if (found == 2)
			return false;
		size = ends[found]->constbyval ? (int) sizeof(Datum) :
			ends[found]->constlen;
		if (*text != '[' || size > (int) sizeof(bytes) ||
			!read_bytes(&text, size, bytes))
			return false;
		model = strchr(model, ']') + 1;
		values[found] = value_of_bytes(ends[found], bytes);
		found++;
	}
	return *text == '\0' && found == 2;
}

/* The nodes of a bound that is like the model. */
typedef struct BoundNodes
{
	PartitionBoundSpec spec;
	PartitionRangeDatum ends[2];
	Const		values[2];
} BoundNodes;

/* A bound like the model, of other values. */
static PartitionBoundSpec *
bound_like(const PartitionBoundSpec *model, const Datum *values)
{
	BoundNodes *nodes = palloc(sizeof(BoundNodes));
	List	   *lists[2] = {model->lowerdatums, model->upperdatums};

	for (int i = 0; i < 2; i++)
	{
		nodes->values[i] = *bound_value(lists[i]);
		nodes->values[i].constvalue = values[i];
		nodes->ends[i] = *linitial_node(PartitionRangeDatum, lists[i]);
		nodes->ends[i].value = (Node *) &nodes->values[i];
	}
	nodes->spec = *model;
	nodes->spec.lowerdatums = list_make1(&nodes->ends[0]);
	nodes->spec.upperdatums = list_make1(&nodes->ends[1]);
	return &nodes->spec;
}

/*
 * A bound from its text in the catalog, as stringToNode() would read it.  The
 * text is freed, or kept.
 */
static PartitionBoundSpec *
parse_bound(PartitionList *list, char *text)
{
	PartitionBoundSpec *spec;
	Datum		values[2];

	if (list->model != NULL && read_like_model(list, text, values))
	{
		pfree(text);
		return bound_like(list->model, values);
	}
	spec = castNode(PartitionBoundSpec, stringToNode(text));
	if (list->model == NULL && is_model(spec))
	{
		list->model = spec;
		list->model_text = text;
	}
	return spec;
}

/*-------------------------------------------------------------------------
 * The list
 *-------------------------------------------------------------------------
 */

/* Add what a row of pg_class says of a partition; false: it is unusual. */
static bool
add_partition(PartitionList *list, TupleTableSlot *slot)
{
	bool		isnull;
	Datum		oid = slot_getattr(slot, Anum_pg_class_oid, &isnull);
	Datum		kind = slot_getattr(slot, Anum_pg_class_relkind, &isnull);
	Datum		stored = slot_getattr(slot, Anum_pg_class_relpartbound,
									  &isnull);
	PartitionBoundSpec *spec;

	if (isnull)
		return false;
	spec = parse_bound(list, TextDatumGetCString(stored));
	if (spec->is_default)
		return false;
	list->oids[list->count] = DatumGetObjectId(oid);
	list->is_leaf[list->count] =
		DatumGetChar(kind) != RELKIND_PARTITIONED_TABLE;
	list->bounds[list->count] = spec;
	list->count++;
	return true;
}

/*
 * Read the rows of pg_class of these partitions, which come after those of
 * pg_inherits have been read: what those say of is there.
 */
static bool
read_partitions(List *relids, PartitionList *list)
{
	int			count = list_length(relids);
	Relation	pg_class = table_open(RelationRelationId, AccessShareLock);
	Relation	index = index_open(ClassOidIndexId, AccessShareLock);
	TupleTableSlot *slot = table_slot_create(pg_class, NULL);
	Snapshot	snapshot = RegisterSnapshot(GetCatalogSnapshot(
															   RelationRelationId));
	Datum	   *values = palloc(sizeof(Datum) * count);
	ScanKeyData key;
	IndexScanDesc scan;
	bool		good = true;

	list->oids = palloc(sizeof(Oid) * count);
	list->is_leaf = palloc(sizeof(bool) * count);
	list->bounds = palloc(sizeof(PartitionBoundSpec *) * count);
	for (int i = 0; i < count; i++)
		values[i] = ObjectIdGetDatum(list_nth_oid(relids, i));
	ScanKeyEntryInitialize(&key, SK_SEARCHARRAY, 1, BTEqualStrategyNumber,
						   InvalidOid, InvalidOid, F_OIDEQ,
						   PointerGetDatum(construct_array(values, count,
														   OIDOID, sizeof(Oid),
														   true,
														   TYPALIGN_INT)));
	scan = strata_index_beginscan(pg_class, index, snapshot, 1, 0);
	index_rescan(scan, &key, 1, NULL, 0);
	while (good && index_getnext_slot(scan, ForwardScanDirection, slot))
		good = list->count < count && add_partition(list, slot);
	index_endscan(scan);
	UnregisterSnapshot(snapshot);
	ExecDropSingleTupleTableSlot(slot);
	index_close(index, AccessShareLock);
	table_close(pg_class, AccessShareLock);
	return good && list->count == count;
}

/* Put the list into the relcache entry, as RelationBuildPartitionDesc() does. */
static void
store_list(Relation rel, PartitionList *list)
{
	PartitionKey key = RelationGetPartitionKey(rel);
	int		   *mapping;
	PartitionBoundInfo bounds = partition_bounds_create(list->bounds,
														list->count, key,
														&mapping);
	MemoryContext context;
	MemoryContext old;
	PartitionDesc desc;

	context = AllocSetContextCreate(CurTransactionContext,
									"partition descriptor",
									ALLOCSET_SMALL_SIZES);
	MemoryContextCopyAndSetIdentifier(context, RelationGetRelationName(rel));
	old = MemoryContextSwitchTo(context);
	desc = palloc0(sizeof(PartitionDescData));
	desc->nparts = list->count;
	desc->boundinfo = partition_bounds_copy(bounds, key);
	desc->oids = palloc(sizeof(Oid) * list->count);
	desc->is_leaf = palloc(sizeof(bool) * list->count);
	for (int i = 0; i < list->count; i++)
	{
		desc->oids[mapping[i]] = list->oids[i];
		desc->is_leaf[mapping[i]] = list->is_leaf[i];
	}
	strata_partition_desc_finish(desc);
	MemoryContextSwitchTo(old);

	MemoryContextSetParent(context, CacheMemoryContext);
	/* somebody may have the one before it in hand */
	if (rel->rd_pdcxt != NULL)
		MemoryContextSetParent(rel->rd_pdcxt, context);
	rel->rd_pdcxt = context;
	rel->rd_partdesc = desc;
}

/* See pg.h. */
void
strata_partition_desc_make(Relation rel)
{
	PartitionList list = {0};
	bool		detached = false;
	TransactionId detached_xmin = InvalidTransactionId;
	MemoryContext scratch;
	MemoryContext old;
	List	   *relids;

	if (rel->rd_partdesc != NULL)
		return;
	Assert(rel->rd_refcnt > 0); /* pg:Q5 */
	scratch = AllocSetContextCreate(CurrentMemoryContext,
									"strata partition list",
									ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(scratch);
	relids = find_inheritance_children_extended(RelationGetRelid(rel), true,
												NoLock, &detached,
												&detached_xmin);
	if (!detached && relids != NIL && read_partitions(relids, &list))
		store_list(rel, &list);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(scratch);
}
