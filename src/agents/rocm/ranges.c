/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranges and marks that the program names with roctx: spans and marks on the thread that calls.
 * Ranges that may end on another thread (roctxRangeStart) are not recorded.
 */
#include <string.h>

#include "emit.h"

#include "rocm.h"

enum { OPERATIONS_MAX = 32, DEPTH_MAX = 128 };

enum action { UNKNOWN, OTHER, MARK, PUSH, POP };

/* What each operation is, by its name: the numbers are the library's. */
static _Atomic uint8_t actions[OPERATIONS_MAX];

/* Open ranges; NULL: one whose beginning was not recorded, so that its end is not either. */
static __thread struct {
	struct wt_name *names[DEPTH_MAX];
	uint32_t depth;
} open_ranges;

static enum action action_of(uint32_t operation)
{
	const char *name = NULL;
	uint64_t bytes = 0;
	enum action action;

	if (operation >= OPERATIONS_MAX)
		return OTHER;
	action = atomic_load_explicit(&actions[operation], memory_order_relaxed);
	if (action != UNKNOWN)
		return action;
	if (wti_rocm.sdk.operation_name(WTI_ROCM_CALL_MARKER, operation, &name, &bytes) || !name)
		name = "";
	action = !strcmp(name, "roctxMarkA")        ? MARK
		 : !strcmp(name, "roctxRangePushA") ? PUSH
		 : !strcmp(name, "roctxRangePop")   ? POP
						    : OTHER;
	atomic_store_explicit(&actions[operation], action, memory_order_relaxed);
	return action;
}

static struct wt_name *text_of(const struct wti_rocm_marker *marker)
{
	if (!marker || marker->bytes < sizeof(*marker) || !marker->message)
		return NULL;
	return wti_name_find(marker->message, strlen(marker->message));
}

static void push(struct wti_here here, struct wt_name *name)
{
	if (!here.ring)
		name = NULL;
	if (open_ranges.depth < DEPTH_MAX)
		open_ranges.names[open_ranges.depth] = name;
	if (open_ranges.depth++ < DEPTH_MAX && name)
		wti_emit_span_begin(here,
				    &(struct wti_record_span_begin){.name = wti_name(here, name),
								    .flags = WT_SPAN_ANNOTATION});
}

static void pop(struct wti_here here)
{
	struct wt_name *name;

	if (!open_ranges.depth || --open_ranges.depth >= DEPTH_MAX)
		return;
	name = open_ranges.names[open_ranges.depth];
	if (name && here.ring)
		wti_emit_span_end(here,
				  &(struct wti_record_span_end){.name = wti_name(here, name)});
}

static void mark(struct wti_here here, struct wt_name *name)
{
	if (name && here.ring)
		wti_emit_mark(here, &(struct wti_record_mark){.name = wti_name(here, name)});
}

void wti_rocm_marker(uint32_t operation, uint32_t phase, const struct wti_rocm_marker *marker)
{
	const enum action action = action_of(operation);
	struct wti_here here;

	if (action <= OTHER || phase != (action == POP ? WTI_ROCM_EXIT : WTI_ROCM_ENTER))
		return;
	here = wti_rocm.agent->here();
	if (action == POP)
		pop(here);
	else if (action == PUSH)
		push(here, text_of(marker));
	else
		mark(here, text_of(marker));
}
