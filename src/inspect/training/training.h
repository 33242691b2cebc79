/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A training run as one would describe it: processes with models, optimizers and parameters, and
 * moments at which something happens to them. Made from events in their order; rules ask this and
 * need not know how a trace records it.
 *
 * State is bounded: what is kept grows with the number of parameters and objects, not with steps.
 */
#ifndef WTI_INSPECT_TRAINING_H
#define WTI_INSPECT_TRAINING_H

#include "base/pairs.h"
#include "base/steady.h"
#include "callees.h"
#include "calls.h"

enum wti_grad {
	WTI_GRAD_UNKNOWN,
	WTI_GRAD_NONE,
	WTI_GRAD_ZERO,
	WTI_GRAD_NONZERO,
};

/* How a module was called, bits. */
enum wti_use {
	WTI_USE_GRAD = 1,     /* with gradients on, once at least */
	WTI_USE_SHUT_OFF = 2, /* the last time: without, inside of a module that had them on */
	WTI_USE_MASK = 3,     /* above these, from bit 32 on: the site of the first such call */
};

enum { WTI_GROUPS_MAX = 32 }; /* groups of an optimizer beyond that have no known learning rate */

struct wti_object {
	size_t stream;
	uint32_t place; /* in objects */
	uint32_t name;  /* symbols */
	uint32_t class_name;
	uint32_t of;   /* what it wraps, schedules, was copied from */
	uint64_t born; /* when it became known, counted over objects and parameters */
	uint32_t type; /* enum wt_object_type */
	uint32_t how;  /* enum wt_found */
	uint32_t site;
	/* of optimizers */
	uint64_t step_count;
	uint64_t zero_grad_count;
	uint64_t backward_count;                 /* since its last step */
	uint64_t zero_grad_count_after_backward; /* since the last backward() of its process */
	uint32_t replaced; /* a parameter that its module has replaced since: place plus one */
	bool has_closure;  /* it runs backward() inside of its steps */
	double lr[WTI_GROUPS_MAX];
	uint32_t lr_known; /* a bit for each group */
	uint32_t *members; /* places in parameters */
	uint32_t member_count;
	size_t member_capacity;
	/* of what is called: modules, loaders, schedulers */
	uint64_t call_count;
};

struct wti_parameter {
	size_t stream;
	uint32_t place; /* in parameters */
	uint32_t owner; /* symbols */
	uint32_t name;
	uint32_t module; /* that has it, as calls name it: Net.fc1 of fc1.weight in Net */
	uint64_t born;
	uint32_t shape;
	uint32_t placement; /* none: the whole tensor is here */
	uint32_t dtype;     /* enum wt_dtype */
	uint32_t optimizer; /* object plus one; 0: in none */
	uint32_t group;
	bool is_buffer;
	bool is_member; /* of a module */
	bool is_empty;  /* it has no element here */
	bool requires_grad;
	bool has_hash;
	bool moved;       /* in its optimizer's last step */
	bool grad_is_new; /* recorded since its optimizer's last step */
	uint64_t hash;
	uint64_t first_hash; /* the first that was known: before its optimizer's first step */
	enum wti_grad grad;  /* before its optimizer's last step */
	uint64_t grad_hash;
	uint64_t step_count; /* of its optimizer, while it was a member */
	uint64_t moved_count;
	uint64_t any_grad_count;  /* steps with any gradient */
	uint64_t with_grad_count; /* steps with a gradient that was not all zeros */
	bool has_statistics, has_grad_statistics;
	struct wti_digest_row statistics; /* the last that were recorded */
	struct wti_digest_row grad_statistics;
};

struct wti_trained_process {
	size_t stream;
	const struct wt_reader *reader; /* its definitions */
	struct wti_scope scope;         /* where it last was */
	int64_t last_epoch;             /* the highest; -1: not known */
	uint64_t step_count;            /* of all optimizers */
	uint64_t backward_count;
	uint64_t call_count;
	uint32_t omitted; /* enum wt_thinned_flags: was left out at some time, so that no memory is
			     whole */
	bool has_loss;
	double loss;
	uint32_t stepping;         /* the optimizer whose states are coming in, plus one */
	struct wti_call step_call; /* without its values: where that step was called */
};

