/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What some calls mean for the run: a step ends, a loss is known, training turns into evaluation.
 * Context (step, epoch, stage) is derived from that, unless the program says it itself.
 */
#include "pyagent.h"

#include <string.h>

#include "common/text.h"
#include "threads.h"

/* ---- Records ----------------------------------------------------------------------------------
 */

void wti_context_tell(struct wt_name *key, uint32_t type, uint64_t value,
		      const struct wti_kept_text *kept)
{
	const struct wti_here here = wti_here();
	struct wti_record_context *record;
	uint32_t text_bytes = kept ? kept->bytes : 0;
	uint32_t bytes = (uint32_t)sizeof(*record) + wti_round8(text_bytes);
	uint32_t id;

	if (!here.ring)
		return;
	id = wti_name(here, key);
	record = wti_open(here, WT_KIND_CONTEXT, bytes);
	if (!record)
		return;
	record->key = id;
	record->type = type;
	record->value = value;
	record->text_bytes = text_bytes;
	if (kept)
		wti_put_text(record + 1, kept);
	wti_commit(here, bytes);
	wti_threads_context(key, type, value, kept);
}

void wti_context_int(struct wt_name *key, int64_t value)
{
	wti_context_tell(key, WT_VALUE_TYPE_INT, (uint64_t)value, NULL);
}

void wti_context_float(struct wt_name *key, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	wti_context_tell(key, WT_VALUE_TYPE_FLOAT, bits, NULL);
}

void wti_context_text(struct wt_name *key, const char *text)
{
	struct wti_kept_text kept;

	if (!wti_here().ring)
		return;
	wti_keep_text(&kept, text);
	wti_context_tell(key, WT_VALUE_TYPE_TEXT, 0, &kept);
}

void wti_counter(struct wt_name *name, double value)
{
	const struct wti_here here = wti_here();
	struct wti_record_counter *record;
	uint32_t id;

	if (!here.ring)
		return;
	id = wti_name(here, name);
	record = wti_open(here, WT_KIND_COUNTER, sizeof(*record));
	if (!record)
		return;
	record->name = id;
	record->unit = 0;
	record->value = value;
	wti_commit(here, sizeof(*record));
}

/* ---- Stages and steps -------------------------------------------------------------------------
 */

void wti_stage_set(const char *stage)
{
	if (wti_python.is_stage_said || (wti_python.stage && strcmp(wti_python.stage, stage) == 0))
		return;
	wti_python.stage = stage;
	wti_context_text(WT_NAME("stage"), stage);
}

static void tell_epoch(void)
{
	if (wti_python.loader_rounds == 0 || wti_python.loader_rounds - 1 == wti_python.epoch)
		return;
	wti_python.epoch = wti_python.loader_rounds - 1;
	wti_context_int(WT_NAME("epoch"), (int64_t)wti_python.epoch);
}

static void step_ended(PyObject *optimizer)
{
	struct wti_live *live = wti_state_optimizer(optimizer);

	if (!live || ++live->count <= wti_python.step)
		return;
	wti_python.step = live->count;
	if (!wti_python.is_step_said)
		wti_context_int(WT_NAME("step"), (int64_t)wti_python.step);
}

/* ---- Models -----------------------------------------------------------------------------------
 */

/* Module keeps it in the dictionary of the instance; anything else would run the program's code. */
static bool read_training(PyObject *module, bool *ret)
{
	PyObject **dict = _PyObject_GetDictPtr(module);
	PyObject *value;

#if PY_VERSION_HEX >= 0x030b0000
	PyObject *own = NULL;

	if (!dict || !*dict) { /* not made yet by the interpreter; asking makes it */
		own = PyObject_GenericGetDict(module, NULL);
		PyErr_Clear();
		if (!own)
			return false;
		dict = &own;
	}
	value = PyDict_GetItemWithError(*dict, wti_python.words.training);
	Py_XDECREF(own);
#else
	value = dict && *dict ? PyDict_GetItemWithError(*dict, wti_python.words.training) : NULL;
#endif
	if (value != Py_True && value != Py_False)
		return false;
	*ret = value == Py_True;
	return true;
}

