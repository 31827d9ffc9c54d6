/*-------------------------------------------------------------------------
 *
 * codec_bench.c
 *	  Bytes per value and values per second of the codecs, on real columns.
 *
 *	codec_bench [-b rows] [-n values] [-c column] [-r passes] [-e passes] [-l level] [-a] [data directory]
 *
 * Reads the *.csv.zst of the directory it knows (see `tables`), sorts rows by
 * segment and order columns, cuts batches that do not cross segments, and encodes
 * each column with what AUTO chooses (-a: with every codec).  Without a directory,
 * or without files in it, columns are generated.  Prints a markdown table: bytes a
 * value with all headers, and millions of values a second of CPU time, best of
 * several passes.  Beside it the size of the whole column in one LZ4 block and in
 * one zstd frame.
 *
 * bench/codec_bench.c
 *-------------------------------------------------------------------------
 */
#include <lz4.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <zstd.h>

#include "codec/codec.h"
#include "test/unit/jsonb_make.h"

#define COLUMNS_MAX 32
#define PASSES_DEFAULT 5


/* name:type with type t timestamp, b bool, 2 4 8 integers, d double, s text, j jsonb */
typedef struct Table
{
	const char *name;
	const char *segment;
	const char *order;
	const char *columns;
	const char *file;			/* if it is not named like the table */
} Table;

static const Table tables[] = {
	{"tsbs_cpu40", "hostname", "time", "time:t hostname:s usage_user:d usage_system:d usage_idle:d usage_nice:d "
	"usage_iowait:d usage_irq:d usage_softirq:d usage_steal:d usage_guest:d usage_guest_nice:d"},
	{"beijing_air", "station", "ts", "ts:t station:s pm25:d pm10:d so2:d no2:d co:d o3:d temp:d pres:d dewp:d rain:d wd:s wspm:d"},
	{"nab_metrics", "series", "ts", "ts:t grp:s series:s value:d"},
	{"covid_it_province", "province_id", "ts", "ts:t region_id:2 region:s province_id:2 province:s sigla:s lat:d lon:d total_cases:4"},
	{"covid_it_region", "region", "ts", "ts:t region_id:2 region:s lat:d lon:d ricoverati_con_sintomi:4 terapia_intensiva:4 "
		"totale_ospedalizzati:4 isolamento_domiciliare:4 totale_positivi:4 variazione_totale_positivi:4 nuovi_positivi:4 "
		"dimessi_guariti:4 deceduti:4 casi_da_sospetto_diagnostico:4 casi_da_screening:4 totale_casi:4 tamponi:4 casi_testati:4 "
		"ingressi_terapia_intensiva:4 totale_positivi_test_molecolare:4 totale_positivi_test_antigenico_rapido:4 "
	"tamponi_test_molecolare:4 tamponi_test_antigenico_rapido:4 note:s note_test:s note_casi:s nuts1:s nuts2:s"},
	{"flights", "carrier", "sched_dep", "sched_dep:t carrier:s flight:4 tailnum:s origin:s dest:s dep_time:2 sched_dep_time:2 "
	"dep_delay:2 arr_time:2 sched_arr_time:2 arr_delay:2 air_time:2 distance:4"},
	{"wiki_edits", "channel", "ts", "ts:t channel:s namespace:s page:s user_name:s comment:s is_robot:b is_anonymous:b is_new:b "
	"is_minor:b country:s city:s delta:4 added:4 deleted:4 event:j"},
	{"ligo_h1", "", "ts", "ts:t strain:d"},
	{"wiki_by_time", "", "ts", "ts:t channel:s namespace:s page:s user_name:s comment:s is_robot:b is_anonymous:b is_new:b "
	"is_minor:b country:s city:s delta:4 added:4 deleted:4 event:j", "wiki_edits"},
};

#define NTABLES (sizeof(tables) / sizeof(tables[0]))

/* One column of a table: all rows, then sorted. */
typedef struct Column
{
	char		name[64];
	char		type;
	uint8_t		width;			/* 0: text */
	uint64_t   *values;			/* per row: integer, double bits, or offset
								 * into text */
	uint32_t   *lengths;		/* text */
	bool	   *isnull;
} Column;

