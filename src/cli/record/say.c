/* SPDX-License-Identifier: Apache-2.0 */
/* Knows what became of a recording and how to put it; standard output is the program's. */
#include "say.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <wheeltap/trace.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/report.h"
#include "show/show.h"
#include "syscall/decode.h"
#include "trace/protocol.h"

#define WORDS_MAX (16u << 20)
#define BUSY_SHARE 10u /* of the run: what works for a tenth of it is a part of it */

static void say_losses(struct wti_buf *out, const struct wti_record_outcome *outcome)
{
	const struct wt_kind *kind = wt_kind_builtin(WT_KIND_LOST);
	const char *between = " (";
	char count[32];

	if (!outcome->lost) {
		wti_buf_text(out, ", nothing lost");
		return;
	}
	wti_textf(out, ", %s lost", wti_format_count(count, outcome->lost));
	for (int reason = 0; reason <= WT_LOST_DEVICE; reason++) {
		if (!outcome->lost_by[reason])
			continue;
		wti_textf(out, "%s%s %s", between,
			  wti_format_count(count, outcome->lost_by[reason]),
			  kind->fields[0].enum_names[reason]);
		between = ", ";
	}
	wti_buf_byte(out, ')');
}

static const char *why_not(const struct wti_stranger *stranger)
{
	switch (stranger->reason) {
	case WT_NOT_FOLLOWED_NO_AGENT:
		return "no agent in it";
	case WT_NOT_FOLLOWED_VERSION:
		return "its agent has another version";
	case WT_NOT_FOLLOWED_ENVIRONMENT:
		return "its environment was cleared";
	case WT_NOT_FOLLOWED_REFUSED:
		return "refused: it runs as another user, or cannot reach the recorder";
	default:
		return "it ended too soon to find out why";
	}
}

/*
 * Beside processes that joined: one that was too short to be known, or a helper that has no agent
 * and did little, such as `tee` behind a pipe. `info` counts them. A Python should have joined, and
 * what is busy through much of the run does some of its work.
 */
static bool is_noise(const struct wti_record_outcome *outcome, const struct wti_stranger *stranger)
{
	bool is_idle = stranger->cpu_ns < outcome->duration_ns / BUSY_SHARE;

	if (!outcome->process_count || stranger->is_program)
		return false;
	if (stranger->reason == WT_NOT_FOLLOWED_UNKNOWN)
		return true;
	return stranger->reason == WT_NOT_FOLLOWED_NO_AGENT && !stranger->is_python && is_idle;
}

/* The one to be named: rather one that should have been recorded than one that has no agent. */
static const struct wti_stranger *worst_stranger(const struct wti_record_outcome *outcome,
						 uint32_t *ret_count)
{
	const struct wti_stranger *first = NULL;
	uint32_t shown = outcome->stranger_count < WTI_RECORD_STRANGERS_SHOWN
				 ? outcome->stranger_count
				 : WTI_RECORD_STRANGERS_SHOWN;

	*ret_count = outcome->stranger_count;
	for (uint32_t i = 0; i < shown; i++) {
		const struct wti_stranger *one = &outcome->strangers[i];

		if (is_noise(outcome, one))
			--*ret_count;
		else if (!first || (one->reason == WT_NOT_FOLLOWED_REFUSED &&
				    first->reason != WT_NOT_FOLLOWED_REFUSED))
			first = one;
	}
	/* Where system calls are recorded that is what was wanted of a program without an agent. */
	return first && (first->reason == WT_NOT_FOLLOWED_REFUSED || !outcome->syscalls_backend)
		       ? first
		       : NULL;
}

static void say_strangers(struct wti_buf *out, const struct wti_record_outcome *outcome)
{
	uint32_t count;
	const struct wti_stranger *first = worst_stranger(outcome, &count);

	if (!first)
		return;
	wti_buf_text(out, "; not followed: ");
	wti_printable(out, first->command, strlen(first->command));
	wti_textf(out, " (%s)", why_not(first));
	if (count > 1)
		wti_textf(out, " and %u more", count - 1);
}

/* "1,204 events of 3 processes", of those that have an agent or whose system calls were seen. */
static void say_events(struct wti_buf *out, const struct wti_record_outcome *outcome)
{
	uint32_t processes = outcome->process_count;
	char count[32];

	if (processes < outcome->syscalls_process_count)
		processes = outcome->syscalls_process_count;
	if (!processes) { /* what there is are the recorder's own words */
		wti_buf_text(out, "the program emitted no events");
		return;
	}
	wti_textf(out, "%s events from %u process%s", wti_format_count(count, outcome->events),
		  processes, processes == 1 ? "" : "es");
}

