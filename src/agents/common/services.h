/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an agent does for a guest of its own: a library that emits events in a process that an agent
 * has joined for already. Two agents would be two streams; a guest emits into the rings of the
 * agent that is there, so that its calls nest in that agent's.
 *
 * A guest finds the agent among the loaded libraries, by wt_agent_services(). It compares `bytes`,
 * `slot_bytes` and `protocol` before it uses anything else.
 */
#ifndef WTI_AGENTS_SERVICES_H
#define WTI_AGENTS_SERVICES_H

#include "agent.h"
#include "blob.h"

#define WTI_SERVICES_SYMBOL "wt_agent_services"

struct wti_services {
	uint32_t bytes;      /* of this struct */
	uint32_t slot_bytes; /* of struct wti_slot */
	uint32_t protocol;
	uint32_t reserved;
	struct wti_agent *agent;
	struct wti_here (*here)(void);
	bool (*recording)(void);
	uint32_t (*name_slow)(struct wt_name *name);
	struct wt_name *(*name_find)(const char *text, size_t bytes);
	uint32_t (*define)(uint32_t type, const void *key, size_t key_bytes, const void *payload,
			   size_t payload_bytes);
	bool (*room_wait)(struct wti_here here, uint32_t bytes);
	uint32_t (*stack_capture)(unsigned skip);
	bool (*blob_keep)(const struct wti_blob *blob);
	void (*own_begin)(void);
	void (*own_end)(void);
	ssize_t (*settings_read)(char *out, size_t bytes);
};

__attribute__((visibility("default"))) const struct wti_services *wt_agent_services(void);

#endif
