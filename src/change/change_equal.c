/*-------------------------------------------------------------------------
 *
 * change_equal.c
 *	  Rows of a decoded column that may have a value, found by its bytes or by
 *	  the order of the batch.
 *
 * A call of the type's comparison for each row of a batch costs more than
 * all else that a look for a key does.  Of types whose equal values have the
 * same bytes, bytes are compared; who asks compares what is found as ever.
 *
 * src/change/change_equal.c
 *-------------------------------------------------------------------------
 */
#include "change/change_place_private.h"

#include "catalog/pg_type_d.h"
#include "utils/lsyscache.h"

/* See change_private.h. */
bool
strata_equal_has_same_bytes(Relation index, int i)
{
	Oid			type = index->rd_opcintype[i];
	Oid			collation = index->rd_indcollation[i];

	/* a class of the user's own may find more equal */
	if (!strata_key_has_default_order(index, i, type))
		return false;
	switch (type)
	{
		case BOOLOID:
		case CHAROID:
		case INT2OID:
		case INT4OID:
		case INT8OID:
		case OIDOID:
		case DATEOID:
		case TIMEOID:
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
		case UUIDOID:
		case BYTEAOID:
			return true;
		case TEXTOID:
		case VARCHAROID:
			return OidIsValid(collation) &&
				get_collation_isdeterministic(collation);
		default:
			return false;
	}
}

/* May two values, not by value, be the same?  True where it is not known. */
static bool
may_be_same(Datum a, Datum b, int typlen)
{
	const struct varlena *x = (const struct varlena *) DatumGetPointer(a);
	const struct varlena *y = (const struct varlena *) DatumGetPointer(b);

	if (typlen > 0)
		return memcmp(x, y, typlen) == 0;
	if (!strata_varlena_is_plain(x) || !strata_varlena_is_plain(y))
		return true;
	return VARSIZE_ANY_EXHDR(x) == VARSIZE_ANY_EXHDR(y) &&
		memcmp(VARDATA_ANY(x), VARDATA_ANY(y), VARSIZE_ANY_EXHDR(x)) == 0;
}

#define FIND_FIXED(type, value) \
	do { \
		const type *numbers = (const type *) col->fixed - col->from; \
		type		sought = (value); \
		while (row < to && numbers[row] != sought) \
			row++; \
		return row; \
	} while (0)

/* See change_private.h. */
int
strata_column_find_bytes(const StrataColumn *col, int row, int to,
						 Datum value, int typlen)
{
	bool		isnull;

	if (col->constant)
		return row;
	if (col->fixed != NULL)
		switch (col->type.width)
		{
			case 1:
				FIND_FIXED(uint8, (uint8) value);
			case 2:
				FIND_FIXED(uint16, (uint16) value);
			case 4:
				FIND_FIXED(uint32, (uint32) value);
			case 8:
				FIND_FIXED(uint64, (uint64) value);
			default:
				return row;
		}
	for (; row < to; row++)
	{
		Datum		has = strata_column_get(col, row, &isnull);

		if (!isnull && may_be_same(has, value, typlen))
			break;
	}
	return row;
}

/* See change_place_private.h. */
int
strata_column_find_in_order(const StrataBatchReader *reader,
							const StrataColumn *col, Datum value, bool past)
{
	bool		desc = reader->layout->order[0].desc;
	int			low = 0;
	int			high = reader->nrows;

	while (low < high)
	{
		int			middle = (low + high) / 2;
		bool		isnull;
		int			order;

		order = strata_compare_default(col->type.typid,
									   strata_column_get(col, middle, &isnull),
									   value);
		if (desc)
			order = -order;
		if (order < 0 || (past && order == 0))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}
