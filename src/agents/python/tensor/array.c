/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arrays that are not torch's, by what C can see of them without running the program's code:
 *
 * - numpy's own arrays and those derived from them, by the layout that numpy promises to
 * extensions, checked against what numpy says of the first ones that are seen;
 * - whatever has DLPack's exchange interface, a table of C functions in its type;
 * - whatever exports a buffer from C.
 *
 * A method such as __dlpack__ or __buffer__ that is written in Python is never called.
 */
#include "own.h"

#include <string.h>

enum { CHECKED_MAX = 16 }; /* arrays that are compared with what numpy says */

/* ---- numpy ----------------------------------------------------------------------------------- */

struct array {
	PyObject_HEAD char *data;
	int rank;
	Py_ssize_t *sizes;
	Py_ssize_t *strides;
	PyObject *base;
	const struct array_type *type;
};

struct array_type {
	PyObject_HEAD PyTypeObject *scalar;
	char kind;
	char code;
	char order;
	char flags;
	int number;
};

/* What the attribute __array_struct__ holds; published by numpy for everybody. */
struct array_interface {
	int two;
	int rank;
	char kind;
	int item_bytes;
	int flags;
	Py_ssize_t *sizes;
	Py_ssize_t *strides;
	void *data;
	PyObject *description;
};

static bool is_as_numpy_says(const struct array *array, PyObject *object)
{
	PyObject *capsule = PyObject_GetAttrString(object, "__array_struct__");
	const struct array_interface *published =
		capsule ? PyCapsule_GetPointer(capsule, NULL) : NULL;
	size_t bytes = published ? (size_t)published->rank * sizeof(Py_ssize_t) : 0;
	bool is_same = published && published->two == 2 && published->rank == array->rank &&
		       published->data == array->data && published->kind == array->type->kind &&
		       (!bytes || (memcmp(published->sizes, array->sizes, bytes) == 0 &&
				   memcmp(published->strides, array->strides, bytes) == 0));

	PyErr_Clear();
	Py_XDECREF(capsule);
	return is_same;
}

/* The type is known by its name: it is in C, and a program's class cannot be. */
static bool is_numpy(PyObject *object)
{
	PyTypeObject *type = Py_TYPE(object);

	if (wti_tensor_state.arrays.is_other)
		return false;
	if (!wti_tensor_state.arrays.type && !PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE) &&
	    strcmp(type->tp_name, "numpy.ndarray") == 0)
		wti_tensor_state.arrays.type = type;
	if (!wti_tensor_state.arrays.type ||
	    !PyObject_TypeCheck(object, wti_tensor_state.arrays.type))
		return false;
	if (wti_tensor_state.arrays.checked_count < CHECKED_MAX &&
	    type == wti_tensor_state.arrays.type) {
		wti_tensor_state.arrays.checked_count++;
		wti_tensor_state.arrays.is_other =
			!is_as_numpy_says((const struct array *)object, object);
	}
	return !wti_tensor_state.arrays.is_other;
}

static uint32_t dtype_of_name(const char *name)
{
	static const struct {
		const char *name;
		uint32_t dtype;
	} names[] = {
		{"bfloat16", WT_DTYPE_BF16},
		{"float8_e4m3fn", WT_DTYPE_F8E4M3},
		{"float8_e5m2", WT_DTYPE_F8E5M2},
		{"float8_e4m3fnuz", WT_DTYPE_F8E4M3FNUZ},
		{"float8_e5m2fnuz", WT_DTYPE_F8E5M2FNUZ},
		{"float8_e8m0fnu", WT_DTYPE_F8E8M0},
	};
	const char *dot = strrchr(name, '.');

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(dot ? dot + 1 : name, names[i].name) == 0)
			return names[i].dtype;
	return WT_DTYPE_OTHER;
}

