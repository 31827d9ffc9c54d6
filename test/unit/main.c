/*-------------------------------------------------------------------------
 *
 * main.c
 *	  Runs the unit tests; an argument picks those whose name contains it.
 *
 * test/unit/main.c
 *-------------------------------------------------------------------------
 */
#include "unit.h"

int
main(int argc, char **argv)
{
	unit_start(argc, argv);
	test_bits();
	test_ints();
	test_columns();
	test_bytes_columns();
	test_hostile();
	test_golden();
	return unit_finish();
}
