/*-------------------------------------------------------------------------
 *
 * replay.c
 *	  Runs a fuzz target on files, without a fuzzing engine: the committed corpus
 *	  in every test run, a crash file in a debugger.
 *
 *	fuzz_gorilla_decode file-or-directory ...
 *
 * test/fuzz/replay.c
 *-------------------------------------------------------------------------
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern int	LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static unsigned nfiles;

static void
run_file(const char *path)
{
	FILE	   *in = fopen(path, "rb");
	uint8_t    *data;
	long		size;

	if (in == NULL)
	{
		perror(path);
		exit(1);
	}
	fseek(in, 0, SEEK_END);
	size = ftell(in);
	rewind(in);
	data = malloc(size > 0 ? (size_t) size : 1);
	if (data == NULL || fread(data, 1, (size_t) size, in) != (size_t) size)
	{
		perror(path);
		exit(1);
	}
	fclose(in);
	LLVMFuzzerTestOneInput(data, (size_t) size);
	free(data);
	nfiles++;
}

int
main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
	{
		DIR		   *dir = opendir(argv[i]);
		char		path[4096];

		if (dir == NULL)
		{
			run_file(argv[i]);
			continue;
		}
		for (struct dirent *entry = readdir(dir); entry; entry = readdir(dir))
		{
			if (entry->d_name[0] == '.')
				continue;
			snprintf(path, sizeof(path), "%s/%s", argv[i], entry->d_name);
			run_file(path);
		}
		closedir(dir);
	}
	printf("%u inputs\n", nfiles);
	return nfiles > 0 ? 0 : 1;
}