enum wti_moment_type {
	WTI_MOMENT_OBJECT = 1 << 0, /* one was found */
	WTI_MOMENT_MEMBER = 1 << 1, /* a parameter became known, or something about it changed */
	WTI_MOMENT_MODULE = 1 << 2, /* a module is called; call->flags say how */
	WTI_MOMENT_MODULE_END = 1 << 3, /* and has returned */
	WTI_MOMENT_BACKWARD = 1 << 4,   /* begins */
	WTI_MOMENT_BACKWARD_END = 1 << 5,
	WTI_MOMENT_STEP = 1 << 6,      /* of an optimizer begins: gradients are known */
	WTI_MOMENT_STEPPED = 1 << 7,   /* its outcome is known */
	WTI_MOMENT_ZERO_GRAD = 1 << 8, /* of an optimizer, or of a module that clears its too */
	WTI_MOMENT_SCHEDULER = 1 << 9, /* has stepped */
	WTI_MOMENT_SCALER = 1 << 10,   /* a method of a loss scaler has returned */
	WTI_MOMENT_BATCH = 1 << 11,    /* a loader has given one */
	WTI_MOMENT_SAVE = 1 << 12,
	WTI_MOMENT_LOAD = 1 << 13,
	WTI_MOMENT_CALL = 1 << 14,      /* any call has ended */
	WTI_MOMENT_STATE = 1 << 15,     /* a value that is no parameter has changed */
	WTI_MOMENT_GRADIENTS = 1 << 16, /* how many of an optimizer's there are */
	WTI_MOMENT_LOSS = 1 << 17,
	WTI_MOMENT_ROW = 1 << 18,    /* of a batch */
	WTI_MOMENT_TENSOR = 1 << 19, /* statistics of a state */
	WTI_MOMENT_LOST = 1 << 20,
};

enum { WTI_MOMENT_TYPES = 21 };

struct wti_training;

/* What is not known of a moment is NULL or 0. */
struct wti_moment {
	enum wti_moment_type type;
	const struct wti_training *training;
	const struct wti_trained_process *process;
	struct wti_scope scope;
	const struct wti_call *call;   /* of which it is a moment */
	const struct wti_call *parent; /* around that */
	const struct wti_object *object;
	const struct wti_parameter *parameter;
	const struct wt_event *event; /* for what is not in here */
	uint32_t attribute;           /* of a state: its name, a symbol */
	uint32_t owner;
	double number;                /* of a loss, of a state that is a number */
	uint64_t count;               /* of what was lost */
	struct wti_digest_row digest; /* of a tensor */
};

struct wti_where {
	const char *file;
	int64_t line;
	const char *op;
	const char *stage;
};

struct wti_training {
	struct wti_symbols *symbols;
	struct wti_calls calls;
	/* Moments and rules keep pointers to what is in these three. */
	struct wti_steady processes; /* struct wti_trained_process, by stream */
	struct wti_steady objects;
	struct wti_steady parameters;
	struct wti_map object_index;      /* stream and name: place plus one */
	struct wti_pairs parameter_index; /* stream and owner, name: place plus one */
	struct wti_pairs place_index;     /* stream and optimizer, place in it */
	uint32_t *placed;                 /* by place_index: the parameter there, plus one */
	size_t placed_capacity;
	struct wti_pairs parts; /* stream and model, another whose parameters it has too */
	struct wti_map used;    /* stream and name of modules that were called: enum wti_use */
	struct wti_map rates;   /* stream and name of dropouts: 1 if they drop nothing, or 2 */
	struct wti_callees callees;
	uint64_t births;
	uint64_t overflow_count; /* objects and parameters that found no room */
	void (*report)(void *self, const struct wti_moment *moment);
	void *self;
};

int wti_training_init(struct wti_training *training,
		      void (*listen)(void *self, const struct wti_moment *moment), void *self,
		      struct wt_err *err);
void wti_training_release(struct wti_training *training);
int wti_training_event(struct wti_training *training, const struct wt_event *event,
		       struct wt_err *err);
/* The trace ends here: what was pending is reported. */
void wti_training_finish(struct wti_training *training);

/* ---- Asking --------------------------------------------------------------------------------- */

/* By place, which has to be below the count. */
static inline struct wti_trained_process *wti_process_at(const struct wti_training *training,
							 size_t place)
{
	return wti_steady_at(&training->processes, place, sizeof(struct wti_trained_process));
}

static inline struct wti_object *wti_object_at(const struct wti_training *training, size_t place)
{
	return wti_steady_at(&training->objects, place, sizeof(struct wti_object));
}

static inline struct wti_parameter *wti_parameter_at(const struct wti_training *training,
						     size_t place)
{
	return wti_steady_at(&training->parameters, place, sizeof(struct wti_parameter));
}

