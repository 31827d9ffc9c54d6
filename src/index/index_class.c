/*-------------------------------------------------------------------------
 *
 * index_class.c
 *	  Summaries by operator classes, of whichever access method they are.
 *
 * And which values have no place in one: what is not comparable (NaN as a
 * coordinate) is lost by PostgreSQL's classes of boxes, and takes others with
 * it.
 *
 * src/index/index_class.c
 *-------------------------------------------------------------------------
 */
#include "index/index_class_private.h"
#include "pg/pg.h"

#include <math.h>

#include "access/gist.h"
#include "catalog/pg_am_d.h"
#include "catalog/pg_type.h"
#include "utils/geo_decls.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

struct StrataClass
{
	StrataBrin *brin;			/* or */
	StrataGist *gist;
};

/* See index_class_private.h. */
StrataClass *
strata_class_open(Relation index)
{
	StrataClass *class = palloc0(sizeof(StrataClass));

	if (index->rd_rel->relam == GIST_AM_OID)
		class->gist = strata_gist_open(index);
	else
		class->brin = strata_brin_open(index);
	return class;
}

/* See index_class_private.h. */
void
strata_class_close(StrataClass *class)
{
	if (class->gist != NULL)
		strata_gist_close(class->gist);
	else
		strata_brin_close(class->brin);
	pfree(class);
}

/* See index_class_private.h. */
void
strata_class_start(StrataClass *class)
{
	if (class->gist != NULL)
		strata_gist_start(class->gist);
	else
		strata_brin_start(class->brin);
}

static bool
is_nan_box(const BOX * box)
{
	return isnan(box->low.x) || isnan(box->low.y) || isnan(box->high.x) ||
		isnan(box->high.y);
}

/*
 * Nothing is to the left of NaN, nor to its right; for classes of floats that
 * compare as C does, which GiST's are and BRIN's are not.
 */
static bool
is_nowhere(Oid type, Datum value, bool gist)
{
	const		Point *point;
	const		CIRCLE *circle;
	POLYGON    *polygon;
	bool		nowhere;

	switch (type)
	{
		case FLOAT8OID:
			return gist && isnan(DatumGetFloat8(value));
		case FLOAT4OID:
			return gist && isnan(DatumGetFloat4(value));
		case BOXOID:
			return is_nan_box(DatumGetBoxP(value));
		case POINTOID:
			point = DatumGetPointP(value);
			return isnan(point->x) || isnan(point->y);
		case CIRCLEOID:
			circle = DatumGetCircleP(value);
			return isnan(circle->center.x) || isnan(circle->center.y) ||
				isnan(circle->radius);
		case POLYGONOID:
			polygon = DatumGetPolygonP(value);
			nowhere = is_nan_box(&polygon->boundbox);
			if ((Pointer) polygon != DatumGetPointer(value))
				pfree(polygon);
			return nowhere;
		default:
			return false;
	}
}

/* See index.h. */
bool
strata_index_has_place(Oid type, Datum value)
{
	return !is_nowhere(getBaseType(type), value, true);
}

/* See index_class_private.h. */
bool
strata_class_add(StrataClass *class, int column, Oid type, Datum value,
				 bool isnull)
{
	if (!isnull && is_nowhere(type, value, class->gist != NULL))
		return false;
	if (class->gist != NULL)
		strata_gist_add(class->gist, column, value, isnull);
	else
		strata_brin_add(class->brin, column, value, isnull);
	return true;
}

/* See index_class_private.h. */
const void *
strata_class_finish(StrataClass *class, Size *size)
{
	return class->gist != NULL ? strata_gist_finish(class->gist, size) :
		strata_brin_finish(class->brin, size);
}

/* See index_class_private.h. */
void
strata_class_ask(StrataClass *class, ScanKey keys, int nkeys)
{
	ScanKey		asked = palloc_array(ScanKeyData, Max(nkeys, 1));
	int			n = 0;

	if (class->gist == NULL)
		strata_brin_ask(class->brin, keys, nkeys);
	for (int i = 0; i < nkeys; i++)
		if (strata_index_has_place(keys[i].sk_subtype, keys[i].sk_argument))
			asked[n++] = keys[i];
	if (class->gist != NULL)
		strata_gist_ask(class->gist, asked, n);
	pfree(asked);
}

/* See index_class_private.h. */
bool
strata_class_may_hold(StrataClass *class, const void *summary)
{
	return class->gist != NULL ? strata_gist_may_hold(class->gist, summary) :
		strata_brin_may_hold(class->brin, summary);
}

/* See index_class_private.h. */
bool
strata_class_covers(StrataClass *class, const void *summary, const void *part)
{
	return class->gist != NULL ?
		strata_gist_covers(class->gist, summary, part) :
		strata_brin_covers(class->brin, summary, part);
}

/* See index_class_private.h. */
double
strata_class_distance(StrataClass *class, const void *summary, ScanKey key)
{
	Assert(class->gist != NULL);	/* index:I6 */
	return strata_gist_distance(class->gist, summary, key);
}

/* See index.h. */
AttrNumber
strata_index_distance_key(Relation index, AttrNumber attno, Oid opno,
						  Oid collation, ScanKey key)
{
	StrataIndexTarget target;

	if (index->rd_rel->relam != GIST_AM_OID ||
		!heap_attisnull(index->rd_indextuple, Anum_pg_index_indpred, NULL) ||
		!strata_index_class_target(RelationGetRelid(index), &target))
		return 0;
	for (int i = 0; i < index->rd_index->indnkeyatts; i++)
	{
		Oid			family = index->rd_opfamily[i];
		int			strategy;
		Oid			lefttype;
		Oid			righttype;

		if (index->rd_index->indkey.values[i] != attno ||
			!OidIsValid(get_op_opfamily_sortfamily(opno, family)) ||
			!OidIsValid(index_getprocid(index, (AttrNumber) (i + 1),
										GIST_DISTANCE_PROC)) ||
			(OidIsValid(index->rd_indcollation[i]) &&
			 index->rd_indcollation[i] != collation))
			continue;
		get_op_opfamily_properties(opno, family, true, &strategy, &lefttype,
								   &righttype);
		ScanKeyEntryInitialize(key, SK_ORDER_BY, (AttrNumber) (i + 1),
							   (StrategyNumber) strategy, righttype,
							   index->rd_indcollation[i], get_opcode(opno),
							   (Datum) 0);
		return (AttrNumber) (i + 1);
	}
	return 0;
}