typedef struct Loaded
{
	char		name[64];
	Column		columns[COLUMNS_MAX];
	int			ncolumns;
	int			segment;
	int			order;
	uint32_t	nrows;
	uint32_t	capacity;
	uint32_t   *rows;			/* sorted */
	char	   *text;			/* all text values */
	size_t		text_len;
	size_t		text_capacity;
} Loaded;

static uint32_t batch_rows = 1000;
static uint32_t values_max = 400000;
static const char *only_column = "";
static bool all_codecs = false;
static StrataLevel level = STRATA_LEVEL_BALANCED;
static int	passes = PASSES_DEFAULT;
static int	encode_passes = 9;	/* more make profiles of encoding clearer */
static char dictionaries[65536];	/* lines of the table of them */

static void *
grow(void *at, size_t nbytes)
{
	at = realloc(at, nbytes ? nbytes : 1);
	if (at == NULL)
	{
		fprintf(stderr, "out of memory\n");
		exit(1);
	}
	return at;
}

static double
now(void)
{
	struct timespec t;

	/* other programs may have the CPU meanwhile */
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double) t.tv_sec + (double) t.tv_nsec * 1e-9;
}

/* --- loading ----------------------------------------------------------------- */

/* Days since 1970-01-01 of a civil date. */
static int64_t
days_from_civil(int64_t y, int64_t m, int64_t d)
{
	int64_t		era;
	int64_t		yoe;

	y -= m <= 2;
	era = (y >= 0 ? y : y - 399) / 400;
	yoe = y - era * 400;
	return era * 146097 + yoe * 365 + yoe / 4 - yoe / 100 + (153 * (m + (m > 2 ? -3 : 9)) + 2) / 5 + d - 1 - 719468;
}

/* Microseconds of "YYYY-MM-DD HH:MM:SS[.f]" (zone ignored). */
static uint64_t
parse_time(const char *s)
{
	int			y = 0;
	int			mo = 0;
	int			d = 0;
	int			h = 0;
	int			mi = 0;
	double		sec = 0;

	sscanf(s, "%d-%d-%d%*c%d:%d:%lf", &y, &mo, &d, &h, &mi, &sec);
	return (uint64_t) (((days_from_civil(y, mo, d) * 24 + h) * 60 + mi) * INT64_C(60000000) + (int64_t) llround(sec * 1e6));
}

static void
set_value(Loaded *t, Column *c, const char *field, size_t len, bool quoted)
{
	uint32_t	row = t->nrows;

	c->isnull[row] = len == 0 && !quoted;
	c->values[row] = 0;
	if (c->type == 's' || c->type == 'j')
	{
		/* jsonb may be larger than its text */
		if (t->text_len + 8 * len + 8 > t->text_capacity)
			t->text = grow(t->text, t->text_capacity = (t->text_len + 8 * len + 8) * 2);
		if (c->type == 's')
			memcpy(t->text + t->text_len, field, len);
		else if (!c->isnull[row])
		{
			len = jsonb_make(field, len, (uint8_t *) t->text + t->text_len, t->text_capacity - t->text_len);
			if (len == 0)
			{
				fprintf(stderr, "%s.%s: no JSON: %s\n", t->name, c->name, field);
				exit(1);
			}
		}
		c->values[row] = t->text_len;
		c->lengths[row] = (uint32_t) len;
		t->text_len += len;
	}
	else if (c->isnull[row])
		return;
	else if (c->type == 't')
		c->values[row] = parse_time(field);
	else if (c->type == 'b')
		c->values[row] = field[0] == 't' || field[0] == '1';
	else if (c->type == 'd')
	{
		double		d = strtod(field, NULL);

		memcpy(&c->values[row], &d, 8);
	}
	else
		c->values[row] = (uint64_t) strtoll(field, NULL, 10);
}

static void
make_room(Loaded *t)
{
	if (t->nrows < t->capacity)
		return;
	t->capacity = t->capacity ? t->capacity * 2 : 65536;
	for (int c = 0; c < t->ncolumns; c++)
	{
		t->columns[c].values = grow(t->columns[c].values, t->capacity * sizeof(uint64_t));
		t->columns[c].lengths = grow(t->columns[c].lengths, t->capacity * sizeof(uint32_t));
		t->columns[c].isnull = grow(t->columns[c].isnull, t->capacity);
	}
}

