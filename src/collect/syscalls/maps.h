/* SPDX-License-Identifier: Apache-2.0 */
/*
 * News from the kernel of code that processes map, of their births, execs and ends: what the BPF
 * capture needs to know whose code an address is. It comes by perf events that count nothing, for
 * all processes, as those of the run are not known beforehand; with times, so that it can be put
 * in order with the records of calls.
 */
#ifndef WTI_SYSCALLS_MAPS_H
#define WTI_SYSCALLS_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <wheeltap/err.h>

#include "raw.h"

struct wti_maps;

int wti_maps_open(struct wti_maps **ret_maps, struct wt_err *err);
void wti_maps_free(struct wti_maps *maps);
/* All that a process has by now which goes on already. */
void wti_maps_begin(struct wti_maps *maps, pid_t pid);
/* Takes in what has come so far. */
void wti_maps_gather(struct wti_maps *maps);
/* Hands over what happened up to a time, in order. */
void wti_maps_until(struct wti_maps *maps, uint64_t time_ns,
		    void (*take)(void *context, const struct wti_raw *raw, size_t bytes),
		    void *context);
/* News that found no room. */
uint64_t wti_maps_lost(const struct wti_maps *maps);

/* All that a process has now, as records: a BEGIN first. For who is attached to, or is stopped. */
void wti_maps_of_process(pid_t pid, uint64_t time_ns,
			 void (*take)(void *context, const struct wti_raw *raw, size_t bytes),
			 void *context);

#endif