static void say_what(struct wti_buf *out, const struct wti_record_outcome *outcome)
{
	char count[32], bytes[16], cpu[16], time[16];

	wti_textf(out, "wheeltap: %s: ", wti_run_status_name(outcome->status));
	say_events(out, outcome);
	wti_textf(out, " in %s, %s", wti_format_ns(time, (int64_t)outcome->duration_ns),
		  wti_format_bytes(bytes, outcome->bytes));
	say_losses(out, outcome);
	if (outcome->syscalls_backend)
		wti_textf(out, "; %s system calls by %s",
			  wti_format_count(count, outcome->syscalls_count),
			  outcome->syscalls_backend);
	if (outcome->syscalls_is_second)
		wti_textf(out, " (%s)", outcome->syscalls_why);
	wti_textf(out, "; recorder %s of CPU",
		  wti_format_ns(cpu, (int64_t)outcome->recorder_cpu_ns));
	say_strangers(out, outcome);
	if (outcome->still_running)
		wti_textf(out, "; %u still running, no longer recorded", outcome->still_running);
	if (outcome->console_dropped)
		wti_textf(out, "; %s missing from console.log",
			  wti_format_bytes(bytes, outcome->console_dropped));
	if (outcome->limited[0])
		wti_textf(out, "; %s", outcome->limited);
	if (outcome->trouble[0])
		wti_textf(out, "; the trace ends early: %s", outcome->trouble);
	wti_buf_byte(out, '\n');
}

/* A path as one would type it from here. */
static const char *short_path(const char *path, char out[PATH_MAX])
{
	size_t bytes;

	if (!getcwd(out, PATH_MAX))
		return path;
	bytes = strlen(out);
	if (bytes > 1 && !strncmp(path, out, bytes) && path[bytes] == '/')
		return path + bytes + 1;
	return path;
}

/* A program that failed before it emitted anything may have had no chance to. */
static void say_end(struct wti_buf *out, const struct wti_record_outcome *outcome)
{
	char label[WTI_SIGNAL_LABEL_BYTES];

	if (outcome->signal)
		wti_textf(
			out,
			"wheeltap: signal %d (%s) killed the program before it emitted an event\n",
			outcome->signal, wti_signal_label(label, (uint32_t)outcome->signal));
	else if (outcome->exit_code == 127)
		wti_buf_text(out, "wheeltap: the program ended with status 127 before it emitted "
				  "an event: a shared library or a command was not found; see its "
				  "output, or run ldd PROGRAM\n");
	else
		wti_textf(out,
			  "wheeltap: the program ended with status %d before it emitted an event; "
			  "see its output for the reason\n",
			  outcome->exit_code);
}

/* What they do from now on is in no verdict. */
static void say_left(struct wti_buf *out, const struct wti_record_outcome *outcome)
{
	uint32_t shown = outcome->still_running < WTI_RECORD_LEFT_SHOWN ? outcome->still_running
									: WTI_RECORD_LEFT_SHOWN;

	if (!shown)
		return;
	wti_buf_text(out, "wheeltap: left running: ");
	for (uint32_t i = 0; i < shown; i++) {
		wti_textf(out, "%s%u (", i ? ", " : "", outcome->left[i].pid);
		wti_printable(out, outcome->left[i].command, strlen(outcome->left[i].command));
		wti_buf_byte(out, ')');
	}
	if (outcome->still_running > shown)
		wti_textf(out, " and %u more", outcome->still_running - shown);
	wti_buf_text(out, outcome->status == WTI_RUN_INTERRUPTED
				  ? "\n"
				  : "; use record --wait to record them until they end\n");
}

/* Whichever of the two is older, the other side of the cure is named. */
static void say_mismatch(struct wti_buf *out, const struct wti_record_outcome *outcome)
{
	const bool is_newer = outcome->mismatch_protocol > WTI_PROTOCOL;

	wti_textf(out,
		  "wheeltap: no process joined: the agent in the program is of %s wheeltap "
		  "(protocol %u), and this recorder is wheeltap " WTI_VERSION " (protocol %u); ",
		  is_newer ? "a newer" : "an older", outcome->mismatch_protocol, WTI_PROTOCOL);
	wti_buf_text(out, is_newer ? "record with the wheeltap that the program was built with\n"
				   : "build the program again with this wheeltap, or record with "
				     "the one that it was built with\n");
}

static void say_next(struct wti_buf *out, const struct wti_record_outcome *outcome)
{
	char buffer[PATH_MAX];
	const char *path = short_path(outcome->folder, buffer);

	if (outcome->device_note[0]) {
		wti_buf_text(out, "wheeltap: ");
		wti_printable(out, outcome->device_note, strlen(outcome->device_note));
		wti_buf_byte(out, '\n');
	}
	if (outcome->python_why[0]) {
		wti_buf_text(out, "wheeltap: no Python process joined: ");
		wti_printable(out, outcome->python_why, strlen(outcome->python_why));
		wti_buf_byte(out, '\n');
	}
	if (outcome->syscalls_backend && !outcome->syscalls_process_count)
		wti_buf_printf(out,
			       "wheeltap: no process was seen by %s: system calls were not "
			       "recorded\n",
			       outcome->syscalls_backend);
	if (outcome->syscalls_without_setuid)
		wti_buf_text(out, "wheeltap: a setuid program has no privileges while it is "
				  "traced: record it as root, or without --syscalls\n");
	if (outcome->syscalls_foreign_count)
		wti_textf(out,
			  "wheeltap: %llu system calls belong to another architecture: they have "
			  "numbers and arguments, but no names\n",
			  (unsigned long long)outcome->syscalls_foreign_count);
	if (outcome->syscalls_backend)
		wti_textf(out, "wheeltap: inspect it with: wheeltap stat --syscalls %s\n", path);
	if (outcome->process_count) {
		wti_textf(out, "wheeltap: inspect it with: wheeltap info %s\n", path);
		return;
	}
	if (outcome->python_why[0] || outcome->syscalls_backend || outcome->limited[0])
		return;
	if (outcome->exit_code == 127 || (outcome->exit_code && !outcome->stranger_count))
		say_end(out, outcome);
	if (outcome->mismatch_count)
		say_mismatch(out, outcome);
	else if (outcome->silent_count && !outcome->stranger_count && outcome->exit_code)
		return;
	else if (outcome->silent_count && !outcome->stranger_count)
		wti_buf_text(out, "wheeltap: the program has the agent, but emitted no event; see "
				  "<wheeltap/wheeltap.h>\n");
	else
		wti_textf(
			out,
			"wheeltap: no process joined: there is no agent in the program, or its "
			"environment was cleared; --syscalls records any program, and one of your "
			"own can emit events (<wheeltap/wheeltap.h>); console and environment "
			"are in %s\n",
			path);
}