/* Read CSV (quotes, embedded line ends) from a stream, the header line skipped. */
static void
read_csv(Loaded *t, FILE *in)
{
	char	   *field = grow(NULL, 1 << 22);
	int			column = 0;
	int			ch;

	while ((ch = getc(in)) != EOF && ch != '\n')
		;
	for (;;)
	{
		size_t		len = 0;
		bool		quoted = false;

		ch = getc(in);
		if (ch == EOF)
			break;
		if (ch == '"')
		{
			quoted = true;
			while ((ch = getc(in)) != EOF)
			{
				if (ch == '"' && (ch = getc(in)) != '"')
					break;
				field[len++] = (char) ch;
			}
		}
		else
			for (; ch != ',' && ch != '\n' && ch != EOF; ch = getc(in))
				field[len++] = (char) ch;
		field[len] = '\0';
		if (column == 0)
			make_room(t);
		if (column < t->ncolumns)
			set_value(t, &t->columns[column], field, len, quoted);
		column++;
		if (ch == '\n' || ch == EOF)
		{
			t->nrows++;
			column = 0;
		}
	}
	free(field);
}

static void
add_column(Loaded *t, const char *name, char type)
{
	Column	   *c = &t->columns[t->ncolumns++];

	snprintf(c->name, sizeof(c->name), "%s", name);
	c->type = type;
	c->width = type == 's' || type == 'j' ? 0 : type == 'b' ? 1 : type == '2' ? 2 : type == '4' ? 4 : 8;
}

static const Loaded *sorting;

static int
compare_text(const Loaded *t, const Column *c, uint32_t a, uint32_t b)
{
	uint32_t	la = c->lengths[a];
	uint32_t	lb = c->lengths[b];
	int			order = memcmp(t->text + c->values[a], t->text + c->values[b], la < lb ? la : lb);

	return order ? order : la < lb ? -1 : la > lb;
}

static int
compare_rows(const void *pa, const void *pb)
{
	uint32_t	a = *(const uint32_t *) pa;
	uint32_t	b = *(const uint32_t *) pb;
	int			order = 0;

	if (sorting->segment >= 0)
	{
		const Column *c = &sorting->columns[sorting->segment];

		if (c->type == 's')
			order = compare_text(sorting, c, a, b);
		else
			order = c->values[a] < c->values[b] ? -1 : c->values[a] > c->values[b];
	}
	if (order == 0)
	{
		const Column *c = &sorting->columns[sorting->order];

		order = (int64_t) c->values[a] < (int64_t) c->values[b] ? -1 : (int64_t) c->values[a] > (int64_t) c->values[b];
	}
	return order ? order : a < b ? -1 : 1;
}

static void
sort_rows(Loaded *t)
{
	t->rows = grow(NULL, t->nrows * sizeof(uint32_t));
	for (uint32_t i = 0; i < t->nrows; i++)
		t->rows[i] = i;
	sorting = t;
	qsort(t->rows, t->nrows, sizeof(uint32_t), compare_rows);
}

/* Load a table of the directory; false when its file is not there. */
static bool
load(const Table *table, const char *directory, Loaded *t)
{
	char		command[4096];
	char		columns[2048];
	const char *file = table->file ? table->file : table->name;
	FILE	   *in;

	snprintf(command, sizeof(command), "%s/%s.csv.zst", directory, file);
	if (access(command, R_OK) != 0)
		return false;
	memset(t, 0, sizeof(*t));
	snprintf(t->name, sizeof(t->name), "%s", table->name);
	t->segment = -1;
	snprintf(columns, sizeof(columns), "%s", table->columns);
	for (char *at = strtok(columns, " "); at; at = strtok(NULL, " "))
	{
		char	   *colon = strchr(at, ':');

		*colon = '\0';
		if (strcmp(at, table->segment) == 0)
			t->segment = t->ncolumns;
		if (strcmp(at, table->order) == 0)
			t->order = t->ncolumns;
		add_column(t, at, colon[1]);
	}
	snprintf(command, sizeof(command), "zstd -dc '%s/%s.csv.zst'", directory, file);
	in = popen(command, "r");
	if (in == NULL)
		return false;
	read_csv(t, in);
	pclose(in);
	sort_rows(t);
	return true;
}

