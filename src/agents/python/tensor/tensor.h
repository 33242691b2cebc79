/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tensors and arrays: what is known of one, where its elements lie, how they are read. Hides the
 * ways to that: torch's layout, the shim, numpy, buffers, DLPack, memory that may go away.
 */
#ifndef WTI_PYTHON_TENSOR_TENSOR_H
#define WTI_PYTHON_TENSOR_TENSOR_H

#include "python/core/pyagent.h"

#include "digest/digest.h"

/* ---- tensor.c, layout.c, array.c, read.c, guarded.c ------------------------------------------ */

enum { WTI_RANK_MAX = 64 };

struct wti_tensor {
	const void *data; /* NULL: not to be read */
	uint32_t dtype;   /* enum wt_dtype */
	uint32_t item_bytes;
	uint32_t rank;
	bool is_packed;    /* in row-major order without holes */
	bool is_conjugate; /* what is in memory has yet to be conjugated, or negated */
	bool is_negative;
	bool is_guarded; /* its memory may go away at any moment */
	bool requires_grad;
	uint64_t count;
	struct wt_name *device; /* NULL: not known */
	struct wt_name *kind;   /* NULL: elements in memory; otherwise what it is instead */
	int64_t sizes[WTI_RANK_MAX];
	int64_t strides[WTI_RANK_MAX]; /* in elements, or bytes for buffers: see stride_unit */
	uint32_t stride_unit;          /* bytes that a stride of 1 means */
	bool is_late;                  /* emitted after what it belongs to */
	bool is_hash_alone;            /* emitted without statistics */
	PyObject *object;              /* that was looked at, borrowed; NULL: not known */
	const char *impl;              /* torch's, where it was read by layout; otherwise NULL */
	const void *parameter;         /* whose gradient it is, if nobody holds it; its impl */
	Py_buffer *buffer;             /* to be released; NULL: none */
};

/* False with an exception. */
bool wti_tensor_init(void);
/* torch._C._TensorBase, torch.Tensor and torch.nn.Parameter. */
void wti_tensor_set_types(PyObject *base, PyObject *tensor, PyObject *parameter);
bool wti_tensor_is(PyObject *object);
/* Of a type whose attributes are torch's own: to ask others would run the program's code. */
bool wti_tensor_is_tame(PyObject *tensor);
/* Looks at a tensor or an array. False: it is neither. */
bool wti_tensor_look(PyObject *object, struct wti_tensor *ret, Py_buffer *room);
void wti_tensor_release(struct wti_tensor *tensor);
/* That alone, of a tensor of torch's. False: not to be asked without running the program's code. */
bool wti_tensor_requires_grad(PyObject *object, bool *ret);
/* True if extents and strides say that elements lie in row-major order without holes. */
bool wti_tensor_is_packed(const struct wti_tensor *tensor);
/* Reads it. False: it cannot be read. Needs no lock, as the next two. */
bool wti_tensor_digest(const struct wti_tensor *tensor, struct wt_digest *ret);
/* The same, with statistics that are kept for a while; needs the lock. */
bool wti_recent_digest(const struct wti_tensor *tensor, struct wt_digest *ret);
/* Its elements are digested where they lie and as they lie: nothing has to be copied. */
bool wti_tensor_is_direct(const struct wti_tensor *tensor);
bool wti_tensor_hash(const struct wti_tensor *tensor, uint64_t *ret_hash);
/* False: it cannot be read. */
bool wti_tensor_is_zero(const struct wti_tensor *tensor, bool *ret_is_zero); /* zero.c */
/* The same of one that has just been digested, which is not read again where that is enough. */
bool wti_tensor_is_zero_by(const struct wti_tensor *tensor, const struct wt_digest *digest,
			   bool *ret_is_zero);
/* Elements from first to last, a piece at a time; false of `take` ends it. */
typedef bool wti_take_bytes(void *self, const void *bytes, size_t count);
bool wti_tensor_bytes(const struct wti_tensor *tensor, wti_take_bytes *take, void *self);

/* Looks at an array: numpy's, or whatever has a buffer or DLPack's exchange interface. */
bool wti_array_look(PyObject *object, struct wti_tensor *ret, Py_buffer *room);

/* Scalars of this type have their value right behind the object's head: they are read there. */
void wti_scalar_learn(const PyTypeObject *type, uint32_t dtype);
/* Of a type that was learned: its dtype; otherwise OTHER. */
uint32_t wti_scalar_dtype(PyObject *object);
bool wti_scalar_is(PyObject *object);

/* True if another thread may be running that could free what we read. */
bool wti_must_guard(void);
/* Copies memory that may not be there. False: it is not. */
bool wti_guarded_copy(void *to, const void *from, size_t bytes);
/* Copies `count` elements that lie `stride` bytes apart. */
bool wti_guarded_gather(char *to, const char *from, size_t count, int64_t stride,
			size_t item_bytes);

struct wti_tensor_names {
	struct wt_name *owner; /* or NULL */
	struct wt_name *name;  /* or NULL */
	uint32_t call;
	int32_t position;
	struct wt_name *shape; /* or NULL: to be put together */
};
/* `digest` NULL: emitted without having been read. */
void wti_tensor_emit(const struct wti_tensor *tensor, const struct wti_tensor_names *names,
		     const struct wt_digest *digest);
/* What a sparse tensor is made of: indices and values, as tensors under its name. */
void wti_tensor_emit_parts(PyObject *object, const struct wti_tensor *whole,
			   const struct wti_tensor_names *names, uint64_t bytes_max);

/* Asks for a copy of a tensor that lies elsewhere. Only within the interpreter's lock. */
void wti_late_begin(const struct wti_tensor *tensor, const struct wti_tensor_names *names);
/* Emits what has been copied meanwhile for this thread. */
void wti_late_poll(void);

bool wti_layout_known(void);
/* probes: a list of (tensor, impl, storage impl, data, bytes, sizes, strides, offset, dtype, item,
 * requires_grad). False with an exception. */
bool wti_layout_learn(PyObject *probes);
bool wti_layout_read(PyObject *tensor, struct wti_tensor *ret);
/* The same of an implementation that nobody holds for us, and that may go away while it is read. */
bool wti_layout_read_loose(const void *impl, struct wti_tensor *ret);
/* False: while its memory was read, it was given another, or other extents, or went away. */
bool wti_layout_holds(const struct wti_tensor *tensor);

/* ---- shape.c -------------------------------------------------------------------------------- */

/* "3x4" */
struct wt_name *wti_shape_name(const struct wti_tensor *tensor);

/* ---- seen.c --------------------------------------------------------------------------------- */

struct wti_shim_tensor;

/* Compares what the shim sees of tensors with what they are; probes as for the layout. Only then it
 * is believed. False with an exception. */
bool wti_seen_check(PyObject *probes);
/* Needs no lock. */
bool wti_seen_tensor(const struct wti_shim_tensor *seen, struct wti_tensor *ret);
/* As wti_layout_read(). False: there is no shim, or it is no plain tensor. */
bool wti_seen_look(PyObject *tensor, struct wti_tensor *ret);
/* False: there is no shim. */
bool wti_seen_requires_grad(PyObject *tensor, bool *ret);
bool wti_seen_is_leaf(PyObject *tensor, bool *ret);
/* The gradient, without making an object for it. False: it has none that can be read so. */
bool wti_seen_grad(PyObject *tensor, struct wti_tensor *ret);
/* False: its parameter has another gradient by now. Of what is no gradient: true. */
bool wti_seen_grad_holds(const struct wti_tensor *grad);

#endif