/* A text, or null where there is none. */
static void text_or_null(struct wti_json *json, const char *key, const char *text)
{
	wti_json_key(json, key);
	wti_json_text(json, text[0] ? text : NULL);
}

static void say_json(struct wti_buf *out, const struct wti_record_outcome *outcome,
		     const struct wt_result *judged)
{
	const struct wt_kind *kind = wt_kind_builtin(WT_KIND_LOST);
	struct wti_json json;

	wti_json_init(&json, out, false);
	wti_json_object(&json);
	wti_json_key(&json, "verb");
	wti_json_text(&json, "record");
	wti_json_key(&json, "status");
	wti_json_text(&json, wti_run_status_name(outcome->status));
	wti_json_key(&json, "run");
	wti_json_text(&json, outcome->folder);
	wti_json_key(&json, "exit_status");
	wti_json_i64(&json, outcome->exit_code);
	wti_json_key(&json, "events");
	wti_json_u64(&json, outcome->events);
	wti_json_key(&json, "bytes");
	wti_json_u64(&json, outcome->bytes);
	wti_json_key(&json, "lost");
	wti_json_u64(&json, outcome->lost);
	wti_json_key(&json, "losses");
	wti_json_object(&json);
	for (int reason = 0; reason <= WT_LOST_DEVICE; reason++) {
		if (!outcome->lost_by[reason])
			continue;
		wti_json_key(&json, kind->fields[0].enum_names[reason]);
		wti_json_u64(&json, outcome->lost_by[reason]);
	}
	wti_json_object_end(&json);
	wti_json_key(&json, "processes");
	wti_json_u64(&json, outcome->process_count);
	wti_json_key(&json, "not_followed");
	wti_json_u64(&json, outcome->stranger_count);
	wti_json_key(&json, "still_running");
	wti_json_u64(&json, outcome->still_running);
	wti_json_key(&json, "left_running");
	wti_json_array(&json);
	for (uint32_t i = 0; i < outcome->still_running && i < WTI_RECORD_LEFT_SHOWN; i++) {
		wti_json_object(&json);
		wti_json_key(&json, "pid");
		wti_json_u64(&json, outcome->left[i].pid);
		wti_json_key(&json, "command");
		wti_json_text(&json, outcome->left[i].command);
		wti_json_object_end(&json);
	}
	wti_json_array_end(&json);
	wti_json_key(&json, "python");
	wti_json_object(&json);
	wti_json_key(&json, "joined");
	wti_json_u64(&json, outcome->python_count);
	wti_json_key(&json, "cause");
	wti_json_text(&json,
		      outcome->python_cause ? wti_python_cause_name(outcome->python_cause) : NULL);
	wti_json_key(&json, "why");
	wti_json_text(&json, outcome->python_why[0] ? outcome->python_why : NULL);
	wti_json_object_end(&json);
	text_or_null(&json, "device_note", outcome->device_note);
	wti_json_key(&json, "duration_ns");
	wti_json_u64(&json, outcome->duration_ns);
	wti_json_key(&json, "recorder_cpu_ns");
	wti_json_u64(&json, outcome->recorder_cpu_ns);
	text_or_null(&json, "limited", outcome->limited);
	text_or_null(&json, "trouble", outcome->trouble);
	if (judged) {
		wti_json_key(&json, "check");
		wti_show_json_value(&json, judged);
	}
	wti_json_object_end(&json);
	wti_buf_byte(out, '\n');
}

void wti_record_say(const struct wti_record_outcome *outcome, bool json,
		    const struct wt_result *judged)
{
	struct wti_buf out;

	wti_buf_init(&out, WORDS_MAX);
	if (json) {
		say_json(&out, outcome, judged);
		wti_print_err(out.data, out.bytes);
	} else {
		say_what(&out, outcome);
		say_left(&out, outcome);
		say_next(&out, outcome);
		wti_print_err_lines(out.data, out.bytes);
	}
	wti_buf_release(&out);
}
