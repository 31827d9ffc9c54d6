/*-------------------------------------------------------------------------
 *
 * unit.h
 *	  A test framework in a page: named tests, checks, counts, random numbers.
 *
 * A test is a function without arguments; it fails when a CHECK in it does.
 * Tests print "ok name" or "FAIL name"; the last line is "N passed, N failed".
 *
 * test/unit/unit.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_UNIT_H
#define STRATA_UNIT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a CHECK that fails prints besides the condition; set by helpers. */
extern char unit_context[256];

extern void unit_failed(const char *file, int line, const char *condition);
extern bool unit_test_failed(void);

#define CHECK(condition) \
	do { if (!(condition)) unit_failed(__FILE__, __LINE__, #condition); } while (0)

/* Run a test when its name contains the filter given on the command line. */
extern void unit_run(const char *name, void (*test) (void));
extern int	unit_finish(void);
extern void unit_start(int argc, char **argv);

/* Numbers that are the same in every run; each test starts with the same seed. */
extern uint64_t unit_random(void);
extern uint32_t unit_below(uint32_t n);

/* malloc that ends the program instead of failing, exact so that ASan sees all. */
extern void *unit_alloc(size_t nbytes);

/* test groups */
extern void test_bits(void);
extern void test_ints(void);
extern void test_floats(void);
extern void test_columns(void);
extern void test_bytes_columns(void);
extern void test_hostile(void);
extern void test_golden(void);

#endif							/* STRATA_UNIT_H */
