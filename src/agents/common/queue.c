/* SPDX-License-Identifier: Apache-2.0 */
/* Defines a track for a queue of a device, once. */
#include "queue.h"

#include <string.h>

#include "agent.h"
#include "private.h"

uint32_t wti_queue_track(uint32_t device, const char *name)
{
	struct {
		struct wti_track_definition track;
		char name[256];
	} definition = {.track = {.type = WTI_TRACK_QUEUE, .device = device}};
	const size_t head = sizeof(definition.track);
	size_t bytes = name ? strlen(name) : 0;
	size_t kept;

	if (!wti_recording())
		return 0;
	bytes = wti_text_cut(name, bytes, sizeof(definition.name));
	if (bytes)
		memcpy(definition.name, name, bytes);
	kept = wti_agent.control->strings_keep ? bytes : wti_secret_mask(definition.name, bytes);
	return wti_define(WTI_DEF_TRACK, &definition, head + kept, &definition, head + kept);
}
