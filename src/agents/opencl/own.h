/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the OpenCL layer share: the driver's functions, the objects that are known by
 * their handles, and the way of a command from its call to its times. docs/opencl.md describes what
 * is recorded.
 */
#ifndef WTI_AGENTS_OPENCL_OWN_H
#define WTI_AGENTS_OPENCL_OWN_H

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_0_APIS
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define CL_USE_DEPRECATED_OPENCL_2_0_APIS
#define CL_USE_DEPRECATED_OPENCL_2_1_APIS
#define CL_USE_DEPRECATED_OPENCL_2_2_APIS
#include <CL/cl.h>
#include <CL/cl_icd.h>
#include <pthread.h>

#include "emit.h"
#include "common/guest.h"

#pragma GCC visibility push(hidden)

/* The one state of the layer. */
struct wti_cl {
	const struct wti_services *agent; /* whose guest we are */
	cl_icd_dispatch real;             /* what comes below us; NULL: the driver has none */
	cl_icd_dispatch ours;
	bool is_loaded;
	uint32_t pid;    /* a child of fork has neither our threads nor our work */
	bool replayable; /* keep contents and arguments */
	bool stacks;     /* and from where commands were enqueued */
	_Atomic uint64_t number_last;
};
extern struct wti_cl wti_cl;

/* Correlations and ids of objects, unique in the process: above those of other sources. */
uint64_t wti_cl_number(void);

static inline struct wti_here wti_cl_here(void)
{
	return wti_cl.agent->here();
}

uint64_t wti_cl_ticks(void);

/* ---- locks.c: all locks of the layer, so that a child of fork() can open them
 * --------------------
 */

enum wti_cl_lock {
	WTI_CL_LOCK_LOOKING, /* held while the thread of the harvest calls the driver */
	WTI_CL_LOCK_QUEUES,
	WTI_CL_LOCK_DEVICES,
	WTI_CL_LOCK_EVENTS,
	WTI_CL_LOCK_ENDED,
	WTI_CL_LOCK_MAPPINGS,
	WTI_CL_LOCK_SVM,
	WTI_CL_LOCK_EXTENSIONS,
	WTI_CL_LOCK_STATES,
	WTI_CL_LOCK_KERNELS, /* by the address of what is locked, from here on */
	WTI_CL_LOCK_OBJECTS = WTI_CL_LOCK_KERNELS + 16,
	WTI_CL_LOCKS = WTI_CL_LOCK_OBJECTS + 64,
};

void wti_cl_lock(unsigned which);
void wti_cl_unlock(unsigned which);
/* False: not within a second. For the end of the process, which must come. */
bool wti_cl_lock_soon(unsigned which);
bool wti_cl_mutex_soon(pthread_mutex_t *mutex);
/* In a child of fork(), which has none of the threads that may hold them. */
void wti_cl_locks_reset(void);

/* ---- objects.c: handles ---------------------------------------------------------------------- */

struct wti_cl_object {
	struct wti_cl_object *next; /* in its bucket */
	void *handle;
	_Atomic uint32_t users; /* who has a pointer to it; the table is one */
	uint32_t references;    /* of the program */
	uint32_t type;          /* enum wt_device_object_type */
	uint32_t device;
	uint64_t id;
	uint64_t parent;
	uint64_t root;   /* whose memory it is: itself, or of a sub-buffer its parent */
	uint64_t offset; /* in the root */
	uint64_t bytes;
	uint64_t flags;
	void *more; /* struct wti_cl_queue, _kernel, _program; or NULL */
	void (*more_free)(void *more);
};

/* What is known of an object when it is created. */
struct wti_cl_new {
	uint32_t type;
	uint32_t device;
	struct wt_name *name;
	uint64_t parent;
	uint64_t offset;
	uint64_t bytes;
	uint64_t flags;
	uint64_t hash;
	const void *details;
	uint32_t details_bytes;
	void *more;
	void (*more_free)(void *more);
};

/* Adds it and emits that it was created; its id, 0 without a handle. Takes `more`. */
uint64_t wti_cl_object_add(void *handle, const struct wti_cl_new *about);
/* NULL: not known. To be given back. */
struct wti_cl_object *wti_cl_object_get(const void *handle);
void wti_cl_object_put(struct wti_cl_object *object);
/* Its id; 0: not known. */
uint64_t wti_cl_object_id(const void *handle);
/* The program has one reference more, or less: the last one forgets it, and emits that. */
void wti_cl_object_retain(const void *handle);
void wti_cl_object_release(const void *handle);
/* All that there are, each held meanwhile. */
void wti_cl_objects_see(void (*see)(void *cookie, const struct wti_cl_object *object),
			void *cookie);
/* Something else that happened to it. */
void wti_cl_object_emit(const struct wti_cl_object *object, uint32_t phase,
			const struct wti_cl_new *about, uint64_t duration_ns);

