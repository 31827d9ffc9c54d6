/*-------------------------------------------------------------------------
 *
 * test_golden.c
 *	  Columns written by released encoders decode for ever to what they were;
 *	  columns that no encoder writes are rejected.
 *
 * test/golden/v<version>/NAME.col is a column, NAME.txt its rows (dump.h).  Every file of
 * test/golden/reject must be refused although its CRC is right, unless its name
 * starts with "crc_".  golden_make.c made them and never overwrites one.
 *
 * test/unit/test_golden.c
 *-------------------------------------------------------------------------
 */
#include <dirent.h>

#include "dump.h"
#include "fuzz/decode_any.h"
#include "unit.h"

static const char *const golden = "../golden";

/* Call check for each file of a folder with this ending; their number. */
static unsigned
for_each_file(const char *folder, const char *ending, void (*check) (const char *path))
{
	char		path[1024];
	unsigned	n = 0;
	DIR		   *dir;

	snprintf(path, sizeof(path), "%s/%s", golden, folder);
	dir = opendir(path);
	if (dir == NULL)
		return 0;
	for (struct dirent *entry = readdir(dir); entry; entry = readdir(dir))
	{
		size_t		len = strlen(entry->d_name);

		if (len < strlen(ending) || strcmp(entry->d_name + len - strlen(ending), ending) != 0)
			continue;
		snprintf(path, sizeof(path), "%s/%s/%s", golden, folder, entry->d_name);
		snprintf(unit_context, sizeof(unit_context), "%.200s", entry->d_name);
		check(path);
		n++;
	}
	closedir(dir);
	return n;
}

static void
check_accepted(const char *path)
{
	char		text_path[1024];
	size_t		len;
	size_t		text_len;
	StrataCodecResult rc;
	StrataCodecInfo info;
	uint8_t    *column = read_file(path, &len);
	uint8_t    *wanted;
	char	   *text;

	snprintf(text_path, sizeof(text_path), "%.*stxt", (int) strlen(path) - 3, path);
	wanted = read_file(text_path, &text_len);
	text = dump_column(column, len, &rc);
	if (rc == STRATA_CODEC_UNSUPPORTED)
	{
		/* a library without LZ4 or zstd still knows the header */
		CHECK(strata_column_describe(column, len, true, &info) == STRATA_CODEC_OK);
		CHECK(!strata_codec_available(STRATA_CODEC_LZ4) || !strata_codec_available(STRATA_CODEC_ZSTD));
	}
	else
	{
		CHECK(rc == STRATA_CODEC_OK);
		CHECK(wanted && text && strcmp((char *) wanted, text) == 0);
	}
	decode_any(column, len);
	free(text);
	free(wanted);
	free(column);
}

static void
test_accepted(void)
{
	CHECK(for_each_file("v1", ".col", check_accepted) >= 126);
}

static void
check_rejected(const char *path)
{
	size_t		len;
	StrataCodecInfo info;
	uint8_t    *column = read_file(path, &len);
	bool		crc_wrong = strstr(path, "/crc_") != NULL;

	if (crc_wrong)
		CHECK(strata_column_describe(column, len, true, &info) == STRATA_CODEC_CORRUPT);
	else
		CHECK(decode_any(column, len) != STRATA_CODEC_OK);
	free(column);
}

static void
test_rejected(void)
{
	CHECK(for_each_file("reject", ".col", check_rejected) >= 20);
}

void
test_golden(void)
{
	unit_run("golden columns", test_accepted);
	unit_run("golden rejects", test_rejected);
}
