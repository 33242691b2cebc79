/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a fuzz target over all files of the folders given: a test, and the way to look at a finding.
 */
#include <dirent.h>
#include <string.h>
#include <sys/stat.h>

#include "fuzz.h"

#define INPUT_BYTES_MAX ((size_t)1 << 20)

/* Targets that mutate in their own way refer to it; nothing is mutated here. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t bytes, size_t bytes_max)
{
	(void)data;
	(void)bytes_max;
	return bytes;
}

static unsigned replay_file(const char *path)
{
	static uint8_t room[INPUT_BYTES_MAX];
	FILE *file = fopen(path, "rb");
	uint8_t *exact;
	size_t bytes;

	if (!file) {
		perror(path);
		exit(2);
	}
	bytes = fread(room, 1, sizeof(room), file);
	fclose(file);
	/* In memory of its own, so that a sanitizer sees every read beyond the end. */
	exact = malloc(bytes ? bytes : 1);
	if (!exact)
		abort();
	memcpy(exact, room, bytes);
	LLVMFuzzerTestOneInput(exact, bytes);
	free(exact);
	return 1;
}

static unsigned replay(const char *path)
{
	unsigned count = 0;
	struct dirent *entry;
	struct stat info;
	DIR *dir = opendir(path);

	if (!dir)
		return replay_file(path);
	while ((entry = readdir(dir))) {
		char inside[4096];

		snprintf(inside, sizeof(inside), "%s/%s", path, entry->d_name);
		if (!stat(inside, &info) && S_ISREG(info.st_mode))
			count += replay_file(inside);
	}
	closedir(dir);
	return count;
}

int main(int argc, char **argv)
{
	unsigned count = 0;

	for (int i = 1; i < argc; i++)
		count += replay(argv[i]);
	printf("%u inputs\n", count);
	return count ? 0 : 1;
}
