/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records a program several times: each run in a process of its own that is forked here, into a
 * folder of its own. Only the first has our terminal, input and output; what the others print is in
 * their console.log. Signals are waited for, not handled: a run that ends, or somebody who wants
 * all of them to end.
 */
#include "runs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "base/folder.h"
#include "base/json.h"
#include "base/text.h"
#include "collect/environment.h"
#include "collect/name.h"
#include "cli/progress.h"
#include "cli/report.h"
#include "runs/remove.h"
#include "runs/run.h"
#include "runs/set.h"
#include "trace/run_folder.h"

enum { NOT_STARTED = 125, SET_JSON_BYTES_MAX = 16 << 20, SAME_SECOND_MAX = 100 };

struct turn {
	pid_t pid; /* 0: not started */
	bool has_ended;
	bool is_recorded; /* there is a run.json */
	int code;
	char status[16];
};

struct set {
	const struct wti_record_runs *runs;
	char path[PATH_MAX];
	char label[WTI_NAME_BYTES];
	struct turn *turns; /* runs->count of them */
	uint32_t started;
	uint32_t ended;
	uint32_t jobs;
	double half_width; /* of the interval that is enough; 0: all runs */
	int64_t start_ns;
	bool is_interrupted;
	bool is_hopeless; /* the program cannot be started */
	sigset_t mask;    /* as it was */
	int output;       /* of all runs but the first */
	struct wti_progress progress;
};

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static bool read_bits(const char *words, double *ret_bits)
{
	char *end;
	const double bits = strtod(words, &end);

	if (end == words || *end || !(bits > 0))
		return false;
	*ret_bits = bits;
	return true;
}

int wti_record_runs_check(const struct wti_record_runs *runs, struct wt_err *err)
{
	double bits;

	if (runs->count == 1)
		return wti_err(err, WT_E_ARG,
			       "one run shows no digits: give --runs 2 or more, or leave '--runs' "
			       "away to record a single run under noise");
	if (runs->count > WTI_SET_RUNS_MAX)
		return wti_err(err, WT_E_ARG, "'--runs' takes at most %u", WTI_SET_RUNS_MAX);
	if (!runs->count && (runs->jobs || runs->until_bits))
		return wti_err(err, WT_E_ARG,
			       "'--jobs' and '--until-bits' are for several runs: give --runs, "
			       "too");
	if (runs->until_bits && !read_bits(runs->until_bits, &bits))
		return wti_err(err, WT_E_ARG,
			       "bad value '%.64s' for '--until-bits'; give half the width of the "
			       "interval in bits, such as 0.5",
			       runs->until_bits);
	return 0;
}

/* ---- The folder ------------------------------------------------------------------------------ */

static int make_new(struct set *set, struct wt_err *err)
{
	char plain[WTI_NAME_BYTES], when[32];
	time_t now = time(NULL);
	struct tm local;
	size_t kept;

	wti_name_plain(set->label, plain);
	strftime(when, sizeof(when), "%Y%m%d-%H%M%S", localtime_r(&now, &local));
	if (wti_mkdirs_kept(set->runs->base, 0700, &kept, err))
		return err->code;
	for (int i = 1; i <= SAME_SECOND_MAX; i++) {
		int n = i == 1 ? snprintf(set->path, sizeof(set->path), "%s/%s-%s", set->runs->base,
					  plain, when)
			       : snprintf(set->path, sizeof(set->path), "%s/%s-%s-%d",
					  set->runs->base, plain, when, i);

		if (n >= (int)sizeof(set->path))
			return wti_err(err, WT_E_ARG, "the folder's name is too long");
		if (!mkdir(set->path, 0700))
			return 0;
		if (errno != EEXIST)
			break;
	}
	return wti_err_errno(err, "cannot create the folder", set->path);
}

static int make_folder(struct set *set, struct wt_err *err)
{
	const struct wti_record_runs *runs = set->runs;
	struct wti_folder made;

	if (!runs->folder)
		return make_new(set, err);
	if (snprintf(set->path, sizeof(set->path), "%s", runs->folder) >= (int)sizeof(set->path))
		return wti_err(err, WT_E_ARG, "the folder's name is too long");
	if (runs->force && wti_run_replace(set->path, err))
		return err->code;
	wti_run_remember(runs->base, set->path);
	return wti_folder_make(&made, set->path, err);
}

