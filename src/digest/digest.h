/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The digest of elements in memory, as docs/digest.md defines it to the bit: the same on every
 * instruction set, whatever floating-point mode the program is in.
 */
#ifndef WTI_DIGEST_H
#define WTI_DIGEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <wheeltap/wheeltap.h>

/* Bytes of an element; 0: not a type that can be digested. */
size_t wti_dtype_bytes(uint32_t dtype);
/* The type of the reals that an element is made of: for complex ones the halves, otherwise its own.
 */
uint32_t wti_dtype_real(uint32_t dtype);

/* Elements that lie packed. */
void wti_digest(const void *data, uint32_t dtype, uint64_t count, struct wt_digest *ret);
uint64_t wti_digest_hash(const void *data, size_t bytes);
/* The same digest, of which the hash is known already; of at most WTI_DIGEST_AT_ONCE elements. */
#define WTI_DIGEST_AT_ONCE 4096u
void wti_digest_hashed(const void *data, uint32_t dtype, uint64_t count, uint64_t hash,
		       struct wt_digest *ret);

/*
 * Elements that lie elsewhere: they are asked for from the first to the last, `bytes` at a time, at
 * most WTI_DIGEST_BLOCK_BYTES, and must hold still until the next are asked for. NULL: they cannot
 * be had, and there is no digest.
 */
#define WTI_DIGEST_BLOCK_BYTES 32768u
typedef const void *wti_digest_next(void *self, size_t bytes);
struct wti_digest_source {
	wti_digest_next *next;
	void *self;
	uint32_t dtype;
	uint64_t count;
	bool is_hash_alone; /* no statistics */
};
bool wti_digest_from(const struct wti_digest_source *source, struct wt_digest *ret);

/* The same on a given instruction set: 0 the plainest; where the machine has no such set, the
 * plainest is used. */
enum wti_digest_set {
	WTI_DIGEST_PLAIN,
	WTI_DIGEST_AVX2,
	WTI_DIGEST_AVX512,
};
void wti_digest_on(enum wti_digest_set set, const void *data, uint32_t dtype, uint64_t count,
		   struct wt_digest *ret);
uint64_t wti_digest_hash_on(enum wti_digest_set set, const void *data, size_t bytes);

#endif
