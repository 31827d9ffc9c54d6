/*-------------------------------------------------------------------------
 *
 * test_page.c
 *	  Pages with symbols: what becomes one, the bytes, and damaged bytes.
 *
 * test/unit/test_page.c
 *-------------------------------------------------------------------------
 */
#include "page_sample.h"

#include <limits.h>
#include "unit.h"

static PageSample page;
static PageSample out;

/* Deduplicate `page` into `out`, which must be sound. */
static StrataPageOutcome
deduplicate(TupleDesc desc, const bool *plain, StrataPageRule rule, int min_gain)
{
	StrataPageOutcome outcome;
	const char *problem = page_sample_deduplicate(&page, desc, plain, rule, min_gain, &outcome, &out);

	if (problem != NULL)
		snprintf(unit_context, sizeof(unit_context), "%s", problem);
	CHECK(problem == NULL);
	return outcome;
}

static const StrataPageTable *
table_of(const PageSample *sample)
{
	const StrataPageTable *table;

	CHECK(strata_page_table(sample->bytes, &table) == NULL);
	return table;
}

/* Has the page's table this text as a symbol? */
static bool
has_symbol(const PageSample *sample, const char *text)
{
	const StrataPageTable *table = table_of(sample);
	PageCell	cell = page_sample_text(text);
	bool		found = false;

	for (int s = 0; table != NULL && s < table->nsymbols; s++)
		found |= table->start[s + 1] - table->start[s] >= cell.len &&
			memcmp((const char *) table + table->start[s], cell.bytes, cell.len) == 0;
	free((void *) cell.bytes);
	return found;
}

/* (m - 1)(n - 2) > 6, at its edges; the exact rule at its own. */
static void
rule(void)
{
	CHECK(!strata_page_rule_says(STRATA_PAGE_SEED, 2, 8));
	CHECK(strata_page_rule_says(STRATA_PAGE_SEED, 2, 9));
	CHECK(!strata_page_rule_says(STRATA_PAGE_SEED, 7, 3));
	CHECK(strata_page_rule_says(STRATA_PAGE_SEED, 8, 3));
	CHECK(!strata_page_rule_says(STRATA_PAGE_SEED, 1, 1000));
	CHECK(!strata_page_rule_says(STRATA_PAGE_EXACT, 2, 4));
	CHECK(strata_page_rule_says(STRATA_PAGE_EXACT, 2, 5));
	CHECK(!strata_page_rule_says(STRATA_PAGE_EXACT, 4, 2));
	CHECK(strata_page_rule_says(STRATA_PAGE_EXACT, 5, 2));
	CHECK(!strata_page_rule_says(STRATA_PAGE_ANY, 1, 100));
	CHECK(strata_page_rule_says(STRATA_PAGE_ANY, 2, 2));
	CHECK(strata_page_rule_says(STRATA_PAGE_ALL, 1, 2));
}

/* The seed's table: values of two columns share symbols. */
static void
names(void)
{
	TupleDesc	desc = page_sample_desc("tt");

	page_sample_init(&page);
	page_sample_add_texts(&page, desc, "Jack", "Smith", NULL);
	page_sample_add_texts(&page, desc, "Kirk", "Smith", NULL);
	page_sample_add_texts(&page, desc, "Jack", "Kirk", NULL);
	page_sample_add_texts(&page, desc, "Ava", "Jones", NULL);
	CHECK(deduplicate(desc, NULL, STRATA_PAGE_ANY, INT_MIN) == STRATA_PAGE_CHANGED);
	CHECK(table_of(&out) != NULL && table_of(&out)->nsymbols == 3);
	CHECK(has_symbol(&out, "Jack") && has_symbol(&out, "Smith") && has_symbol(&out, "Kirk"));
	/* too short for the rule of the seed, by its own words */
	CHECK(deduplicate(desc, NULL, STRATA_PAGE_SEED, 1) == STRATA_PAGE_NO_GAIN);
	free(desc);
}

/* Fill `page` with rows of texts, of which the column shared repeats in two values. */
static int
fill(TupleDesc desc, const char *shared)
{
	int			n = 0;
	char		own[32];
	char		other[300];

	page_sample_init(&page);
	snprintf(other, sizeof(other), "%s two", shared);
	do
		snprintf(own, sizeof(own), "row %d", n++);
	while (page_sample_add_texts(&page, desc, own, n % 2 ? shared : other, n % 5 ? "" : "5", NULL));
	return n - 1;
}