/* Made-up columns, one of each class. */
static void
generate(Loaded *t)
{
	uint64_t	seed = 1;

	memset(t, 0, sizeof(*t));
	snprintf(t->name, sizeof(t->name), "generated");
	t->segment = -1;
	add_column(t, "time_regular", 't');
	add_column(t, "time_jitter", 't');
	add_column(t, "counter", '8');
	add_column(t, "gauge", '4');
	add_column(t, "status", '2');
	add_column(t, "tenths", 'd');
	add_column(t, "computed", 'd');
	add_column(t, "host", 's');
	for (uint32_t i = 0; i < 200000; i++)
	{
		char		text[32];
		uint64_t	r;
		double		d;

		make_room(t);
		seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
		r = seed >> 33;
		for (int c = 0; c < t->ncolumns; c++)
			t->columns[c].isnull[i] = false;
		t->columns[0].values[i] = i * UINT64_C(10000000);
		t->columns[1].values[i] = i * UINT64_C(1000000) + r % 1000 * 1000;
		t->columns[2].values[i] = (i ? t->columns[2].values[i - 1] : 0) + r % 300;
		t->columns[3].values[i] = r % 5000;
		t->columns[4].values[i] = r % 50 ? 200 : 404;
		d = (double) (int64_t) (r % 400) / 10;
		memcpy(&t->columns[5].values[i], &d, 8);
		d = (double) r / 7;
		memcpy(&t->columns[6].values[i], &d, 8);
		snprintf(text, sizeof(text), "host_%u", (unsigned) (r % 100));
		set_value(t, &t->columns[7], text, strlen(text), false);
		t->nrows++;
	}
	sort_rows(t);
}

/* --- measuring --------------------------------------------------------------- */

/* A column cut into batches, ready to encode. */
typedef struct Batches
{
	uint32_t	n;
	uint32_t	nvalues;		/* rows of all batches, nulls included */
	size_t		raw_bytes;		/* of the values that are not null */
	StrataVector *vectors;
	uint32_t   *nrows;
	bool	  **isnull;
	uint8_t   **bufs;
	size_t	   *lens;
} Batches;

static bool
same_segment(const Loaded *t, uint32_t a, uint32_t b)
{
	const Column *c;

	if (t->segment < 0)
		return true;
	c = &t->columns[t->segment];
	if (c->type == 's')
		return compare_text(t, c, a, b) == 0;
	return c->values[a] == c->values[b];
}

/* Cut rows [from, to) of the sorted table into one batch. */
static void
add_batch(const Loaded *t, const Column *c, uint32_t from, uint32_t to, Batches *b)
{
	StrataVector *v = &b->vectors[b->n];
	uint8_t    *fixed = grow(NULL, (size_t) (to - from) * 8);
	uint32_t   *offsets = grow(NULL, ((size_t) (to - from) + 1) * sizeof(uint32_t));
	uint8_t    *payload = NULL;
	bool	   *isnull = grow(NULL, to - from);
	size_t		used = 0;

	memset(v, 0, sizeof(*v));
	v->kind = c->width == 0 ? STRATA_KIND_BYTES : c->type == 'd' ? STRATA_KIND_FLOAT : STRATA_KIND_INT;
	v->width = c->width;
	v->hint = c->type == 'j' ? STRATA_BYTES_JSONB : STRATA_BYTES_ANY;
	v->level = level;
	offsets[0] = 0;
	for (uint32_t i = from; i < to; i++)
		used += c->width ? 0 : c->lengths[t->rows[i]];
	payload = grow(NULL, used);
	used = 0;
	for (uint32_t i = from; i < to; i++)
	{
		uint32_t	row = t->rows[i];

		isnull[i - from] = c->isnull[row];
		if (c->isnull[row])
			continue;
		if (c->width == 0)
		{
			memcpy(payload + used, t->text + c->values[row], c->lengths[row]);
			used += c->lengths[row];
			offsets[v->n + 1] = (uint32_t) used;
		}
		else
			memcpy(fixed + (size_t) v->n * c->width, &c->values[row], c->width);
		v->n++;
	}
	v->fixed = fixed;
	v->offsets = offsets;
	v->payload = payload;
	b->raw_bytes += c->width ? (size_t) v->n * c->width : used;
	b->isnull[b->n] = isnull;
	b->nrows[b->n] = to - from;
	b->nvalues += to - from;
	b->bufs[b->n] = grow(NULL, strata_column_encode_bound(v, to - from));
	b->n++;
}

