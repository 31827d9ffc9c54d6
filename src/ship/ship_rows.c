/*-------------------------------------------------------------------------
 *
 * ship_rows.c
 *	  A unit's rows, and how they fit into a table.
 *
 * What comes out are values that the types' input could have made, whoever
 * made the unit.  They are inserted as any rows are, so whether they may be
 * where they are put (keys, constraints, privileges, chunks, defaults of
 * columns that the unit has not got) is said by the same code as ever; and
 * what is kept of them (minima, sums, dictionaries, which batch they are in)
 * is found out anew.  No byte of a unit gets into a batch.
 *
 * src/ship/ship_rows.c
 *-------------------------------------------------------------------------
 */
#include "ship/ship_private.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/tuplestore.h"

/* A column of the result. */
typedef struct RowColumn
{
	const StrataUnitColumn *source;
	StrataColumnType type;		/* of what the unit has */
	FmgrInfo	input;			/* form TEXT */
	Oid			io_param;
	int32		typmod;
	Datum	   *values;
	bool	   *isnull;
} RowColumn;

static const StrataUnitColumn *
find_unit_column(const StrataUnit *unit, const char *name)
{
	for (int i = 0; i < unit->ncolumns; i++)
		if (strcmp(unit->columns[i].name, name) == 0)
			return &unit->columns[i];
	return NULL;
}

/* How values of PostgreSQL's own type are kept. */
static void
set_type(StrataColumnType *type, Oid typid)
{
	FormData_pg_attribute att = {0};

	att.atttypid = typid;
	get_typlenbyvalalign(typid, &att.attlen, &att.attbyval, &att.attalign);
	strata_column_type_init(type, &att);
}

/* Where a column of the result is in the unit, and what makes its values. */
static void
prepare_column(RowColumn *column, const StrataUnit *unit,
			   Form_pg_attribute wanted)
{
	Oid			input;

	column->source = find_unit_column(unit, NameStr(wanted->attname));
	if (column->source == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("the unit of exported batches has no column \"%s\"",
						NameStr(wanted->attname))));
	column->values = palloc(sizeof(Datum) * unit->nrows);
	column->isnull = palloc(sizeof(bool) * unit->nrows);
	if (column->source->form == STRATA_FORM_TEXT)
	{
		/* any type's input function takes any text, and says what is wrong */
		set_type(&column->type, TEXTOID);
		getTypeInputInfo(wanted->atttypid, &input, &column->io_param);
		fmgr_info(input, &column->input);
		column->typmod = wanted->atttypmod;
		return;
	}
	if (column->source->type != wanted->atttypid)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("column \"%s\" of the unit of exported batches is of type %s",
						NameStr(wanted->attname),
						format_type_be(column->source->type))));
	set_type(&column->type, column->source->type);
}

/* What the input function makes of the texts, in their place. */
static void
read_texts(RowColumn *column, int nrows)
{
	Datum		last = (Datum) 0;
	Datum		made = (Datum) 0;
	int			level = NewGUCNestLevel();

	Assert(column->source->form == STRATA_FORM_TEXT);	/* ship:SH3 */
	strata_ship_pin_texts();
	for (int row = 0; row < nrows; row++)
	{
		if (column->isnull[row])
			continue;
		/* values of a dictionary are shared by their rows */
		if (row == 0 || column->values[row] != last || last == (Datum) 0)
		{
			last = column->values[row];
			made = InputFunctionCall(&column->input,
									 TextDatumGetCString(last),
									 column->io_param, column->typmod);
		}
		column->values[row] = made;
	}
	AtEOXact_GUC(false, level);
}

