/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls of what feeds a model: a loader begins a round, gives a batch, a worker of it makes one.
 */
#include "handler.h"

static struct wti_live *loader_of(PyObject *object)
{
	struct wti_live *live = wti_live_find(object, WTI_LIVE_LOADER);

	if (live && live->owner)
		return live;
	wti_callback("met", object);
	live = wti_live_find(object, WTI_LIVE_LOADER);
	return live && live->owner ? live : NULL;
}

static void before_epoch(struct wti_hooked_call *call, const struct wti_given *given)
{
	struct wti_live *loader = loader_of(given->arguments[0]);

	wti_random_read();
	if (!loader)
		return;
	call->object = loader->owner;
	wti_context_loader_begun(loader);
}

/* The iterator gives batches in the name of its loader. */
static void after_epoch(struct wti_hooked_call *call, const struct wti_given *given,
			PyObject *result)
{
	struct wti_live *loader = wti_live_find(given->arguments[0], WTI_LIVE_LOADER);
	struct wti_live *iterator =
		result && loader ? wti_live_add(result, WTI_LIVE_ITERATOR) : NULL;

	if (!iterator)
		return;
	iterator->owner = iterator->full = loader->owner;
	iterator->count = loader->count;
	wti_callback("loader_begun", given->arguments[0]);
}

static void before_batch(struct wti_hooked_call *call, const struct wti_given *given)
{
	struct wti_live *iterator = wti_live_find(given->arguments[0], WTI_LIVE_ITERATOR);

	call->is_hidden = !call->is_outer;
	call->object = iterator ? iterator->owner : NULL;
}

static bool emit_batch(const struct wti_hooked_call *call, PyObject *result)
{
	const struct wti_data_place place = {
		.call = call->seq, .position = -1, .owner = call->object};

	wti_data_emit(&place, result);
	return true;
}

static void after_batch(struct wti_hooked_call *call, const struct wti_given *given,
			PyObject *result)
{
	struct wti_live *iterator = wti_live_find(given->arguments[0], WTI_LIVE_ITERATOR);

	if (result && iterator && iterator->owner)
		wti_context_batch(iterator);
}

/* In the process that also takes the batch it is emitted there. */
static void before_fetch(struct wti_hooked_call *call, const struct wti_given *given)
{
	call->is_hidden = wti_torch_thread.depths[WT_ACTION_BATCH] > 0;
	if (!call->is_hidden)
		wti_random_read();
}

static bool emit_fetched(const struct wti_hooked_call *call, PyObject *result)
{
	const struct wti_data_place place = {.call = call->seq, .position = -1};

	wti_data_emit(&place, result);
	return true;
}

static bool emit_worker(const struct wti_hooked_call *call, const struct wti_given *given)
{
	PyObject *all = PyTuple_New(given->count);

	for (Py_ssize_t i = 0; all && i < given->count; i++) {
		Py_INCREF(given->arguments[i]);
		PyTuple_SET_ITEM(all, i, given->arguments[i]);
	}
	if (all)
		wti_callback("worker_begun", all);
	PyErr_Clear();
	Py_XDECREF(all);
	return true;
}

const struct wti_handler wti_handler_epoch = {before_epoch, NULL, NULL,
					      after_epoch,  1,    WT_ACTION_ROUND};
const struct wti_handler wti_handler_batch = {before_batch, NULL, emit_batch,
					      after_batch,  1,    WT_ACTION_BATCH};
const struct wti_handler wti_handler_fetch = {before_fetch, NULL, emit_fetched, NULL, 1};
const struct wti_handler wti_handler_worker = {NULL, emit_worker, NULL, NULL, 1};
