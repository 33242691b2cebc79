/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines of strace: `4242 1700000000.123456 openat(AT_FDCWD, "x", O_RDONLY) = 3 <0.000012>`, with
 * `[pid 4242]` instead where it wrote to a terminal, times in any of its forms, and calls in two
 * parts where other threads came between. Numbers among the arguments become arguments, quoted
 * texts the memory that they point to; flags by name and structures are not turned back, and
 * counted. Numbers of calls are those of this machine's architecture.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/err.h"
#include "base/grow.h"
#include "base/lines.h"
#include "base/map.h"
#include "syscall/decode.h"
#include "call.h"
#include "formats.h"

#define LINE_MAX_BYTES ((size_t)1 << 20)
#define TASKS_MAX ((size_t)1 << 16)
#define NS_PER_S ((uint64_t)1000000000)
#define DAY_S 86400u
/* Times above are since 1970: 2001. */
#define EPOCH_MIN_S 1000000000u
#define ERRNO_MAX 4095

/* A call that has begun. */
struct pending {
	char *text; /* up to where it was interrupted; NULL: none */
	size_t bytes;
	uint64_t time;
};

struct strace {
	struct wti_intake *intake;
	struct wti_import_file *file;
	struct wti_map tids; /* number in pending, plus one */
	struct pending *pending;
	size_t pending_count, pending_capacity;
	struct wti_map errors; /* names of errors: numbers */
	uint32_t process;
	uint64_t clock;    /* of relative times: the sum so far */
	uint64_t previous; /* time of day of the line before */
	uint64_t days;     /* that have passed, where only the time of day is written */
	uint64_t latest;
	uint64_t unread, untimed;
	unsigned first_unread;
};

/* ---- Pieces of a line ------------------------------------------------------------------------ */

/* Behind a point: as ns. */
static uint64_t fraction(struct wti_call_line *line)
{
	uint64_t number = 0;
	int places = 0;

	for (; line->at < line->end && *line->at >= '0' && *line->at <= '9'; line->at++) {
		if (places < 9) {
			number = number * 10 + (uint64_t)(*line->at - '0');
			places++;
		}
	}
	for (; places < 9; places++)
		number *= 10;
	return number;
}

/* ---- Who and when ---------------------------------------------------------------------------- */

/* "[pid 4242] ", "4242  " or nothing. */
static uint64_t task_of(struct wti_call_line *line)
{
	struct wti_call_line here = *line;
	uint64_t tid = 0;

	if (wti_line_passes(&here, "[pid ")) {
		wti_line_spaces(&here);
		if (!wti_line_digits(&here, &tid) || !wti_line_passes(&here, "]"))
			return 0;
	} else if (!wti_line_digits(&here, &tid) || here.at >= here.end || *here.at != ' ') {
		return 0; /* a time, or no number */
	}
	wti_line_spaces(&here);
	*line = here;
	return tid;
}

static uint64_t since_midnight(struct strace *strace, uint64_t seconds, uint64_t ns)
{
	uint64_t time = seconds * NS_PER_S + ns;

	if (time + DAY_S / 2 * NS_PER_S < strace->previous)
		strace->days++;
	strace->previous = time;
	return (strace->days * DAY_S + seconds) * NS_PER_S + ns;
}

/* False: the line has no time. */
static bool time_of(struct strace *strace, struct wti_call_line *line, uint64_t *ret_ns)
{
	struct wti_call_line here = *line;
	uint64_t number, minutes, seconds, ns = 0;
	bool relative = false;

	wti_line_spaces(&here);
	if (!wti_line_digits(&here, &number))
		return false;
	if (here.at < here.end && *here.at == ':') {
		here.at++;
		if (!wti_line_digits(&here, &minutes) || !wti_line_passes(&here, ":") ||
		    !wti_line_digits(&here, &seconds))
			return false;
		if (wti_line_passes(&here, "."))
			ns = fraction(&here);
		*ret_ns = since_midnight(strace,
					 number % 24 * 3600 + minutes % 60 * 60 + seconds % 61, ns);
	} else {
		if (!wti_line_passes(&here, ".") || number > WTI_INTAKE_TIME_MAX / NS_PER_S - 1)
			return false;
		ns = fraction(&here);
		relative = number < EPOCH_MIN_S;
		strace->clock += relative ? number * NS_PER_S + ns : 0;
		*ret_ns = relative ? strace->clock : number * NS_PER_S + ns;
	}
	if (!wti_line_passes(&here, " ") || *ret_ns > WTI_INTAKE_TIME_MAX)
		return false;
	wti_line_spaces(&here);
	*line = here;
	return true;
}

/* ---- Calls ----------------------------------------------------------------------------------- */

