/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of this room, for its own files.
 */
#ifndef WTI_PYTHON_TORCH_OWN_H
#define WTI_PYTHON_TORCH_OWN_H

#include "torch.h"

enum {
	WTI_MODES = 4,
	WTI_GENERATORS_MAX = 4,
	WTI_ROWS_KEPT = 512, /* of a tensor that are emitted */
	WTI_ROWS_RECENT = 8,
	WTI_THREAD_NUMBERS = 4096, /* torch counts threads from 1 and uses no number twice */
};

/* A random number generator: see random.c. */
struct wti_generator {
	struct wt_name *name;
	PyObject *owner; /* kept: the program may put another in its place */
	const char *begin;
	uint32_t bytes;
	uint64_t quick;      /* of the last reading */
	uint32_t generation; /* of the process in which that was */
};

/* Rows of contents not long ago: a batch becomes the input of a model, and is not read again. */
struct wti_data_rows {
	uint64_t content; /* hash of the whole; 0: none */
	uint32_t count;   /* rows of the whole */
	uint32_t kept_count;
	uint32_t indexes[WTI_ROWS_KEPT];
	uint64_t hashes[WTI_ROWS_KEPT];
};

/* What has happened: see context.c. Loaders by the name they have for good. */
struct wti_context_seen {
	const struct wt_name *loader; /* that gave the last batch */
	uint64_t rounds;              /* of it */
	uint64_t newest_loader;       /* by its order, plus one, when the last epoch began */
	const struct wt_name *training_loader;
	struct wti_live *model; /* called last; believed only if it is found again */
	PyObject *model_object;
	PyObject *trained; /* called last before the last backward; only compared */
	bool has_stepped;  /* an optimizer */
	uint64_t newest;   /* of optimizers, by its order, when the last step began or was joined */
	bool is_backward_done; /* since the last step */
	uint64_t backward_count;
};

struct wti_torch_state {
	struct {
		PyObject *grad;
		PyObject *is_leaf;
		PyObject *training;
		PyObject *forward;
		PyObject *last_epoch;
		PyObject *last_lr;
		PyObject *scale;
		PyObject *growth_tracker;
		PyObject *per_optimizer_states;
		PyObject *found_inf_per_device;
	} words;                    /* interned */
	PyTypeObject *module_type;  /* torch.nn.Module, or NULL */
	PyObject *modes[WTI_MODES]; /* functions that return whether a mode is on, or NULL */
	PyObject *override_count;   /* torch's, of function modes on this thread, or NULL */
	PyObject *overrides_off;    /* torch's context that leaves them out */
	uint64_t step;              /* see context.c, as the next two */
	uint64_t epoch;             /* UINT64_MAX: none yet */
	const char *stage;          /* a literal */
	bool is_loaded_anew;        /* a model was loaded, and none has been called since */
	bool is_step_given;         /* the program itself gives the step */
	bool is_stage_given;
	bool is_graph_noted; /* that there are graphs into which we do not see */
	struct wti_context_seen seen;
	uint32_t generator_count;
	struct wti_generator generators[WTI_GENERATORS_MAX];
	uint32_t rows_next;
	struct wti_data_rows rows[WTI_ROWS_RECENT];
	struct {
		struct wti_thread_note *_Atomic by_number[WTI_THREAD_NUMBERS];
		_Atomic uint32_t count;
	} threads; /* see threads.c */
};

extern struct wti_torch_state wti_torch_state WTI_HIDDEN;

#endif
