/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wheeltap for C and C++ programs: say what your training does, as it does it.
 *
 *	#include <wheeltap/wheeltap.h>
 *
 *	for (int step = 0; step < steps; step++) {
 *		wt_step(step);
 *		WT_SPAN("forward") {
 *			loss = forward(batch);
 *		}
 *		wt_counter(WT_NAME("loss"), loss);
 *		wt_tensor(WT_NAME("weight"), w, WT_DTYPE_F32, 2, (size_t[]){64, 10});
 *	}
 *
 *	cc train.c -lwheeltap-client && wheeltap record -- ./a.out
 *
 * When the program is not being recorded each call costs a few nanoseconds and does nothing. When
 *it is, a call is a time stamp and a few stores into memory that the recorder shares: no lock, no
 * allocation, no system call, and what was emitted survives the death of the program. All calls
 * may be made from any thread, after fork, and from signal handlers (an event whose handler has
 * interrupted another emit of the same thread is counted as lost, not written). errno is kept.
 *
 * Calls that emit return true if the event was published, false if it was not (no recording, or no
 * room); most programs ignore that.
 */
#ifndef WHEELTAP_WHEELTAP_H
#define WHEELTAP_WHEELTAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <wheeltap/kinds.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/*
 * A name is interned once for each process and kept by the place that uses it. Text of static
 * duration; the struct must outlive every call that uses it.
 */
struct wt_name {
	const char *text;
	uint64_t cached; /* the library's own */
};

/* A name for this place in the code; the argument must be a string literal. */
#define WT_NAME(literal)                                                                           \
	(__extension__({                                                                           \
		static struct wt_name wt_name_here_ = {"" literal, 0};                             \
		&wt_name_here_;                                                                    \
	}))

/* A name made at run time: looked up by its text, kept for the life of the process. */
struct wt_name *wt_name_of(const char *text);

/* True if this process is being recorded. */
bool wt_recording(void);

/* ---- Points, spans, numbers, lines ---------------------------------------------------------- */