/* The end of a run, as a moment of a process; where its last step was called. */
struct wti_moment wti_moment_of_end(const struct wti_training *training, size_t stream);
/* The moment at which an object was made. */
struct wti_moment wti_moment_of_object(const struct wti_training *training,
				       const struct wti_object *object);
/* What a scheduler schedules; NULL: that is not known. */
const struct wti_object *wti_optimizer_of(const struct wti_training *training,
					  const struct wti_object *scheduler);
/* All of an optimizer's schedulers, one after the other; NULL: there are no more. `place` is 0 in
 * the beginning. */
const struct wti_object *wti_scheduler_next(const struct wti_training *training,
					    const struct wti_object *optimizer, size_t *place);
/* The first of the optimizer's schedulers, of that class unless it is NULL; NULL: it has none. */
const struct wti_object *wti_scheduler_of(const struct wti_training *training,
					  const struct wti_object *optimizer,
					  const char *class_name);
struct wti_where wti_moment_where(const struct wti_moment *moment);
/* Its call, to be kept: without values, and with the line of the program that made it. */
struct wti_call wti_moment_call(const struct wti_moment *moment);
/* Whether the module that has it was called with gradients on. */
bool wti_parameter_is_used(const struct wti_training *training,
			   const struct wti_parameter *parameter);
/* Whether a dropout has a rate of 0, so that its mode makes no difference. */
bool wti_dropout_is_idle(const struct wti_training *training, size_t stream, uint32_t module);
/* Whether a model is part of another one, by its parameters. */
bool wti_model_is_part_of(const struct wti_training *training, size_t stream, uint32_t part,
			  uint32_t whole);
/* Whether it has two dimensions or more: a bias and the scale of a normalisation have one. */
bool wti_parameter_is_matrix(const struct wti_training *training,
			     const struct wti_parameter *parameter);
/* Of the call of a module: a model as a whole, rather than a part of one or a loss. */
bool wti_is_model_call(const struct wti_call *call);
/* Whether it was last called without, inside of a module that had them on. */
bool wti_parameter_is_shut_off(const struct wti_training *training,
			       const struct wti_parameter *parameter);
/* The first call of the module that has it, of that kind; without a site if there was none. */
struct wti_call wti_parameter_use(const struct wti_training *training,
				  const struct wti_parameter *parameter);
/* Whether one of an optimizer's parameters belongs to such a module. */
bool wti_optimizer_is_used(const struct wti_training *training, const struct wti_object *optimizer);
/* The learning rate of its group; false: not known. */
bool wti_parameter_lr(const struct wti_training *training, const struct wti_parameter *parameter,
		      double *ret_lr);
/* An optimizer's parameter. */
const struct wti_parameter *wti_object_member(const struct wti_training *training,
					      const struct wti_object *object, uint32_t index);
const struct wti_object *wti_training_object(const struct wti_training *training, size_t stream,
					     uint32_t name);
/* "Net.fc1" -> "Net": an object that was found by itself. */
uint32_t wti_root_of(const struct wti_training *training, uint32_t module);
const char *wti_moment_text(const struct wti_moment *moment, uint32_t symbol);
bool wti_stage_is(const struct wti_moment *moment, const char *stage);
/* A module's call in training mode with gradients on; one in evaluation mode. Neither: its mode is
 * not known, or nothing is learned from it. */
bool wti_is_training_call(const struct wti_call *call);
bool wti_is_evaluation_call(const struct wti_call *call);
/* Of a moment of a loader: it is begun anew, iter(loader), and gives no batch yet. */
bool wti_loader_is_begun(const struct wti_moment *moment);
/* The class that a loss leaves out where its call says so: ignore_index. */
double wti_ignored_class(const struct wti_moment *moment);

/*
 * Of a moment of saving or loading: arrays of numpy, which are data as often as parameters. They
 * are no checkpoint that training goes on from.
 */
bool wti_is_of_arrays(const struct wti_moment *moment);

/* Whether an optimizer has stepped parameters of this model, or of this part of one (Net.body). */
bool wti_model_is_trained(const struct wti_training *training, size_t stream, uint32_t model);
/* Whether a wrapper keeps replicas of this model equal on all ranks, and whether this is one. */
bool wti_model_is_replicated(const struct wti_training *training, size_t stream, uint32_t model);
bool wti_object_replicates(const struct wti_training *training, const struct wti_object *object);
/* All its own parameters, at least one, do not require a gradient. */
bool wti_module_is_frozen(const struct wti_training *training, size_t stream, uint32_t module);

#endif
