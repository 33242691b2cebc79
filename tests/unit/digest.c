/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints digests for digest_oracle.py: reads (dtype, count, data) from a file, and writes a line
 * for each of them, instruction set and alignment, one for a foreign floating-point mode, which
 * must be left as it was, one for elements that are given bit by bit, and one with the hash that is
 * computed alone, the statistics of few elements as well. The elements end where memory does:
 * nothing behind them may be read.
 */
#include <fenv.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <xmmintrin.h>
#else
#define _mm_getcsr() 0u /* there the whole environment is put back */
#endif

#include "digest/digest.h"

static uint64_t bits_of(double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

static void print_digest(const struct wt_digest *d)
{
	printf("%" PRIu64 " %016" PRIx64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %016" PRIx64
	       " %016" PRIx64 " %016" PRIx64 " %016" PRIx64 "\n",
	       d->count, d->hash, d->nan, d->inf, d->zeros, bits_of(d->min), bits_of(d->max),
	       bits_of(d->mean), bits_of(d->m2));
}

/* Rounds upwards, and flushes denormals where there is a switch for it. */
static void enter_foreign_mode(void)
{
	fesetround(FE_UPWARD);
#if defined(__x86_64__)
	_mm_setcsr(_mm_getcsr() | 0x8040);
#endif
}

/* Elements that have to be asked for: each time in the same place, as a guarded read does. */
struct given {
	const uint8_t *data;
	uint8_t room[WTI_DIGEST_BLOCK_BYTES];
};

static const void *give(void *self, size_t bytes)
{
	struct given *given = self;

	if (bytes > sizeof(given->room))
		return NULL;
	memset(given->room, 0xa5, sizeof(given->room));
	memcpy(given->room, given->data, bytes);
	given->data += bytes;
	return given->room;
}

static const void *refuse(void *self, size_t bytes)
{
	(void)self;
	(void)bytes;
	return NULL;
}

static bool print_other_ways(const uint8_t *data, uint32_t dtype, uint64_t count)
{
	struct given given = {.data = data};
	struct wti_digest_source source = {give, &given, dtype, count, false};
	struct wt_digest digest, alone, hashed;

	if (!wti_digest_from(&source, &digest))
		return false;
	print_digest(&digest);
	given.data = data;
	source.is_hash_alone = true;
	if (!wti_digest_from(&source, &alone))
		return false;
	digest.hash = alone.hash;
	if (count <= WTI_DIGEST_AT_ONCE / 2)
		wti_digest_hashed(data, dtype, count, alone.hash, &hashed);
	if (wti_digest_hash(data, count * wti_dtype_bytes(dtype)) == alone.hash)
		print_digest(count <= WTI_DIGEST_AT_ONCE / 2 ? &hashed : &digest);
	source.next = refuse;
	return !wti_digest_from(&source, &alone) || count == 0;
}

/* Memory that ends before a page that cannot be read. */
struct fenced {
	uint8_t *map;
	size_t map_bytes;
	uint8_t *data;
};

static bool fence(struct fenced *fenced, size_t bytes)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	const size_t room = (bytes + page - 1) / page * page;

	fenced->map_bytes = room + page;
	fenced->map = mmap(NULL, fenced->map_bytes, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (fenced->map == MAP_FAILED)
		return false;
	fenced->data = fenced->map + room - bytes;
	return mprotect(fenced->map + room, page, PROT_NONE) == 0;
}

int main(int argc, char **argv)
{
	FILE *file = argc > 1 ? fopen(argv[1], "rb") : NULL;
	uint64_t head[2];

	if (!file)
		return 2;
	while (fread(head, sizeof(head), 1, file) == 1) {
		size_t bytes = head[1] * wti_dtype_bytes((uint32_t)head[0]);
		struct wt_digest digest;
		struct fenced fenced;
		uint8_t *data;
		unsigned foreign;
		bool is_kept;
		fenv_t mode;

		if (!fence(&fenced, bytes + 1)) /* one off: no alignment is promised */
			return 2;
		data = fenced.data;
		if (bytes && fread(data + 1, bytes, 1, file) != 1)
			return 2;
		for (int set = WTI_DIGEST_PLAIN; set <= WTI_DIGEST_AVX512; set++) {
			wti_digest_on(set, data + 1, (uint32_t)head[0], head[1], &digest);
			print_digest(&digest);
			memmove(data, data + 1, bytes);
			wti_digest_on(set, data, (uint32_t)head[0], head[1], &digest);
			memmove(data + 1, data, bytes);
			print_digest(&digest);
		}
		fegetenv(&mode);
		enter_foreign_mode();
		foreign = _mm_getcsr();
		wti_digest(data + 1, (uint32_t)head[0], head[1], &digest);
		is_kept = _mm_getcsr() == foreign;
		fesetenv(&mode);
		print_digest(&digest);
		if (!is_kept || !print_other_ways(data + 1, (uint32_t)head[0], head[1]))
			return 2;
		munmap(fenced.map, fenced.map_bytes);
	}
	fclose(file);
	return 0;
}