static uint32_t dtype_of_array(const struct array_type *type)
{
	/* By numpy's numbers; `long` has the size of a pointer here. */
	static const uint8_t dtypes[] = {
		WT_DTYPE_BOOL,  WT_DTYPE_I8,    WT_DTYPE_U8,    WT_DTYPE_I16,   WT_DTYPE_U16,
		WT_DTYPE_I32,   WT_DTYPE_U32,   WT_DTYPE_I64,   WT_DTYPE_U64,   WT_DTYPE_I64,
		WT_DTYPE_U64,   WT_DTYPE_F32,   WT_DTYPE_F64,   WT_DTYPE_OTHER, WT_DTYPE_C64,
		WT_DTYPE_C128,  WT_DTYPE_OTHER, WT_DTYPE_OTHER, WT_DTYPE_OTHER, WT_DTYPE_OTHER,
		WT_DTYPE_OTHER, WT_DTYPE_OTHER, WT_DTYPE_OTHER, WT_DTYPE_F16,
	};

	_Static_assert(sizeof(long) == sizeof(int64_t), "numpy's long is taken for 64 bits");
	if (type->order == '>')
		return WT_DTYPE_OTHER;
	if (type->number >= 256)
		return dtype_of_name(type->scalar->tp_name);
	return type->number >= 0 && (size_t)type->number < sizeof(dtypes) ? dtypes[type->number]
									  : WT_DTYPE_OTHER;
}

/* What elements are that no digest is defined for. */
static struct wt_name *kind_of_array(const struct array_type *type)
{
	switch (type->kind) {
	case 'M':
	case 'm':
		return WT_NAME("datetime");
	case 'O':
		return WT_NAME("object");
	case 'V':
		return WT_NAME("structured");
	case 'S':
	case 'U':
		return WT_NAME("text");
	default:
		return type->order == '>' ? WT_NAME("big_endian") : WT_NAME("other");
	}
}

static bool look_at_numpy(PyObject *object, struct wti_tensor *ret)
{
	const struct array *array = (const struct array *)object;

	if (array->rank < 0 || array->rank > WTI_RANK_MAX)
		return false;
	ret->dtype = dtype_of_array(array->type);
	ret->item_bytes = (uint32_t)wti_dtype_bytes(ret->dtype);
	ret->stride_unit = 1;
	ret->rank = (uint32_t)array->rank;
	ret->count = 1;
	ret->device = WT_NAME("cpu");
	for (int i = 0; i < array->rank; i++) {
		ret->sizes[i] = array->sizes[i];
		ret->strides[i] = array->strides[i];
		ret->count *= (uint64_t)array->sizes[i];
	}
	if (ret->dtype == WT_DTYPE_OTHER) {
		ret->kind = kind_of_array(array->type);
		return true;
	}
	ret->is_packed = wti_tensor_is_packed(ret);
	/* Mapped files can be cut, and memory that belongs to somebody else can be freed. */
	ret->is_guarded = !Py_IS_TYPE(object, wti_tensor_state.arrays.type) ||
			  (array->base && wti_must_guard());
	ret->data = array->data;
	return true;
}

/* ---- DLPack's exchange interface ------------------------------------------------------------- */

/* As version 1.2 of DLPack has it. */
struct dl_tensor {
	void *data;
	int32_t device_type;
	int32_t device_number;
	int32_t rank;
	uint8_t code;
	uint8_t bits;
	uint16_t lanes;
	int64_t *sizes;
	int64_t *strides; /* in elements; NULL: packed */
	uint64_t offset;
};

struct dl_exchange {
	uint32_t major;
	uint32_t minor;
	struct dl_exchange *previous;
	void *allocate;
	void *managed_from_object;
	void *managed_to_object;
	int (*tensor_from_object)(void *object, struct dl_tensor *ret); /* or NULL */
	void *current_stream;
};