/* See ship.h. */
void
strata_unit_rows(const StrataUnit *unit, ReturnSetInfo *rsinfo)
{
	TupleDesc	desc = rsinfo->setDesc;
	RowColumn  *columns;
	Datum	   *values = palloc(sizeof(Datum) * Max(desc->natts, 1));
	bool	   *isnull = palloc(sizeof(bool) * Max(desc->natts, 1));

	if (unit->kind == STRATA_UNIT_END)
		return;
	columns = palloc0(sizeof(RowColumn) * Max(desc->natts, 1));
	for (int i = 0; i < desc->natts; i++)
	{
		RowColumn  *column = &columns[i];

		CHECK_FOR_INTERRUPTS();
		prepare_column(column, unit, TupleDescAttr(desc, i));
		strata_ship_decode(column->source, &column->type, unit->nrows,
						   column->values, column->isnull);
		if (column->source->form == STRATA_FORM_TEXT)
			read_texts(column, unit->nrows);
	}
	for (int row = 0; row < unit->nrows; row++)
	{
		for (int i = 0; i < desc->natts; i++)
		{
			values[i] = columns[i].values[row];
			isnull[i] = columns[i].isnull[row];
		}
		tuplestore_putvalues(rsinfo->setResult, desc, values, isnull);
	}
}

/* The unit's column does not fit the table's. */
pg_noreturn static void
refuse_column(Relation rel, const StrataUnitColumn *column, const char *theirs,
			  const char *ours)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATATYPE_MISMATCH),
			 errmsg("column \"%s\" was of type %s where it was exported, and is of type %s in table \"%s\"",
					column->name, theirs, ours, RelationGetRelationName(rel)),
			 errhint("ALTER TABLE %s ALTER COLUMN %s TYPE %s;, on this server or where it was exported, or COPY the table.",
					 strata_sql_name(RelationGetRelid(rel)),
					 quote_identifier(column->name), theirs)));
}

static char *
typed_name(Oid type, int32 typmod)
{
	return format_type_extended(type, typmod, FORMAT_TYPE_TYPEMOD_GIVEN |
								FORMAT_TYPE_FORCE_QUALIFY);
}

/* The table's column that a unit's goes to; its type, which fits. */
static Oid
match_unit_column(Relation rel, const StrataUnitColumn *column)
{
	TupleDesc	desc = RelationGetDescr(rel);
	Form_pg_attribute att = NULL;
	Oid			type;
	int32		typmod;
	char	   *ours;
	char	   *theirs;

	for (int i = 0; i < desc->natts && att == NULL; i++)
		if (!TupleDescAttr(desc, i)->attisdropped &&
			strcmp(NameStr(TupleDescAttr(desc, i)->attname),
				   column->name) == 0)
			att = TupleDescAttr(desc, i);
	if (att == NULL || att->attgenerated != '\0')
		ereport(ERROR,
				(errcode(att == NULL ? ERRCODE_UNDEFINED_COLUMN :
						 ERRCODE_GENERATED_ALWAYS),
				 att == NULL ?
				 errmsg("table \"%s\" has no column \"%s\", which the exported batches have",
						RelationGetRelationName(rel), column->name) :
				 errmsg("column \"%s\" of table \"%s\" is generated, and the exported batches have values for it",
						column->name, RelationGetRelationName(rel)),
				 errhint("Add the column, or name the columns to export in export_batches(relation, columns => ...).")));
	type = strata_ship_base_type(att, &typmod);
	ours = typed_name(type, typmod);
	theirs = column->form == STRATA_FORM_TEXT ? column->type_name :
		typed_name(column->type, column->typmod);
	if (strcmp(ours, theirs) != 0)
		refuse_column(rel, column, theirs, ours);
	return type;
}

/* See ship.h. */
void
strata_unit_match(Oid relid, const StrataUnit *unit, StringInfo columns,
				  StringInfo definitions)
{
	Relation	rel = table_open(relid, AccessShareLock);

	for (int i = 0; i < unit->ncolumns; i++)
	{
		const StrataUnitColumn *column = &unit->columns[i];
		const char *name = quote_identifier(column->name);
		Oid			type = match_unit_column(rel, column);

		appendStringInfo(columns, "%s%s", i > 0 ? ", " : "", name);
		appendStringInfo(definitions, "%s%s %s", i > 0 ? ", " : "", name,
						 strata_ship_type_name(type));
	}
	table_close(rel, AccessShareLock);
}
