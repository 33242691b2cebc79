/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Data on its way: batches of loaders, inputs and outputs of models. Every tensor in them is
 * emitted by digest, under its path in the containers around it. Of inputs and batches also the
 * hashes of some rows, so that a row can be recognised wherever it turns up again.
 */
#include "own.h"
#include "emit.h"

#include <string.h>

enum {
	DEPTH_MAX = 6, /* of containers in containers */
	WAITING_MAX = 64,
	ELEMENTS_MAX = 4096, /* of a sequence that are looked at */
	TENSORS_MAX = 64,    /* of one batch */
	ROWS_MAX = 4096,     /* of a tensor that are looked at */
	ROW_KEPT = 4,        /* one of so many */
	ROW_KEPT_LEAN = 16,  /* at lean: a part of the others */
	ROW_BYTES_MIN = 8,
};

struct waiting {
	PyObject *object; /* borrowed from what holds it, which the caller keeps */
	struct wt_name *name;
	uint32_t depth;
};

struct walk {
	const struct wti_data_place *place;
	uint32_t tensor_count;
	uint32_t waiting_count;
	bool is_cut; /* something was left out */
	struct waiting waiting[WAITING_MAX];
};

/* ---- Rows ------------------------------------------------------------------------------------ */

static const struct wti_data_rows *find_recent(uint64_t content)
{
	for (uint32_t i = 0; i < WTI_ROWS_RECENT; i++)
		if (content && wti_torch_state.rows[i].content == content)
			return &wti_torch_state.rows[i];
	return NULL;
}

static void emit_row(const struct wti_data_place *place, struct wt_name *name, uint32_t index,
		     uint32_t count, uint64_t hash)
{
	const struct wti_here here = wti_here();
	struct wti_record_row row;

	if (!here.ring)
		return;
	row = (struct wti_record_row){
		.owner = wti_name(here, place->owner),
		.name = name ? wti_name(here, name) : 0,
		.index = index,
		.count = count,
		.hash = hash,
		.call = place->call,
	};
	wti_emit_row(here, &row);
}

/* The tensor without its first extent. */
static struct wti_tensor row_of(const struct wti_tensor *tensor)
{
	struct wti_tensor row = {
		.data = tensor->data,
		.dtype = tensor->dtype,
		.item_bytes = tensor->item_bytes,
		.rank = tensor->rank - 1,
		.is_packed = tensor->is_packed,
		.is_conjugate = tensor->is_conjugate,
		.is_negative = tensor->is_negative,
		.is_guarded = tensor->is_guarded,
		.count = tensor->count / (uint64_t)tensor->sizes[0],
		.stride_unit = tensor->stride_unit,
	};

	memcpy(row.sizes, tensor->sizes + 1, row.rank * sizeof(row.sizes[0]));
	memcpy(row.strides, tensor->strides + 1, row.rank * sizeof(row.strides[0]));
	return row;
}

static void read_rows(const struct wti_tensor *tensor, struct wti_data_rows *ret)
{
	struct wti_tensor row = row_of(tensor);
	int64_t count = tensor->sizes[0] < ROWS_MAX ? tensor->sizes[0] : ROWS_MAX;
	uint64_t every = wti_python.detail == WTI_DETAIL_LEAN ? ROW_KEPT_LEAN : ROW_KEPT;

	ret->count = (uint32_t)tensor->sizes[0];
	ret->kept_count = 0;
	for (int64_t i = 0; i < count && ret->kept_count < WTI_ROWS_KEPT; i++) {
		uint64_t hash;

		row.data = (const char *)tensor->data +
			   i * tensor->strides[0] * (int64_t)tensor->stride_unit;
		if (!wti_tensor_hash(&row, &hash) || hash % every != 0)
			continue;
		ret->indexes[ret->kept_count] = (uint32_t)i;
		ret->hashes[ret->kept_count++] = hash;
	}
}

static void emit_rows(const struct wti_data_place *place, struct wt_name *name,
		      const struct wti_tensor *tensor, uint64_t content)
{
	const struct wti_data_rows *known = find_recent(content);

	if (!place->owner || tensor->rank < 2 || tensor->count == 0 ||
	    tensor->count / (uint64_t)tensor->sizes[0] * tensor->item_bytes < ROW_BYTES_MIN)
		return;
	if (!known) {
		struct wti_data_rows *kept =
			&wti_torch_state.rows[wti_torch_state.rows_next++ % WTI_ROWS_RECENT];

		read_rows(tensor, kept);
		kept->content = content;
		known = kept;
	}
	for (uint32_t i = 0; i < known->kept_count; i++)
		emit_row(place, name, known->indexes[i], known->count, known->hashes[i]);
}

/* ---- Tensors --------------------------------------------------------------------------------- */

static bool hash_alone(struct wti_tensor *tensor, struct wt_digest *ret)
{
	*ret = (struct wt_digest){.count = tensor->count};
	tensor->is_hash_alone = true;
	return wti_tensor_hash(tensor, &ret->hash);
}