static void turn_path(const struct set *set, uint32_t i, char ret_path[PATH_MAX])
{
	if (snprintf(ret_path, PATH_MAX, "%s/%02u", set->path, i + 1) >= PATH_MAX)
		ret_path[0] = 0; /* refused when it is made */
}

/* ---- set.json -------------------------------------------------------------------------------- */

static void text(struct wti_json *json, const char *key, const char *value)
{
	wti_json_key(json, key);
	wti_json_text(json, value);
}

/* As text: JSON has no whole numbers of 64 bits. */
static void seed(struct wti_json *json, uint64_t value)
{
	char number[24];

	snprintf(number, sizeof(number), "%llu", (unsigned long long)value);
	text(json, "seed", number);
}

static const char *status_of(const struct set *set, bool is_over)
{
	if (!is_over)
		return "running";
	if (set->is_interrupted)
		return "interrupted";
	for (uint32_t i = 0; i < set->started; i++)
		if (set->turns[i].code)
			return "failed";
	return "finished";
}

static void write_turns(struct wti_json *json, const struct set *set)
{
	struct wti_record_noise noise = *set->runs->noise;
	char folder[16];

	wti_json_key(json, "runs");
	wti_json_array(json);
	for (uint32_t i = 0; i < set->started; i++) {
		const struct turn *turn = &set->turns[i];

		if (!turn->has_ended || !turn->is_recorded)
			continue;
		noise.run = i + 1;
		snprintf(folder, sizeof(folder), "%02u", i + 1);
		wti_json_object(json);
		text(json, "folder", folder);
		seed(json, wti_record_noise_seed(&noise));
		text(json, "status", turn->status);
		wti_json_key(json, "exit_code");
		wti_json_i64(json, turn->code);
		wti_json_object_end(json);
	}
	wti_json_array_end(json);
}

static void write_json(struct wti_json *json, const struct set *set, bool is_over, bool is_summary)
{
	const struct wti_record_noise *noise = set->runs->noise;

	wti_json_object(json);
	wti_json_key(json, "set");
	wti_json_u64(json, WTI_SET_VERSION);
	text(json, "name", set->label);
	if (is_summary) /* the folder may be moved */
		text(json, "path", set->path);
	text(json, "status", status_of(set, is_over));
	wti_json_key(json, "command");
	wti_json_command(json, set->runs->argv);
	text(json, "noise", noise->mode ? noise->mode : "off");
	seed(json, noise->seed);
	text(json, "elements", noise->elements ? noise->elements : WTI_ELEMENTS_DEFAULT);
	text(json, "noise_libm", noise->mode ? noise->libm : "off");
	wti_json_key(json, "start_ns");
	wti_json_i64(json, set->start_ns);
	if (is_over) {
		wti_json_key(json, "duration_ns");
		wti_json_i64(json, now_ns() - set->start_ns);
	}
	wti_json_key(json, "runs_wanted");
	wti_json_u64(json, set->runs->count);
	write_turns(json, set);
	wti_json_object_end(json);
}

static int write_set(const struct set *set, bool is_over, struct wt_err *err)
{
	char path[PATH_MAX + sizeof(WTI_SET_JSON) + 1];
	struct wti_buf out;
	struct wti_json json;
	int r;

	snprintf(path, sizeof(path), "%s/" WTI_SET_JSON, set->path);
	wti_buf_init(&out, SET_JSON_BYTES_MAX);
	wti_json_init(&json, &out, true);
	write_json(&json, set, is_over, false);
	wti_buf_byte(&out, '\n');
	r = wti_buf_status(&out) ? wti_err(err, WT_E_NOMEM, "out of memory")
				 : wti_file_replace(path, out.data, out.bytes, err);
	wti_buf_release(&out);
	return r;
}

static void note_progress(struct set *set)
{
	struct wt_err err = {.offset = -1};

	if (write_set(set, false, &err))
		wti_warn("%s", err.message);
	wti_progress_share(&set->progress, (double)set->ended / (double)set->runs->count);
}

/* ---- Runs ------------------------------------------------------------------------------------ */

