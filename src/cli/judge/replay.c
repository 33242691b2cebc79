/* SPDX-License-Identifier: Apache-2.0 */
/* The verb `replay`. */
#include "replay/replay.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/text.h"
#include "cli/consent.h"
#include "cli/front.h"
#include "cli/report.h"
#include "cli/verb.h"
#include "runs/open.h"

struct replay_options {
	const char *mode;
	const char *order;
	const char *from;
	const char *to;
	const char *queue;
	const char *kernel;
	uint64_t repeat;
	const char *speed;
	const char *device;
	const char *yes;
	uint64_t ulp;
	uint64_t memory_bytes;
	uint64_t pid;
	const char *emit;
	bool json;
};

static const struct replay_options defaults = {
	.mode = "full", .order = "original", .ulp = 4, .memory_bytes = UINT64_C(2) << 30};

/* ---- What was asked -------------------------------------------------------------------------- */

static int read_order(const char *word, struct wti_replay_order *ret, struct wt_err *err)
{
	static const struct {
		const char *word;
		enum wti_replay_order_type type;
	} orders[] = {{"original", WTI_ORDER_ORIGINAL},
		      {"serial", WTI_ORDER_SERIAL},
		      {"reversed", WTI_ORDER_REVERSED}};

	for (size_t i = 0; i < sizeof(orders) / sizeof(*orders); i++)
		if (!strcmp(word, orders[i].word)) {
			ret->type = orders[i].type;
			return 0;
		}
	ret->type = WTI_ORDER_RANDOM;
	if (!strncmp(word, "random:", 7) && wti_parse_u64(word + 7, &ret->seed))
		return 0;
	return wti_err(err, WT_E_ARG,
		       "'%s' is no order: use original, serial, reversed or random:SEED", word);
}

/* A number is an operation, a time has a unit. */
static int read_end(const char *word, const char *option, uint64_t *number, int64_t *ns,
		    bool *by_time, struct wt_err *err)
{
	if (!word || wti_parse_u64(word, number))
		return 0;
	if (!wti_parse_duration(word, ns))
		return wti_err(err, WT_E_ARG,
			       "--%s '%s' is neither the number of an operation nor a time like "
			       "1.5s",
			       option, word);
	*by_time = true;
	return 0;
}

static int read_speed(const char *word, double *ret, struct wt_err *err)
{
	char *end;

	if (!word)
		return 0;
	*ret = strtod(word, &end);
	if (*end || !(*ret > 0) || *ret > 1e9)
		return wti_err(err, WT_E_ARG,
			       "--speed '%s' is no factor: 1 is as recorded, 2 twice as fast",
			       word);
	return 0;
}

static enum wti_replay_mode mode_of(const char *word)
{
	return !strcmp(word, "partial")   ? WTI_REPLAY_PARTIAL
	       : !strcmp(word, "dry-run") ? WTI_REPLAY_DRY_RUN
	       : !strcmp(word, "stream")  ? WTI_REPLAY_STREAM
					  : WTI_REPLAY_FULL;
}

static int check_mode(const struct replay_options *o, struct wt_err *err)
{
	enum wti_replay_mode mode = mode_of(o->mode);

	if (mode == WTI_REPLAY_PARTIAL && !o->from && !o->to && !o->kernel)
		return wti_err(err, WT_E_ARG, "--mode partial needs --from, --to or --kernel");
	if (mode == WTI_REPLAY_STREAM && !o->queue)
		return wti_err(err, WT_E_ARG,
			       "--mode stream needs --queue: `--mode dry-run` prints the queues");
	if (mode == WTI_REPLAY_FULL && (o->from || o->to || o->queue || o->kernel))
		return wti_err(err, WT_E_ARG,
			       "--from, --to and --kernel are for --mode partial, --queue for "
			       "--mode stream");
	return 0;
}

static int read_options(const struct replay_options *o, struct wti_replay_options *ret,
			struct wt_err *err)
{
	bool from_time = false, to_time = false;
	int r = check_mode(o, err);

