/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a fuzz target over inputs: a test, and the way to look at a finding. An argument is an
 * archive of inputs (NAME.inputs, described in inputs.py), a folder, or a file that is one input.
 * An archive that is cut off, or a file that cannot be read, ends the process with 2.
 */
#include <dirent.h>
#include <string.h>
#include <sys/stat.h>

#include "fuzz.h"

#define INPUT_BYTES_MAX ((size_t)1 << 20)
#define INPUTS_SUFFIX ".inputs"
#define MAGIC "wtinputs"
#define MAGIC_BYTES (sizeof(MAGIC) - 1)

/* Targets that mutate in their own way refer to it; nothing is mutated here. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t bytes, size_t bytes_max)
{
	(void)data;
	(void)bytes_max;
	return bytes;
}

static void give_up(const char *path, const char *why)
{
	fprintf(stderr, "'%s': %s\n", path, why);
	exit(2);
}

static FILE *open_file(const char *path)
{
	FILE *file = fopen(path, "rb");

	if (!file)
		give_up(path, "cannot be read");
	return file;
}

static void replay_bytes(const uint8_t *data, size_t bytes)
{
	/* In memory of its own, so that a sanitizer sees every read beyond the end. */
	uint8_t *exact = malloc(bytes ? bytes : 1);

	if (!exact)
		abort();
	memcpy(exact, data, bytes);
	LLVMFuzzerTestOneInput(exact, bytes);
	free(exact);
}

static unsigned replay_file(const char *path)
{
	static uint8_t room[INPUT_BYTES_MAX];
	FILE *file = open_file(path);
	size_t bytes = fread(room, 1, sizeof(room), file);

	fclose(file);
	replay_bytes(room, bytes);
	return 1;
}

static size_t read_number(const char *path, FILE *file)
{
	uint8_t raw[4];

	if (fread(raw, sizeof(raw), 1, file) != 1)
		give_up(path, "is cut off");
	return (size_t)raw[0] | (size_t)raw[1] << 8 | (size_t)raw[2] << 16 | (size_t)raw[3] << 24;
}

static unsigned replay_archive(const char *path)
{
	static uint8_t room[INPUT_BYTES_MAX];
	FILE *file = open_file(path);
	size_t count;

	if (fread(room, 1, MAGIC_BYTES, file) != MAGIC_BYTES ||
	    memcmp(room, MAGIC, MAGIC_BYTES) != 0)
		give_up(path, "is no archive of inputs");
	count = read_number(path, file);
	for (size_t i = 0; i < count; i++) {
		size_t bytes = read_number(path, file);

		if (bytes > sizeof(room) || fread(room, 1, bytes, file) != bytes)
			give_up(path, "is cut off, or an input is larger than 1 MiB");
		replay_bytes(room, bytes);
	}
	if (fgetc(file) != EOF)
		give_up(path, "has bytes after its last input");
	fclose(file);
	return (unsigned)count;
}

static unsigned replay_folder(const char *path, DIR *dir)
{
	unsigned count = 0;
	struct dirent *entry;
	struct stat info;

	while ((entry = readdir(dir))) {
		char inside[4096];

		snprintf(inside, sizeof(inside), "%s/%s", path, entry->d_name);
		if (!stat(inside, &info) && S_ISREG(info.st_mode))
			count += replay_file(inside);
	}
	closedir(dir);
	return count;
}

static unsigned replay(const char *path)
{
	const char *suffix = strrchr(path, '.');
	DIR *dir = opendir(path);

	if (dir)
		return replay_folder(path, dir);
	if (suffix && !strcmp(suffix, INPUTS_SUFFIX))
		return replay_archive(path);
	return replay_file(path);
}

int main(int argc, char **argv)
{
	unsigned count = 0;

	for (int i = 1; i < argc; i++)
		count += replay(argv[i]);
	printf("%u inputs\n", count);
	return count ? 0 : 1;
}