/* A file is read from its beginning by each; what else there is cannot be shared. */
static int open_input(void)
{
	struct stat about;
	int fd = -1;

	if (!fstat(STDIN_FILENO, &about) && S_ISREG(about.st_mode))
		fd = open("/proc/self/fd/0", O_RDONLY | O_CLOEXEC);
	return fd >= 0 ? fd : open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static void give_up_terminal(int output)
{
	setsid();
	dup2(output, STDOUT_FILENO);
	dup2(output, STDERR_FILENO);
}

/*
 * What runs print goes into their console.log on its way into a pipe, where a process of its own
 * throws it away: it lives as long as anybody has the other end.
 */
static int open_output(void)
{
	char thrown_away[4096];
	int ends[2], nothing;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC))
		return -1;
	pid = fork();
	if (pid == 0) {
		nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
		dup2(nothing, STDIN_FILENO);
		give_up_terminal(nothing);
		close(ends[1]);
		while (read(ends[0], thrown_away, sizeof(thrown_away)) > 0)
			continue;
		_exit(0);
	}
	close(ends[0]);
	if (pid > 0)
		return ends[1];
	close(ends[1]);
	return -1;
}

/* In the process of a run. The first one speaks for all. */
static void take_place(const struct set *set, uint32_t i)
{
	dup2(open_input(), STDIN_FILENO);
	if (i > 0)
		give_up_terminal(set->output);
}

static int start(struct set *set)
{
	const uint32_t i = set->started;
	char folder[PATH_MAX];
	pid_t pid;

	turn_path(set, i, folder);
	pid = fork();
	if (pid < 0)
		return -1;
	if (pid == 0) {
		sigprocmask(SIG_SETMASK, &set->mask, NULL);
		take_place(set, i);
		_exit(set->runs->turn(set->runs->self, i + 1, folder));
	}
	set->turns[i].pid = pid;
	set->started++;
	return 0;
}

static void end(struct set *set, uint32_t i, int wait_status)
{
	struct turn *turn = &set->turns[i];
	char folder[PATH_MAX];
	struct wti_run run;

	turn->has_ended = true;
	turn->code =
		WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 128 + WTERMSIG(wait_status);
	set->ended++;
	turn_path(set, i, folder);
	snprintf(turn->status, sizeof(turn->status), "unknown");
	if (wti_run_find_path(folder, &run, NULL) == 0) {
		turn->is_recorded = run.has_json;
		snprintf(turn->status, sizeof(turn->status), "%s", run.status);
		wti_run_release(&run);
	}
	if (!turn->is_recorded && turn->code >= NOT_STARTED)
		set->is_hopeless = true;
}

static void reap(struct set *set)
{
	for (uint32_t i = 0; i < set->started; i++) {
		int status;

		if (!set->turns[i].has_ended &&
		    waitpid(set->turns[i].pid, &status, WNOHANG) == set->turns[i].pid)
			end(set, i, status);
	}
}

/* What the terminal sends reaches the first run by itself; the others have left it. */
static void pass_on(struct set *set, const siginfo_t *signal)
{
	set->is_interrupted = true;
	for (uint32_t i = signal->si_code == SI_KERNEL ? 1 : 0; i < set->started; i++)
		if (!set->turns[i].has_ended)
			kill(set->turns[i].pid, signal->si_signo);
}

/* Those that have ended well and those that may still. */
static bool is_enough(const struct set *set)
{
	size_t good = 0;

	for (uint32_t i = 0; i < set->started; i++)
		good += !set->turns[i].has_ended || !set->turns[i].code;
	return set->half_width > 0 && wti_set_half_width(good) <= set->half_width;
}

static bool wants_more(const struct set *set)
{
	return set->started < set->runs->count && !set->is_interrupted && !set->is_hopeless &&
	       !is_enough(set);
}

static void run_all(struct set *set, const sigset_t *awaited)
{
	while (wants_more(set) || set->ended < set->started) {
		siginfo_t signal;

		while (set->started - set->ended < set->jobs && wants_more(set))
			if (start(set)) {
				wti_warn("cannot start run %u: %s", set->started + 1,
					 strerror(errno));
				set->is_hopeless = true;
			}
		if (set->ended == set->started || sigwaitinfo(awaited, &signal) < 0)
			continue;
		if (signal.si_signo != SIGCHLD)
			pass_on(set, &signal);
		reap(set);
		note_progress(set);
	}
}

/* ---- In the end ------------------------------------------------------------------------------ */

