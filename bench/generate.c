/*-------------------------------------------------------------------------
 *
 * generate.c
 *	  CPU metrics as TSBS makes them, or requests of a web site, as CSV on
 *	  standard output, in the order of time.
 *
 *	generate HOSTS HOURS [SEED]
 *	generate requests ROWS HOURS [SEED]
 *
 * Metrics: ten random walks a host in steps of N(0, 1), folded into 0..100 and
 * cut to whole numbers, every ten seconds.  Requests: text, integers, numeric,
 * boolean and NULLs, few values often and many seldom, at uneven times.  The
 * same arguments give the same bytes everywhere.
 *
 * bench/generate.c
 *-------------------------------------------------------------------------
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* 0..n-1, small numbers more often. */
static int
skewed(int n)
{
	double		u = (next_random() >> 11) / 9007199254740992.0;

	return (int) (n * u * u * u);
}

static int
requests(int64_t rows, int hours)
{
	static const char *const method[] = {"GET", "GET", "GET", "GET", "GET", "POST", "POST", "PUT", "DELETE", "HEAD"};
	static const char *const area[] = {"items", "users", "orders", "search", "export", "login"};
	static const int failure[] = {301, 304, 400, 401, 404, 404, 404, 500, 502, 503};

	puts("time,service,path,method,status,duration,bytes,user_id,cached,price");
	for (int64_t i = 0; i < rows; i++)
	{
		int64_t		micros = (int64_t) ((double) hours * 3600e6 / rows * (i + (next_random() & 1023) / 1024.0));
		int			service = skewed(40);
		int			version = 1 + (int) (next_random() % 2);
		int			place = skewed(6);
		int			item = skewed(100);
		const char *verb = method[next_random() % 10];
		int			failed = next_random() % 20 == 0;
		int			status = failed ? failure[next_random() % 10] : next_random() % 15 == 0 ? 201 : 200;
		double		wave = 1 + normal() * 0.3;
		int			bytes = 200 + skewed(200000);
		char		when[64];

		format_time(when, sizeof(when), START + micros / 1000000);
		when[19] = '\0';		/* without the zone */
		printf("%s.%06d+00,service-%02d,/api/v%d/%s/%d,%s,%d,%.3f,%d,", when, (int) (micros % 1000000), service, version,
			   area[place], item, verb, status, (place + 1) * 8 * wave * wave + (failed ? 250 : 1), bytes);
		if (next_random() % 5 != 0)
			printf("%d", 1 + skewed(100000));
		printf(next_random() % 3 == 0 ? ",t," : ",f,");
		if (place == 2)
		{
			int			cents = skewed(50000);

			printf("%d.%02d", cents / 100, cents % 100);
		}
		putchar('\n');
	}
	return fflush(stdout) != 0;
}

int
main(int argc, char **argv)
{
	int			hosts = argc > 1 ? atoi(argv[1]) : 40;
	int			hours = argc > 2 ? atoi(argv[2]) : 24;
	double	   *walks;

	state = 88172645463325252ULL;
	if (argc > 3 && strcmp(argv[1], "requests") == 0)
	{
		state += argc > 4 ? strtoull(argv[4], NULL, 10) : 0;
		return requests(atoll(argv[2]), atoi(argv[3]));
	}
	walks = malloc(sizeof(double) * METRICS * (hosts > 0 ? hosts : 1));
	if (walks == NULL)
		return 1;
	state += argc > 3 ? strtoull(argv[3], NULL, 10) : 0;
	for (int i = 0; i < hosts * METRICS; i++)
		walks[i] = next_random() % 101;
	puts("time,hostname,usage_user,usage_system,usage_idle,usage_nice,usage_iowait,usage_irq,usage_softirq,"
		 "usage_steal,usage_guest,usage_guest_nice");
	for (int step = 0; step < hours * 360; step++)
	{
		char		when[64];

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
