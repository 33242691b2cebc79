/* SPDX-License-Identifier: Apache-2.0 */
/*
 * renacer-json-v1: one object with an array "syscalls", whose arguments are texts as strace writes
 * them. Renacer prints it into the output of the program, at the end of it, so that lines of the
 * program may stand before it. Times and threads are there only where its -T wrote them: without,
 * calls follow one another on one thread, each as long as it took.
 */
#include <string.h>

#include "base/err.h"
#include "call.h"
#include "convert/events/file.h"
#include "formats.h"

#define NS_PER_US 1000u
#define TEXT_BYTES 4096
/* Times above are since 1970: 2001. */
#define EPOCH_MIN_NS ((uint64_t)1000000000 * 1000000000)

struct renacer {
	struct wti_intake *intake;
	struct wti_import_file *file;
	uint32_t process;
	uint64_t clock; /* of calls without a time: when the last one ended */
	uint64_t latest;
	uint64_t before; /* how long before 0 a call began, at most */
	uint64_t calls;  /* of the array */
	uint64_t total;  /* as its summary has it */
	bool has_total, is_named;
};

/* What an item of the array has. */
struct written {
	struct wti_fragment name, arguments;
	int64_t result, duration_us, ended_us, tid;
	bool has_time, has_source;
};

static bool is_number(const struct wti_fragment *value, int64_t *ret_number)
{
	return !value->is_text && wti_piece_number(value, ret_number);
}

static void take_member(struct written *written, const struct wti_fragment *key,
			const struct wti_fragment *value)
{
	if (wti_piece_is(key, "name"))
		written->name = *value;
	else if (wti_piece_is(key, "args") && !value->is_text && *value->data == '[')
		written->arguments = *value;
	else if (wti_piece_is(key, "result"))
		is_number(value, &written->result);
	else if (wti_piece_is(key, "duration_us"))
		is_number(value, &written->duration_us);
	else if (wti_piece_is(key, "ts_us"))
		written->has_time = is_number(value, &written->ended_us) && written->ended_us >= 0;
	else if (wti_piece_is(key, "tid"))
		is_number(value, &written->tid);
	else if (wti_piece_is(key, "source"))
		written->has_source = true;
}

static void take_arguments(struct wti_written_call *call, const struct wti_fragment *list)
{
	struct wti_events_scan scan = {list->data, list->data + list->bytes, false};
	struct wti_fragment item;
	char text[TEXT_BYTES];

	for (unsigned i = 0; list->bytes && i < WTI_CALL_ARGS && wti_scan_item(&scan, &item); i++) {
		size_t bytes;
		const char *at = wti_piece_text(&item, text, sizeof(text), &bytes);
		struct wti_call_line line = {at, at + bytes};

		wti_written_argument(call, i, &line);
	}
}

/* Microseconds as ns, or the largest time that there is. */
static uint64_t ns_of(int64_t us)
{
	return us <= 0                                          ? 0
	       : (uint64_t)us > WTI_INTAKE_TIME_MAX / NS_PER_US ? WTI_INTAKE_TIME_MAX
								: (uint64_t)us * NS_PER_US;
}

static uint64_t end_of(struct renacer *renacer, const struct written *written, uint64_t duration)
{
	uint64_t end = written->has_time ? ns_of(written->ended_us) : renacer->clock + duration;

	/* Without times, what comes later has a later one. */
	renacer->clock = end < WTI_INTAKE_TIME_MAX ? end + 1 : end;
	renacer->latest = end > renacer->latest ? end : renacer->latest;
	if (duration > end && duration - end > renacer->before)
		renacer->before = duration - end;
	return end;
}

static void take_call(void *self, const struct wti_fragment *item)
{
	struct renacer *renacer = self;
	struct wti_events_scan scan = {item->data, item->data + item->bytes, false};
	struct written written = {.name.data = "", .arguments.data = ""};
	struct wti_written_call call = {0};
	struct wti_fragment key, value;
	uint64_t duration;

	renacer->calls++;
	while (wti_scan_member(&scan, &key, &value))
		take_member(&written, &key, &value);
	duration = ns_of(written.duration_us);
	if (!wti_written_name(&call, written.name.data, written.name.bytes)) {
		end_of(renacer, &written, duration);
		wti_intake_leave_out(renacer->intake, WTI_UNKNOWN_CALLS, 1);
		return;
	}
	take_arguments(&call, &written.arguments);
	call.values[WT_SYSCALL_FIELD_RESULT] = (uint64_t)written.result;
	call.values[WT_SYSCALL_FIELD_DURATION] = duration;
	if (written.has_source)
		wti_intake_leave_out(renacer->intake, "lines of the source", 1);
	wti_written_emit(&call, renacer->intake, renacer->process,
			 written.tid > 0 ? (uint64_t)written.tid : 0,
			 end_of(renacer, &written, duration));
}

