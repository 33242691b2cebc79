/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program whose output and status can be checked to the byte, whatever happens around it.
 *
 *   talker LINES STATUS [MILLISECONDS]
 *
 * Writes LINES numbered lines to standard output and every tenth to standard error, emits events
 * all the while, takes about so many milliseconds, and ends with STATUS. With an environment
 * variable TALKER_DONE the status is also written to the file that it names, for a parent that was
 * killed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <wheeltap/wheeltap.h>

static void note_done(int status)
{
	const char *path = getenv("TALKER_DONE");
	FILE *file = path ? fopen(path, "w") : NULL;

	if (file) {
		fprintf(file, "%d\n", status);
		fclose(file);
	}
}

/* Values that do not compress, so that the size of the trace is known. */
static uint64_t noise(uint64_t n)
{
	n *= 0x9e3779b97f4a7c15u;
	n ^= n >> 32;
	return n * 0xd6e8feb86659fd93u;
}

int main(int argc, char **argv)
{
	long lines = argc > 1 ? strtol(argv[1], NULL, 10) : 10;
	int status = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 0;
	long ms = argc > 3 ? strtol(argv[3], NULL, 10) : 0;

	for (long i = 0; i < lines; i++) {
		wt_step(i);
		for (int j = 0; j < 1000; j++)
			wt_mark(WT_NAME("word"), noise((uint64_t)(i * 1000 + j)));
		printf("line %ld of the output\n", i);
		if (i % 10 == 0)
			fprintf(stderr, "error line %ld\n", i);
		if (ms) {
			fflush(stdout);
			usleep((useconds_t)(ms * 1000 / lines));
		}
	}
	if (fflush(stdout))
		return 99;
	note_done(status);
	return status;
}
