/*-------------------------------------------------------------------------
 *
 * generate.c
 *	  CPU metrics as TSBS makes them, as CSV on standard output.
 *
 *	generate HOSTS HOURS [SEED]
 *
 * Ten random walks a host in steps of N(0, 1), folded into 0..100 and cut to
 * whole numbers, every ten seconds; rows in the order of time, as they would
 * arrive.  The same arguments give the same bytes everywhere.
 *
 * bench/generate.c
 *-------------------------------------------------------------------------
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define METRICS 10
#define START 1451606400LL		/* 2016-01-01 00:00:00 UTC */

static uint64_t state;

static uint64_t
next_random(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

/* About N(0, 1): the sum of twelve uniform numbers, less six, in 1/65536. */
static double
normal(void)
{
	int64_t		sum = 0;

	for (int i = 0; i < 3; i++)
	{
		uint64_t	r = next_random();

		sum += (int64_t) ((r & 0xffff) + (r >> 16 & 0xffff) + (r >> 32 & 0xffff) + (r >> 48));
	}
	return sum / 65536.0 - 6;
}

/* Back into 0..100, as off a wall. */
static double
fold(double v)
{
	return v < 0 ? -v : v > 100 ? 200 - v : v;
}

/* "2016-01-01 00:00:00+00" for seconds since 1970. */
static void
format_time(char *buf, size_t size, int64_t seconds)
{
	int64_t		days = seconds / 86400 + 719468;
	int64_t		era = days / 146097;
	int64_t		doe = days - era * 146097;
	int64_t		yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
	int64_t		doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
	int64_t		mp = (5 * doy + 2) / 153;
	int64_t		month = mp < 10 ? mp + 3 : mp - 9;

	snprintf(buf, size, "%04d-%02d-%02d %02d:%02d:%02d+00", (int) (yoe + era * 400 + (month <= 2)), (int) month,
			 (int) (doy - (153 * mp + 2) / 5 + 1), (int) (seconds / 3600 % 24), (int) (seconds / 60 % 60),
			 (int) (seconds % 60));
}

int
main(int argc, char **argv)
{
	int			hosts = argc > 1 ? atoi(argv[1]) : 40;
	int			hours = argc > 2 ? atoi(argv[2]) : 24;
	double	   *walks = malloc(sizeof(double) * METRICS * (hosts > 0 ? hosts : 1));

	if (walks == NULL)
		return 1;
	state = 88172645463325252ULL + (argc > 3 ? strtoull(argv[3], NULL, 10) : 0);
	for (int i = 0; i < hosts * METRICS; i++)
		walks[i] = next_random() % 101;
	puts("time,hostname,usage_user,usage_system,usage_idle,usage_nice,usage_iowait,usage_irq,usage_softirq,"
		 "usage_steal,usage_guest,usage_guest_nice");
	for (int step = 0; step < hours * 360; step++)
	{
		char		when[40];

		format_time(when, sizeof(when), START + step * 10LL);
		for (int host = 0; host < hosts; host++)
		{
			char		line[256];
			int			n = snprintf(line, sizeof(line), "%s,host_%d", when, host);

			for (int m = 0; m < METRICS; m++)
			{
				double	   *walk = &walks[host * METRICS + m];
				int			v = (int) *walk;

				line[n++] = ',';
				if (v >= 100)
					line[n++] = '1';
				if (v >= 10)
					line[n++] = (char) ('0' + v / 10 % 10);
				line[n++] = (char) ('0' + v % 10);
				*walk = fold(*walk + normal());
			}
			line[n++] = '\n';
			if (fwrite(line, 1, n, stdout) != (size_t) n)
				return 1;
		}
	}
	return fflush(stdout) != 0;
}