/* A full page gets room, and the room is used. */
static void
gain(void)
{
	TupleDesc	desc = page_sample_desc("ttt");
	int			n = fill(desc, "San Antonio Road 901, Palo Alto, California");
	int			more = 0;
	const PageHeaderData *header = (const PageHeaderData *) out.bytes;

	CHECK(deduplicate(desc, NULL, STRATA_PAGE_SEED, 400) == STRATA_PAGE_CHANGED);
	CHECK(table_of(&out)->nsymbols == 2);
	CHECK(header->pd_upper - header->pd_lower > BLCKSZ / 3);

	/*
	 * rows that come now are plain; the next round makes symbols of theirs,
	 * too
	 */
	page = out;
	while (page_sample_add_texts(&page, desc, "more", "San Antonio Road 901, Palo Alto, California", "", NULL))
		more++;
	CHECK(more > n / 4);
	CHECK(deduplicate(desc, NULL, STRATA_PAGE_SEED, 400) == STRATA_PAGE_CHANGED);
	CHECK(table_of(&out)->nsymbols == 3 && has_symbol(&out, "more"));
	/* not enough for who wants more */
	CHECK(deduplicate(desc, NULL, STRATA_PAGE_SEED, BLCKSZ) == STRATA_PAGE_NO_GAIN);
	free(desc);
}

/* Nothing repeats: the page is left alone; so are columns that have to stay. */
static void
no_gain(void)
{
	TupleDesc	desc = page_sample_desc("ttt");
	bool		plain[3] = {false, true, false};
	char		text[64];

	page_sample_init(&page);
	CHECK(deduplicate(desc, NULL, STRATA_PAGE_SEED, 1) == STRATA_PAGE_NO_GAIN);
	for (int i = 0; i < 50; i++)
	{
		snprintf(text, sizeof(text), "a value of row %d", i);
		page_sample_add_texts(&page, desc, text, "", "", NULL);
	}
	CHECK(deduplicate(desc, NULL, STRATA_PAGE_SEED, 1) == STRATA_PAGE_NO_GAIN);
	fill(desc, "San Antonio Road 901");
	CHECK(deduplicate(desc, plain, STRATA_PAGE_SEED, 1) == STRATA_PAGE_NO_GAIN);
	memset(&page, 0, sizeof(page));
	CHECK(deduplicate(desc, NULL, STRATA_PAGE_SEED, INT_MIN) == STRATA_PAGE_NO_GAIN);
	free(desc);
}

/* A table that nobody uses any more goes. */
static void
unused_table(void)
{
	TupleDesc	desc = page_sample_desc("ttt");

	fill(desc, "San Antonio Road 901");
	CHECK(deduplicate(desc, NULL, STRATA_PAGE_SEED, 1) == STRATA_PAGE_CHANGED);
	page = out;
	for (int i = 1; i <= PageGetMaxOffsetNumber(page.bytes); i++)
		ItemIdSetUnused(PageGetItemId(page.bytes, i));
	((PageHeader) page.bytes)->pd_upper = ((PageHeader) page.bytes)->pd_special;
	CHECK(deduplicate(desc, NULL, STRATA_PAGE_SEED, 1) == STRATA_PAGE_CHANGED);
	CHECK(table_of(&out) == NULL);
	CHECK(((PageHeader) out.bytes)->pd_special == BLCKSZ);
	free(desc);
}

/* TOAST pointers, values of a byte, line pointers without a tuple, columns added later. */
static void
not_symbols(void)
{
	TupleDesc	desc = page_sample_desc("btt");
	uint8		pointer[VARHDRSZ_EXTERNAL + sizeof(varatt_external)] = {0};
	PageCell	cells[3] = {{"\1", 1}, {pointer, sizeof(pointer)}, {NULL, 0}};

	SET_VARTAG_EXTERNAL(pointer, VARTAG_ONDISK);
	page_sample_init(&page);
	for (int i = 0; i < 40; i++)
		page_sample_add(&page, desc, cells, i % 2 ? 3 : 2);
	CHECK(deduplicate(desc, NULL, STRATA_PAGE_SEED, 1) == STRATA_PAGE_NO_GAIN);
	CHECK(deduplicate(desc, NULL, STRATA_PAGE_ALL, INT_MIN) == STRATA_PAGE_NO_GAIN);
	cells[2] = page_sample_text("a text that repeats");
	for (int i = 0; i < 40; i++)
		page_sample_add(&page, desc, cells, 3);
	ItemIdSetRedirect(PageGetItemId(page.bytes, 3), 4);
	ItemIdSetDead(PageGetItemId(page.bytes, 5));
	ItemIdSetUnused(PageGetItemId(page.bytes, 6));
	CHECK(deduplicate(desc, NULL, STRATA_PAGE_SEED, 1) == STRATA_PAGE_CHANGED);
	CHECK(table_of(&out)->nsymbols == 1);
	free((void *) cells[2].bytes);
	free(desc);
}

