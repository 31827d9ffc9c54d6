/*-------------------------------------------------------------------------
 *
 * chunk_own.c
 *	  What a chunk has that its hypertable did not give it: indexes, triggers,
 *	  views and the like that somebody made on the chunk itself.
 *
 * Where other chunks take its place (convert() divides it, or it is merged
 * into another) all of that would go without a word.  convert() refuses
 * objects, since their absence changes what statements do.  What is said about
 * the chunk, as comments and options, is named; so are objects that go where
 * chunks are merged, as merge_chunks() says.
 *
 * Rows that come into a chunk, or leave it, may break a foreign key that is
 * its own: that is refused.
 *
 * Objects are asked of pg_depend: what depends on a chunk, and is not a part
 * of something of the hypertable's, somebody has made.  So a kind of object
 * that PostgreSQL will have some day is found, too.
 *
 * src/hypertable/chunk_own.c
 *-------------------------------------------------------------------------
 */
#include "hypertable/hypertable_private.h"

#include "access/htup_details.h"
#include "catalog/partition.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_type.h"
#include "commands/trigger.h"
#include "executor/spi.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

/*
 * $1: the chunk, $2: its hypertable.  Indexes and keys of the hypertable's are
 * parts of those (P, S); of others the hypertable has the same.
 */
#define OBJECTS \
	"SELECT pg_describe_object(d.classid, d.objid, d.objsubid)" \
	" FROM (SELECT DISTINCT p.classid, p.objid," \
	"   CASE WHEN p.classid = 'pg_class'::regclass THEN p.objsubid ELSE 0 END AS objsubid" \
	"  FROM pg_depend p WHERE p.deptype IN ('n', 'a')" \
	"   AND (p.refclassid = 'pg_class'::regclass AND p.refobjid = $1" \
	"    OR p.refclassid = 'pg_type'::regclass AND p.refobjid IN" \
	"     (SELECT unnest(ARRAY[t.oid, t.typarray]) FROM pg_type t WHERE t.typrelid = $1))) d" \
	" WHERE NOT EXISTS (SELECT FROM pg_depend p WHERE p.classid = d.classid AND p.objid = d.objid" \
	"   AND p.deptype IN ('P', 'S'))" \
	" AND NOT EXISTS (SELECT FROM pg_constraint c WHERE d.classid = 'pg_constraint'::regclass" \
	"   AND c.oid = d.objid AND (c.coninhcount > 0 OR c.conparentid <> 0))" \
	" AND NOT EXISTS (SELECT FROM pg_trigger t WHERE d.classid = 'pg_trigger'::regclass" \
	"   AND t.oid = d.objid AND (t.tgisinternal OR t.tgparentid <> 0))" \
	" AND NOT EXISTS (SELECT FROM pg_class c WHERE d.classid = 'pg_class'::regclass" \
	"   AND c.oid = d.objid AND c.relnamespace = '" STRATA_INTERNAL_SCHEMA "'::regnamespace)" \
	" AND NOT EXISTS (SELECT FROM pg_attrdef a" \
	"   JOIN pg_attribute n ON n.attrelid = a.adrelid AND n.attnum = a.adnum" \
	"   JOIN pg_attribute m ON m.attrelid = $2 AND m.attname = n.attname" \
	"   JOIN pg_attrdef b ON b.adrelid = $2 AND b.adnum = m.attnum" \
	"   WHERE d.classid = 'pg_attrdef'::regclass AND a.oid = d.objid" \
	"   AND pg_get_expr(a.adbin, a.adrelid) = pg_get_expr(b.adbin, b.adrelid))" \
	" AND NOT EXISTS (SELECT FROM pg_statistic_ext s JOIN pg_statistic_ext t ON t.stxrelid = $2" \
	"   AND t.stxkind = s.stxkind" \
	"   AND pg_get_statisticsobjdef_expressions(t.oid) IS NOT DISTINCT FROM pg_get_statisticsobjdef_expressions(s.oid)" \
	"   AND ARRAY(SELECT a.attname FROM pg_attribute a WHERE a.attrelid = $2 AND a.attnum = ANY (t.stxkeys) ORDER BY 1)" \
	"   = ARRAY(SELECT a.attname FROM pg_attribute a WHERE a.attrelid = $1 AND a.attnum = ANY (s.stxkeys) ORDER BY 1)" \
	"   WHERE d.classid = 'pg_statistic_ext'::regclass AND s.oid = d.objid)" \
	" ORDER BY 1"

