/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parameters of which the runs hold different amounts: FSDP keeps a part of each in every rank.
 * Their values cannot be compared, nor can those of their gradients.
 */
#ifndef WTI_DIVERGENCE_SHARDS_H
#define WTI_DIVERGENCE_SHARDS_H

#include "course.h"

struct wti_shards {
	struct wti_map names; /* of parameters */
};

void wti_shards_init(struct wti_shards *shards);
void wti_shards_release(struct wti_shards *shards);
/* Whether `a` and `b`, read on their own under `name`, are such values. Digests say so, hashes that
 * follow are known by their names. */
bool wti_is_shard(struct wti_shards *shards, const char *name, const struct wti_value_row *a,
		  const struct wti_value_row *b);

#endif
