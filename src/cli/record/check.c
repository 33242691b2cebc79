/* SPDX-License-Identifier: Apache-2.0 */
/* What is done about a finding while the program still runs. */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "cli/packs.h"
#include "check.h"
#include "cli/front.h"
#include "cli/report.h"
#include "runs/live.h"
#include "show/verdict.h"

#define TEXT_MAX ((size_t)1 << 20)
#define CODES_MAX 4096u

extern char **environ;

struct wti_record_check {
	struct wti_live_check *live;
	const char *on_finding;
	struct wti_pack *pack;  /* or NULL */
	struct wti_map emitted; /* codes of findings that were shown */
	bool json; /* what is found is part of the last words: nothing is shown before */
	char directory[PATH_MAX];
};

static void print(struct wti_buf *out)
{
	wti_print_err_lines(out->data, out->bytes);
}

/* A file without a name: whoever reads it cannot hold us up, whoever does not loses nothing. */
static int hold_json(const struct wt_result *result)
{
	int fd = memfd_create("finding", MFD_CLOEXEC);
	struct wti_buf json;

	if (fd < 0)
		return -1;
	wti_buf_init(&json, TEXT_MAX);
	wti_show_json(&json, result);
	if (wti_buf_status(&json) || wti_write_all(fd, json.data, json.bytes) ||
	    lseek(fd, 0, SEEK_SET)) {
		close(fd);
		fd = -1;
	}
	wti_buf_release(&json);
	return fd;
}

/* Our thread has all signals blocked, and SIGPIPE is ignored here: neither is for the command. */
static void plain_signals(posix_spawnattr_t *attributes)
{
	sigset_t none, pipe_only;

	sigemptyset(&none);
	sigemptyset(&pipe_only);
	sigaddset(&pipe_only, SIGPIPE);
	posix_spawnattr_init(attributes);
	posix_spawnattr_setsigmask(attributes, &none);
	posix_spawnattr_setsigdefault(attributes, &pipe_only);
	posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
}

/*
 * The shell ends at once and its child goes on: the finding must not wait for what is done about
 * it. What a shell starts in the background reads /dev/null, unless it is given another descriptor.
 */
static bool spawn_shell(const char *command, int input)
{
	char script[] = "exec 3<&0; ( exec <&3 3<&-; eval \"$1\" ) &";
	char *const arguments[] = {"sh", "-c", script, "sh", (char *)command, NULL};
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	pid_t pid;

	plain_signals(&attributes);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
	errno = posix_spawnp(&pid, "sh", &actions, &attributes, arguments, environ);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attributes);
	if (errno)
		return false;
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return true;
}

static void run_command(const char *command, const struct wt_result *result)
{
	int input = hold_json(result);

	if (input < 0 || !spawn_shell(command, input))
		wti_warn("cannot start the command of --on-finding: %s", strerror(errno));
	if (input >= 0)
		close(input);
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
	char key[WTI_VERDICT_KEY_BYTES];
	struct wti_buf out;

	for (size_t i = 0; i < result->finding_count; i++)
		wti_map_text(&check->emitted, key, wti_verdict_key(key, &result->findings[i]));
	wti_buf_init(&out, TEXT_MAX);
	wti_buf_byte(&out, '\n');
	wti_show_findings(&out, result, &plain);
	if (!check->json)
		print(&out);
	wti_buf_release(&out);
	if (!strcmp(check->on_finding, "warn"))
		return;
	if (strcmp(check->on_finding, "stop")) {
		run_command(check->on_finding, result);
	} else if (has_error(result)) {
		if (!check->json)
			wti_warn("stopping the program because of an error (--on-finding stop)");
		kill(getpid(), SIGTERM); /* the recorder passes it on */
	}
}

static bool names_command(const char *on_finding)
{
	return strcmp(on_finding, "warn") != 0 && strcmp(on_finding, "stop") != 0;
}

/* Some findings can be made only at the end; the command gets those as well, and no other again. */
static void run_command_last(const struct wti_record_check *check, struct wt_result *result)
{
	char key[WTI_VERDICT_KEY_BYTES];

	for (size_t i = result->finding_count; i-- > 0;) {
		size_t bytes = wti_verdict_key(key, &result->findings[i]);

		if (wti_map_find_text(&check->emitted, key, bytes))
			wt_result_finding_remove(result, i);
	}
	if (result->finding_count)
		run_command(check->on_finding, result);
}

static bool is_a_pack(const char *word)
{
	return strcmp(word, "yes") && strcmp(word, "true") && strcmp(word, "rules");
}

void wti_record_check_free(struct wti_record_check *check)
{
	if (!check)
		return;
	wti_live_free(check->live);
	wti_pack_free(check->pack);
	wti_map_release(&check->emitted);
	free(check);
}

int wti_record_check_start(const struct wti_record_check_options *wanted,
			   struct wti_record_check **ret_check, struct wt_err *err)
{
	const char *pack = wanted->pack;
	struct wti_record_check *check = calloc(1, sizeof(*check));
	struct wti_front front = wti_front_here(NULL);
	struct wti_live_options options = {
		.some_calls = wanted->some_calls, .news = news, .cookie = check};
	int r = 0;

	if (!check)
		return wti_err(err, WT_E_NOMEM, "out of memory");
	if (is_a_pack(pack))
		r = wti_pack_open(&front, pack, &check->pack, err);
	else if (strcmp(pack, "rules"))
		check->pack = wti_pack_builtin();
	check->on_finding = wanted->on_finding;
	check->json = wanted->json;
	wti_map_init(&check->emitted, CODES_MAX);
	if (!getcwd(check->directory, sizeof(check->directory)))
		check->directory[0] = 0;
	options.pack = check->pack;
	options.is_builtin = !is_a_pack(pack);
	options.directory = check->directory;
	r = r ? r : wti_live_start(&front, &options, &check->live, err);
	if (r)
		wti_record_check_free(check);
	else
		*ret_check = check;
	return r;
}

struct wti_sink *wti_record_check_sink(struct wti_record_check *check)
{
	return wti_live_sink(check->live);
}

bool wti_record_check_finish(struct wti_record_check *check, const char *run_status,
			     struct wt_result *ret_result)
{
	struct wt_err err = {.offset = -1};
	struct wt_result result;

	wt_result_init(&result, "check");
	if (wti_live_finish(check->live, run_status, &result, &err)) {
		wti_warn("the run could not be judged: %s", err.message);
		wt_result_release(&result);
		return false;
	}
	*ret_result = result;
	return true;
}

/* Findings that could be made only now, and the closing line; those before were shown. */
static void print_last(const struct wti_record_check *check, const struct wt_result *result)
{
	const struct wti_style plain = {0};
	struct wti_buf out;

	wti_buf_init(&out, TEXT_MAX);
	wti_verdict_text_printed(&out, result, &check->emitted, &plain);
	print(&out);
	wti_buf_release(&out);
	wti_report_notes(result);
}

int wti_record_check_report(struct wti_record_check *check, struct wt_result *result,
			    int program_code)
{
	int code = !program_code && has_error(result) ? WTI_EXIT_FINDINGS : program_code;

	if (!check->json)
		print_last(check, result);
	if (names_command(check->on_finding))
		run_command_last(check, result);
	return code;
}
