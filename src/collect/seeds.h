/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The seeds that can be known: from the command line, from the environment, and from states called
 * "seed" that the program tells while it runs (for these it is a sink).
 */
#ifndef WTI_COLLECT_SEEDS_H
#define WTI_COLLECT_SEEDS_H

#include <stddef.h>
#include <stdint.h>

#include "sink.h"

#define WTI_SEEDS_MAX 64

struct wti_seed {
	char name[64];
	char value[64];
};

struct wti_seeds {
	struct wti_sink sink;
	struct wti_seed all[WTI_SEEDS_MAX]; /* by name; the last value of each */
	size_t count;
};

void wti_seeds_init(struct wti_seeds *seeds);
void wti_seeds_arguments(struct wti_seeds *seeds, char *const *argv);
void wti_seeds_environment(struct wti_seeds *seeds, char *const *environment);

#endif