/* ---- device.c: devices and their clocks ------------------------------------------------------ */

struct wti_cl_device {
	cl_device_id handle;
	uint32_t number;
	uint32_t clock; /* domain of its time stamps; 0: not known */
};

/* The number of a device, given at first sight. */
uint32_t wti_cl_device_number(cl_device_id device);
/* Now, in each clock of the system; and which of them a domain is, -1: none. */
enum { WTI_CL_CLOCKS = 3 };
void wti_cl_clocks_read(uint64_t ret_ns[WTI_CL_CLOCKS]);
int wti_cl_clock_index(uint32_t domain);
/* The clock of a device; probes it at first use, on a queue of its own. 0: not known. */
uint32_t wti_cl_device_clock(cl_context context, cl_device_id device);
/* Of a clock that is the device's own: a new pair, if the last one is old. Waits for the device. */
struct wti_cl_queue;
void wti_cl_device_pair(const struct wti_cl_queue *queue);

/* ---- queue.c ------------------------------------------------------------------------------- */

struct wti_cl_pending { /* a command whose end is awaited */
	cl_event event;
	uint64_t correlation;
	struct wt_name *name;
	struct wt_name *geometry;
	uint64_t bytes;
	uint32_t op;
	struct wti_cl_first *first; /* launch of this kernel with this geometry; otherwise NULL */
};

struct wti_cl_pendings {
	struct wti_cl_pending *all;
	size_t first, count, capacity; /* `count` of them, from `first` on */
};

struct wti_cl_queue {
	struct wti_cl_queue *next; /* of all that may have commands */
	cl_command_queue handle;
	uint32_t track;
	uint32_t device;
	uint32_t clock; /* 0: times are not known */
	bool profiled;  /* by the program's own wish */
	bool is_ordered;
	bool has_array;                /* the program gave its properties as an array */
	cl_queue_properties asked[16]; /* that array, with its 0 */
	size_t asked_count;
	_Atomic uint64_t correlation_last;
	_Atomic bool is_dead; /* the program has let go of it */

	pthread_mutex_t lock; /* of incoming */
	struct wti_cl_pendings incoming;
	pthread_mutex_t harvest_lock; /* of waiting and ended_last; taken before the other */
	struct wti_cl_pendings waiting;
	size_t looked; /* of a queue without order: how far the thread has come with looking */
	uint64_t ended_last;
};

/* ---- harvest.c: what has become of commands -------------------------------------------------- */

/* From here on its commands are harvested. */
void wti_cl_harvest_queue(struct wti_cl_queue *queue);
/* Takes over a reference to the event. */
void wti_cl_harvest_later(struct wti_cl_queue *queue, const struct wti_cl_pending *pending);
/* Emits what has ended, and lets go of its events; of very many not all, but this one, unless it is
 * NULL. */
void wti_cl_harvest(struct wti_cl_queue *queue, cl_event event);
void wti_cl_harvest_all(void);
/* Whether all commands have ended that are known of. */
bool wti_cl_harvest_is_idle(void);
/*
 * The queue of this handle, also if the program has let go of it, with everything that is awaited
 * as it is until wti_cl_harvest_leave(). NULL: not known, and nothing to leave.
 */
struct wti_cl_queue *wti_cl_harvest_enter(cl_command_queue handle);
void wti_cl_harvest_leave(struct wti_cl_queue *queue);
/* How many references to this event are ours. In between. */
cl_uint wti_cl_harvest_held(const struct wti_cl_queue *queue, cl_event event);
/* At the end of the process: emits what has ended, and touches the driver no more by itself. */
void wti_cl_harvest_end(void);
/* In a child of fork(): what was awaited is its parent's. */
void wti_cl_harvest_forked(void);

/* ---- first.c: compilation before the first launch of a kernel -------------------------------- */

/* For a launch that waits for these events. NULL: out of memory. */
struct wti_cl_first *wti_cl_first_make(struct wt_name *kernel, uint64_t correlation, cl_uint count,
				       const cl_event *list);
void wti_cl_first_free(struct wti_cl_first *first);
/* It has ended. Takes it. */
void wti_cl_first_ended(struct wti_cl_first *first, struct wti_here here,
			const struct wti_cl_queue *queue, uint64_t submitted, uint64_t started);
/* When something ended that may have been waited for; clock 0: now, in any clock of the system. */
void wti_cl_first_note(uint64_t correlation, uint32_t clock, uint64_t ended);
/* Those that have ended; once all queues have been harvested it is known what they waited for. */
struct wti_cl_first *wti_cl_first_take(void);
void wti_cl_first_report(struct wti_here here, struct wti_cl_first *list);
bool wti_cl_first_waits(void);

/* ---- correlate.c: which command an event belongs to ------------------------------------------ */