/* The same of what is said about the chunk and its columns. */
#define MARKS \
	"SELECT 'comment on ' || pg_describe_object(d.classoid, d.objoid, d.objsubid) FROM pg_description d" \
	" LEFT JOIN pg_attribute n ON n.attrelid = $1 AND n.attnum = d.objsubid AND d.objsubid > 0" \
	" WHERE d.classoid = 'pg_class'::regclass AND d.objoid = $1" \
	" AND NOT EXISTS (SELECT FROM pg_description p JOIN pg_attribute m ON m.attrelid = $2 AND m.attnum = p.objsubid" \
	"   WHERE p.classoid = 'pg_class'::regclass AND p.objoid = $2 AND m.attname = n.attname AND p.description = d.description)" \
	" UNION ALL SELECT 'security label on ' || pg_describe_object(l.classoid, l.objoid, l.objsubid) FROM pg_seclabel l" \
	" WHERE l.classoid = 'pg_class'::regclass AND l.objoid = $1" \
	" UNION ALL SELECT 'privileges on column ' || n.attname FROM pg_attribute n WHERE n.attrelid = $1 AND n.attacl IS NOT NULL" \
	" UNION ALL SELECT 'option ' || o FROM pg_class c, unnest(c.reloptions) o WHERE c.oid = $1 AND o NOT LIKE 'strata.%'" \
	" AND NOT EXISTS (SELECT FROM pg_class p, unnest(p.reloptions) q WHERE p.oid = $2" \
	"   AND strpos(q, split_part(o, '=', 1) || ' = ' || quote_literal(substr(o, strpos(o, '=') + 1))) > 0)" \
	" UNION ALL SELECT 'row level security' FROM pg_class c WHERE c.oid = $1 AND (c.relrowsecurity OR c.relforcerowsecurity)" \
	" UNION ALL SELECT CASE t.tgenabled WHEN 'D' THEN 'disabled trigger ' ELSE 'firing of trigger ' END || t.tgname" \
	" FROM pg_trigger t JOIN pg_trigger p ON p.oid = t.tgparentid" \
	" WHERE t.tgrelid = $1 AND NOT t.tgisinternal AND t.tgenabled <> p.tgenabled" \
	" ORDER BY 1"

/* What a query of one text column says, a line each; NULL: nothing. */
static char *
list_of(const char *sql, Oid chunk, Oid hypertable)
{
	MemoryContext caller = CurrentMemoryContext;
	Oid			types[2] = {OIDOID, OIDOID};
	Datum		values[2] = {ObjectIdGetDatum(chunk),
	ObjectIdGetDatum(hypertable)};
	char	   *list = NULL;
	StringInfoData text;

	initStringInfo(&text);
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	if (strata_sql_execute(sql, 2, types, values, NULL,
						   false) != SPI_OK_SELECT)
		elog(ERROR, "could not run: %s", sql);
	Assert(get_partition_parent(chunk, true) == hypertable);	/* hypertable:Y15 */
	for (uint64 i = 0; i < SPI_processed; i++)
		appendStringInfo(&text, "%s%s", i > 0 ? "\n" : "",
						 SPI_getvalue(SPI_tuptable->vals[i],
									  SPI_tuptable->tupdesc, 1));
	if (SPI_processed > 0)
		list = MemoryContextStrdup(caller, text.data);
	SPI_finish();
	return list;
}

/* See hypertable.h. */
char *
strata_chunk_own_objects(Oid hypertable, Oid chunk)
{
	return list_of(OBJECTS, chunk, hypertable);
}