	wti_replay_options_init(ret);
	ret->mode = mode_of(o->mode);
	ret->queue = o->queue;
	ret->kernel = o->kernel;
	ret->repeats = o->repeat ? o->repeat : ret->repeats;
	ret->device = o->device;
	ret->binaries = o->yes;
	ret->ulp = o->ulp;
	ret->memory_bytes = o->memory_bytes;
	ret->pid = o->pid;
	ret->emit = o->emit;
	r = r ? r : read_order(o->order, &ret->order, err);
	r = r ? r : read_end(o->from, "from", &ret->from, &ret->from_ns, &from_time, err);
	r = r ? r : read_end(o->to, "to", &ret->to, &ret->to_ns, &to_time, err);
	r = r ? r : read_speed(o->speed, &ret->speed, err);
	if (!r && o->from && o->to && from_time != to_time)
		return wti_err(err, WT_E_ARG,
			       "--from and --to must both be operations, or both times");
	ret->by_time = from_time || to_time;
	return r;
}

/* ---- Consent --------------------------------------------------------------------------------- */

/* Kernels are code, and come from a folder that anybody may have made. */
static int consent(const struct wti_opened_run *opened, const struct replay_options *o,
		   struct wt_err *err)
{
	char code[WTI_REPLAY_CODE_BYTES] = "";
	struct wti_buf lines;
	int r;

	wti_buf_init(&lines, 1u << 20);
	r = wti_replay_consent(opened->trace, opened->run.path, code, &lines, err);
	if (!r && o->yes && wti_replay_is_agreed(o->yes, code)) {
		wti_buf_release(&lines);
		return 0;
	}
	if (!r) {
		wti_warn("this would be executed:");
		wti_print_err_lines(lines.data, lines.bytes);
	}
	wti_buf_release(&lines);
	if (r || (!o->yes && wti_consent_ask("execute them?") == WTI_CONSENT_GIVEN))
		return r;
	return wti_err(err, WT_E_ARG,
		       "nothing was executed: %slook at the programs, then repeat with --yes %s",
		       o->yes ? "--yes names other programs than the run has; " : "", code);
}

/* ---- The verb -------------------------------------------------------------------------------- */

/* Of a dry run: the code that a later --yes needs. */
static int add_code(const struct wti_opened_run *opened, struct wt_result *result,
		    struct wt_err *err)
{
	char code[WTI_REPLAY_CODE_BYTES] = "";
	struct wti_buf lines;
	int r;

	wti_buf_init(&lines, 1u << 20);
	r = wti_replay_consent(opened->trace, opened->run.path, code, &lines, err);
	wti_buf_release(&lines);
	if (!r)
		wt_result_fact_text(result, "code", "code for --yes", code);
	return r;
}

static int exit_of(const struct wt_result *result)
{
	if (!strcmp(result->status, "divergent"))
		return WTI_EXIT_FINDINGS;
	if (!strcmp(result->status, "partial") || !strcmp(result->status, "not_measured") ||
	    !strcmp(result->status, "deterministic"))
		return WTI_EXIT_TRACE;
	return WTI_EXIT_CLEAN;
}

static int run(const void *opaque, char **arguments, size_t count)
{
	const struct replay_options *o = opaque;
	struct wt_err err = {.offset = -1};
	struct wti_progress progress;
	struct wti_front front = wti_front_doing("replaying", &progress);
	struct wti_replay_options options;
	struct wti_opened_run opened;
	struct wt_result result;
	int r = read_options(o, &options, &err), code;

	if (r || wti_open(&front, count ? arguments[0] : NULL, &opened, &err))
		return wti_report_error("replay", o->json, &err);
	wt_result_init(&result, "replay");
	wti_note_damage(&opened, &result);
	options.progress = front.progress;
	options.cookie = front.cookie;
	r = options.mode == WTI_REPLAY_DRY_RUN ? add_code(&opened, &result, &err)
					       : consent(&opened, o, &err);
	wti_front_progress(&front, r ? WTI_PROGRESS_OVER : 0);
	if (!r)
		r = wti_replay(opened.trace, opened.run.path, &options, &result, &err);
	wti_front_progress(&front, WTI_PROGRESS_OVER);
	code = r ? wti_report_error("replay", o->json, &err)
		 : wti_report_result(&result, o->json, exit_of(&result));
	wt_result_release(&result);
	wti_close(&opened);
	return code;
}

