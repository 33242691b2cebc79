/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The seeds that can be known: from the command line, from the environment, and from what the
 * program emits while it runs, for which it is a sink: states called "seed", and calls that seed
 * the generators that a Python program shares. Workers of a loader are seeded by their loader, from
 * the generator of the process that made them, and do not count.
 */
#ifndef WTI_COLLECT_SEEDS_H
#define WTI_COLLECT_SEEDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/sink.h"

#define WTI_SEEDS_MAX 64
#define WTI_SEEDINGS_MAX 256 /* three a rank */

struct wti_seed {
	char name[64];
	char value[64];
};

enum wti_seeding_call { WTI_SEEDING_TORCH, WTI_SEEDING_PYTHON, WTI_SEEDING_NUMPY };

struct wti_seeding { /* of a process: what a call of torch.manual_seed() and such got last */
	enum wti_seeding_call call;
	uint32_t process; /* number of its stream */
	uint32_t pid;
	int64_t value;
};

struct wti_seeds {
	struct wti_sink sink;
	struct wti_seed all[WTI_SEEDS_MAX]; /* by name; the last value of each */
	size_t count;
	struct wti_seeding seedings[WTI_SEEDINGS_MAX]; /* in the order of first calls */
	size_t seeding_count;
};

void wti_seeds_init(struct wti_seeds *seeds);
void wti_seeds_arguments(struct wti_seeds *seeds, char *const *argv);
void wti_seeds_environment(struct wti_seeds *seeds, char *const *environment);
/*
 * Number `index` of all that is known, or false: first those by name, then calls. The first process
 * that seeds has the name of the call; others follow where they got another value, with their pid.
 */
bool wti_seeds_get(const struct wti_seeds *seeds, size_t index, struct wti_seed *ret_seed);

#endif
