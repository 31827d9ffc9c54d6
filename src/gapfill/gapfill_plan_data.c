/*-------------------------------------------------------------------------
 *
 * gapfill_plan_data.c
 *	  GapfillPlanData in plans: the only file that knows how it lies in
 *	  custom_private.
 *
 * A plan is copied, stored and sent to workers, so it is a list of lists
 * there: first one of the numbers, then the lists of the struct.
 *
 * src/gapfill/gapfill_plan_data.c
 *-------------------------------------------------------------------------
 */
#include "gapfill/gapfill_private.h"

/* See gapfill_private.h. */
void
strata_gapfill_plan_write(CustomScan *cscan, const GapfillPlanData *data)
{
	cscan->custom_private =
		list_make5(list_make3_int((int) data->type, data->zoned,
								  data->bucket_column),
				   data->keys, data->equals, data->kept, data->fills);
}

/* See gapfill_private.h. */
void
strata_gapfill_plan_read(const CustomScan *cscan, GapfillPlanData *data)
{
	const List *list = cscan->custom_private;
	const List *numbers = linitial(list);

	data->type = (Oid) linitial_int(numbers);
	data->zoned = lsecond_int(numbers) != 0;
	data->bucket_column = lthird_int(numbers);
	data->keys = lsecond(list);
	data->equals = lthird(list);
	data->kept = lfourth(list);
	data->fills = list_nth(list, 4);
}