/* Values that a Datum may point to are aligned; so many that some have no symbol. */
static void
alignment(void)
{
	TupleDesc	desc = page_sample_desc("id4t");
	int64		interval[2] = {1, 2};
	int64		varlena[4] = {0, 7, 8, 9};
	int32		number;
	int			aligned = 0;
	const StrataPageTable *table;

	SET_VARSIZE(varlena, sizeof(varlena));
	page_sample_init(&page);
	for (int i = 0; i < 60; i++)
	{
		PageCell	cells[4] = {{interval, 16}, {varlena, sizeof(varlena)}, {&number, 4}, page_sample_text("abcdefghi")};

		interval[0] = i % 3;
		varlena[1] = i % 3;
		number = i % 3;
		CHECK(page_sample_add(&page, desc, cells, 4) > 0);
		free((void *) cells[3].bytes);
	}
	CHECK(deduplicate(desc, NULL, STRATA_PAGE_ALL, INT_MIN) == STRATA_PAGE_CHANGED);
	table = table_of(&out);
	CHECK(table->nsymbols == 10);
	for (int s = 0; s < table->nsymbols; s++)
		aligned += table->start[s] % 8 == 0;
	CHECK(aligned >= 6);
	free(desc);
}

/* More than 256 candidates: those that gain most are taken. */
static void
many_symbols(void)
{
	TupleDesc	desc = page_sample_desc("4");

	page_sample_init(&page);
	for (int i = 0; i < 200; i++)
	{
		int32		number = i % 2 ? 7 : i;
		PageCell	cell = {&number, 4};

		CHECK(page_sample_add(&page, desc, &cell, 1) > 0);
	}
	CHECK(deduplicate(desc, NULL, STRATA_PAGE_ALL, INT_MIN) == STRATA_PAGE_CHANGED);
	CHECK(table_of(&out)->nsymbols == 101);
	free(desc);

	desc = page_sample_desc("44444444444444444444");
	page_sample_init(&page);
	for (int i = 0; i < 40; i++)
	{
		int32		numbers[20];
		PageCell	cells[20];

		for (int c = 0; c < 20; c++)
		{
			numbers[c] = i * 20 + c < 300 ? i * 20 + c : (i * 20 + c) % 10 - 1000;
			cells[c] = (PageCell)
			{
				&numbers[c], 4
			};
		}
		CHECK(page_sample_add(&page, desc, cells, 20) > 0);
	}
	CHECK(deduplicate(desc, NULL, STRATA_PAGE_ALL, INT_MIN) == STRATA_PAGE_CHANGED);
	CHECK(table_of(&out)->nsymbols == STRATA_PAGE_MAX_SYMBOLS);
	free(desc);
}

/* Random rows of every shape, every rule. */
static void
random_rows(void)
{
	for (int shape = 0; shape < PAGE_SAMPLE_SHAPES; shape++)
		for (int round = 0; round < 60; round++)
		{
			const char *columns = page_sample_shapes[shape];
			TupleDesc	desc = page_sample_desc(columns);
			int			natts = desc->natts;
			bool		plain[16] = {false};

			plain[unit_below((uint32_t) natts)] = round % 3 == 0;
			page_sample_init(&page);
			for (int row = 0; row < 400; row++)
			{
				uint64_t	values[16][9] = {{0}};
				PageCell	cells[16] = {{NULL, 0}};

				for (int c = 0; c < natts; c++)
				{
					Form_pg_attribute att = TupleDescAttr(desc, c);
					char	   *to = (char *) values[c];
					uint16		len = (uint16) (9 + unit_below(3) * 10);

					if (unit_below(8) == 0)
						continue;
					values[c][1] = unit_below(3);
					if (att->attlen > 0)
						len = (uint16) att->attlen;
					else if (att->attlen == -2)
						len = (uint16) (1 + snprintf(to, 16, "c%d", (int) unit_below(4)));
					else if (unit_below(2) || att->attalign == 'd')
						SET_VARSIZE(to, len);
					else
						SET_VARSIZE_SHORT(to, len);
					if (att->attlen > 0)
						values[c][0] = unit_below(4);
					cells[c] = (PageCell)
					{
						to, len
					};
				}
				if (!page_sample_add(&page, desc, cells, natts - (unit_below(10) == 0)))
					break;
			}
			for (int r = STRATA_PAGE_SEED; r <= STRATA_PAGE_ALL; r++)
			{
				snprintf(unit_context, sizeof(unit_context), "shape %d round %d rule %d", shape, round, r);
				CHECK(deduplicate(desc, plain, (StrataPageRule) r, round % 2 ? 1 : INT_MIN) != STRATA_PAGE_DAMAGED);
			}
			free(desc);
		}
}

