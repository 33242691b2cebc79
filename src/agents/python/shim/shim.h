/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the Python agent and its shim agree on. The shim is a small library in C++ that is built
 * against one torch, and knows torch's types so that the agent need not: it watches what torch runs
 * below Python, and looks at tensors without asking Python. The agent writes all records.
 *
 * Nothing here needs the interpreter's lock, throws, allocates or keeps a tensor alive, unless it
 * says so. Structs are read by both sides as they stand: WTI_SHIM_VERSION changes with them, and
 * a shim of another version, or of another torch, is not used.
 */
#ifndef WTI_PYTHON_SHIM_SHIM_H
#define WTI_PYTHON_SHIM_SHIM_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WTI_SHIM_VERSION 3u
#define WTI_SHIM_ENTRY "wt_torch_shim" /* a function: const struct wti_shim *(void) */

/* What is watched: bits of one word. */
enum {
	WTI_SHIM_BACKWARD = 1,  /* nodes of the autograd graph, as they run */
	WTI_SHIM_REGIONS = 2,   /* record_function() and what libraries name with it */
	WTI_SHIM_OPERATORS = 4, /* every operator that is dispatched */
	WTI_SHIM_OUTPUTS = 8,   /* what operators within backward return */
	WTI_SHIM_NOISE = 16,    /* what outermost operators return is given to be perturbed */
};

/* Modes of a thread: bits of one word. */
enum {
	WTI_SHIM_GRAD = 1,
	WTI_SHIM_AUTOCAST = 2, /* for any device */
	WTI_SHIM_INFERENCE = 4,
};

/* An operator that begins. */
struct wti_shim_operator {
	const char *name; /* of this moment only */
	uint32_t scope;   /* enum wt_operator_scope */
	uint64_t thread;  /* of nodes: torch's number of the thread that made them */
	int64_t sequence; /* of nodes: their number on that thread; -1: none */
};

/* Beyond this many extents a tensor is not looked at. */
#define WTI_SHIM_RANK_MAX 64u

struct wti_shim_tensor {
	const char *storage;    /* where its storage begins; NULL: it has none */
	uint64_t storage_bytes; /* how large that is */
	uint64_t offset;        /* of the first element within it, in elements */
	uint64_t count;
	uint64_t version;       /* how often it was written in place; UINT64_MAX: not counted */
	const int64_t *sizes;   /* torch's own, of this moment */
	const int64_t *strides; /* in elements */
	uint32_t rank;
	uint32_t dtype; /* enum wt_dtype */
	uint32_t item_bytes;
	bool requires_grad;
};

/* What the agent wants back of an operator that it has emitted. */
struct wti_shim_emitted {
	void *name;   /* NULL: it was not emitted */
	uint32_t seq; /* of its record */
};

/* The agent's side. What was not emitted has no nodes, outputs or end. */
struct wti_shim_host {
	void (*begin)(const struct wti_shim_operator *op, struct wti_shim_emitted *ret);
	/* Nodes [from, to) were made on this thread since it began. */
	void (*nodes)(const struct wti_shim_emitted *emitted, uint64_t from, uint64_t to);
	/* What it returns; positions count from 0. */
	void (*output)(const struct wti_shim_emitted *emitted, const struct wti_shim_tensor *tensor,
		       uint32_t position);
	void (*end)(const struct wti_shim_emitted *emitted, bool is_thrown);
	/* Work that ends on whatever thread; the handle joins begin and end. */
	void (*async)(const char *name, bool is_end, uint64_t handle);
	/* What an outermost operator returns, and no view: it may be written, in memory alone,
	 * until this returns. `node`: of backward, within which it ran; empty: in none. */
	void (*perturb)(const char *node, const char *op, const struct wti_shim_tensor *tensor,
			uint32_t position);
};

/* The shim's side. Tensors are given as torch's implementation of them (`tensor._cdata`). */
struct wti_shim {
	uint32_t version;     /* WTI_SHIM_VERSION */
	const char *identity; /* of the torch that it was built for */
	/* Begins, changes or, with 0, ends watching. With the interpreter's lock. */
	bool (*watch)(const struct wti_shim_host *host, uint32_t what);
	/* The number that the next node made on this thread will have. */
	uint64_t (*sequence)(void);
	/* torch's number of this thread. */
	uint64_t (*thread)(void);
	/* False: not plain memory of the CPU (sparse, conjugated, wrapped, on another device ...).
	 */
	bool (*look)(const void *impl, struct wti_shim_tensor *ret);
	bool (*requires_grad)(const void *impl);
	/* The implementation of its gradient, or NULL. No Python object is made. */
	const void *(*grad)(const void *impl);
	/* It was not made by an operator that autograd knows of. */
	bool (*is_leaf)(const void *impl);
	/* Of this thread: WTI_SHIM_GRAD and the others. */
	uint32_t (*modes)(void);
};

#ifdef __cplusplus
}
#endif

#endif
