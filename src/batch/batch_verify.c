/*-------------------------------------------------------------------------
 *
 * batch_verify.c
 *	  Re-derives everything a batch says of itself and reports differences.
 *
 * Never raises for damaged contents: problems go to the caller's function.
 *
 * src/batch/batch_verify.c
 *-------------------------------------------------------------------------
 */
#include "batch/batch_private.h"

#include "catalog/pg_type.h"
#include "utils/datum.h"
#include "utils/memutils.h"
#include "utils/sortsupport.h"
#include "utils/typcache.h"

typedef struct Verifier
{
	StrataBatchReader *reader;
	StrataVerifyReport report;
	void	   *arg;
} Verifier;

/* What is to be decoded, and what came of it. */
typedef struct VerifyDecode
{
	StrataBatchReader *reader;
	AttrNumber	attno;
	StrataColumn *col;
} VerifyDecode;

static void
decode(void *arg)
{
	VerifyDecode *what = arg;

	what->col = strata_batch_reader_column(what->reader, what->attno);
}

/* Decode a column: corruption errors become reports, and the result NULL. */
static StrataColumn *
verify_decode(Verifier *v, AttrNumber attno)
{
	VerifyDecode what = {v->reader, attno};
	char	   *damage = strata_error_damage_of(decode, &what);

	if (damage == NULL)
		return what.col;
	v->report(v->arg, attno, damage);
	return NULL;
}

/*
 * What of the summary is not as these values of this type give it; NULL:
 * nothing.
 */
static const char *
find_difference(const Verifier *v, const StrataColumnSummary *stored,
				StrataColumnType type, const char *packed, int n)
{
	StrataColumnSummary derived = {0};

	strata_summary_compute(&derived, &type, packed, n);
	if (derived.has_range != stored->has_range ||
		derived.has_nan != stored->has_nan ||
		(derived.has_range &&
		 (derived.min != stored->min || derived.max != stored->max)))
		return "the summary's minimum or maximum differs";
	/* zeros of both signs are told apart */
	if (derived.has_sum != stored->has_sum ||
		(derived.has_sum &&
		 memcmp(&derived.sum, &stored->sum, sizeof(stored->sum)) != 0))
		return "the summary's sum differs";
	return NULL;
}

/*
 * int4, oid and types like oid become one another without a rewrite, and then
 * the range is of the other order, and there is no sum, or neither.
 */
static bool
is_of_another_type(const StrataColumnSummary *stored, StrataColumnType type,
				   const char *packed, int n)
{
	StrataColumnSummary derived = {0};

	if ((type.typid != INT4OID && type.typid != OIDOID) || stored->has_sum)
		return false;
	if (!stored->has_range)
		return true;
	type.typid = type.typid == INT4OID ? OIDOID : INT4OID;
	strata_summary_compute(&derived, &type, packed, n);
	return (uint32) derived.min == (uint32) stored->min &&
		(uint32) derived.max == (uint32) stored->max;
}

/* Compare the summary of a by-value column with its values. */
static void
verify_summary(Verifier *v, StrataColumn *col)
{
	const StrataColumnSummary *stored;
	const char *problem;
	int			nnulls = 0;
	int			n = 0;
	char	   *packed;

	stored = strata_batch_reader_summary(v->reader, col->attno);
	if (col->constant)
		return;
	if (stored == NULL)
	{
		v->report(v->arg, col->attno, "the summary has no entry");
		return;
	}
	for (int i = 0; i < v->reader->nrows; i++)
		nnulls += col->isnull != NULL && col->isnull[i];
	if (stored->nnulls != nnulls)
		v->report(v->arg, col->attno, "the summary's null count differs");
	if (!col->type.typbyval)
		return;
	packed = palloc(v->reader->nrows * col->type.width);
	for (int i = 0; i < v->reader->nrows; i++)
		if (col->isnull == NULL || !col->isnull[i])
			memcpy(packed + col->type.width * n++,
				   (char *) col->fixed + col->type.width * i, col->type.width);
	problem = find_difference(v, stored, col->type, packed, n);
	if (problem != NULL && !is_of_another_type(stored, col->type, packed, n))
		v->report(v->arg, col->attno, problem);
	pfree(packed);
}

/* The span, where there is one, against the stored minimum and maximum. */
static void
verify_span(Verifier *v, StrataColumn *col, Datum min, Datum max,
			bool has_range)
{
	bool		isnull;
	int16		stored = DatumGetInt16(strata_batch_reader_span(v->reader,
																col->attno,
																&isnull));
	int16		derived = 0;

	if (isnull)
	{
		if (strata_span_is_known(col->type.typid))
			v->report(v->arg, col->attno, "the span is missing");
		return;
	}
	if ((has_range && !strata_span_of(col->type.typid, min, max, &derived)) ||
		derived != stored)
		v->report(v->arg, col->attno,
				  "the stored span is not that of minimum and maximum");
}

