/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `strace -f -T -o FILE` writes: the thread, the call, its result, how long it took.
 *
 *   4242  openat(AT_FDCWD, "/etc/hosts", O_RDONLY|O_CLOEXEC) = 3 <0.000012>
 *
 * A call is one line, where it ends: calls of other threads do not cut it in two. Below it stands
 * its stack, if stacks were recorded.
 */
#include "traced.h"
#include "put.h"
#include "show/source.h"

#define NS_PER_US 1000
#define US_PER_S 1000000

struct strace {
	struct wti_traced calls;
	struct wti_buf *out;
};

static int begin(void *state, struct wti_export *export, struct wt_err *err)
{
	struct strace *strace = state;

	strace->out = &export->sink->buf;
	return wti_traced_begin(&strace->calls, export, err);
}

/* +++ exited with 0 +++ */
static void put_end(struct wti_buf *out, const struct wt_event *event)
{
	int64_t status = wt_event_i64(event, WT_TASK_END_FIELD_STATUS);
	char label[WTI_SIGNAL_LABEL_BYTES];

	wti_buf_printf(out, "%-5u ", (uint32_t)wt_event_u64(event, WT_TASK_END_FIELD_TID));
	if (status < 0)
		wti_buf_printf(out, "+++ killed by %s +++\n",
			       wti_signal_label(label, (uint32_t)-status));
	else
		wti_buf_printf(out, "+++ exited with %lld +++\n", (long long)status);
}

/* When it began, as strace -ttt has it: 1794811252.123456. Since the start of the run, if the time
 * of day is not known. */
static void put_time(struct wti_buf *out, const struct wti_export *export, int64_t start_ns)
{
	int64_t us = (wt_trace_start_realtime_ns(export->trace) + start_ns) / NS_PER_US;

	if (us >= 0)
		wti_buf_printf(out, "%lld.%06lld ", (long long)(us / US_PER_S),
			       (long long)(us % US_PER_S));
}

/* " > /usr/lib/libc.so.6(write+0x10) [0xf8350]", as strace -k has it, and source lines. */
static void put_stack(struct strace *strace, const struct wt_event *event)
{
	const struct wti_frame *frames;
	size_t count = wti_sources_frames(strace->calls.export->sources, event, &frames);

	for (size_t i = 0; i < count; i++) {
		WTI_PUT(strace->out, " > ");
		wti_put_frame(strace->out, &frames[i]);
		WTI_PUT(strace->out, "\n");
	}
}

static int put_call(struct strace *strace, const struct wt_event *event, struct wt_err *err)
{
	const struct wti_syscall *call = &strace->calls.call;
	struct wti_buf *out = strace->out;
	uint64_t us = call->duration_ns / NS_PER_US;
	size_t line_begin = out->bytes;
	int r;

	wti_buf_printf(out, "%-5u ", strace->calls.tid);
	if (strace->calls.export->times)
		put_time(out, strace->calls.export, call->start_ns);
	wti_decode_call(out, call, &strace->calls.options);
	r = wti_traced_done(&strace->calls, err);
	wti_decode_pad(out, line_begin);
	wti_decode_result(out, call, &strace->calls.options);
	if (!(call->flags & WTI_SYSCALL_UNFINISHED))
		wti_buf_printf(out, " <%llu.%06llu>", (unsigned long long)(us / US_PER_S),
			       (unsigned long long)(us % US_PER_S));
	WTI_PUT(out, "\n");
	put_stack(strace, event);
	return r;
}

static int event(void *state, const struct wt_event *event, struct wt_err *err)
{
	struct strace *strace = state;
	int r = wti_traced_take(&strace->calls, event, err);

	if (r > 0)
		return put_call(strace, event, err);
	if (!r && event->kind->number == WT_KIND_TASK_END)
		put_end(strace->out, event);
	return r;
}

static int finish(void *state, struct wt_err *err)
{
	struct strace *strace = state;

	return wti_traced_finish(&strace->calls, err);
}

static void release(void *state)
{
	struct strace *strace = state;

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
