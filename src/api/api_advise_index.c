/*-------------------------------------------------------------------------
 *
 * api_advise_index.c
 *	  What indexes of a table will do for its batches, in words.
 *
 * src/api/api_advise_index.c
 *-------------------------------------------------------------------------
 */
#include "api/api_private.h"
#include "index/index.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "catalog/pg_index.h"
#include "nodes/pg_list.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

/* How the batches of a layout are found by an index; NULL: they are not. */
static const char *
way_to_batches(Relation rel, const StrataLayout *layout, Relation index)
{
	Oid			oid = RelationGetRelid(index);
	AttrNumber	first = index->rd_index->indkey.values[0];

	/* what the companion's own indexes lead by, whatever the user has */
	if (first > 0 && strata_index_kind(oid) == STRATA_INDEX_HASHES)
	{
		if (strata_layout_segment_index(layout, first) >= 0)
			return "segments";
		if (layout->norder > 0 && layout->order[0].attno == first)
			return "order";
	}
	switch (strata_index_serves(rel, oid))
	{
		case STRATA_INDEX_HASHES:
			return "equality";
		case STRATA_INDEX_SUMMARIES:
			return "summaries";
		case STRATA_INDEX_KEYS:
			return strata_index_is_of_values(index) ? "equality" : "keys";
		case STRATA_INDEX_NONE:
			break;
	}
	return NULL;
}

/* The columns and expressions by which it leads to batches. */
static char *
leading_columns(Relation index)
{
	Oid			oid = RelationGetRelid(index);
	int			n = strata_index_is_of_values(index) ? 1 :
	index->rd_index->indnkeyatts;
	StringInfoData names;

	Assert(strata_index_kind(oid) != STRATA_INDEX_NONE);	/* index:I5 */
	initStringInfo(&names);
	for (int i = 1; i <= n; i++)
		appendStringInfo(&names, "%s%s", i > 1 ? ", " : "",
						 TextDatumGetCString(DirectFunctionCall3(pg_get_indexdef_ext,
																 ObjectIdGetDatum(oid),
																 Int32GetDatum(i),
																 BoolGetDatum(false))));
	if (!heap_attisnull(index->rd_indextuple, Anum_pg_index_indpred, NULL))
		appendStringInfoString(&names, " of some rows");
	return names.data;
}

/* The index as its user knows it: a chunk's is that of its table. */
static const char *
name_of_index(Oid index)
{
	return quote_identifier(get_rel_name(strata_partition_root(index)));
}

/* Add to a list of texts, unless it is there. */
static List *
add_text(List *texts, char *text)
{
	ListCell   *lc;

	foreach(lc, texts)
	{
		if (strcmp(lfirst(lc), text) == 0)
			return texts;
	}
	return lappend(texts, text);
}

static void
append_texts(StringInfo buf, List *texts)
{
	ListCell   *lc;

	foreach(lc, texts)
		appendStringInfo(buf, "%s%s", lc == list_head(texts) ? "" : ", ",
						 (const char *) lfirst(lc));
}

/* See api_private.h. */
void
strata_api_advise_indexes(StringInfo buf, Relation rel,
						  const StrataLayout *layout)
{
	List	   *serve = NIL;
	List	   *others = NIL;
	ListCell   *lc;

	foreach(lc, RelationGetIndexList(rel))
	{
		Relation	index = index_open(lfirst_oid(lc), AccessShareLock);
		const char *way = way_to_batches(rel, layout, index);

		if (way != NULL)
			serve = add_text(serve, psprintf("%s (%s)",
											 leading_columns(index),
											 way));
		else
			others = add_text(others,
							  pstrdup(name_of_index(lfirst_oid(lc))));
		index_close(index, NoLock);
	}
	if (serve != NIL)
	{
		appendStringInfoString(buf, "; indexes lead to batches by ");
		append_texts(buf, serve);
	}
	if (others != NIL)
	{
		appendStringInfoString(buf, "; indexes of late rows alone: ");
		append_texts(buf, others);
	}
}
