/*-------------------------------------------------------------------------
 *
 * dump_column.c
 *	  Prints the rows of column files, as test/golden has them.
 *
 * test/unit/dump_column.c
 *-------------------------------------------------------------------------
 */
#include "dump.h"
#include "unit.h"

int
main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
	{
		size_t		len;
		StrataCodecResult rc = STRATA_CODEC_CORRUPT;
		uint8_t    *column = read_file(argv[i], &len);
		char	   *text = column ? dump_column(column, len, &rc) : NULL;

		if (rc != STRATA_CODEC_OK)
		{
			fprintf(stderr, "%s: %s\n", argv[i], column ? strata_codec_result_text(rc) : "could not read it");
			return 1;
		}
		fputs(text, stdout);
		free(text);
		free(column);
	}
	return 0;
}