static void model_called(PyObject *module)
{
	struct wti_live *live = wti_live_find(module, WTI_LIVE_MODEL);
	bool training, is_new = !live || !live->owner;

	if (is_new) {
		wti_callback("model_found", module);
		live = wti_live_find(module, WTI_LIVE_MODEL);
	}
	if (!live || !live->owner || !read_training(module, &training))
		return;
	if (is_new || live->training != training)
		wti_state_bool(live->owner, WT_NAME("training"), is_new ? NULL : &live->training,
			       training);
	live->training = training;
	wti_stage_set(training ? "train" : "eval");
	if (training)
		tell_epoch();
}

static void loader_begun(PyObject *loader)
{
	struct wti_live *live = wti_live_add(loader, WTI_LIVE_LOADER);

	if (live)
		wti_python.loader_rounds = ++live->count;
}

/* ---- Losses and settings ----------------------------------------------------------------------
 */

static void loss_known(PyObject *loss)
{
	struct wti_tensor tensor;
	struct wt_digest digest;
	Py_buffer room;

	if (!wti_tensor_is(loss) || !wti_tensor_look(loss, &tensor, &room))
		return;
	if (tensor.count == 1 && tensor.data && wti_tensor_digest(&tensor, &digest)) {
		double value = digest.mean;

		if (digest.nan)
			value = __builtin_nan("");
		else if (digest.inf)
			value = __builtin_inf();
		wti_counter(WT_NAME("loss"), value);
	}
	wti_tensor_release(&tensor);
}

static void setting_changed(const struct wti_call *call, PyObject *value)
{
	struct wti_python_thread *thread = &wti_python_thread;
	uint32_t bit = 1u << call->hook->setter;
	bool was = thread->settings & bit, is = value == Py_True;
	bool is_known = thread->settings_known & bit;

	if (!PyBool_Check(value) || (is_known && was == is))
		return;
	wti_state_bool(WT_NAME("torch"), call->hook->callee, is_known ? &was : NULL, is);
	thread->settings_known |= bit;
	thread->settings = is ? thread->settings | bit : thread->settings & ~bit;
}

/* ---- Before and after -------------------------------------------------------------------------
 */

/*
 * torch.compile, fx and the like run a program on stand-ins for tensors. What it calls then is no
 * part of the run, and to look at a stand-in can change what becomes of the graph.
 */
static void trace_begun(void)
{
	if (!wti_python.is_trace_said)
		wti_callback("graph_traced", Py_None);
	wti_python.is_trace_said = true;
	wti_python_thread.inside++;
}

void wti_action_before(struct wti_call *call, PyObject *const *arguments, Py_ssize_t count)
{
	if (call->hook->action == WTI_ACTION_TRACE)
		trace_begun();
	if (count < 1)
		return;
	switch (call->hook->action) {
	case WTI_ACTION_MODULE:
		call->is_outer = wti_python_thread.module_depth++ == 0;
		if (call->is_outer)
			model_called(arguments[0]);
		break;
	case WTI_ACTION_STEP:
		call->is_outer = wti_python_thread.step_depth++ == 0;
		if (call->is_outer)
			wti_state_before_step(arguments[0]);
		break;
	case WTI_ACTION_BACKWARD:
		loss_known(arguments[0]);
		break;
	case WTI_ACTION_EPOCH:
		loader_begun(arguments[0]);
		break;
	case WTI_ACTION_SAVE:
		call->stage = wti_python.stage;
		wti_stage_set("save");
		break;
	case WTI_ACTION_LOAD:
		call->stage = wti_python.stage;
		wti_stage_set("load");
		break;
	}
}

void wti_action_after(struct wti_call *call, PyObject *const *arguments, Py_ssize_t count,
		      PyObject *result)
{
	if (call->hook->action == WTI_ACTION_GROUP && result)
		wti_callback("group_made", result);
	else if (call->hook->action == WTI_ACTION_TRACE)
		wti_python_thread.inside--;
	if (count < 1)
		return;
	switch (call->hook->action) {
	case WTI_ACTION_MODULE:
		wti_python_thread.module_depth--;
		break;
	case WTI_ACTION_STEP:
		wti_python_thread.step_depth--;
		if (!call->is_outer || !result)
			break;
		wti_state_after_step(arguments[0]);
		step_ended(arguments[0]);
		break;
	case WTI_ACTION_OPTIMIZER_MADE:
		if (result)
			wti_callback("optimizer_made", arguments[0]);
		break;
	case WTI_ACTION_SETTER:
		if (result)
			setting_changed(call, arguments[0]);
		break;
	case WTI_ACTION_SAVE:
	case WTI_ACTION_LOAD:
		if (call->stage)
			wti_stage_set(call->stage);
		break;
	}
}