static void
cut(const Loaded *t, const Column *c, Batches *b)
{
	uint32_t	start = 0;

	memset(b, 0, sizeof(*b));
	b->vectors = grow(NULL, t->nrows * sizeof(StrataVector));
	b->nrows = grow(NULL, t->nrows * sizeof(uint32_t));
	b->isnull = grow(NULL, t->nrows * sizeof(bool *));
	b->bufs = grow(NULL, t->nrows * sizeof(uint8_t *));
	b->lens = grow(NULL, t->nrows * sizeof(size_t));
	for (uint32_t i = 1; i <= t->nrows && b->nvalues < values_max; i++)
		if (i == t->nrows || i - start == batch_rows || !same_segment(t, t->rows[start], t->rows[i]))
		{
			add_batch(t, c, start, i, b);
			start = i;
		}
}

static void
free_batches(Batches *b)
{
	for (uint32_t i = 0; i < b->n; i++)
	{
		free((void *) b->vectors[i].fixed);
		free((void *) b->vectors[i].offsets);
		free((void *) b->vectors[i].payload);
		free(b->isnull[i]);
		free(b->bufs[i]);
	}
	free(b->vectors);
	free(b->nrows);
	free(b->isnull);
	free(b->bufs);
	free(b->lens);
}

static void
fail(StrataCodecResult rc)
{
	fprintf(stderr, "error: %s\n", strata_codec_result_text(rc));
	exit(1);
}

/* Seconds to encode all batches; false when the codec does not apply. */
static bool
measure_encode(Batches *b, StrataCodecId wanted, void *scratch, size_t scratch_size, double *best)
{
	*best = 1e9;
	for (int pass = 0; pass < encode_passes; pass++)
	{
		double		start = now();

		for (uint32_t i = 0; i < b->n; i++)
		{
			const StrataVector *v = &b->vectors[i];
			StrataCodecResult rc = strata_column_encode(v, b->nrows[i], b->isnull[i], wanted, scratch, scratch_size,
														b->bufs[i], strata_column_encode_bound(v, b->nrows[i]), &b->lens[i]);

			if (rc == STRATA_CODEC_NOT_APPLICABLE)
				return false;
			if (rc != STRATA_CODEC_OK)
				fail(rc);
		}
		*best = fmin(*best, now() - start);
	}
	return true;
}

/* Seconds to decode all batches; or, of one codec only, those it made. */
static double
measure_decode(const Batches *b, StrataCodecId only, void *scratch, size_t scratch_size)
{
	double		best = 1e9;
	void	   *out = aligned_alloc(64, ((size_t) batch_rows * 8 + 63) & ~(size_t) 63);
	bool	   *isnull = grow(NULL, batch_rows);

	for (int pass = 0; pass < passes; pass++)
	{
		double		start = now();

		for (uint32_t i = 0; i < b->n; i++)
		{
			StrataBytes bytes;
			bool		hasnull;
			StrataCodecResult rc;

			/* the id stands in the second byte of a column */
			if (only != STRATA_CODEC_AUTO && b->bufs[i][1] != only)
				continue;
			if (b->vectors[i].kind == STRATA_KIND_BYTES)
				rc = strata_column_decode_bytes(b->bufs[i], b->lens[i], 0, b->nrows[i], scratch, scratch_size, &bytes, isnull, &hasnull);
			else
				rc = strata_column_decode_fixed(b->bufs[i], b->lens[i], 0, b->nrows[i], scratch, scratch_size, out, isnull, &hasnull);
			if (rc != STRATA_CODEC_OK)
				fail(rc);
		}
		best = fmin(best, now() - start);
	}
	free(out);
	free(isnull);
	return best;
}

