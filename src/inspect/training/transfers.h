/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files that a run saved and loaded, with what was in them by digest: collected from moments,
 * and kept when the run is closed, to be compared with those of another run.
 */
#ifndef WTI_INSPECT_TRANSFERS_H
#define WTI_INSPECT_TRANSFERS_H

#include "base/arena.h"
#include "training.h"

struct wti_transfer_value {
	const char *name;
	uint32_t dtype; /* enum wt_dtype */
	bool has_hash;
	uint64_t hash;
};

/* A call that saved or loaded. */
struct wti_file_transfer {
	const char *path; /* as the program gave it */
	int64_t step;
	bool is_load;
	bool is_cut;     /* the trace has not all of it, or not the hash of all */
	bool is_partial; /* of a load: the program asked for a part of what is in the file */
	uint64_t count;  /* tensors */
	uint64_t digest; /* of all names and hashes, in any order; 0: there are none */
	uint64_t anchor; /* hash of the largest tensor, by which a changed file is found; 0: none */
	size_t first;    /* of values, if they are kept: those of loads, and of `kept_path` */
	size_t value_count;
};

struct wti_transfers {
	struct wti_arena arena;
	struct wti_file_transfer *items;
	size_t count, capacity;
	struct wti_transfer_value *values;
	size_t value_count, value_capacity;
	size_t load_count;
	uint64_t dropped; /* transfers that found no room */
	/* What is asked for: */
	const char *kept_path;  /* of saves to this path the values are kept, too; or NULL */
	struct wti_map *wanted; /* hashes: the step plus two in which one was last saved; or NULL */
};

void wti_transfers_init(struct wti_transfers *transfers);
void wti_transfers_release(struct wti_transfers *transfers);
/* Any moment: those of saving and loading are taken. */
void wti_transfers_take(struct wti_transfers *transfers, const struct wti_moment *moment);

#endif