/* min_ and max_ columns of an orderby column against its values. */
static void
verify_range(Verifier *v, StrataColumn *col, SortSupport sort)
{
	bool		min_null;
	bool		max_null;
	Datum		min = strata_batch_reader_min(v->reader, col->attno,
											  &min_null);
	Datum		max = strata_batch_reader_max(v->reader, col->attno,
											  &max_null);
	bool		seen_min = false;
	bool		seen_max = false;
	bool		any = false;

	for (int i = 0; i < v->reader->nrows; i++)
	{
		bool		isnull;
		Datum		value = strata_column_get(col, i, &isnull);
		int			c;

		if (isnull)
			continue;
		any = true;
		if (min_null || max_null)
			break;
		c = ApplySortComparator(value, false, min, false, sort);
		if (c < 0)
			v->report(v->arg, col->attno,
					  "a value is below the stored minimum");
		seen_min |= c == 0;
		c = ApplySortComparator(value, false, max, false, sort);
		if (c > 0)
			v->report(v->arg, col->attno,
					  "a value is above the stored maximum");
		seen_max |= c == 0;
	}
	if (col->attno == v->reader->layout->order[0].attno)
		verify_span(v, col, min, max, any && !min_null && !max_null);
	if (any && col->isnull != NULL &&
		col->attno == v->reader->layout->order[0].attno)
		v->report(v->arg, col->attno,
				  "nulls stand beside values in the first orderby column");
	if (any == (min_null || max_null) && v->reader->nrows > 0)
		v->report(v->arg, col->attno,
				  "the stored minimum and maximum do not fit the nulls");
	else if (any && (!seen_min || !seen_max))
		v->report(v->arg, col->attno,
				  "the stored minimum or maximum is no value of the column");
}

/* The order of rows that the layout promises (batch:B3). */
static void
verify_order(Verifier *v, StrataColumn **cols, SortSupportData *sorts)
{
	const StrataLayout *layout = v->reader->layout;

	for (int i = 1; i < v->reader->nrows; i++)
	{
		for (int k = 0; k < layout->norder; k++)
		{
			bool		a_null;
			bool		b_null;
			Datum		a = strata_column_get(cols[k], i - 1, &a_null);
			Datum		b = strata_column_get(cols[k], i, &b_null);
			int			c;

			sorts[k].ssup_reverse = layout->order[k].desc;
			sorts[k].ssup_nulls_first = layout->order[k].nulls_first;
			c = ApplySortComparator(a, a_null, b, b_null, &sorts[k]);
			sorts[k].ssup_reverse = false;
			if (c > 0)
			{
				v->report(v->arg, layout->order[k].attno,
						  "rows are out of order");
				return;
			}
			if (c < 0)
				break;
		}
	}
}

/* See batch_reader.h. */
void
strata_batch_verify(Relation rel, const StrataBatchSchema *schema,
					TupleTableSlot *batch_slot, StrataVerifyReport report,
					void *arg)
{
	Verifier	v = {strata_batch_reader_create(rel, schema), report, arg};
	StrataColumn **cols;
	SortSupportData *sorts;
	const StrataLayout *layout;
	bool		sound = true;

	if (!strata_batch_reader_load(v.reader, batch_slot))
	{
		strata_batch_reader_free(v.reader);
		return;
	}
	for (AttrNumber attno = 1; attno <= schema->natts; attno++)
	{
		StrataColumn *col;

		if (!strata_attribute_is_kept(TupleDescAttr(schema->rel_desc,
													attno - 1)))
			continue;
		col = verify_decode(&v, attno);
		if (col != NULL && !strata_column_is_sound(col, v.reader->nrows))
		{
			report(arg, attno, "a value is not as its type has them");
			col = NULL;
		}
		if (col != NULL)
			verify_summary(&v, col);
		else
			sound = false;
	}
	layout = v.reader->layout;
	cols = palloc0(sizeof(StrataColumn *) * (layout->norder + 1));
	sorts = palloc0(sizeof(SortSupportData) * (layout->norder + 1));
	for (int k = 0; sound && k < layout->norder; k++)
	{
		AttrNumber	attno = layout->order[k].attno;
		Form_pg_attribute att = TupleDescAttr(schema->rel_desc, attno - 1);

		/* dropped or changed since: nobody relies on its order any more */
		if (att->attisdropped || schema->min_att[attno] == 0 ||
			!strata_batch_schema_same_type(schema, attno,
										   schema->min_att[attno]))
		{
			sound = false;
			break;
		}
		cols[k] = strata_batch_reader_column(v.reader, attno);
		strata_sort_init(&sorts[k], att->atttypid, att->attcollation, false,
						 false, CurrentMemoryContext);
		verify_range(&v, cols[k], &sorts[k]);
	}
	if (sound && layout->norder > 0)
		verify_order(&v, cols, sorts);
	strata_batch_reader_free(v.reader);
}
