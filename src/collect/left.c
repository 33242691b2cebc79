/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Knows who has outlived the recording: nothing that these processes do from now on is in the
 * trace, so they are named, in the run and to the caller.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/secret.h"

#include "procfs.h"
#include "recorder.h"

static bool is_listed(const struct wti_record_outcome *outcome, uint32_t pid)
{
	for (uint32_t i = 0; i < outcome->still_running && i < WTI_RECORD_LEFT_SHOWN; i++)
		if (outcome->left[i].pid == pid)
			return true;
	return false;
}

/* Its words, what looks secret masked; its short name where it has none. */
static bool read_command(uint32_t pid, char out[sizeof(((struct wti_left *)0)->command)])
{
	char text[4096], *words[64] = {NULL};
	struct wti_proc proc;
	size_t count = 0;
	ssize_t n;

	if (!wti_proc_read(pid, &proc) || proc.state == 'Z' || proc.state == 'X')
		return false;
	n = wti_proc_file(pid, "cmdline", text, sizeof(text));
	for (char *at = text; n > 0 && at < text + n && count < 63; at += strlen(at) + 1)
		words[count++] = at;
	if (!count)
		words[0] = proc.command;
	wti_mask_command(words, out, sizeof(((struct wti_left *)0)->command));
	return true;
}

static void name_left(struct wti_recorder *recorder, uint32_t pid)
{
	struct wti_record_outcome *outcome = recorder->outcome;
	struct wti_left left = {.pid = pid};
	char text[256];

	if (is_listed(outcome, pid) || !read_command(pid, left.command))
		return;
	if (outcome->still_running < WTI_RECORD_LEFT_SHOWN) {
		outcome->left[outcome->still_running] = left;
		snprintf(text, sizeof(text),
			 "process %u (%s) outlived the recording: what it did later was not "
			 "recorded",
			 pid, left.command);
		wti_streams_note(&recorder->streams, WT_NOTE_LEFT_RUNNING, text);
	}
	outcome->still_running++;
}

/* Of a crowd each is counted once: by its system calls, or else by its agent, or else by /proc. */
void wti_left_look(struct wti_recorder *recorder)
{
	const struct wti_syscall_feed *feed = &recorder->syscalls.feed;
	struct wti_map seen;
	uint64_t *slot;

	wti_map_init(&seen, 1u << 20);
	for (size_t i = 0; recorder->syscalls.is_open && i < feed->track_capacity; i++) {
		slot = feed->tracks[i].alive ? wti_map_number(&seen, feed->tracks[i].pid) : NULL;
		if (slot && !(*slot)++)
			name_left(recorder, feed->tracks[i].pid);
	}
	for (size_t i = 0; i < recorder->join.process_count; i++) {
		const struct wti_process *process = recorder->join.processes[i];

		slot = process->ended ? NULL : wti_map_number(&seen, process->source.identity.pid);
		if (slot && !(*slot)++)
			name_left(recorder, process->source.identity.pid);
	}
	for (size_t i = 0; i < recorder->tree.count; i++) {
		const struct wti_tree_node *node = &recorder->tree.nodes[i];

		slot = node->gone || !wti_proc_is_alive(node->pid, node->start_time)
			       ? NULL
			       : wti_map_number(&seen, node->pid);
		if (slot && !(*slot)++)
			name_left(recorder, node->pid);
	}
	wti_map_release(&seen);
}