/* See hypertable.h. */
void
strata_chunk_refuse_own(Oid hypertable, Oid chunk)
{
	char	   *objects = strata_chunk_own_objects(hypertable, chunk);

	if (objects != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_DEPENDENT_OBJECTS_STILL_EXIST),
				 errmsg("chunk \"%s\" has objects of its own, which chunks in its place would not have",
						get_rel_name(chunk)),
				 errdetail_internal("%s", objects),
				 errhint("Drop them, or make them on \"%s\", so that all chunks have them; then run this again.",
						 get_rel_name(hypertable))));
}

/* See hypertable.h. */
void
strata_chunk_name_own(Oid hypertable, Oid chunk)
{
	char	   *objects = strata_chunk_own_objects(hypertable, chunk);
	char	   *marks = list_of(MARKS, chunk, hypertable);

	if (objects != NULL || marks != NULL)
		ereport(WARNING,
				(errmsg("chunk \"%s\" has what the chunks in its place do not have",
						get_rel_name(chunk)),
				 errdetail_internal("%s%s%s", objects != NULL ? objects : "",
									objects != NULL && marks != NULL ? "\n" :
									"", marks != NULL ? marks : "")));
}

/*
 * A foreign key that the chunk, or (referenced) somebody else to it, has by
 * itself: not as a part of the hypertable's.  InvalidOid: there is none.
 */
static Oid
find_own_foreign_key(Relation chunk, bool referenced)
{
	TriggerDesc *triggers = chunk->trigdesc;
	List	   *keys = NIL;
	ListCell   *lc;

	if (!referenced)
		foreach(lc, RelationGetFKeyList(chunk))
			keys = lappend_oid(keys,
							   lfirst_node(ForeignKeyCacheInfo, lc)->conoid);
	for (int i = 0; referenced && triggers != NULL &&
		 i < triggers->numtriggers; i++)
		if (RI_FKey_trigger_type(triggers->triggers[i].tgfoid) ==
			RI_TRIGGER_PK)
			keys = lappend_oid(keys, triggers->triggers[i].tgconstraint);
	foreach(lc, keys)
	{
		HeapTuple	tuple = SearchSysCache1(CONSTROID,
											ObjectIdGetDatum(lfirst_oid(lc)));
		Oid			parent;

		if (!HeapTupleIsValid(tuple))
			elog(ERROR, "cache lookup failed for constraint %u",
				 lfirst_oid(lc));
		parent = ((Form_pg_constraint) GETSTRUCT(tuple))->conparentid;
		ReleaseSysCache(tuple);
		if (!OidIsValid(parent))
			return lfirst_oid(lc);
	}
	return InvalidOid;
}

/* See hypertable_private.h. */
void
strata_chunk_refuse_own_key(Oid hypertable, Relation chunk)
{
	Oid			key = find_own_foreign_key(chunk, false);
	char	   *name = OidIsValid(key) ? get_constraint_name(key) : NULL;

	if (name != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("cannot merge other chunks into \"%s\", which has a foreign key of its own",
						RelationGetRelationName(chunk)),
				 errdetail("Rows of the others need not keep constraint \"%s\".",
						   name),
				 errhint("ALTER TABLE %s DROP CONSTRAINT %s; or add it to \"%s\", so that all chunks have it.",
						 strata_sql_name(RelationGetRelid(chunk)),
						 quote_identifier(name), get_rel_name(hypertable))));
}

/* See hypertable_private.h. */
void
strata_chunk_refuse_reference(Relation chunk)
{
	Oid			key = find_own_foreign_key(chunk, true);
	HeapTuple	tuple;
	Form_pg_constraint form;

	if (!OidIsValid(key))
		return;
	tuple = SearchSysCache1(CONSTROID, ObjectIdGetDatum(key));
	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for constraint %u", key);
	form = (Form_pg_constraint) GETSTRUCT(tuple);
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("cannot split chunk \"%s\", which a foreign key refers to by itself",
					RelationGetRelationName(chunk)),
			 errdetail("Constraint \"%s\" would miss the rows that leave the chunk.",
					   NameStr(form->conname)),
			 errhint("ALTER TABLE %s DROP CONSTRAINT %s;",
					 strata_sql_name(form->conrelid),
					 quote_identifier(NameStr(form->conname)))));
}