/* Remember how fast the dictionaries of a column are, for a table of its own. */
static void
note_dictionary(const Loaded *t, const Column *c, const Batches *b, void *scratch, size_t scratch_size)
{
	size_t		used = strlen(dictionaries);
	uint32_t	nbatches = 0;
	double		nvalues = 0;
	double		len = 0;
	double		nentries = 0;

	for (uint32_t i = 0; i < b->n; i++)
		if (b->bufs[i][1] == STRATA_CODEC_DICTIONARY)
		{
			StrataCodecInfo info;

			strata_column_describe(b->bufs[i], b->lens[i], false, &info);
			nbatches++;
			nvalues += b->nrows[i];
			len += (double) b->lens[i];
			nentries += atof(info.detail);
		}
	if (nbatches > 0)
		snprintf(dictionaries + used, sizeof(dictionaries) - used, "| %s.%s | %u of %u | %.0f | %.0f | %.3f | %.0f |\n",
				 t->name, c->name, nbatches, b->n, nvalues / nbatches, nentries / nbatches, len / nvalues,
				 nvalues / measure_decode(b, STRATA_CODEC_DICTIONARY, scratch, scratch_size) / 1e6);
}

/* Bytes of the whole column's values in one LZ4 block and one zstd frame. */
static void
whole_column(const Batches *b, size_t *lz4, size_t *zstd)
{
	uint8_t    *all = grow(NULL, b->raw_bytes);
	size_t		bound = ZSTD_compressBound(b->raw_bytes) + (size_t) LZ4_compressBound((int) b->raw_bytes);
	uint8_t    *to = grow(NULL, bound);
	size_t		used = 0;

	for (uint32_t i = 0; i < b->n; i++)
	{
		const StrataVector *v = &b->vectors[i];
		size_t		nbytes = v->kind == STRATA_KIND_BYTES ? v->offsets[v->n] : (size_t) v->n * v->width;

		memcpy(all + used, v->kind == STRATA_KIND_BYTES ? v->payload : v->fixed, nbytes);
		used += nbytes;
	}
	*lz4 = (size_t) LZ4_compress_default((const char *) all, (char *) to, (int) used, (int) bound);
	*zstd = ZSTD_compress(to, bound, all, used, 3);
	free(all);
	free(to);
}

/* The codecs AUTO chose, most used first, at most two: "decimal 90 % gorilla". */
static void
codecs_used(const Batches *b, char *text, size_t size, char *detail)
{
	uint32_t	count[STRATA_CODEC_COUNT] = {0};
	size_t		used = 0;

	for (uint32_t i = 0; i < b->n; i++)
	{
		StrataCodecInfo info;

		strata_column_describe(b->bufs[i], b->lens[i], true, &info);
		count[info.id]++;
		if (i == b->n / 2)
			strcpy(detail, info.detail);
	}
	for (int k = 0; k < 2; k++)
	{
		int			best = 0;

		for (int id = 1; id < STRATA_CODEC_COUNT; id++)
			if (count[id] > count[best])
				best = id;
		if (count[best] == 0)
			break;
		used += (size_t) snprintf(text + used, size - used, "%s%s %.0f%%", k ? ", " : "",
								  strata_codec_name((StrataCodecId) best), 100.0 * count[best] / b->n);
		count[best] = 0;
	}
}

