/* SPDX-License-Identifier: Apache-2.0 */
/* Knows which track is which thread of which process. */
#include <stdio.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/grow.h"
#include "record.h"

#define TASKS_MAX (1u << 20)

void wti_tasks_init(struct wti_tasks *tasks)
{
	*tasks = (struct wti_tasks){0};
	wti_map_init(&tasks->index, TASKS_MAX);
}

void wti_tasks_release(struct wti_tasks *tasks)
{
	free(tasks->all);
	wti_map_release(&tasks->index);
	*tasks = (struct wti_tasks){0};
}

static uint64_t key_of(const struct wt_event *event)
{
	return (uint64_t)event->stream << 32 | event->track;
}

static struct wti_task *entry_of(struct wti_tasks *tasks, const struct wt_event *event,
				 struct wt_err *err)
{
	uint64_t *slot = wti_map_number(&tasks->index, key_of(event));

	if (!slot) {
		wti_map_failed(&tasks->index, err, "threads");
		return NULL;
	}
	if (*slot)
		return &tasks->all[*slot - 1];
	if (wti_grow(&tasks->all, tasks->count + 1, &tasks->capacity, TASKS_MAX)) {
		wti_err(err, WT_E_NOMEM, "out of memory for threads");
		return NULL;
	}
	tasks->all[tasks->count] =
		(struct wti_task){.stream = event->stream, .track = event->track};
	*slot = ++tasks->count;
	return &tasks->all[*slot - 1];
}

static void take_task(struct wti_task *task, const struct wt_event *event)
{
	struct wt_text command = wt_event_text(event, WT_TASK_FIELD_COMMAND);
	uint32_t how = (uint32_t)wt_event_u64(event, WT_TASK_FIELD_HOW);

	task->tid = (uint32_t)wt_event_u64(event, WT_TASK_FIELD_TID);
	task->pid = (uint32_t)wt_event_u64(event, WT_TASK_FIELD_PID);
	if (how == WT_TASK_EXEC) {
		task->exec++;
	} else {
		task->parent = (uint32_t)wt_event_u64(event, WT_TASK_FIELD_PARENT);
		task->how = how;
	}
	snprintf(task->command, sizeof(task->command), "%.*s",
		 (int)(command.bytes < sizeof(task->command) ? command.bytes
							     : sizeof(task->command) - 1),
		 command.data);
}

int wti_tasks_event(struct wti_tasks *tasks, const struct wt_event *event, struct wt_err *err)
{
	struct wti_task *task;

	if (event->kind->number != WT_KIND_TASK && event->kind->number != WT_KIND_TASK_END)
		return 0;
	task = entry_of(tasks, event, err);
	if (!task)
		return err ? err->code : WT_E_NOMEM;
	if (event->kind->number == WT_KIND_TASK) {
		take_task(task, event);
		return 0;
	}
	task->tid = (uint32_t)wt_event_u64(event, WT_TASK_END_FIELD_TID);
	task->pid = (uint32_t)wt_event_u64(event, WT_TASK_END_FIELD_PID);
	task->status = (int32_t)wt_event_i64(event, WT_TASK_END_FIELD_STATUS);
	task->ended = true;
	return 0;
}

const struct wti_task *wti_tasks_of(const struct wti_tasks *tasks, const struct wt_event *event)
{
	const uint64_t *slot = wti_map_find_number(&tasks->index, key_of(event));

	return slot && *slot ? &tasks->all[*slot - 1] : NULL;
}
