/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of this room, for its own files.
 */
#ifndef WTI_PYTHON_TENSOR_OWN_H
#define WTI_PYTHON_TENSOR_OWN_H

#include "tensor.h"

enum {
	WTI_TENSOR_KINDS_MAX = 128,
	WTI_PROBES_MAX = 64,
	WTI_SCALARS_MAX = 8,
	WTI_RECENTS = 256,  /* a power of two; a newcomer replaces what was there */
	WTI_SHAPES = 1024,  /* likewise */
	WTI_SHAPE_RANK = 6, /* shapes of a higher rank are put together each time */
};

/* A tensor that the Python side has made, and what it is: see layout.c. */
struct wti_layout_probe {
	const char *object;
	const char *impl;
	const char *storage;
	uint64_t data;
	uint64_t bytes;
	uint64_t offset;
	uint64_t count;
	uint32_t rank;
	uint32_t dtype;
	uint32_t kind; /* probes of the same kind have the same keys, others have others */
	int64_t sizes[8];
	int64_t strides[8];
};

/* Where torch keeps what; offsets in bytes. */
struct wti_tensor_layout {
	bool is_known;
	int impl;    /* in the Python object */
	int storage; /* in the implementation, as those that follow */
	int rank;
	int sizes;
	int offset;
	int count;
	int code;
	int keys;
	int data; /* in the storage, as the next */
	int bytes;
	size_t impl_bytes; /* of an implementation that have to be looked at */
};

/* What a combination of dispatch keys and type code means. */
struct wti_tensor_kind {
	uint64_t keys;
	uint32_t code;
	uint32_t dtype;
	uint32_t item_bytes;
	bool is_readable;
	bool is_conjugate;
	bool is_negative;
	struct wt_name *device;
	struct wt_name *name; /* of what cannot be read: what it is */
};

enum { WTI_PENDING_MAX = 256 };

struct wti_pending {
	PyObject *copy; /* wheeltap._device.Copy, owned */
	struct wti_tensor_names names;
	struct wt_name *device;
	uint32_t dtype;
	uint32_t item_bytes;
	uint64_t count;
	uint32_t tid;
	uint32_t generation; /* of the process: a child must not touch its parent's device */
	bool requires_grad;
};

struct wti_kept_digest {
	struct wt_digest digest;
	uint32_t dtype;
	bool is_set;
};

struct wti_named_shape {
	struct wt_name *name;
	uint32_t rank;
	int64_t sizes[WTI_SHAPE_RANK];
};

struct wti_tensor_state {
	PyTypeObject *tensor_type;    /* torch._C._TensorBase, or NULL */
	PyTypeObject *plain_types[2]; /* torch.Tensor and torch.nn.Parameter */
	struct {
		PyObject *requires_grad;
		PyObject *torch_function;
		PyObject *exchange;
		PyObject *buffer;
	} words;                 /* interned */
	int seen_impl;           /* where a tensor object keeps its implementation; 0: not known */
	bool is_guard_forbidden; /* the kernel does not copy for us */
	struct wti_tensor_layout layout;
	size_t kind_count;
	struct wti_tensor_kind kinds[WTI_TENSOR_KINDS_MAX];
	struct wti_layout_probe probes[WTI_PROBES_MAX]; /* while the layout is learned */
	struct {
		PyTypeObject *type; /* numpy.ndarray; NULL: not seen yet */
		bool is_other;      /* arrays are not as they should be */
		uint32_t checked_count;
	} arrays;
	struct {
		const PyTypeObject *types[WTI_SCALARS_MAX];
		uint32_t dtypes[WTI_SCALARS_MAX];
		uint32_t count;
	} scalars; /* of numpy's, behind whose head the value lies */
	struct {
		struct wti_pending items[WTI_PENDING_MAX];
		uint32_t count;
		bool is_busy;
	} late;
	struct wti_kept_digest recents[WTI_RECENTS];
	_Alignas(64) struct wti_named_shape shapes[WTI_SHAPES]; /* each has a line of the cache */
};

extern struct wti_tensor_state wti_tensor_state WTI_HIDDEN;

#endif
