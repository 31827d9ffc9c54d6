/*-------------------------------------------------------------------------
 *
 * batch_schema.c
 *	  Which column of the companion belongs to which column of R, and how
 *	  values of a PostgreSQL type are handed to the codecs.
 *
 * src/batch/batch_schema.c
 *-------------------------------------------------------------------------
 */
#include "batch/batch_private.h"

#include "access/transam.h"
#include "catalog/pg_type.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

/*
 * Which map a companion's column belongs to, and which of R's columns it is
 * about; -1 when it is none of these.
 */
static int
column_map(Form_pg_attribute att, int *attno)
{
	static const char *const prefixes[STRATA_COLUMN_MAPS] = {"seg_", "min_",
		"max_", "span_",
	"col_"};
	const char *name = NameStr(att->attname);

	if (att->attisdropped)
		return -1;
	for (int i = 0; i < STRATA_COLUMN_MAPS; i++)
	{
		int			len = strlen(prefixes[i]);

		if (strncmp(name, prefixes[i], len) != 0)
			continue;
		*attno = atoi(name + len);
		return *attno >= 1 && *attno <= MaxHeapAttributeNumber ? i : -1;
	}
	return -1;
}

/* See batch.h. */
int
strata_batch_columns_max(TupleDesc batch_desc)
{
	int			result = 0;
	int			attno;

	for (int i = STRATA_BATCH_FIXED_ATTS; i < batch_desc->natts; i++)
		if (column_map(TupleDescAttr(batch_desc, i), &attno) >= 0)
			result = Max(result, attno);
	return result;
}

/* See batch.h. */
void
strata_batch_columns_map(TupleDesc batch_desc, int natts, AttrNumber *maps)
{
	memset(maps, 0, sizeof(AttrNumber) * STRATA_COLUMN_MAPS * (natts + 1));
	for (int i = STRATA_BATCH_FIXED_ATTS; i < batch_desc->natts; i++)
	{
		int			attno;
		int			map = column_map(TupleDescAttr(batch_desc, i), &attno);

		if (map >= 0 && attno <= natts)
			maps[map * (natts + 1) + attno] = (AttrNumber) (i + 1);
	}
}

/* See batch.h. */
StrataBatchSchema *
strata_batch_schema_create_mapped(TupleDesc rel_desc, TupleDesc batch_desc,
								  Oid toastid, StrataMissingValue missing,
								  int natts, const AttrNumber *maps)
{
	int			n = rel_desc->natts + 1;
	int			known = Min(n, natts + 1);
	StrataBatchSchema *schema = palloc(sizeof(StrataBatchSchema));
	AttrNumber *own = palloc0(sizeof(AttrNumber) * STRATA_COLUMN_MAPS * n);

	for (int i = 0; i < STRATA_COLUMN_MAPS; i++)
		memcpy(own + i * n, maps + i * (natts + 1),
			   sizeof(AttrNumber) * known);
	schema->rel_desc = rel_desc;
	schema->batch_desc = batch_desc;
	schema->companion = batch_desc->natts > 0 ?
		TupleDescAttr(batch_desc, 0)->attrelid :
		InvalidOid;
	schema->toastid = toastid;
	schema->missing = missing;
	schema->natts = rel_desc->natts;
	schema->seg_att = own;
	schema->min_att = own + n;
	schema->max_att = own + 2 * n;
	schema->span_att = own + 3 * n;
	schema->col_att = own + 4 * n;
	schema->nfixed = STRATA_BATCH_FIXED_ATTS;
	schema->plain = palloc(sizeof(AttrNumber) * Max(batch_desc->natts, 1));
	schema->nplain = 0;
	for (int i = STRATA_BATCH_FIXED_ATTS; i < batch_desc->natts; i++)
	{
		/*
		 * all others, whatever R looks like now: the row's checksum is over
		 * them
		 */
		if (memcmp(NameStr(TupleDescAttr(batch_desc, i)->attname), "col_",
				   4) == 0)
			continue;
		schema->plain[schema->nplain++] = (AttrNumber) (i + 1);
		schema->nfixed = (AttrNumber) (i + 1);
	}
	schema->types = palloc0(sizeof(StrataColumnType) *
							Max(rel_desc->natts, 1));
	for (int i = 0; i < rel_desc->natts; i++)
		strata_column_type_init(&schema->types[i], TupleDescAttr(rel_desc, i));
	return schema;
}