/* ---- The file -------------------------------------------------------------------------------- */

static void take_other(void *self, const struct wti_fragment *key, const struct wti_fragment *value)
{
	struct renacer *renacer = self;
	struct wti_events_scan scan = {value->data, value->data + value->bytes, false};
	struct wti_fragment name, number;
	int64_t total;

	if (wti_piece_is(key, "format"))
		renacer->is_named = wti_piece_is(value, "renacer-json-v1");
	if (!wti_piece_is(key, "summary") || value->is_text || *value->data != '{')
		return;
	while (wti_scan_member(&scan, &name, &number)) {
		if (wti_piece_is(&name, "total_syscalls") && is_number(&number, &total)) {
			renacer->total = total > 0 ? (uint64_t)total : 0;
			renacer->has_total = true;
		}
	}
}

/* Whether an object begins here: a brace, and a key. -1: it cannot be seen yet. */
static int begins_object(const char *at, const char *end)
{
	if (at < end && *at != '{')
		return 0;
	for (at++; at < end; at++) {
		if (*at == '"')
			return 1;
		if (*at != ' ' && *at != '\n' && *at != '\r' && *at != '\t')
			return 0;
	}
	return -1;
}

/* To the first line that begins an object: what stands before is the program's own output. */
static void pass_output(struct wti_sliding *input)
{
	for (;;) {
		const char *at = (const char *)input->data + input->begin;
		const char *end = (const char *)input->data + input->end;
		int begins = begins_object(at, end);
		const char *next = begins == 0 ? memchr(at, '\n', (size_t)(end - at)) : NULL;

		if (begins > 0)
			return;
		if (next)
			input->begin = (size_t)((const uint8_t *)next + 1 - input->data);
		else if (wti_input_more(input, NULL) <= 0)
			return; /* there is none: reading fails where it ends */
	}
}

static void verdict(struct renacer *renacer, const struct wti_events_outcome *outcome,
		    const char *path)
{
	struct wti_import_file *file = renacer->file;

	file->records = outcome->events;
	file->damage = outcome->damage;
	file->realtime = renacer->latest >= EPOCH_MIN_NS;
	file->shift_ns = renacer->before;
	if (renacer->has_total && renacer->total > renacer->calls) {
		wti_intake_lose(renacer->intake, "calls that its summary counts",
				renacer->total - renacer->calls);
		if (!file->damage.code)
			wti_err(&file->damage, WT_E_FORMAT,
				"'%.200s': its summary has %llu calls, but only %llu are in it",
				path, (unsigned long long)renacer->total,
				(unsigned long long)renacer->calls);
	}
}

static int read_renacer(const char *path, struct wti_intake *intake,
			struct wti_import_file *ret_file, struct wt_err *err)
{
	static const struct wti_events_taker taker = {
		.list = "syscalls", .item = take_call, .member = take_other};
	struct renacer renacer = {.intake = intake, .file = ret_file};
	struct wti_events_outcome outcome;
	struct wti_sliding input;
	int r = wti_input_open(&input, path, WTI_EVENTS_WINDOW_MAX, err);

	if (r)
		return r;
	renacer.process = wti_intake_process(intake, "", 0);
	wti_intake_process_set(intake, renacer.process, 0, "renacer", 7);
	pass_output(&input);
	r = wti_events_read(&input, &taker, &renacer, &outcome, err);
	ret_file->bytes = input.offset + input.end;
	if (!r && !renacer.is_named && !renacer.calls)
		r = wti_err_at(err, WT_E_FORMAT, 0,
			       "'%.200s', byte 0: no renacer-json-v1; write it with renacer "
			       "--format json",
			       path);
	verdict(&renacer, &outcome, path);
	wti_input_release(&input);
	return r;
}

const struct wti_import_format wti_import_renacer = {"renacer", read_renacer};