static void emit_tensor(struct walk *walk, const struct waiting *at)
{
	const struct wti_data_place *place = walk->place;
	const struct wti_tensor_names names = {NULL, at->name, place->call, place->position};
	struct wti_tensor tensor;
	struct wt_digest digest;
	Py_buffer room;
	bool is_read;

	if (++walk->tensor_count > TENSORS_MAX) {
		walk->is_cut = true;
		return;
	}
	if (!wti_tensor_look(at->object, &tensor, &room))
		return;
	is_read = tensor.data && wti_python.tensors != WTI_TENSORS_OFF;
	if (is_read && wti_state_turn_of_all())
		is_read = wti_recent_digest(&tensor, &digest);
	else if (is_read)
		is_read = hash_alone(&tensor, &digest);
	if (is_read) {
		wti_tensor_emit(&tensor, &names, &digest);
		emit_rows(place, at->name, &tensor, digest.hash);
	} else {
		wti_tensor_emit(&tensor, &names, NULL);
	}
	wti_tensor_release(&tensor);
}

/* ---- Containers ------------------------------------------------------------------------------ */

/* Numbers and texts hold no tensors, and take no place of something that does. */
static bool is_plain(PyObject *object)
{
	return object == Py_None || PyUnicode_Check(object) || PyLong_Check(object) ||
	       PyFloat_Check(object) || PyBytes_Check(object);
}

static void wait(struct walk *walk, PyObject *object, struct wt_name *name, uint32_t depth)
{
	if (is_plain(object))
		return;
	if (walk->waiting_count < WAITING_MAX && depth <= DEPTH_MAX)
		walk->waiting[walk->waiting_count++] = (struct waiting){object, name, depth};
	else
		walk->is_cut = true;
}

/* How many elements from the first on are looked into. */
static Py_ssize_t reach(struct walk *walk, PyObject *sequence)
{
	Py_ssize_t count = PySequence_Fast_GET_SIZE(sequence), end = 0;
	uint32_t found = walk->waiting_count;

	for (Py_ssize_t i = 0; i < count && i < ELEMENTS_MAX; i++) {
		if (is_plain(PySequence_Fast_GET_ITEM(sequence, i)))
			continue;
		if (found++ == WAITING_MAX) {
			walk->is_cut = true;
			break;
		}
		end = i + 1;
	}
	return end;
}

/* The last first: they are taken from the end. */
static void wait_sequence(struct walk *walk, const struct waiting *at)
{
	for (Py_ssize_t i = reach(walk, at->object); i-- > 0;)
		wait(walk, PySequence_Fast_GET_ITEM(at->object, i),
		     wti_name_joined(at->name, Py_None, (int32_t)i), at->depth + 1);
}

/* Keys are the program's words: only those that look like names are emitted. */
static void wait_dict(struct walk *walk, const struct waiting *at, PyObject *dict)
{
	uint32_t first = walk->waiting_count;
	PyObject *key, *value;
	Py_ssize_t position = 0;

	while (PyDict_Next(dict, &position, &key, &value)) {
		bool is_name = PyUnicode_CheckExact(key) && PyUnicode_IsIdentifier(key) == 1;

		wait(walk, value, is_name ? wti_name_joined(at->name, key, -1) : at->name,
		     at->depth + 1);
	}
	for (uint32_t i = first, j = walk->waiting_count; i + 1 < j; i++) {
		struct waiting swapped = walk->waiting[--j];

		walk->waiting[j] = walk->waiting[i];
		walk->waiting[i] = swapped;
	}
}

/* Batches that are objects of their own keep their tensors in attributes. */
static void wait_attributes(struct walk *walk, const struct waiting *at)
{
	PyObject **dict;

	if (at->depth > 1 || !PyType_HasFeature(Py_TYPE(at->object), Py_TPFLAGS_HEAPTYPE) ||
	    PyType_Check(at->object))
		return;
	dict = _PyObject_GetDictPtr(at->object);
	if (dict && *dict && PyDict_Check(*dict))
		wait_dict(walk, at, *dict);
}

static void take(struct walk *walk, const struct waiting *at)
{
	PyObject *object = at->object;

	if (wti_tensor_is(object))
		emit_tensor(walk, at);
	else if (PyTuple_Check(object) || PyList_Check(object))
		wait_sequence(walk, at);
	else if (PyDict_Check(object))
		wait_dict(walk, at, object);
	else if (PyObject_CheckBuffer(object) && !PyBytes_Check(object))
		emit_tensor(walk, at);
	else
		wait_attributes(walk, at);
}

/* So that nobody takes what was emitted for all that there is. */
static void emit_cut(const struct wti_data_place *place)
{
	const struct wti_value_place cut = {
		.call = place->call, .position = place->position, .name = WT_NAME("...")};

	wti_value_emit(&cut, Py_None, 0);
}

void wti_data_emit(const struct wti_data_place *place, PyObject *object)
{
	struct walk walk;

	if (wti_omits(WT_THINNED_DATA))
		return;
	walk.place = place;
	walk.tensor_count = walk.waiting_count = 0;
	walk.is_cut = false;
	wait(&walk, object, place->name, 0);
	while (walk.waiting_count) {
		struct waiting at = walk.waiting[--walk.waiting_count];

		Py_INCREF(at.object);
		take(&walk, &at);
		Py_DECREF(at.object);
	}
	if (walk.is_cut)
		emit_cut(place);
}
