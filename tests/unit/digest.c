/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints digests for digest_oracle.py: reads (dtype, count, data) from a file, and writes a line
 * for each of them and each instruction set. The first set is also asked in a foreign
 * floating-point mode.
 */
#include <fenv.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include "common/digest.h"

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

int main(int argc, char **argv)
{
	FILE *file = argc > 1 ? fopen(argv[1], "rb") : NULL;
	uint64_t head[2];

	if (!file)
		return 2;
	while (fread(head, sizeof(head), 1, file) == 1) {
		size_t bytes = head[1] * wti_dtype_bytes((uint32_t)head[0]);
		uint8_t *data = malloc(bytes + 1); /* one off: no alignment is promised */
		struct wt_digest digest;
		fenv_t mode;

		if (!data || (bytes && fread(data + 1, bytes, 1, file) != 1))
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
		wti_digest(data + 1, (uint32_t)head[0], head[1], &digest);
		fesetenv(&mode);
		print_digest(&digest);
		free(data);
	}
	fclose(file);
	return 0;
}
