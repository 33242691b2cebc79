/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The configuration of a run, as the program resolved it: the last value of each key. The inspector
 * `configuration` gathers the events of that kind.
 */
#ifndef WTI_INSPECT_CONFIGURATION_H
#define WTI_INSPECT_CONFIGURATION_H

#include <wheeltap/inspect.h>

#include "base/arena.h"
#include "base/map.h"

#define WTI_CONFIGURATION_MAX 65536u /* keys of a run */

struct wti_configured {
	const char *key, *value, *source; /* never NULL */
	uint32_t type;                    /* enum wt_value_type */
	bool is_default;
	uint64_t change_count; /* how often it got another value */
};

struct wti_configuration {
	struct wti_arena arena;
	struct wti_map index; /* key: place plus one */
	struct wti_configured *items;
	size_t count, capacity;
	uint64_t left_out_count; /* beyond the ceiling */
};

void wti_configuration_init(struct wti_configuration *configuration);
void wti_configuration_release(struct wti_configuration *configuration);
/* Copies the texts. A key that is there already gets the value. 0, or WT_E_NOMEM. */
int wti_configuration_add(struct wti_configuration *configuration,
			  const struct wti_configured *item);
/* True if the value is a number, or a truth value, which counts as 1 or 0. */
bool wti_configured_number(const char *value, double *ret_number);

struct wti_configuration_options {
	struct wti_configuration *configuration; /* the caller's; NULL: nobody wants it */
};

#endif
