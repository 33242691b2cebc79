/* SPDX-License-Identifier: Apache-2.0 */
/* What is done about a finding while the program still runs. */
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "inspect/learn/options.h"
#include "packs.h"
#include "record_check.h"
#include "report.h"
#include "suppress.h"
#include "thresholds.h"
#include "verdict.h"

#define TEXT_MAX ((size_t)1 << 20)
#define CODES_MAX 4096u

extern char **environ;

struct wti_record_check {
	struct wti_watch *watch;
	const char *on_finding;
	struct wti_pack *pack;                 /* or NULL */
	struct wti_suppressions *suppressions; /* or NULL */
	struct wti_setting *settings;          /* or NULL */
	struct wti_check_options options;
	char today[16];
	struct wti_map told; /* codes of findings that were shown */
	char directory[PATH_MAX];
};

static void print(struct wti_buf *out)
{
	wti_print_err(out->data, out->bytes);
}

/* The shell goes on by itself: the finding must not wait for what is done about it. */
static void run_command(const char *command, const struct wt_result *result)
{
	char script[] = "( eval \"$1\" ) <&0 &";
	char *const arguments[] = {"sh", "-c", script, "sh", (char *)command, NULL};
	posix_spawn_file_actions_t actions;
	struct wti_buf json;
	int ends[2];
	pid_t pid;

	if (pipe(ends))
		return;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, ends[0], 0);
	posix_spawn_file_actions_addclose(&actions, ends[1]);
	wti_buf_init(&json, TEXT_MAX);
	wti_show_json(&json, result);
	if (posix_spawnp(&pid, "sh", &actions, NULL, arguments, environ) == 0) {
		close(ends[0]);
		if (write(ends[1], json.data, json.bytes) < 0)
			wti_warn("the command of --on-finding did not read the finding");
	} else {
		close(ends[0]);
		wti_warn("cannot start the command of --on-finding");
	}
	close(ends[1]);
	wti_buf_release(&json);
	posix_spawn_file_actions_destroy(&actions);
}

static bool has_error(const struct wt_result *result)
{
	for (size_t i = 0; i < result->finding_count; i++)
		if (result->findings[i].severity == WT_ERROR)
			return true;
	return false;
}

/* On the watch's thread. */
static void news(void *cookie, struct wt_result *result)
{
	struct wti_record_check *check = cookie;
	const struct wti_style plain = {0};
	char key[WTI_TOLD_BYTES];
	struct wti_buf out;

	wti_verdict_paths(result, check->directory);
	wti_suppress(check->suppressions, result, check->today);
	if (!result->finding_count)
		return;
	for (size_t i = 0; i < result->finding_count; i++)
		wti_map_text(&check->told, key, wti_verdict_key(key, &result->findings[i]));
	wti_buf_init(&out, TEXT_MAX);
	wti_buf_byte(&out, '\n');
	wti_show_findings(&out, result, &plain);
	print(&out);
	wti_buf_release(&out);
	if (!strcmp(check->on_finding, "warn"))
		return;
	if (strcmp(check->on_finding, "stop")) {
		run_command(check->on_finding, result);
	} else if (has_error(result)) {
		wti_warn("stopping the program because of an error (--on-finding stop)");
		kill(getpid(), SIGTERM); /* the recorder passes it on */
	}
}

static bool is_a_pack(const char *word)
{
	return strcmp(word, "yes") && strcmp(word, "true") && strcmp(word, "rules");
}

int wti_record_check_start(const char *pack, const char *on_finding, bool some_calls,
			   struct wti_record_check **ret_check, struct wt_err *err)
{
	struct wti_record_check *check = calloc(1, sizeof(*check));
	struct wti_watch_options options = {
		.inspector = wt_inspector_by_name("check"), .news = news, .cookie = check};
	size_t setting_count = 0;
	int r = 0;

	if (!check)
		return wti_err(err, WT_E_NOMEM, "out of memory");
	if (is_a_pack(pack))
		r = wti_pack_open(pack, &check->pack, err);
	else if (strcmp(pack, "rules"))
		check->pack = wti_pack_builtin();
	if (!r)
		r = wti_suppressions_read(WTI_SUPPRESS_FILE, &check->suppressions, err);
	if (!r)
		r = wti_thresholds_read(WTI_SUPPRESS_FILE, &check->settings, &setting_count, err);
	check->on_finding = on_finding;
	wti_map_init(&check->told, CODES_MAX);
	if (!getcwd(check->directory, sizeof(check->directory)))
		check->directory[0] = 0;
	check->options = (struct wti_check_options){.pack = check->pack,
						    .is_builtin = !is_a_pack(pack),
						    .with_rules = true,
						    .settings = check->settings,
						    .setting_count = setting_count,
						    .some_calls = some_calls,
						    .today = wti_today(check->today)};
	options.inspector_options = &check->options;
	r = r ? r : wti_watch_start(&options, &check->watch, err);
	if (r) {
		wti_pack_free(check->pack);
		wti_suppressions_free(check->suppressions);
		free(check->settings);
		free(check);
		return r;
	}
	*ret_check = check;
	return 0;
}

struct wti_sink *wti_record_check_sink(struct wti_record_check *check)
{
	return wti_watch_sink(check->watch);
}

/* Findings that could be told only now, and the closing line; those before were told. */
int wti_record_check_finish(struct wti_record_check *check, int program_code)
{
	const struct wti_style plain = {0};
	struct wt_err err = {.offset = -1};
	struct wt_result result;
	struct wti_buf out;
	int code = program_code;

	wt_result_init(&result, "check");
	if (wti_watch_finish(check->watch, &result, &err)) {
		wti_warn("the run could not be judged: %s", err.message);
	} else {
		wti_buf_init(&out, TEXT_MAX);
		wti_verdict_paths(&result, check->directory);
		wti_suppress(check->suppressions, &result, check->today);
		wti_suppress_say(check->suppressions, &result, check->today);
		wti_verdict_text_told(&out, &result, &check->told, &plain);
		print(&out);
		wti_buf_release(&out);
		wti_report_notes(&result);
		if (!code && has_error(&result))
			code = WTI_EXIT_FINDINGS;
	}
	wt_result_release(&result);
	wti_watch_free(check->watch);
	wti_pack_free(check->pack);
	wti_suppressions_free(check->suppressions);
	free(check->settings);
	wti_map_release(&check->told);
	free(check);
	return code;
}