/* That of the first run that failed. */
static int exit_code(const struct set *set)
{
	for (uint32_t i = 0; i < set->started; i++)
		if (set->turns[i].code)
			return set->turns[i].code;
	return set->is_interrupted ? 128 + SIGINT : 0;
}

static void say_json(const struct set *set)
{
	struct wti_buf out;
	struct wti_json json;

	wti_buf_init(&out, SET_JSON_BYTES_MAX);
	wti_json_init(&json, &out, false);
	write_json(&json, set, true, true);
	wti_buf_byte(&out, '\n');
	wti_print_err(out.data, out.bytes);
	wti_buf_release(&out);
}

static void say(const struct set *set)
{
	uint32_t recorded = 0;

	for (uint32_t i = 0; i < set->started; i++) {
		const struct turn *turn = &set->turns[i];

		recorded += turn->is_recorded;
		if (turn->code && turn->is_recorded)
			wti_warn("run %02u %s with status %d; its output is in "
				 "%s/%02u/" WTI_RUN_CONSOLE,
				 i + 1, turn->status, turn->code, set->path, i + 1);
		else if (turn->code)
			wti_warn("run %02u was not recorded; status %d", i + 1, turn->code);
	}
	if (set->is_interrupted)
		wti_warn("interrupted: the runs that had ended are kept");
	else if (set->started < set->runs->count && is_enough(set))
		wti_warn("digits are known to %.2g bits after %u runs: no more were started",
			 set->half_width, set->started);
	wti_warn("%u of %llu runs in %s; how many digits they share: wheeltap digits %s", recorded,
		 (unsigned long long)set->runs->count, set->path, set->path);
}

static void conclude(struct set *set)
{
	struct wt_err err = {.offset = -1};
	bool is_recorded = false;

	wti_progress_end(&set->progress);
	for (uint32_t i = 0; i < set->started; i++)
		is_recorded |= set->turns[i].is_recorded;
	if (!is_recorded) { /* the reason is above */
		char path[PATH_MAX + sizeof(WTI_SET_JSON) + 1];

		snprintf(path, sizeof(path), "%s/" WTI_SET_JSON, set->path);
		unlink(path);
		rmdir(set->path);
		return;
	}
	if (write_set(set, true, &err))
		wti_warn("%s", err.message);
	if (set->runs->json)
		say_json(set);
	else if (!set->runs->quiet)
		say(set);
}

static uint32_t jobs_of(const struct wti_record_runs *runs)
{
	cpu_set_t processors;
	uint64_t jobs = runs->jobs;

	if (!jobs && !sched_getaffinity(0, sizeof(processors), &processors))
		jobs = (uint64_t)CPU_COUNT(&processors);
	if (!jobs)
		jobs = 1;
	return (uint32_t)(jobs < runs->count ? jobs : runs->count);
}

static void await(sigset_t *ret_awaited)
{
	static const int signals[] = {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT};

	sigemptyset(ret_awaited);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		sigaddset(ret_awaited, signals[i]);
}

int wti_record_runs(const struct wti_record_runs *runs)
{
	struct set set = {.runs = runs, .start_ns = now_ns(), .jobs = jobs_of(runs)};
	struct wt_err err = {.offset = -1};
	sigset_t awaited;
	int code = NOT_STARTED;

	if (runs->name)
		wti_name_copy(runs->name, set.label);
	else
		wti_name_of(runs->argv, set.label);
	if (runs->until_bits)
		read_bits(runs->until_bits, &set.half_width);
	set.turns = calloc(runs->count, sizeof(*set.turns));
	if (!set.turns)
		wti_err(&err, WT_E_NOMEM, "out of memory");
	else if (!make_folder(&set, &err))
		write_set(&set, false, &err);
	if (!err.code) {
		set.output = open_output();
		if (set.output < 0)
			wti_err_errno(&err, "cannot start", "a process");
	}
	if (err.code) {
		wti_report_error("record", false, &err);
		free(set.turns);
		return code;
	}
	await(&awaited);
	sigprocmask(SIG_BLOCK, &awaited, &set.mask);
	wti_progress_begin(&set.progress, "recording runs");
	run_all(&set, &awaited);
	close(set.output);
	conclude(&set);
	code = exit_code(&set);
	sigprocmask(SIG_SETMASK, &set.mask, NULL);
	free(set.turns);
	return code;
}