static uint32_t dtype_of_dl(const struct dl_tensor *tensor)
{
	static const struct {
		uint8_t code;
		uint8_t bits;
		uint32_t dtype;
	} types[] = {
		{0, 8, WT_DTYPE_I8},      {0, 16, WT_DTYPE_I16},
		{0, 32, WT_DTYPE_I32},    {0, 64, WT_DTYPE_I64},
		{1, 8, WT_DTYPE_U8},      {1, 16, WT_DTYPE_U16},
		{1, 32, WT_DTYPE_U32},    {1, 64, WT_DTYPE_U64},
		{2, 16, WT_DTYPE_F16},    {2, 32, WT_DTYPE_F32},
		{2, 64, WT_DTYPE_F64},    {4, 16, WT_DTYPE_BF16},
		{5, 32, WT_DTYPE_C32},    {5, 64, WT_DTYPE_C64},
		{5, 128, WT_DTYPE_C128},  {6, 8, WT_DTYPE_BOOL},
		{10, 8, WT_DTYPE_F8E4M3}, {11, 8, WT_DTYPE_F8E4M3FNUZ},
		{12, 8, WT_DTYPE_F8E5M2}, {13, 8, WT_DTYPE_F8E5M2FNUZ},
		{14, 8, WT_DTYPE_F8E8M0},
	};

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]) && tensor->lanes == 1; i++)
		if (types[i].code == tensor->code && types[i].bits == tensor->bits)
			return types[i].dtype;
	return WT_DTYPE_OTHER;
}

static const struct dl_exchange *exchange_of(PyTypeObject *type)
{
	const struct dl_exchange *table;
	PyObject *capsule;

	capsule = _PyType_Lookup(type, wti_tensor_state.words.exchange);
	if (!capsule || !PyCapsule_IsValid(capsule, "dlpack_exchange_api"))
		return NULL;
	table = PyCapsule_GetPointer(capsule, "dlpack_exchange_api");
	return table->major == 1 && table->tensor_from_object ? table : NULL;
}

static void take_dl_extents(const struct dl_tensor *from, struct wti_tensor *ret)
{
	int64_t packed = 1;

	ret->rank = (uint32_t)from->rank;
	ret->count = 1;
	for (int i = from->rank; i-- > 0;) {
		ret->sizes[i] = from->sizes[i];
		ret->strides[i] = from->strides ? from->strides[i] : packed;
		packed *= from->sizes[i];
		ret->count *= (uint64_t)from->sizes[i];
	}
}

static bool look_at_exchange(PyObject *object, struct wti_tensor *ret)
{
	enum { CPU = 1, PINNED = 3 };
	const struct dl_exchange *table = exchange_of(Py_TYPE(object));
	struct dl_tensor tensor;

	if (!table)
		return false;
	if (table->tensor_from_object(object, &tensor) != 0 || tensor.rank < 0 ||
	    tensor.rank > WTI_RANK_MAX) {
		PyErr_Clear();
		return false;
	}
	take_dl_extents(&tensor, ret);
	ret->dtype = dtype_of_dl(&tensor);
	ret->item_bytes = ret->stride_unit = (uint32_t)wti_dtype_bytes(ret->dtype);
	ret->is_packed = wti_tensor_is_packed(ret);
	ret->is_guarded = wti_must_guard();
	if (tensor.device_type != CPU && tensor.device_type != PINNED)
		ret->device = ret->kind = WT_NAME("device");
	else if (ret->dtype == WT_DTYPE_OTHER)
		ret->kind = WT_NAME("other");
	else if (tensor.data)
		ret->data = (const char *)tensor.data + tensor.offset;
	if (!ret->kind)
		ret->device = WT_NAME("cpu");
	return true;
}

/* ---- Buffers --------------------------------------------------------------------------------- */

/* From 3.12 on a class can export a buffer by a method in Python. */
static bool is_buffer_of_c(PyObject *object)
{
#if PY_VERSION_HEX >= 0x030c0000
	PyObject *method = _PyType_Lookup(Py_TYPE(object), wti_tensor_state.words.buffer);

	return method && Py_IS_TYPE(method, &PyWrapperDescr_Type);
#else
	return true;
#endif
}