/* More rows than a page has room for, condensed into one, until they do not fit. */
static void
wide_page(void)
{
	static union
	{
		char		bytes[STRATA_PAGE_WIDE];
		double		aligned;
	}			wide;
	TupleDesc	desc = page_sample_desc("tt8t");
	StrataPageOutcome outcome = STRATA_PAGE_NO_GAIN;
	unsigned	seen[STRATA_PAGE_TOO_LARGE + 1] = {0};
	int			most = 0;

	for (int round = 0; round < 200; round++)
	{
		int			different = 1 << unit_below(12);
		int			n = 0;
		const char *problem;

		strata_page_wide_init(wide.bytes);
		for (;;)
		{
			char		a[40],
						b[80];
			ItemId		id;

			snprintf(a, sizeof(a), "customer %d", (int) unit_below(different));
			snprintf(b, sizeof(b), "%d San Antonio Road, Palo Alto", (int) unit_below(different));
			page_sample_init(&page);
			CHECK(page_sample_add_texts(&page, desc, a, unit_below(9) == 0 ? "" : b, "", b, NULL) == 1);
			id = PageGetItemId(page.bytes, 1);
			if (!strata_page_wide_add(wide.bytes, (HeapTupleHeader) (page.bytes + ItemIdGetOffset(id)), ItemIdGetLength(id)))
				break;
			n++;
			CHECK((int) PageGetMaxOffsetNumber(wide.bytes) == n);
		}
		CHECK(n > 100);
		if (unit_below(2))
		{
			n = 1 + (int) unit_below(n);
			strata_page_wide_cut(wide.bytes, n);
			CHECK((int) PageGetMaxOffsetNumber(wide.bytes) == n);
		}
		problem = page_sample_condense(wide.bytes, desc, (StrataPageRule) (round % (STRATA_PAGE_ALL + 1)), 100, &outcome, &out);
		if (problem != NULL)
			snprintf(unit_context, sizeof(unit_context), "%s", problem);
		CHECK(problem == NULL && outcome != STRATA_PAGE_DAMAGED);
		seen[outcome]++;
		if (outcome == STRATA_PAGE_CHANGED)
			most = Max(most, n);
	}
	CHECK(seen[STRATA_PAGE_CHANGED] > 20 && seen[STRATA_PAGE_TOO_LARGE] > 20 && seen[STRATA_PAGE_NO_GAIN] > 0);
	CHECK(most > 110);
	strata_page_wide_cut(wide.bytes, 0);
	CHECK(page_sample_condense(wide.bytes, desc, STRATA_PAGE_ALL, 0, &outcome, &out) == NULL && outcome == STRATA_PAGE_NO_GAIN);
	free(desc);
}

/* Damaged bytes, wherever: no read outside (the sanitizer sees), no page made of them that differs. */
static void
damage(void)
{
	TupleDesc	desc = page_sample_desc("ttt");
	PageSample	sound;
	unsigned	seen = 0;

	fill(desc, "San Antonio Road 901");
	CHECK(deduplicate(desc, NULL, STRATA_PAGE_SEED, 1) == STRATA_PAGE_CHANGED);
	sound = out;
	for (int round = 0; round < 20000; round++)
	{
		/* the header, the table, some tuple */
		uint32_t	at = unit_below(3) == 0 ? unit_below(BLCKSZ) :
		unit_below(2) ? BLCKSZ - 1 - unit_below(64) : unit_below(40);

		page = sound;
		page.bytes[at] = (char) unit_random();
		((PageHeader) page.bytes)->pd_pagesize_version = BLCKSZ | PG_PAGE_LAYOUT_VERSION;
		seen += deduplicate(desc, NULL, STRATA_PAGE_SEED, INT_MIN) == STRATA_PAGE_DAMAGED;
	}
	CHECK(seen > 1000);
	page = sound;
	((PageHeader) page.bytes)->pd_special -= 8;
	CHECK(deduplicate(desc, NULL, STRATA_PAGE_SEED, INT_MIN) == STRATA_PAGE_DAMAGED);
	free(desc);
}

int
main(int argc, char **argv)
{
	unit_start(argc, argv);
	unit_run("page rule", rule);
	unit_run("page names", names);
	unit_run("page gain", gain);
	unit_run("page no gain", no_gain);
	unit_run("page unused table", unused_table);
	unit_run("page not symbols", not_symbols);
	unit_run("page alignment", alignment);
	unit_run("page many symbols", many_symbols);
	unit_run("page random rows", random_rows);
	unit_run("page wide", wide_page);
	unit_run("page damage", damage);
	return unit_finish();
}
