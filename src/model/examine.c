/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One pass over the elements of a tensor for all that is asked of it: each piece is still in the
 * nearest cache when the next question is put to it. Tensors are shared out among threads.
 */
#include "model/examine.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <wheeltap/kinds.h>

#include "base/err.h"
#include "base/thread.h"
#include "digest/digest.h"
#include "model/units.h"

#define THREADS_MAX 8u                       /* more would wait for memory */
#define SHARED_BYTES_MIN ((uint64_t)1 << 20) /* less is done before a thread has begun */

/* The elements on their way through: what wti_digest_from() asks for. */
struct pass {
	struct wti_model_elements elements;
	unsigned what;
	struct wti_sha sha;
	struct wti_units_watch units;
	struct wt_err *err;
	int code;
};

static const void *next_piece(void *self, size_t bytes)
{
	struct pass *pass = self;
	const uint8_t *data = NULL;
	int64_t got = wti_model_elements_next(&pass->elements, bytes, &data, pass->err);

	if (got < 0)
		pass->code = (int)got;
	else if ((size_t)got != bytes)
		pass->code = wti_err(pass->err, WT_E_ARG, "a block has no whole pieces");
	if (pass->code)
		return NULL;
	if (pass->what & WTI_MODEL_SHA)
		wti_sha_add(&pass->sha, data, bytes);
	if (pass->what & WTI_MODEL_UNITS)
		wti_units_take(&pass->units, data, bytes);
	return data;
}

_Static_assert(WTI_MODEL_BLOCK_BYTES % WTI_DIGEST_BLOCK_BYTES == 0, "blocks end with pieces");

static int run_pass(struct pass *pass, const struct wti_model_tensor *tensor,
		    struct wti_model_examined *ret)
{
	bool is_other = !wti_dtype_bytes(tensor->dtype);
	const struct wti_digest_source source = {
		.next = next_piece,
		.self = pass,
		.dtype = is_other ? WT_DTYPE_U8 : tensor->dtype,
		.count = is_other ? tensor->bytes : tensor->count,
		.is_hash_alone = is_other || !(pass->what & WTI_MODEL_STATISTICS),
	};

	wti_sha_init(&pass->sha, true);
	if (wti_units_begin(&pass->units, tensor, &ret->units))
		pass->code = wti_err(pass->err, WT_E_NOMEM, "out of memory");
	if (!pass->code)
		wti_digest_from(&source, &ret->digest);
	wti_units_end(&pass->units);
	wti_sha_end(&pass->sha, ret->sha);
	ret->digest.count = tensor->count;
	return pass->code;
}

int wti_model_examine(struct wti_model *model, const struct wti_model_tensor *tensor, unsigned what,
		      struct wti_model_examined *ret, struct wt_err *err)
{
	struct pass pass = {.what = what, .err = err};
	int r = wti_model_elements_init(&pass.elements, model, tensor, err);

	if (r)
		return r;
	*ret = (struct wti_model_examined){0};
	r = run_pass(&pass, tensor, ret);
	wti_model_elements_release(&pass.elements);
	return r;
}

/* ---- All of them ---------------------------------------------------------------------------- */

struct crowd {
	struct wti_model *model;
	unsigned what;
	const struct wti_model_watch *watch;
	struct wti_model_examined *examined;
	uint64_t bytes; /* of all tensors, and of those that are done */
	pthread_mutex_t lock;
	size_t next;
	uint64_t done_bytes;
	struct wt_err err;
	int code;
};

/* The number of the next tensor; false: there is none, or something failed. */
static bool take_next(struct crowd *crowd, size_t *ret)
{
	bool is_one;

	pthread_mutex_lock(&crowd->lock);
	is_one = !crowd->code && crowd->next < crowd->model->tensor_count;
	if (is_one)
		*ret = crowd->next++;
	pthread_mutex_unlock(&crowd->lock);
	return is_one;
}

static void finish(struct crowd *crowd, size_t number, int code, const struct wt_err *err)
{
	pthread_mutex_lock(&crowd->lock);
	if (code && !crowd->code) {
		crowd->code = code;
		crowd->err = *err;
	}
	crowd->done_bytes += crowd->model->tensors[number].bytes;
	if (crowd->watch && crowd->watch->progress && crowd->bytes)
		crowd->watch->progress(crowd->watch->cookie,
				       (double)crowd->done_bytes / (double)crowd->bytes);
	pthread_mutex_unlock(&crowd->lock);
}

static void *work(void *cookie)
{
	struct crowd *crowd = cookie;
	struct wt_err err = {.offset = -1};
	size_t number;

	while (take_next(crowd, &number)) {
		int r = wti_model_examine(crowd->model, &crowd->model->tensors[number], crowd->what,
					  &crowd->examined[number], &err);

		finish(crowd, number, r, &err);
	}
	return NULL;
}

/* This thread works, too: that another could not be had does not matter. */
static void run_crowd(struct crowd *crowd)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	pthread_t others[THREADS_MAX];
	size_t count = 0;

	while (crowd->bytes >= SHARED_BYTES_MIN && count + 1 < THREADS_MAX &&
	       (long)count + 1 < cores && count + 1 < crowd->model->tensor_count &&
	       !pthread_create(&others[count], NULL, work, crowd))
		count++;
	work(crowd);
	for (size_t i = 0; i < count; i++)
		pthread_join(others[i], NULL);
}

int wti_model_examine_all(struct wti_model *model, unsigned what,
			  const struct wti_model_watch *watch, struct wti_model_examined **ret,
			  struct wt_err *err)
{
	struct crowd crowd = {.model = model,
			      .what = what,
			      .watch = watch,
			      .lock = PTHREAD_MUTEX_INITIALIZER,
			      .examined = calloc(model->tensor_count + 1, sizeof(**ret))};

	if (!crowd.examined)
		return wti_err(err, WT_E_NOMEM, "out of memory");
	for (size_t i = 0; i < model->tensor_count; i++)
		crowd.bytes += model->tensors[i].bytes;
	run_crowd(&crowd);
	if (crowd.code) {
		free(crowd.examined);
		if (err)
			*err = crowd.err;
		return crowd.code;
	}
	*ret = crowd.examined;
	return 0;
}
