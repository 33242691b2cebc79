/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every single-bit flip and every truncation of a trace, as it is and with its checksums made right
 * again, so that the checks behind them are reached too. Nothing may crash, hang or take memory
 * without bound, and a flip that no checksum was made to hide may change nothing without a word.
 *
 *	every_variant FILE...
 */
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <wheeltap/trace.h>

#include "exercise.h"

#define FILE_BYTES_MAX 16384u
#define MEMORY_BYTES_MAX (768u << 20) /* of this process; a payload may be 64 MiB */
#define SECONDS_MAX 300u              /* of one variant: longer is an endless loop */

/* The sanitizer's own ceilings; an allocation beyond ends the process. */
const char *__asan_default_options(void);
__attribute__((visibility("default"))) const char *__asan_default_options(void)
{
	return "max_allocation_size_mb=256:hard_rss_limit_mb=768:detect_leaks=1";
}

struct campaign {
	uint8_t original[FILE_BYTES_MAX];
	uint8_t variant[FILE_BYTES_MAX];
	size_t bytes;
	int fd;
	char path[64];
	uint64_t variant_count;
};

static void load(struct campaign *c, const char *path)
{
	FILE *file = fopen(path, "rb");

	if (!file) {
		perror(path);
		exit(1);
	}
	c->bytes = fread(c->original, 1, sizeof(c->original), file);
	if (!feof(file) && fgetc(file) != EOF) {
		fprintf(stderr, "'%s' is larger than %u bytes\n", path, FILE_BYTES_MAX);
		exit(1);
	}
	fclose(file);
}

static void hung(int signal)
{
	static const char text[] = "a variant takes too long\n";

	(void)signal;
	(void)!write(STDERR_FILENO, text, sizeof(text) - 1);
	abort();
}

static struct wtt_seen try_variant(struct campaign *c, size_t bytes, bool repair)
{
	if (repair)
		wtt_repair(c->variant, bytes);
	wtt_memory_file_set(c->fd, c->variant, bytes);
	c->variant_count++;
	alarm(SECONDS_MAX);
	return wtt_exercise(c->path);
}

static void flip_all(struct campaign *c, struct wtt_seen whole, bool repair)
{
	struct wtt_seen seen;

	for (size_t bit = 0; bit < 8 * c->bytes; bit++) {
		memcpy(c->variant, c->original, c->bytes);
		c->variant[bit / 8] ^= (uint8_t)(1u << bit % 8);
		seen = try_variant(c, c->bytes, repair);
		if (repair || seen.complained || seen.content == whole.content)
			continue;
		fprintf(stderr, "bit %zu changes what is read, and nothing is said\n", bit);
		exit(1);
	}
}

static void truncate_all(struct campaign *c, bool repair)
{
	for (size_t bytes = 0; bytes < c->bytes; bytes++) {
		memcpy(c->variant, c->original, c->bytes);
		try_variant(c, bytes, repair);
	}
}

static void limit_memory(void)
{
#if !defined(__SANITIZE_ADDRESS__)
	struct rlimit limit = {MEMORY_BYTES_MAX, MEMORY_BYTES_MAX};

	setrlimit(RLIMIT_AS, &limit);
#endif
}

int main(int argc, char **argv)
{
	static struct campaign c;
	struct wtt_seen whole;

	if (argc < 2) {
		fprintf(stderr, "usage: every_variant FILE...\n");
		return 2;
	}
	limit_memory();
	signal(SIGALRM, hung);
	c.fd = wtt_memory_file("", 0, c.path);
	for (int i = 1; i < argc; i++) {
		load(&c, argv[i]);
		whole = wtt_exercise(argv[i]);
		if (whole.complained || !whole.events) {
			fprintf(stderr, "'%s' is not sound to begin with\n", argv[i]);
			return 1;
		}
		/* What a checksum catches it catches in every file alike. */
		for (int repair = i > 1; repair <= 1; repair++) {
			flip_all(&c, whole, repair);
			truncate_all(&c, repair);
		}
	}
	alarm(0);
	close(c.fd);
	printf("%" PRIu64 " variants, none with a crash\n", c.variant_count);
	return 0;
}