/* To the comma or the parenthesis behind an argument; brackets and texts are passed over. */
static void pass_argument(struct wti_call_line *line)
{
	size_t depth = 0;

	for (; line->at < line->end; line->at++) {
		char c = *line->at;

		if (c == '"') {
			for (line->at++; line->at < line->end && *line->at != '"'; line->at++)
				line->at += *line->at == '\\';
		} else if (c == '[' || c == '{' || c == '(') {
			depth++;
		} else if (depth && (c == ']' || c == '}' || c == ')')) {
			depth--;
		} else if (!depth && (c == ',' || c == ')')) {
			return;
		}
	}
	line->at = line->end;
}

/* Between the parentheses; false: they do not end. */
static bool take_arguments(struct strace *strace, struct wti_written_call *call,
			   struct wti_call_line *line)
{
	for (unsigned i = 0; line->at < line->end && *line->at != ')'; i++) {
		struct wti_call_line before;

		wti_line_spaces(line);
		before = *line;
		wti_written_argument(call, i, line);
		pass_argument(line);
		if (line->at == before.at && line->at < line->end && *line->at != ',' &&
		    *line->at != ')')
			return false;
		if (line->at < line->end && *line->at == ',')
			line->at++;
	}
	return line->at < line->end;
}

/* "= 3", "= -1 ENOENT (...)", "= ?"; and "<0.000012>" at the end. */
static bool take_result(struct strace *strace, struct wti_written_call *call,
			struct wti_call_line *line)
{
	const char *bracket = memrchr(line->at, '<', (size_t)(line->end - line->at));
	uint64_t result = 0, seconds;
	size_t bytes = 0;

	wti_line_spaces(line);
	if (!wti_line_passes(line, "="))
		return false;
	wti_line_spaces(line);
	if (wti_line_passes(line, "?"))
		call->values[WT_SYSCALL_FIELD_FLAGS] |= WT_SYSCALL_UNFINISHED;
	else if (!wti_line_number(line, &result))
		return false;
	wti_line_spaces(line);
	while (line->at + bytes < line->end && line->at[bytes] >= '0' && line->at[bytes] <= 'Z')
		bytes++;
	if ((int64_t)result == -1 && bytes > 1 && *line->at == 'E') {
		const uint64_t *error = wti_map_find_text(&strace->errors, line->at, bytes);

		result = error ? 0 - *error : result;
	}
	call->values[WT_SYSCALL_FIELD_RESULT] = result;
	if (bracket && bracket >= line->at && line->end[-1] == '>') {
		struct wti_call_line duration = {bracket + 1, line->end - 1};

		if (wti_line_digits(&duration, &seconds) && wti_line_passes(&duration, ".") &&
		    seconds < DAY_S * 365)
			call->values[WT_SYSCALL_FIELD_DURATION] =
				seconds * NS_PER_S + fraction(&duration);
	}
	return true;
}

/* A whole call from its name on. False: it is none. */
static bool take_call(struct strace *strace, uint64_t tid, uint64_t time, const char *text,
		      size_t bytes)
{
	struct wti_call_line line = {text, text + bytes};
	const char *open = memchr(text, '(', bytes);
	struct wti_written_call call = {0};

	if (!open || open == text)
		return false;
	if (!wti_written_name(&call, text, (size_t)(open - text))) {
		wti_intake_leave_out(strace->intake, WTI_UNKNOWN_CALLS, 1);
		return true;
	}
	line.at = open + 1;
	if (!take_arguments(strace, &call, &line) || !wti_line_passes(&line, ")") ||
	    !take_result(strace, &call, &line))
		return false;
	time += call.values[WT_SYSCALL_FIELD_DURATION];
	strace->latest = time > strace->latest ? time : strace->latest;
	wti_written_emit(&call, strace->intake, strace->process, tid, time);
	return true;
}

/* ---- Calls in two parts ---------------------------------------------------------------------- */

static struct pending *pending_of(struct strace *strace, uint64_t tid)
{
	uint64_t *slot = wti_map_number(&strace->tids, tid);

	if (slot && *slot)
		return &strace->pending[*slot - 1];
	if (!slot || wti_grow_zeroed(&strace->pending, strace->pending_count + 1,
				     &strace->pending_capacity, TASKS_MAX))
		return NULL;
	*slot = ++strace->pending_count;
	return &strace->pending[*slot - 1];
}

static bool keep(struct strace *strace, uint64_t tid, uint64_t time,
		 const struct wti_call_line *line, size_t bytes)
{
	struct pending *pending = pending_of(strace, tid);

	if (!pending)
		return false;
	free(pending->text);
	pending->text = malloc(bytes + 1); /* it may have a NUL in it */
	if (pending->text)
		memcpy(pending->text, line->at, bytes);
	pending->bytes = pending->text ? bytes : 0;
	pending->time = time;
	return pending->text;
}

