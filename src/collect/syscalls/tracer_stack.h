/* SPDX-License-Identifier: Apache-2.0 */
/* The part of the tracer that takes stacks: registers and memory of a thread that is stopped. */
#ifndef WTI_SYSCALLS_TRACER_STACK_H
#define WTI_SYSCALLS_TRACER_STACK_H

#include "tracer_attach.h"

/* A call begins: with its stack, if these are wanted, and what its process has mapped by now. */
void wti_tracee_stack(struct wti_tracer *tracer, struct wti_tracee *tracee);
/* Whether the call that begins may map code; its end must then be seen. */
bool wti_tracee_maps_code(const struct wti_tracer *tracer, const struct wti_tracee *tracee);
/* What is known of a process's memory is out of date. */
void wti_tracer_remapped(struct wti_tracer *tracer, pid_t pid);
/* Calls that must stop for this, besides those that are wanted. */
void wti_tracer_add_mapping_calls(struct wti_call_set *set);

#endif
