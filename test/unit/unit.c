/*-------------------------------------------------------------------------
 *
 * unit.c
 *	  The test framework of unit.h.
 *
 * test/unit/unit.c
 *-------------------------------------------------------------------------
 */
#include "unit.h"

char		unit_context[256];

static const char *filter = "";
static unsigned failures;
static unsigned tests_passed;
static unsigned tests_failed;
static uint64_t random_state;

/* Record a failed check; the first few of a test are printed. */
void
unit_failed(const char *file, int line, const char *condition)
{
	if (failures++ < 5)
		printf("  %s:%d: %s  [%s]\n", file, line, condition, unit_context);
}

/* Has a check of the running test failed? */
bool
unit_test_failed(void)
{
	return failures > 0;
}

void
unit_run(const char *name, void (*test) (void))
{
	if (strstr(name, filter) == NULL)
		return;
	failures = 0;
	unit_context[0] = '\0';
	random_state = 42;
	test();
	if (failures)
	{
		printf("FAIL  %s (%u checks)\n", name, failures);
		tests_failed++;
	}
	else
	{
		printf("ok    %s\n", name);
		tests_passed++;
	}
	fflush(stdout);
}

int
unit_finish(void)
{
	printf("%u passed, %u failed\n", tests_passed, tests_failed);
	return tests_failed ? 1 : 0;
}

void
unit_start(int argc, char **argv)
{
	if (argc > 1)
		filter = argv[1];
}

/* splitmix64 */
uint64_t
unit_random(void)
{
	uint64_t	z = random_state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

uint32_t
unit_below(uint32_t n)
{
	return (uint32_t) (unit_random() % n);
}

void *
unit_alloc(size_t nbytes)
{
	void	   *at = malloc(nbytes ? nbytes : 1);

	if (at == NULL)
	{
		fprintf(stderr, "out of memory\n");
		exit(2);
	}
	return at;
}
