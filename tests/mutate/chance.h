/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the mutator draws by lot: numbers (the same from the same seed on every machine), values at
 * the ends of their ranges, and texts that no program expects.
 */
#ifndef MUTATE_CHANCE_H
#define MUTATE_CHANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct chance {
	uint64_t state;
};

uint64_t chance_u64(struct chance *chance);
/* From 0 up to and without `limit`; 0 if that is 0. */
size_t chance_below(struct chance *chance, size_t limit);
/* True once in `n` times. */
bool chance_once_in(struct chance *chance, size_t n);
/* An end of some range, a power of two or its neighbour, or `near` changed a little. */
uint64_t chance_value(struct chance *chance, uint64_t near);
/* At most 65,535 bytes; valid until the next call. */
const char *chance_text(struct chance *chance, size_t *ret_bytes);

#endif
