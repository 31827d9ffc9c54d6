/*-------------------------------------------------------------------------
 *
 * batch_layout.c
 *	  The arrangement of a batch as text: "2,5/1dl" and back.
 *
 * The text is canonical, so two layouts are the same exactly when their texts
 * are, and it stands in every batch row: settings may change, old batches
 * stay readable.
 *
 * src/batch/batch_layout.c
 *-------------------------------------------------------------------------
 */
#include "batch/batch_private.h"

#include "lib/stringinfo.h"

/* Canonical text of a layout, palloc'd. */
char *
strata_layout_format(const StrataLayout *layout)
{
	StringInfoData buf;

	initStringInfo(&buf);
	for (int i = 0; i < layout->nsegment; i++)
		appendStringInfo(&buf, "%s%d", i > 0 ? "," : "", layout->segment[i]);
	appendStringInfoChar(&buf, '/');
	for (int i = 0; i < layout->norder; i++)
	{
		const StrataOrderKey *key = &layout->order[i];

		appendStringInfo(&buf, "%s%d%c%c", i > 0 ? "," : "", key->attno,
						 key->desc ? 'd' : 'a', key->nulls_first ? 'f' : 'l');
	}
	return buf.data;
}

/* Read one attribute number in [1, natts] at *p; 0 when there is none. */
static AttrNumber
parse_attno(const char **p, int natts)
{
	int			attno = 0;

	while (**p >= '0' && **p <= '9')
	{
		attno = attno * 10 + (**p - '0');
		if (attno > natts)
			return 0;
		(*p)++;
	}
	return (AttrNumber) attno;
}

/* Parse text into layout, whose arrays have room; false when malformed. */
static bool
parse_layout(StrataLayout *layout, const char *p, int natts)
{
	while (*p != '/')
	{
		if (layout->nsegment > 0 && *p++ != ',')
			return false;
		if (layout->nsegment >= natts ||
			(layout->segment[layout->nsegment++] = parse_attno(&p, natts)) ==
			0)
			return false;
	}
	p++;
	while (*p != '\0')
	{
		StrataOrderKey *key;

		if (layout->norder > 0 && *p++ != ',')
			return false;
		if (layout->norder >= natts)
			return false;
		key = &layout->order[layout->norder++];
		key->attno = parse_attno(&p, natts);
		if (key->attno == 0 || (p[0] != 'a' && p[0] != 'd') ||
			(p[1] != 'f' && p[1] != 'l'))
			return false;
		key->desc = p[0] == 'd';
		key->nulls_first = p[1] == 'f';
		p += 2;
	}
	return true;
}

/*
 * Parse stored text for a table of natts attributes.  Result in the current
 * context; malformed text is corruption.
 */
StrataLayout *
strata_layout_parse(const char *text, int natts)
{
	StrataLayout *layout = palloc0(sizeof(StrataLayout));

	layout->segment = palloc(sizeof(AttrNumber) * (natts + 1));
	layout->order = palloc(sizeof(StrataOrderKey) * (natts + 1));
	layout->text = pstrdup(text);
	if (!parse_layout(layout, text, natts))
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("batch layout \"%s\" is malformed", text)));
	return layout;
}

/* Position of attno among the segmentby columns, or -1. */
int
strata_layout_segment_index(const StrataLayout *layout, AttrNumber attno)
{
	for (int i = 0; i < layout->nsegment; i++)
		if (layout->segment[i] == attno)
			return i;
	return -1;
}
