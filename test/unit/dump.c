/*-------------------------------------------------------------------------
 *
 * dump.c
 *	  The text form of columns declared in dump.h.
 *
 * test/unit/dump.c
 *-------------------------------------------------------------------------
 */
#include "dump.h"
#include "unit.h"

/* Text that grows. */
typedef struct Text
{
	char	   *data;
	size_t		len;
	size_t		capacity;
} Text;

static void
append(Text *t, const char *what, size_t len)
{
	if (t->len + len + 1 > t->capacity)
	{
		t->capacity = (t->len + len + 1) * 2;
		t->data = realloc(t->data, t->capacity);
		if (t->data == NULL)
			exit(2);
	}
	memcpy(t->data + t->len, what, len);
	t->len += len;
	t->data[t->len] = '\0';
}

static void
append_head(Text *t, StrataKind kind, unsigned width, uint32_t nrows)
{
	char		line[64];

	append(t, line, (size_t) snprintf(line, sizeof(line), "%d %u %u\n", (int) kind, width, nrows));
}

/* One value of a fixed kind. */
static void
append_fixed(Text *t, StrataKind kind, unsigned width, const uint8_t *value)
{
	char		line[64];
	uint64_t	bits = 0;
	int			len;

	memcpy(&bits, value, width);
	if (kind == STRATA_KIND_FLOAT)
		len = snprintf(line, sizeof(line), "0x%0*llx\n", (int) width * 2, (unsigned long long) bits);
	else
	{
		unsigned	shift = 64 - width * 8;

		len = snprintf(line, sizeof(line), "%lld\n", (long long) ((int64_t) (bits << shift) >> shift));
	}
	append(t, line, (size_t) len);
}

static void
append_bytes(Text *t, const uint8_t *value, uint32_t len)
{
	append(t, "'", 1);
	for (uint32_t i = 0; i < len; i++)
	{
		char		hex[3];

		snprintf(hex, sizeof(hex), "%02x", value[i]);
		append(t, hex, 2);
	}
	append(t, "\n", 1);
}

char *
dump_values(const StrataVector *v, uint32_t nrows, const bool *isnull)
{
	Text		t = {0};
	uint32_t	i = 0;

	append_head(&t, v->kind, v->width, nrows);
	for (uint32_t row = 0; row < nrows; row++)
	{
		if (isnull && isnull[row])
		{
			append(&t, "\\N\n", 3);
			continue;
		}
		if (v->kind == STRATA_KIND_BYTES)
			append_bytes(&t, v->payload + v->offsets[i], v->offsets[i + 1] - v->offsets[i]);
		else
			append_fixed(&t, v->kind, v->width, (const uint8_t *) v->fixed + (size_t) i * v->width);
		i++;
	}
	return t.data;
}

char *
dump_column(const uint8_t *buf, size_t len, StrataCodecResult *rc)
{
	Text		t = {0};
	StrataCodecInfo info;
	size_t		scratch_size = 0;
	uint8_t    *scratch;
	uint8_t    *out;
	bool	   *isnull;
	bool		hasnull;
	StrataBytes bytes = {0};

	*rc = strata_column_describe(buf, len, true, &info);
	if (*rc == STRATA_CODEC_OK)
		*rc = strata_column_decode_scratch_size(buf, len, 0, info.nrows, &scratch_size);
	if (*rc != STRATA_CODEC_OK)
		return NULL;
	scratch = unit_alloc(scratch_size);
	out = unit_alloc((size_t) info.nrows * 8);
	isnull = unit_alloc(info.nrows);
	if (info.kind == STRATA_KIND_BYTES)
		*rc = strata_column_decode_bytes(buf, len, 0, info.nrows, scratch, scratch_size, &bytes, isnull, &hasnull);
	else
		*rc = strata_column_decode_fixed(buf, len, 0, info.nrows, scratch, scratch_size, out, isnull, &hasnull);
	append_head(&t, info.kind, info.width, info.nrows);
	for (uint32_t row = 0; *rc == STRATA_CODEC_OK && row < info.nrows; row++)
	{
		uint32_t	entry = bytes.codes ? bytes.codes[row] : row;

		if (isnull[row])
			append(&t, "\\N\n", 3);
		else if (info.kind == STRATA_KIND_BYTES)
			append_bytes(&t, bytes.payload + bytes.offsets[entry], bytes.offsets[entry + 1] - bytes.offsets[entry]);
		else
			append_fixed(&t, info.kind, info.width, out + (size_t) row * info.width);
	}
	free(scratch);
	free(out);
	free(isnull);
	return t.data;
}

uint8_t *
read_file(const char *path, size_t *len)
{
	FILE	   *in = fopen(path, "rb");
	uint8_t    *data;
	long		size;

	if (in == NULL)
		return NULL;
	fseek(in, 0, SEEK_END);
	size = ftell(in);
	rewind(in);
	data = unit_alloc((size_t) size + 1);
	*len = fread(data, 1, (size_t) size, in);
	data[*len] = 0;
	fclose(in);
	return data;
}