/* The element types of struct's codes, in native or little-endian order. */
static uint32_t dtype_of_format(const char *format, size_t item_bytes)
{
	static const struct {
		const char *code;
		uint32_t dtype;
	} codes[] = {
		{"n", WT_DTYPE_I64}, {"N", WT_DTYPE_U64},  {"?", WT_DTYPE_BOOL},
		{"b", WT_DTYPE_I8},  {"B", WT_DTYPE_U8},   {"h", WT_DTYPE_I16},
		{"H", WT_DTYPE_U16}, {"i", WT_DTYPE_I32},  {"I", WT_DTYPE_U32},
		{"l", WT_DTYPE_I64}, {"L", WT_DTYPE_U64},  {"q", WT_DTYPE_I64},
		{"Q", WT_DTYPE_U64}, {"e", WT_DTYPE_F16},  {"f", WT_DTYPE_F32},
		{"d", WT_DTYPE_F64}, {"Zf", WT_DTYPE_C64}, {"Zd", WT_DTYPE_C128},
	};

	if (!format)
		return WT_DTYPE_U8;
	if (*format == '@' || *format == '=' || *format == '<')
		format++;
	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		if (strcmp(format, codes[i].code) == 0 &&
		    wti_dtype_bytes(codes[i].dtype) == item_bytes)
			return codes[i].dtype;
	return WT_DTYPE_OTHER;
}

static bool look_at_buffer(PyObject *object, struct wti_tensor *ret, Py_buffer *room)
{
	if (PyBytes_Check(object) || PyByteArray_Check(object) ||
	    PyObject_GetBuffer(object, room, PyBUF_RECORDS_RO) < 0) {
		PyErr_Clear();
		return false;
	}
	/* Some exporters, numpy's scalars among them, leave out what was asked for. */
	if (room->ndim > WTI_RANK_MAX || room->itemsize <= 0 || !room->buf ||
	    (room->ndim > 0 && (!room->shape || !room->strides))) {
		PyBuffer_Release(room);
		return false;
	}
	ret->buffer = room;
	ret->dtype = dtype_of_format(room->format, (size_t)room->itemsize);
	ret->item_bytes = (uint32_t)room->itemsize;
	ret->stride_unit = 1;
	ret->rank = (uint32_t)room->ndim;
	ret->count = (uint64_t)(room->len / room->itemsize);
	ret->device = WT_NAME("cpu");
	for (int i = 0; i < room->ndim; i++) {
		ret->sizes[i] = room->shape[i];
		ret->strides[i] = room->strides[i];
	}
	ret->is_packed = wti_tensor_is_packed(ret);
	ret->is_guarded = true; /* a file that is mapped may have been cut; bytes are few */
	if (ret->dtype != WT_DTYPE_OTHER)
		ret->data = room->buf;
	else
		ret->kind = WT_NAME("other");
	return true;
}

/* ---- Scalars of numpy's ---------------------------------------------------------------------- */

void wti_scalar_learn(const PyTypeObject *type, uint32_t dtype)
{
	uint32_t i = wti_tensor_state.scalars.count;

	if (i == WTI_SCALARS_MAX)
		return;
	wti_tensor_state.scalars.types[i] = type;
	wti_tensor_state.scalars.dtypes[i] = dtype;
	wti_tensor_state.scalars.count++;
}

uint32_t wti_scalar_dtype(PyObject *object)
{
	for (uint32_t i = 0; i < wti_tensor_state.scalars.count; i++)
		if (Py_TYPE(object) == wti_tensor_state.scalars.types[i])
			return wti_tensor_state.scalars.dtypes[i];
	return WT_DTYPE_OTHER;
}

bool wti_scalar_is(PyObject *object)
{
	return wti_scalar_dtype(object) != WT_DTYPE_OTHER;
}

static bool look_at_scalar(PyObject *object, struct wti_tensor *ret)
{
	ret->dtype = wti_scalar_dtype(object);
	if (ret->dtype == WT_DTYPE_OTHER)
		return false;
	ret->item_bytes = (uint32_t)wti_dtype_bytes(ret->dtype);
	ret->stride_unit = 1;
	ret->rank = 0;
	ret->count = 1;
	ret->device = WT_NAME("cpu");
	ret->data = (const char *)object + sizeof(PyObject);
	return true;
}

bool wti_array_look(PyObject *object, struct wti_tensor *ret, Py_buffer *room)
{
	if (look_at_scalar(object, ret))
		return true;
	if (is_numpy(object))
		return look_at_numpy(object, ret);
	if (look_at_exchange(object, ret))
		return true;
	return PyObject_CheckBuffer(object) && is_buffer_of_c(object) &&
	       look_at_buffer(object, ret, room);
}