static void
bench_column(const Loaded *t, const Column *c, double *total_raw, double *total_len)
{
	Batches		b;
	size_t		lz4;
	size_t		zstd;
	size_t		scratch_size = 0;
	void	   *scratch;

	cut(t, c, &b);
	for (uint32_t i = 0; i < b.n; i++)
	{
		size_t		size = strata_column_encode_scratch_size(&b.vectors[i], b.nrows[i]);

		scratch_size = size > scratch_size ? size : scratch_size;
	}
	scratch_size += 65536 + b.raw_bytes / b.n * 8;
	scratch = grow(NULL, scratch_size);
	whole_column(&b, &lz4, &zstd);
	for (int id = STRATA_CODEC_AUTO; id < (all_codecs ? STRATA_CODEC_COUNT : 1); id++)
	{
		double		encode;
		double		decode;
		size_t		len = 0;
		char		used[64] = "";
		char		detail[96] = "";

		if (!strata_codec_supports((StrataCodecId) id, b.vectors[0].kind, c->width) ||
			!measure_encode(&b, (StrataCodecId) id, scratch, scratch_size, &encode))
			continue;
		decode = measure_decode(&b, STRATA_CODEC_AUTO, scratch, scratch_size);
		if (id == STRATA_CODEC_AUTO)
			note_dictionary(t, c, &b, scratch, scratch_size);
		for (uint32_t i = 0; i < b.n; i++)
			len += b.lens[i];
		codecs_used(&b, used, sizeof(used), detail);
		printf("| %s.%s | %s | %.3f | %.3f | %.3f | %.3f | %.*f | %.*f | %s |\n", t->name, c->name,
			   id ? strata_codec_name((StrataCodecId) id) : used, (double) b.raw_bytes / b.nvalues,
			   (double) lz4 / b.nvalues, (double) zstd / b.nvalues, (double) len / b.nvalues,
			   b.nvalues / encode < 1e7 ? 2 : 0, b.nvalues / encode / 1e6,
			   b.nvalues / decode < 1e7 ? 2 : 0, b.nvalues / decode / 1e6, detail);
		fflush(stdout);
		if (id == STRATA_CODEC_AUTO)
		{
			*total_raw += (double) b.raw_bytes / b.nvalues;
			*total_len += (double) len / b.nvalues;
		}
	}
	free(scratch);
	free_batches(&b);
}

static void
bench_table(const Loaded *t)
{
	double		raw = 0;
	double		len = 0;

	for (int c = 0; c < t->ncolumns; c++)
		if (strstr(t->columns[c].name, only_column) || strstr(t->name, only_column))
			bench_column(t, &t->columns[c], &raw, &len);
	if (len > 0)
		printf("| **%s** | all columns, bytes a row | %.2f | | | %.2f | | | %.1fx |\n", t->name, raw, len, raw / len);
}

int
main(int argc, char **argv)
{
	int			loaded = 0;
	int			option;

	while ((option = getopt(argc, argv, "b:n:c:r:e:l:a")) != -1)
		switch (option)
		{
			case 'b':
				batch_rows = (uint32_t) atoi(optarg);
				break;
			case 'n':
				values_max = (uint32_t) atoi(optarg);
				break;
			case 'c':
				only_column = optarg;
				break;
			case 'r':
				passes = atoi(optarg);
				break;
			case 'e':
				encode_passes = atoi(optarg);
				break;
			case 'l':
				level = optarg[0] == 'h' ? STRATA_LEVEL_HOT : optarg[0] == 'a' ? STRATA_LEVEL_ARCHIVE : STRATA_LEVEL_BALANCED;
				break;
			case 'a':
				all_codecs = true;
				break;
			default:
				fprintf(stderr, "usage: %s [-b rows] [-n values] [-c column] [-r passes] [-e passes] [-l hot|balanced|archive] [-a] [directory]\n", argv[0]);
				return 1;
		}
	if (batch_rows < 1 || batch_rows > STRATA_CODEC_MAX_ROWS)
		batch_rows = 1000;
	printf("| column | codec | raw B | whole lz4 B | whole zstd B | B/value | encode M/s | decode M/s | a batch |\n");
	printf("|---|---|---|---|---|---|---|---|---|\n");
	for (size_t i = 0; i < NTABLES && optind < argc; i++)
	{
		Loaded		t;

		if (!load(&tables[i], argv[optind], &t))
			continue;
		bench_table(&t);
		loaded++;
		for (int c = 0; c < t.ncolumns; c++)
		{
			free(t.columns[c].values);
			free(t.columns[c].lengths);
			free(t.columns[c].isnull);
		}
		free(t.rows);
		free(t.text);
	}
	if (loaded == 0)
	{
		Loaded		t;

		generate(&t);
		bench_table(&t);
	}
	printf("\nBatches kept as dictionaries, entries and codes decoded together:\n\n"
		   "| column | batches | rows each | entries each | B/value | decode M codes/s |\n|---|---|---|---|---|---|\n%s",
		   dictionaries);
	return 0;
}