void wti_cl_event_is(cl_event event, uint64_t correlation);
uint64_t wti_cl_event_correlation(cl_event event); /* 0: not known */

/* ---- command.c: from the call to the driver and back ----------------------------------------- */

struct wti_cl_command {
	struct wti_here here;
	struct wti_cl_object *object; /* the queue; NULL: not known, then nothing is recorded */
	struct wti_cl_queue *queue;
	struct wt_name *call; /* the function */
	struct wt_name *name; /* of the operation */
	struct wt_name *geometry;
	uint32_t op;
	bool is_blocking;
	bool is_first; /* launch of this kernel with this geometry */
	struct wti_cl_first *first;
	uint64_t correlation;
	uint64_t bytes;
	uint64_t begin_ticks;
	const void *host; /* memory of the program that is written; NULL: none */
	uint64_t host_bytes;
	cl_uint wait_count;
	const cl_event *wait_list;
	cl_event own;    /* where the program wants none */
	cl_event *event; /* what the driver is given */
};

struct wti_cl_touch {
	uint32_t mode; /* enum wt_access_mode */
	int32_t argument;
	const void *mem; /* handle of a buffer or an image; NULL: host memory */
	uint64_t offset;
	uint64_t bytes;
	uint64_t hash;
	const void *value;
	uint32_t value_bytes;
};

void wti_cl_span_begin(struct wti_here here, struct wt_name *name);
void wti_cl_span_end(struct wti_here here, struct wt_name *name);

void wti_cl_command_begin(struct wti_cl_command *command, struct wt_name *call, uint32_t op,
			  cl_command_queue queue);
/* The usual last three parameters. Changes `event` to what the driver is to be given. */
void wti_cl_command_events(struct wti_cl_command *command, cl_uint count, const cl_event *list,
			   cl_event **event);
/* Memory of an object that it touches. */
void wti_cl_command_touch(struct wti_cl_command *command, const struct wti_cl_touch *touch);
/* An access whose object is known by its number. */
void wti_cl_command_access(struct wti_cl_command *command,
			   const struct wti_record_device_access *access, const void *value);
/* Immediately before the driver is called. */
void wti_cl_command_launch(struct wti_cl_command *command);
/* Immediately after; returns the status. */
cl_int wti_cl_command_end(struct wti_cl_command *command, cl_int status);

/* Emits that the host has waited, since begin_ticks, for what has this correlation. */
uint64_t wti_cl_sync(struct wti_here here, struct wt_name *name, const struct wti_cl_queue *queue,
		     uint64_t begin_ticks);
void wti_cl_edge(struct wti_here here, uint32_t type, uint64_t from, uint64_t to);

/* ---- content.c: bytes that are kept for replay ----------------------------------------------- */

/* The hash under which the bytes are kept; 0: they are not. Without --replayable always 0. */
uint64_t wti_cl_content(const void *data, size_t bytes);

/* ---- state.c: what buffers contain when nothing is on its way -------------------------------- */

/* With --replayable: a command writes this object. */
void wti_cl_written(uint64_t object);
/* The host has waited for the queue; the contents belong to that wait. */
void wti_cl_states(struct wti_here here, cl_command_queue queue, uint64_t context,
		   uint64_t correlation);

/* ---- svm.c --------------------------------------------------------------------------------- */

struct wti_cl_place {
	uint64_t object; /* 0: no shared memory */
	uint64_t offset;
	uint64_t bytes; /* from there to its end */
	uint64_t flags;
	const void *data; /* where it begins */
};

struct wti_cl_place wti_cl_svm_find(const void *pointer);

/* ---- program.c, signature.c ------------------------------------------------------------------ */

struct wti_cl_program {
	char *source; /* NULL: made of something else */
};

/* ---- What each file takes over --------------------------------------------------------------- */

void wti_cl_take_buffers(cl_icd_dispatch *ours);
void wti_cl_take_images(cl_icd_dispatch *ours);
void wti_cl_take_svm(cl_icd_dispatch *ours);
void wti_cl_take_kernels(cl_icd_dispatch *ours);
void wti_cl_take_programs(cl_icd_dispatch *ours);
void wti_cl_take_memory(cl_icd_dispatch *ours);
void wti_cl_take_queues(cl_icd_dispatch *ours);
void wti_cl_take_order(cl_icd_dispatch *ours);
void wti_cl_take_events(cl_icd_dispatch *ours);
void wti_cl_take_contexts(cl_icd_dispatch *ours);
void wti_cl_take_devices(cl_icd_dispatch *ours);
void wti_cl_take_callbacks(cl_icd_dispatch *ours);
void wti_cl_take_extensions(cl_icd_dispatch *ours);

/* What the driver does not have we do not have either. */
#define WTI_CL_TAKE(ours, function)                                                                \
	((ours)->function = wti_cl.real.function ? layer_##function : NULL)

#pragma GCC visibility pop

#endif
