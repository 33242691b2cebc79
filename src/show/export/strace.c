/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `strace -f -T -o FILE` writes: the thread, the call, its result, how long it took; signals
 * and ends of threads; calls cut in two where lines of other threads come between (strace_lines.h);
 * and below each call its stack, if stacks were recorded.
 *
 *   4242  openat(AT_FDCWD, "/etc/hosts", O_RDONLY|O_CLOEXEC) = 3 <0.000012>
 *   4242  --- SIGCHLD {si_signo=SIGCHLD, si_code=CLD_EXITED, ...} ---
 *   4242  +++ exited with 0 +++
 */
#include <string.h>

#include "base/err.h"
#include "base/number.h"

#include "put.h"
#include "show/source.h"
#include "strace_lines.h"
#include "traced.h"

#define NS_PER_US 1000
#define US_PER_S 1000000
#define TEXT_BYTES_MAX (16u << 20)

struct strace {
	struct wti_traced calls;
	struct wti_lines lines;
	struct wti_buf text, entry, result; /* of the line at hand */
};

/* The thread; and the time, as strace -ttt has it: 1794811252.123456. Since the start of the run,
 * if the time of day is not known. */
static void lead(void *context, struct wti_buf *out, uint32_t tid, int64_t time_ns)
{
	const struct wti_export *export = context;
	int64_t us = (wt_trace_start_realtime_ns(export->trace) + time_ns) / NS_PER_US;

	wti_buf_printf(out, "%-5u ", tid);
	if (export->times && us >= 0)
		wti_buf_printf(out, "%lld.%06lld ", (long long)(us / US_PER_S),
			       (long long)(us % US_PER_S));
}

static int begin(void *state, struct wti_export *export, struct wt_err *err)
{
	struct strace *strace = state;

	strace->lines.out = &export->sink->buf;
	strace->lines.lead = lead;
	strace->lines.context = export;
	wti_buf_init(&strace->text, TEXT_BYTES_MAX);
	wti_buf_init(&strace->entry, TEXT_BYTES_MAX);
	wti_buf_init(&strace->result, TEXT_BYTES_MAX);
	if (wti_lines_init(&strace->lines))
		return wti_err(err, WT_E_NOMEM, "out of memory");
	return wti_traced_begin(&strace->calls, export, err);
}

static void put_line(struct strace *strace, const struct wt_event *event, uint32_t tid)
{
	wti_lines_put(&strace->lines, tid, event->time_ns, strace->text.data, strace->text.bytes);
}

/* +++ exited with 0 +++ */
static void put_end(struct strace *strace, const struct wt_event *event)
{
	int64_t status = wt_event_i64(event, WT_TASK_END_FIELD_STATUS);
	bool dumped = wt_event_u64(event, WT_TASK_END_FIELD_FLAGS) & WT_TASK_END_DUMPED;
	char label[WTI_SIGNAL_LABEL_BYTES];

	if (status < 0)
		wti_buf_printf(&strace->text, "+++ killed by %s%s +++",
			       wti_signal_label(label, (uint32_t)wti_magnitude(status)),
			       dumped ? " (core dumped)" : "");
	else
		wti_buf_printf(&strace->text, "+++ exited with %lld +++", (long long)status);
	put_line(strace, event, (uint32_t)wt_event_u64(event, WT_TASK_END_FIELD_TID));
}

/* --- SIGTERM {si_signo=SIGTERM, si_code=SI_USER, si_pid=4200, si_uid=0} --- */
static void put_signal(struct strace *strace, const struct wt_event *event)
{
	uint32_t number = (uint32_t)wt_event_u64(event, WT_SIGNAL_FIELD_NUMBER);
	struct wt_text info = wt_event_text(event, WT_SIGNAL_FIELD_INFO);
	char buffer[WTI_SIGNAL_LABEL_BYTES];
	const char *label = wti_signal_label(buffer, number);

	if (info.bytes < WTI_SIGINFO_BYTES) {
		wti_buf_printf(&strace->text, "--- stopped by %s ---", label);
	} else {
		wti_buf_printf(&strace->text, "--- %s ", label);
		wti_decode_siginfo(&strace->text, (const uint8_t *)info.data);
		wti_buf_text(&strace->text, " ---");
	}
	put_line(strace, event, wti_traced_tid(&strace->calls, event));
}

