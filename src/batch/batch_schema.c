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

#include "catalog/pg_type.h"
#include "utils/lsyscache.h"

/*
 * Map the columns by name (seg_5, min_1, ...).  Result in the current context;
 * the descriptors must outlive it.
 */
StrataBatchSchema *
strata_batch_schema_create(TupleDesc rel_desc, TupleDesc batch_desc)
{
	StrataBatchSchema *schema = palloc0(sizeof(StrataBatchSchema));
	size_t		size = sizeof(AttrNumber) * (rel_desc->natts + 1);

	schema->rel_desc = rel_desc;
	schema->batch_desc = batch_desc;
	schema->natts = rel_desc->natts;
	schema->seg_att = palloc0(size);
	schema->min_att = palloc0(size);
	schema->max_att = palloc0(size);
	schema->col_att = palloc0(size);

	schema->types = palloc0(sizeof(StrataColumnType) * Max(rel_desc->natts, 1));
	for (int i = 0; i < rel_desc->natts; i++)
		strata_column_type_init(&schema->types[i], TupleDescAttr(rel_desc, i));

	for (int i = STRATA_BATCH_FIXED_ATTS; i < batch_desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(batch_desc, i);
		const char *name = NameStr(att->attname);
		AttrNumber *map;
		int			attno;

		if (att->attisdropped || strlen(name) < 5)
			continue;
		if (strncmp(name, "seg_", 4) == 0)
			map = schema->seg_att;
		else if (strncmp(name, "min_", 4) == 0)
			map = schema->min_att;
		else if (strncmp(name, "max_", 4) == 0)
			map = schema->max_att;
		else if (strncmp(name, "col_", 4) == 0)
			map = schema->col_att;
		else
			continue;
		attno = atoi(name + 4);
		if (attno >= 1 && attno <= rel_desc->natts)
			map[attno] = (AttrNumber) (i + 1);
	}
	return schema;
}

/* See batch.h. */
bool
strata_batch_schema_same_type(const StrataBatchSchema *schema, AttrNumber attno, AttrNumber catt)
{
	Form_pg_attribute a = TupleDescAttr(schema->rel_desc, attno - 1);
	Form_pg_attribute b = TupleDescAttr(schema->batch_desc, catt - 1);

	return a->atttypid == b->atttypid && a->attcollation == b->attcollation;
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
	type->typid = att->attisdropped ? InvalidOid : getBaseType(att->atttypid);
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