bool wt_mark(struct wt_name *name, uint64_t value);
bool wt_span_begin(struct wt_name *name);
bool wt_span_end(struct wt_name *name);
bool wt_counter(struct wt_name *name, double value);
bool wt_counter_unit(struct wt_name *name, struct wt_name *unit, double value);
/* At most 4096 bytes are kept. Levels: enum wt_level of kinds.h. */
bool wt_log(uint32_t level, const char *text);
bool wt_logf(uint32_t level, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* WT_SPAN("name") { ... }: the block as a span. Leave it by its end, break or return alike. */
struct wt_span_guard {
	struct wt_name *name;
	int once;
};
static inline void wt_span_guard_end(struct wt_span_guard *guard)
{
	wt_span_end(guard->name);
}
static inline struct wt_span_guard wt_span_guard_begin(struct wt_name *name)
{
	struct wt_span_guard guard = {name, 1};

	wt_span_begin(name);
	return guard;
}
#define WT_SPAN(literal)                                                                           \
	for (struct wt_span_guard wt_guard_                                                        \
	     __attribute__((cleanup(wt_span_guard_end))) = wt_span_guard_begin(WT_NAME(literal));  \
	     wt_guard_.once; wt_guard_.once = 0)

/* ---- Context: valid for all that follows on this thread -------------------------------------- */

bool wt_step(int64_t step);
bool wt_epoch(int64_t epoch);
bool wt_stage(const char *stage); /* init, train, eval, test, save, load, or your own */
bool wt_context_int(struct wt_name *key, int64_t value);
bool wt_context_float(struct wt_name *key, double value);
bool wt_context_text(struct wt_name *key, const char *value);
bool wt_rank(uint32_t rank, uint32_t world, uint32_t local);

/* ---- States: named values that live on ------------------------------------------------------- */

/* Emits the new value; the library does not compare. `owner` "optimizer", `attribute` "lr". */
bool wt_state_int(struct wt_name *owner, struct wt_name *attribute, int64_t old_value,
		  int64_t new_value);
bool wt_state_float(struct wt_name *owner, struct wt_name *attribute, double old_value,
		    double new_value);
bool wt_state_text(struct wt_name *owner, struct wt_name *attribute, const char *new_value);

/* ---- Configuration --------------------------------------------------------------------------- */

/*
 * What the program runs with, once it has made up its mind: after arguments, files and defaults.
 * The last value of a key counts. Shown by `wheeltap report` and `compare`, asked for as
 * `wheeltap ls 'config.lr<0.1'`. The value of a key such as "api_key" is masked.
 */
bool wt_config_int(struct wt_name *key, int64_t value);
bool wt_config_float(struct wt_name *key, double value);
bool wt_config_text(struct wt_name *key, const char *value);

/* ---- Tensors --------------------------------------------------------------------------------- */

/*
 * The digest of `rank` extents of packed, row-major elements at `data`: a hash over all bytes and
 * count, nan, inf, zeros, min, max, mean, m2, in one pass over memory. docs/digest.md defines it to
 * the bit. `dtype`: enum wt_dtype of kinds.h.
 */
struct wt_digest {
	uint64_t count;
	uint64_t hash;
	uint64_t nan;
	uint64_t inf;
	uint64_t zeros;
	double min; /* over the finite elements; 0 if there are none */
	double max;
	double mean;
	double m2;
};
void wt_digest_compute(const void *data, uint32_t dtype, uint64_t count, struct wt_digest *ret);

/* Computes and emits, if recording. */
bool wt_tensor(struct wt_name *name, const void *data, uint32_t dtype, uint32_t rank,
	       const size_t *extents);
bool wt_tensor_of(struct wt_name *owner, struct wt_name *name, const void *data, uint32_t dtype,
		  uint32_t rank, const size_t *extents);

/*
 * A file that the program saves or loads, with the digest of every tensor in it: what `wheeltap
 * model verify FILE --against RUN` and the rules about checkpoints go by.
 *
 *	struct wt_transfer saving = wt_save_begin("model.safetensors");
 *
 *	wt_transfer_tensor(&saving, WT_NAME("fc1.weight"), w, WT_DTYPE_F32, 2, extents);
 *	wt_transfer_int(&saving, WT_NAME("step"), step);
 *	wt_transfer_end(&saving, fclose(file) == 0);
 *
 * Tensors have the names and shapes that they have in the file. `path` may be NULL: it is no file.
 * Begin and end on the same thread. Of a load, tensors are given once they are there.
 */
struct wt_transfer {
	uint32_t call; /* the library's own */
	bool is_load;
	bool is_recorded;
};
struct wt_transfer wt_save_begin(const char *path);
struct wt_transfer wt_load_begin(const char *path);
bool wt_transfer_tensor(const struct wt_transfer *transfer, struct wt_name *name, const void *data,
			uint32_t dtype, uint32_t rank, const size_t *extents);
/* A number beside the tensors, such as `step`: the step that the file claims to be of. */
bool wt_transfer_int(const struct wt_transfer *transfer, struct wt_name *name, int64_t value);
bool wt_transfer_end(struct wt_transfer *transfer, bool succeeded);

/*
 * Perturbs the elements in place if the program is recorded with `record --noise`, as
 * docs/digits.md describes; otherwise the array stays as it is. Call it on what a computation has
 * just produced; `name` and the numbers choose the noise, so that it is the same in every run with
 * the same seed. True if the array was perturbed.
 */
bool wt_noise(struct wt_name *name, void *data, uint32_t dtype, uint32_t rank,
	      const size_t *extents);

/* ---- Checks ---------------------------------------------------------------------------------- */

/*
 * What a test expected, what came, and how the two were compared. These return the verdict, true if
 * it passed, whether or not the program is recorded. A recorded one is a row of `wheeltap tests`.
 *
 *	if (!wt_check_close(WT_NAME("loss after 100 steps"), loss, 0.25, 1e-3))
 *		failed++;
 *
 * A value without an expectation is observed, and counts as neither passed nor failed. Only
 * wt_check_bits() compares bits: no other check is shown as bit-exact. Texts are kept as those of
 * log lines are (docs/private.md).
 */
struct wt_place {
	const char *file;
	uint32_t line;
};
static inline struct wt_place wt_place_of(const char *file, uint32_t line)
{
	struct wt_place place = {file, line};

	return place;
}
#define WT_HERE wt_place_of(__FILE__, (uint32_t)__LINE__)

/* The program has compared by itself. */
#define wt_check(name, passed) wt_check_at(name, passed, WT_HERE)
#define wt_check_int(name, actual, expected) wt_check_int_at(name, actual, expected, WT_HERE)
/* Passes if they differ by at most the tolerance; NaN is close to nothing. */
#define wt_check_close(name, actual, expected, tolerance)                                          \
	wt_check_close_at(name, actual, expected, tolerance, WT_HERE)
#define wt_check_text(name, actual, expected) wt_check_text_at(name, actual, expected, WT_HERE)
/* Every bit of so many bytes. */
#define wt_check_bits(name, actual, expected, bytes)                                               \
	wt_check_bits_at(name, actual, expected, bytes, WT_HERE)
/* A value, and no expectation. True if it was published. */
#define wt_observe(name, value) wt_observe_at(name, value, WT_HERE)

bool wt_check_at(struct wt_name *name, bool passed, struct wt_place place);
bool wt_check_int_at(struct wt_name *name, int64_t actual, int64_t expected, struct wt_place place);
bool wt_check_close_at(struct wt_name *name, double actual, double expected, double tolerance,
		       struct wt_place place);
bool wt_check_text_at(struct wt_name *name, const char *actual, const char *expected,
		      struct wt_place place);
bool wt_check_bits_at(struct wt_name *name, const void *actual, const void *expected, size_t bytes,
		      struct wt_place place);
bool wt_observe_at(struct wt_name *name, double value, struct wt_place place);

/* The same with all that can be recorded, for test frameworks. */
struct wt_check {
	size_t size; /* sizeof(struct wt_check) */
	struct wt_name *name;
	uint32_t status;      /* enum wt_check_status of kinds.h */
	uint32_t comparator;  /* enum wt_comparator of kinds.h */
	const char *expected; /* or NULL, like all that follow */
	const char *actual;
	const char *detail;
	struct wt_name *unit;
	const char *file;
	uint32_t line;
	double tolerance;
	uint64_t n;          /* how many values were compared; 0: not counted */
	int64_t duration_ns; /* -1: not measured */
};
bool wt_check_emit(const struct wt_check *check);

/* ---- Devices --------------------------------------------------------------------------------- */

/* A track for a queue of a device; the same name and device give the same track. */
uint32_t wt_queue(uint32_t device, const char *name);

struct wt_device_op {
	size_t size; /* sizeof(struct wt_device_op) */
	uint32_t op; /* enum wt_op of kinds.h */
	struct wt_name *name;
	uint32_t device;
	uint32_t queue;           /* from wt_queue() */
	uint32_t clock;           /* clock domain of the times; 0: wt_now() */
	struct wt_name *geometry; /* or NULL */
	uint64_t correlation;
	uint64_t queued; /* 0: not known */
	uint64_t submitted;
	uint64_t started;
	uint64_t ended;
	uint64_t bytes;
};
bool wt_device_op(const struct wt_device_op *op);
bool wt_edge(uint32_t type, uint64_t from, uint64_t to); /* enum wt_edge; correlations */
/* The same moment in wt_now() and in the clock `domain` of a device (64 and above). */
bool wt_clock(uint32_t domain, uint64_t value, uint32_t error_ns);
/* The clock of the recording, in its own ticks. */
uint64_t wt_now(void);

/* ---- Stacks ---------------------------------------------------------------------------------- */

/* The call stack here: addresses now, symbols when it is looked at. Not from signal handlers. */
bool wt_stack(void);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
