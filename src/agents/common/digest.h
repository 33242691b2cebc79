/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The digest of packed elements in memory, as docs/digest.md defines it to the bit: the same on
 * every instruction set, whatever floating-point mode the program is in.
 */
#ifndef WTI_AGENTS_DIGEST_H
#define WTI_AGENTS_DIGEST_H

#include <stddef.h>
#include <stdint.h>

#include <wheeltap/wheeltap.h>

/* Bytes of an element; 0: not a type that can be digested. */
size_t wti_dtype_bytes(uint32_t dtype);

void wti_digest(const void *data, uint32_t dtype, uint64_t count, struct wt_digest *ret);

/* The same on a given instruction set: 0 the plainest; what the machine lacks is answered by it. */
enum wti_digest_set {
	WTI_DIGEST_PLAIN,
	WTI_DIGEST_AVX2,
	WTI_DIGEST_AVX512,
};
void wti_digest_on(enum wti_digest_set set, const void *data, uint32_t dtype, uint64_t count,
		   struct wt_digest *ret);

#endif