static const struct wti_option options[] = {
	{"mode", 'm', WTI_OPT_CHOICE, "MODE", "full|partial|dry-run|stream",
	 "what to execute: all; a window (--from, --to, --kernel) and what it needs; nothing, only "
	 "the plan and races; one queue (--queue) and what it needs",
	 offsetof(struct replay_options, mode)},
	{"order", 0, WTI_OPT_TEXT, "ORDER", NULL,
	 "original (all queues at once, as recorded), serial, reversed or random:SEED: other "
	 "orders that were allowed",
	 offsetof(struct replay_options, order)},
	{"from", 0, WTI_OPT_TEXT, "WHERE", NULL,
	 "first operation, by number or by time of the run (1.5s)",
	 offsetof(struct replay_options, from)},
	{"to", 0, WTI_OPT_TEXT, "WHERE", NULL, "last operation, or up to this time",
	 offsetof(struct replay_options, to)},
	{"queue", 'q', WTI_OPT_TEXT, "NAME", NULL, "only operations of these queues (a pattern)",
	 offsetof(struct replay_options, queue)},
	{"kernel", 'k', WTI_OPT_TEXT, "NAME", NULL, "only these kernels (a pattern)",
	 offsetof(struct replay_options, kernel)},
	{"repeat", 'r', WTI_OPT_COUNT, "COUNT", NULL,
	 "execute each kernel this many times from the same content; default 3",
	 offsetof(struct replay_options, repeat)},
	{"speed", 0, WTI_OPT_TEXT, "FACTOR", NULL,
	 "keep the recorded times between operations, divided by this; default: no pauses",
	 offsetof(struct replay_options, speed)},
	{"device", 'd', WTI_OPT_TEXT, "NAME", NULL,
	 "a device whose name contains this; default: the recorded one, or the first",
	 offsetof(struct replay_options, device)},
	{"ulp", 0, WTI_OPT_COUNT, "COUNT", NULL,
	 "tolerance on another device, in units of the last place; default 4",
	 offsetof(struct replay_options, ulp)},
	{"yes", 0, WTI_OPT_TEXT, "CODE", NULL,
	 "execute these programs: the code that replay prints without --yes; with a comma and its "
	 "hash also one that is native code",
	 offsetof(struct replay_options, yes)},
	{"memory-max", 0, WTI_OPT_BYTES, "BYTES", NULL,
	 "memory of the device to use at a time; default 2G",
	 offsetof(struct replay_options, memory_bytes)},
	{"pid", 0, WTI_OPT_COUNT, "PID", NULL, "only this process of the run",
	 offsetof(struct replay_options, pid)},
	{"emit", 0, WTI_OPT_TEXT, "FILE.c", NULL,
	 "if it diverges, write a self-contained C program that reproduces it (cc FILE.c "
	 "-lOpenCL)",
	 offsetof(struct replay_options, emit)},
	WTI_OPTION_JSON(struct replay_options, json),
	WTI_OPTIONS_END,
};

const struct wti_verb wti_verb_replay = {
	.name = "replay",
	.arguments = "[RUN]",
	.summary = "execute recorded device work again, and verify it",
	.description =
		"Executes the OpenCL work of a run that was recorded with `record --opencl "
		"--replayable`: fresh context, the recorded programs, arguments and contents. "
		"Every kernel is repeated from the same content, and all recorded results are "
		"compared bit by bit.\n\n"
		"An operation is the same; ORIGIN if it read the same and wrote something else; "
		"inherited if it read what an origin wrote; missing if it could not be executed, "
		"with the reason; unknown if it read what a missing one should have written. An "
		"origin is intrinsic if repeating it alone gives other results.\n\n"
		"Races are found from the recording alone: operations on the same bytes, one of "
		"them writing, that no queue, event, barrier or wait of the host orders. They "
		"are confirmed by executing both orders.\n\n"
		"Kernels are code. Without --yes the programs are listed with a code, and "
		"nothing is executed unless --yes has that code; on a terminal replay asks. A "
		"program that was loaded as native code needs its own hash, too.\n\n"
		"Exit codes: 0 bit-exact, or within the tolerance on another device; 1 "
		"divergent; 3 partial or nothing to compare with.",
	.examples = "wheeltap record --opencl --replayable -- ./program\n"
		    "wheeltap replay --yes 5f0c1f2e9a3b4d77\tthe latest run\n"
		    "wheeltap replay --mode dry-run\tthe plan and races; executes nothing\n"
		    "wheeltap replay --mode partial --kernel 'sum*' --repeat 50\tone kernel, often",
	.options = options,
	.options_bytes = sizeof(struct replay_options),
	.arguments_max = 1,
	.group = "judge",
	.run = run,
	.defaults = &defaults,
};