/*
 * Map the columns by name (seg_5, min_1, ...).  Result in the current context;
 * the descriptors must outlive it.
 */
StrataBatchSchema *
strata_batch_schema_create(TupleDesc rel_desc, TupleDesc batch_desc,
						   Oid toastid, StrataMissingValue missing)
{
	AttrNumber *maps = palloc(sizeof(AttrNumber) * STRATA_COLUMN_MAPS *
							  (rel_desc->natts + 1));

	strata_batch_columns_map(batch_desc, rel_desc->natts, maps);
	return strata_batch_schema_create_mapped(rel_desc, batch_desc, toastid,
											 missing, rel_desc->natts, maps);
}

/*
 * Are the same bytes in the same order by both types?  The same C function of
 * PostgreSQL's compares them then, as of varchar and text, of timestamp and
 * timestamptz.  What looks into its values' types compares each type its own
 * way.
 */
static bool
is_same_order(Oid a, Oid b)
{
	TypeCacheEntry *one = lookup_type_cache(getBaseType(a),
											TYPECACHE_CMP_PROC_FINFO);
	TypeCacheEntry *other = lookup_type_cache(getBaseType(b),
											  TYPECACHE_CMP_PROC_FINFO);

	if (one->type_id == other->type_id)
		return true;
	return one->typtype == TYPTYPE_BASE && other->typtype == TYPTYPE_BASE &&
		!OidIsValid(get_element_type(one->type_id)) &&
		!OidIsValid(get_element_type(other->type_id)) &&
		one->typlen == other->typlen && one->typbyval == other->typbyval &&
		OidIsValid(one->cmp_proc) && one->cmp_proc < FirstGenbkiObjectId &&
		OidIsValid(other->cmp_proc) &&
		other->cmp_proc < FirstGenbkiObjectId &&
		one->cmp_proc_finfo.fn_addr == other->cmp_proc_finfo.fn_addr;
}

/* See batch.h. */
bool
strata_batch_schema_same_type(const StrataBatchSchema *schema,
							  AttrNumber attno, AttrNumber catt)
{
	Form_pg_attribute a = TupleDescAttr(schema->rel_desc, attno - 1);
	Form_pg_attribute b = TupleDescAttr(schema->batch_desc, catt - 1);

	/* a domain's values are kept as its base type's */
	return a->attcollation == b->attcollation &&
		(schema->types[attno - 1].typid == b->atttypid ||
		 is_same_order(a->atttypid, b->atttypid));
}

/*
 * By-value types are integers of their width, but for the two float types;
 * everything else is opaque bytes.
 */
void
strata_column_type_init(StrataColumnType *type, Form_pg_attribute att)
{
	type->typlen = att->attlen;
	type->typbyval = att->attbyval;
	type->typalign = att->attalign;
	type->typstorage = att->attstorage;
	type->typcompression = att->attcompression;
	/* types with these oids are PostgreSQL's own, and no domains */
	type->typid = att->attisdropped ? InvalidOid :
		att->atttypid < FirstGenbkiObjectId ?
		att->atttypid :
		getBaseType(att->atttypid);
	if (!att->attbyval)
	{
		type->kind = STRATA_KIND_BYTES;
		type->width = 0;
		return;
	}
	type->width = (uint8) att->attlen;
	type->kind = (type->typid == FLOAT4OID || type->typid == FLOAT8OID) ?
		STRATA_KIND_FLOAT : STRATA_KIND_INT;
}
