/* SPDX-License-Identifier: Apache-2.0 */
/* The table of what this agent does for guests. */
#include "services.h"

#include "meeting.h"
#include "stack.h"

static struct wti_here here(void)
{
	return wti_here();
}

static ssize_t settings_read(char *out, size_t bytes)
{
	return wti_meeting_read(&wti_agent.meeting, WTI_SETTINGS_FILE, out, bytes);
}

const struct wti_services *wt_agent_services(void)
{
	static const struct wti_services services = {
		.bytes = sizeof(struct wti_services),
		.slot_bytes = sizeof(struct wti_slot),
		.protocol = WTI_PROTOCOL,
		.agent = &wti_agent,
		.here = here,
		.recording = wti_recording,
		.name_slow = wti_name_slow,
		.name_find = wti_name_find,
		.define = wti_define,
		.room_wait = wti_room_wait,
		.stack_capture = wti_stack_capture,
		.blob_keep = wti_blob_keep,
		.own_begin = wti_own_begin,
		.own_end = wti_own_end,
		.settings_read = settings_read,
	};

	return &services;
}