/* "<... read resumed>..., 5) = 5 <0.1>" completes what is kept. */
static bool resume(struct strace *strace, uint64_t tid, struct wti_call_line *line)
{
	struct pending *pending = pending_of(strace, tid);
	const char *end = memchr(line->at, '>', (size_t)(line->end - line->at));
	size_t rest = end ? (size_t)(line->end - end - 1) : 0;
	char *whole;
	bool done;

	if (!pending || !pending->text || !end)
		return false;
	whole = malloc(pending->bytes + rest + 1);
	if (!whole)
		return false;
	memcpy(whole, pending->text, pending->bytes);
	memcpy(whole + pending->bytes, end + 1, rest);
	whole[pending->bytes + rest] = '\0';
	done = take_call(strace, tid, pending->time, whole, pending->bytes + rest);
	free(whole);
	free(pending->text);
	pending->text = NULL;
	return done;
}

/* ---- Lines ----------------------------------------------------------------------------------- */

static bool take_rest(struct strace *strace, uint64_t tid, uint64_t time,
		      struct wti_call_line *line)
{
	static const char unfinished[] = "<unfinished ...>";
	size_t bytes = (size_t)(line->end - line->at), tail = sizeof(unfinished) - 1;

	if (wti_line_passes(line, "<... "))
		return resume(strace, tid, line);
	if (wti_line_passes(line, "+++") || wti_line_passes(line, "---")) {
		wti_intake_leave_out(strace->intake, "signals and ends of processes", 1);
		return true;
	}
	if (bytes > tail && !memcmp(line->end - tail, unfinished, tail)) {
		bytes -= tail;
		while (bytes && line->at[bytes - 1] == ' ')
			bytes--;
		return keep(strace, tid, time, line, bytes);
	}
	return take_call(strace, tid, time, line->at, bytes);
}

static int take_line(void *self, unsigned number, const char *text, size_t bytes,
		     struct wt_err *err)
{
	struct strace *strace = self;
	struct wti_call_line line = {text, text + bytes};
	uint64_t tid, time;

	strace->file->bytes += bytes + 1;
	if (!bytes || (bytes > 2 && text[0] == ' ' && text[1] == '>'))
		return 0; /* a frame of -k */
	strace->file->records++;
	tid = task_of(&line);
	if (!time_of(strace, &line, &time))
		strace->untimed++;
	else if (take_rest(strace, tid, time, &line))
		return 0;
	strace->unread++;
	if (!strace->first_unread)
		strace->first_unread = number;
	return 0;
}

static void know_errors(struct strace *strace)
{
	for (int i = 1; i < ERRNO_MAX; i++) {
		const char *name = wti_errno_name((uint32_t)i);
		uint64_t *slot = name ? wti_map_text(&strace->errors, name, strlen(name)) : NULL;

		if (slot)
			*slot = (uint64_t)i;
	}
}

static int verdict(struct strace *strace, const char *path, struct wt_err *err)
{
	struct wti_import_file *file = strace->file;

	file->realtime = strace->latest >= EPOCH_MIN_S * NS_PER_S;
	if (strace->unread && strace->untimed == strace->unread && !strace->latest)
		return wti_err(
			err, WT_E_FORMAT,
			"'%.200s', line %u: expected a time; is this the output of strace with "
			"-ttt (or -t, -tt, -r)?",
			path, strace->first_unread);
	wti_intake_lose(strace->intake, "lines that are no calls", strace->unread);
	if (strace->unread)
		wti_err(&file->damage, WT_E_FORMAT,
			"'%.200s', line %u: this is no line of strace; what can be read is read",
			path, strace->first_unread);
	return 0;
}

static int read_strace(const char *path, struct wti_intake *intake,
		       struct wti_import_file *ret_file, struct wt_err *err)
{
	struct strace strace = {.intake = intake, .file = ret_file};
	int r;

	strace.process = wti_intake_process(intake, "", 0);
	wti_intake_process_set(intake, strace.process, 0, "strace", 6);
	wti_map_init(&strace.tids, TASKS_MAX);
	wti_map_init(&strace.errors, ERRNO_MAX);
	know_errors(&strace);
	r = wti_file_lines(path, LINE_MAX_BYTES, take_line, &strace, err);
	r = r ? r : verdict(&strace, path, err);
	for (size_t i = 0; i < strace.pending_count; i++) {
		if (strace.pending[i].text)
			wti_intake_leave_out(intake, "calls that did not end", 1);
		free(strace.pending[i].text);
	}
	free(strace.pending);
	wti_map_release(&strace.tids);
	wti_map_release(&strace.errors);
	return r;
}

const struct wti_import_format wti_import_strace = {"strace", read_strace};