/* As much of the text as strace has written when the call begins. */
static size_t entry_of(struct strace *strace)
{
	static const char open_end[] = " <unfinished ...>)";
	struct wti_syscall call = strace->calls.call;
	struct wti_buf *entry = &strace->entry;
	const size_t tail = sizeof(open_end) - 1;
	size_t bytes, same = 0;

	call.flags |= WT_SYSCALL_UNFINISHED;
	wti_buf_clear(entry);
	wti_decode_call(entry, &call, &strace->calls.options);
	bytes = entry->bytes;
	if (bytes > tail && !memcmp(entry->data + bytes - tail, open_end, tail))
		bytes -= tail;
	else if (bytes)
		bytes--; /* the parenthesis */
	while (same < bytes && same < strace->text.bytes &&
	       entry->data[same] == strace->text.data[same])
		same++;
	return same;
}

/* " > /usr/lib/libc.so.6(write+0x10) [0xf8350]", as strace -k has it, and source lines. */
static void add_stack(struct strace *strace, const struct wt_event *event)
{
	const struct wti_frame *frames;
	size_t count = wti_sources_frames(strace->calls.export->sources, event, &frames);

	for (size_t i = 0; i < count; i++) {
		WTI_PUT(&strace->result, "\n > ");
		wti_put_frame(&strace->result, &frames[i]);
	}
}

static void make_result(struct strace *strace, const struct wti_syscall *call)
{
	uint64_t us = call->duration_ns / NS_PER_US;

	wti_buf_clear(&strace->result);
	if (call->flags & WT_SYSCALL_GOES_ON)
		return;
	wti_decode_result(&strace->result, call, &strace->calls.options);
	if (!(call->flags & WT_SYSCALL_UNFINISHED))
		wti_buf_printf(&strace->result, " <%llu.%06llu>",
			       (unsigned long long)(us / US_PER_S),
			       (unsigned long long)(us % US_PER_S));
}

static int put_call(struct strace *strace, const struct wt_event *event, struct wt_err *err)
{
	const struct wti_syscall *call = &strace->calls.call;
	struct wti_line_call line = {.tid = strace->calls.tid,
				     .start_ns = call->start_ns,
				     .end_ns = event->time_ns,
				     .goes_on = call->flags & WT_SYSCALL_GOES_ON};
	int r;

	wti_decode_call(&strace->text, call, &strace->calls.options);
	line.entry_bytes = entry_of(strace);
	r = wti_traced_done(&strace->calls, err);
	make_result(strace, call);
	add_stack(strace, event);
	line.text = strace->text.data;
	line.text_bytes = strace->text.bytes;
	line.result = strace->result.data;
	line.result_bytes = strace->result.bytes;
	wti_lines_call(&strace->lines, &line);
	return r;
}

static int event(void *state, const struct wt_event *event, struct wt_err *err)
{
	struct strace *strace = state;
	int r = wti_traced_take(&strace->calls, event, err);

	wti_buf_clear(&strace->text);
	if (r > 0)
		r = put_call(strace, event, err);
	else if (!r && event->kind->number == WT_KIND_TASK_END)
		put_end(strace, event);
	else if (!r && event->kind->number == WT_KIND_SIGNAL)
		put_signal(strace, event);
	if (r >= 0 && (strace->lines.failed || wti_buf_status(&strace->text) ||
		       wti_buf_status(&strace->entry) || wti_buf_status(&strace->result)))
		return wti_err(err, WT_E_NOMEM, "out of memory");
	return r;
}

static int finish(void *state, struct wt_err *err)
{
	struct strace *strace = state;

	if (wti_lines_finish(&strace->lines))
		return wti_err(err, WT_E_NOMEM, "out of memory");
	return wti_traced_finish(&strace->calls, err);
}

static void release(void *state)
{
	struct strace *strace = state;

	wti_lines_release(&strace->lines);
	wti_buf_release(&strace->text);
	wti_buf_release(&strace->entry);
	wti_buf_release(&strace->result);
	wti_traced_release(&strace->calls);
}

const struct wti_exporter wti_exporter_strace = {
	.name = "strace",
	.extension = "strace",
	.summary = "system calls as strace -f -T writes them",
	.streams = true,
	.state_bytes = sizeof(struct strace),
	.begin = begin,
	.event = event,
	.finish = finish,
	.release = release,
};
