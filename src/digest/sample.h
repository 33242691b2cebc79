/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A few elements of a value at fixed places, and a sketch of all of them: what two runs of the same
 * program are compared by. docs/events.md defines both (kinds `sample` and `sketch`). Hides which
 * instruction set does the work and how elements arrive.
 *
 * The sign of real i in the sketch is bit i % 64 of a mix of i / 64; a complex element is two
 * reals.
 */
#ifndef WTI_DIGEST_SAMPLE_H
#define WTI_DIGEST_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	WTI_SAMPLE_BYTES = 4096, /* of values in one event */
	WTI_SKETCH_BUCKETS = 64,
	WTI_SAMPLED_KNOWN = 128, /* values of a track that may be referred to: docs/events.md */
};

/* Sums, and what was lost in rounding them. */
struct wti_sketched {
	_Alignas(64) double sum[WTI_SKETCH_BUCKETS];
	_Alignas(64) double rest[WTI_SKETCH_BUCKETS];
};

/* Reals of one type that lie packed; `first` is the number of the first one in its value. */
typedef void wti_sketch_kernel(struct wti_sketched *sketch, const void *data, uint32_t dtype,
			       uint64_t first, size_t count);
wti_sketch_kernel wti_sketch_plain;
wti_sketch_kernel wti_sketch_avx2;

/* True for the types that are sampled: floating and complex ones. */
bool wti_sample_wants(uint32_t dtype);
/* The place of sampled element j: of n, in a value of count. */
uint64_t wti_sample_place(uint64_t count, uint32_t n, uint32_t j);

/* Takes sampled elements away; `first` is the number of the first among them. */
typedef void wti_sample_put(void *self, uint32_t first, const void *values, uint32_t bytes);

/* One value on its way through: begin, take all elements in logical order, end. */
struct wti_sampler {
	uint32_t dtype;
	uint32_t item_bytes;
	uint64_t count;
	uint64_t taken;
	uint32_t elements; /* that are sampled in total */
	uint32_t next;     /* number of the next one, and its place */
	uint64_t place;
	uint64_t rest; /* of its division: by twice the number of elements */
	uint64_t step; /* from one place to the next, and what that leaves */
	uint64_t step_rest;
	bool has_sketch;
	uint32_t room_used;
	wti_sample_put *put;
	void *self;
	struct wti_sketched sketch;
	char room[WTI_SAMPLE_BYTES];
};

void wti_sampler_begin(struct wti_sampler *sampler, uint32_t dtype, uint64_t count,
		       uint32_t elements_max);
/* Whole elements. Returns true: a reader of elements goes on. */
bool wti_sampler_take(void *sampler, const void *elements, size_t bytes);
/* Takes the last elements away, and completes the sketch. */
void wti_sampler_end(struct wti_sampler *sampler);

/* ---- sampled.c ------------------------------------------------------------------------------ */

/* What the settings of the recording say; once, when the agent is loaded. */
void wti_sampled_init(void);
/* Gives all elements of a value, in order, to `take`; false: they cannot be read. */
typedef bool wti_sampled_give(void *self, bool (*take)(void *, const void *, size_t), void *with);

/* A value whose elements may be wanted. */
struct wti_sampled_value {
	uint32_t tensor; /* sequence number of its event */
	uint32_t dtype;
	uint64_t count;
	uint64_t hash;
	bool has_hash;
};

/* Emits samples and the sketch of a value, if the recording wants them. */
void wti_sampled_emit(const struct wti_sampled_value *value, wti_sampled_give *give, void *self);
/* The same of elements that lie packed. */
void wti_sampled_emit_packed(const struct wti_sampled_value *value, const void *data);

/* ---- sampled_known.c ------------------------------------------------------------------------ */

struct wti_slot;

/* Its elements are on this thread's track already: the flag of the tensor refers to them. */
bool wti_sampled_is_known(const struct wti_sampled_value *value);
/* They are from now on. */
void wti_sampled_know(const struct wti_sampled_value *value);
/* The track has ended. */
void wti_sampled_forget(struct wti_slot *slot);

#endif
