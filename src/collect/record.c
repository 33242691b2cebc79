/* SPDX-License-Identifier: Apache-2.0 */
/* Knows in which order a recording is put together and taken apart. */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/err.h"
#include "base/secret.h"

#include "recorder.h"
#include "syscalls/descriptors.h"
#include "syscalls/family.h"

#define DEFINITIONS_BYTES_MAX (64u << 20) /* of a process */
#define RUN_JSON_BYTES_MAX (16u << 20)
/* What the end of a run adds to its short description at most: losses, strangers, reasons. */
#define RUN_JSON_GROWTH (16u << 10)

void wti_record_options_init(struct wti_record_options *options)
{
	*options = (struct wti_record_options){
		.base = "wheeltap-runs",
		.temporary = "/tmp",
		.ring_bytes = WTI_RING_DEFAULT_BYTES,
		.rings_bytes_max = WTI_RECORD_RINGS_BYTES_MAX,
		.bytes_max = WTI_RECORD_BYTES_MAX,
		.flight_ns = WTI_RECORD_FLIGHT_NS,
		.wait_ns = WTI_RECORD_GRACE_NS,
	};
}

void wti_record_limited(struct wti_recorder *recorder, const char *why)
{
	char *text = recorder->outcome->limited;
	size_t used = strlen(text), bytes = sizeof(recorder->outcome->limited);

	snprintf(text + used, bytes - used, "%s%s", used ? "; " : "", why);
	wti_streams_note(&recorder->streams, WT_NOTE_INFO, why);
}

static uint64_t ring_bytes_of(const struct wti_record_options *options)
{
	uint64_t wanted = options->ring_bytes ? options->ring_bytes : WTI_RING_DEFAULT_BYTES;
	uint64_t bytes = WTI_RING_MIN_BYTES;

	while (bytes < wanted && bytes < WTI_RING_MAX_BYTES)
		bytes *= 2;
	return wti_limits_ring_bytes(options->limits, bytes);
}

/* The name of the run: as asked for, or the program's; without what looks secret. */
static void make_name(struct wti_recorder *recorder)
{
	const char *name = recorder->options->name;

	if (name && name[0])
		wti_name_copy(name, recorder->name);
	else
		wti_name_of(recorder->options->argv, recorder->name);
	recorder->name[wti_secret_mask(recorder->name, strlen(recorder->name))] = 0;
}

static void process_joined(void *self, struct wti_process *process)
{
	struct wti_recorder *recorder = self;

	wti_tree_joined(&recorder->tree, process->source.identity.pid);
	wti_loaded_look(&recorder->loaded, process->source.identity.pid);
}

static void memory_refused(void *self, struct wti_process *process, const char *what)
{
	struct wti_recorder *recorder = self;
	char text[120];

	snprintf(text, sizeof(text), "process %u sent a damaged %s", process->source.identity.pid,
		 what);
	wti_streams_note(&recorder->streams, WT_NOTE_INFO, text);
}

static void blob_came(void *self, const struct wti_process *process, int fd)
{
	struct wti_recorder *recorder = self;
	bool was_broken = recorder->blobs.is_broken;
	uint64_t bytes = wti_blobs_take(&recorder->blobs, fd);

	if (!process->own_page)
		atomic_fetch_sub(&recorder->session.control->blobs_waiting_bytes, bytes);
	if (recorder->blobs.is_broken && !was_broken)
		wti_streams_note(&recorder->streams, WT_NOTE_DISK_FULL,
				 "a tensor's bytes could not be written; no more are kept");
}

static int write_as(struct wti_recorder *recorder, bool is_short, uint64_t *ret_bytes,
		    struct wt_err *err)
{
	struct wti_buf out;
	int r;

	wti_buf_init(&out, RUN_JSON_BYTES_MAX);
	wti_describe(recorder, is_short, &out);
	r = wti_buf_status(&out);
	if (r)
		wti_err(err, r, "out of memory for run.json");
	else
		r = wti_runfile_write(&recorder->runfile, &out, err);
	*ret_bytes = out.bytes;
	wti_buf_release(&out);
	return r;
}

/* The first one says how much room the last one needs at least, which is set aside. */
static int write_first(struct wti_recorder *recorder, struct wt_err *err)
{
	uint64_t bytes;
	int r = write_as(recorder, false, &bytes, err);

	if (r)
		r = write_as(recorder, true, &bytes, err);
	return r ? r : wti_runfile_reserve(&recorder->runfile, bytes + RUN_JSON_GROWTH, err);
}

/* Where there is no room for all of it, the short one fits into what was set aside. */
static int write_last(struct wti_recorder *recorder, struct wt_err *err)
{
	uint64_t bytes;

	if (!write_as(recorder, false, &bytes, err))
		return 0;
	return write_as(recorder, true, &bytes, err);
}

static int open_session(struct wti_recorder *recorder, struct wt_err *err)
{
	const struct wti_record_options *options = recorder->options;
	struct wti_session_options session = {
		.temporary = options->temporary,
		.ring_bytes = (uint32_t)recorder->ring_bytes,
		.on_full =
			options->on_full == WTI_RECORD_BLOCK || options->on_full == WTI_RECORD_WAIT
				? WTI_ON_FULL_BLOCK
				: WTI_ON_FULL_DROP,
		.waits_forever = options->on_full == WTI_RECORD_WAIT,
		.rings_bytes_max = options->rings_bytes_max,
		.definitions_bytes_max = DEFINITIONS_BYTES_MAX,
		.strings_keep = options->strings_keep,
		.blobs_bytes_max = options->blobs_bytes_max,
		.syscalls = options->syscalls != NULL,
		.settings = options->settings,
	};
	struct epoll_event event = {.events = EPOLLIN};
	int r = wti_session_open(&recorder->session, &session, err);

	if (r)
		return r;
	recorder->join_events =
		(struct wti_join_events){recorder, process_joined, memory_refused, blob_came};
	wti_blobs_init(&recorder->blobs, recorder->runfile.folder_fd, options->blobs_bytes_max);
	wti_join_init(&recorder->join, &recorder->session, recorder->epoll, &recorder->join_events);
	epoll_ctl(recorder->epoll, EPOLL_CTL_ADD, recorder->session.listener, &event);
	wti_tree_init(&recorder->tree, &recorder->session, options->entrance);
	return wti_variables_make(recorder, err);
}

static int open_streams(struct wti_recorder *recorder, struct wt_err *err)
{
	struct wti_streams_options streams = {
		.folder = recorder->runfile.folder,
		.folder_fd = recorder->runfile.folder_fd,
		.clock = &recorder->clock,
		.bytes_max = recorder->options->bytes_max,
		.recorder = {.pid = (uint32_t)getpid(),
			     .clock = recorder->clock.domain,
			     .command = "wheeltap"},
	};
	int r;

	memcpy(streams.recorder.boot, recorder->join.boot, sizeof(streams.recorder.boot));
	if (recorder->options->on_full == WTI_RECORD_FLIGHT)
		streams.flight_ns = (uint64_t)recorder->options->flight_ns;
	r = wti_streams_init(&recorder->streams, &streams, err);
	if (r)
		return r;
	r = wti_drain_init(&recorder->drain, recorder->clock.domain);
	if (r)
		return wti_err(err, r, "out of memory for draining");
	wti_drain_add_sink(&recorder->drain, &recorder->streams.sink);
	wti_drain_add_sink(&recorder->drain, &recorder->seeds.sink);
	if (recorder->options->watch)
		wti_drain_add_sink(&recorder->drain, recorder->options->watch);
	return 0;
}

static int open_syscalls(struct wti_recorder *recorder, struct wt_err *err)
{
	char text[360];
	int r;

	if (!recorder->options->syscalls)
		return 0;
	r = wti_syscalls_open(&recorder->syscalls, &recorder->streams.sink, recorder->executable,
			      recorder->join.boot, err);
	recorder->refused = r && r != WT_E_NOMEM && r != WT_E_LIMIT;
	if (r)
		return r;
	wti_own_folder(&recorder->syscalls.feed.own, recorder->session.folder);
	if (recorder->options->entrance) { /* it lies in the folder of the whole package */
		char home[PATH_MAX];

		snprintf(home, sizeof(home), "%s", recorder->options->entrance);
		wti_own_folder(&recorder->syscalls.feed.own, dirname(home));
	}
	snprintf(text, sizeof(text), "system calls are captured by %s: %s",
		 wti_syscalls_backend_name(recorder->syscalls.backend), recorder->syscalls.why);
	wti_streams_note(&recorder->streams, WT_NOTE_INFO, text);
	return 0;
}

/* The program is under the same filter as we are: its agent cannot do what is refused to us. */
static bool may_share_memory(void)
{
	int fd = memfd_create("wheeltap", MFD_CLOEXEC);

	if (fd < 0)
		return errno != EPERM && errno != EACCES && errno != ENOSYS;
	close(fd);
	return true;
}

static int launch(struct wti_recorder *recorder, struct wt_err *err)
{
	struct epoll_event event = {.events = EPOLLIN};
	int r;

	recorder->launch.argv = recorder->options->argv;
	recorder->launch.environment = recorder->variables;
	recorder->launch.executable = recorder->executable;
	recorder->launch.session = &recorder->session;
	recorder->launch.console = wti_runfile_create(&recorder->runfile, WTI_RUN_CONSOLE);
	recorder->launch.mask = recorder->old_mask;
	recorder->launch.sigpipe = recorder->old_sigpipe;
	recorder->launch.gated = recorder->syscalls.is_open;
	recorder->launch.filter = wti_syscalls_filter(&recorder->syscalls);
	recorder->launch.limits = recorder->options->limits;
	recorder->start_ns = wti_clock_ns(CLOCK_MONOTONIC);
	r = wti_launch(&recorder->launch, err);
	if (r)
		return r;
	event.data.fd = recorder->launch.news;
	epoll_ctl(recorder->epoll, EPOLL_CTL_ADD, recorder->launch.news, &event);
	wti_signals_heard(recorder, &recorder->launch.first);
	if (recorder->launch.unrelayed[0])
		wti_record_limited(recorder, recorder->launch.unrelayed);
	if (!may_share_memory())
		wti_record_limited(recorder,
				   "no events of the program, because memfd_create is not "
				   "permitted here: 'wheeltap env' shows what to do");
	return 0;
}

/* ---- A program that runs already ------------------------------------------------------------ */

struct emitter {
	struct wti_streams *streams;
	uint64_t ticks;
};

static void emit_descriptor(void *context, const struct wti_open_descriptor *open)
{
	const struct emitter *emitter = context;

	wti_streams_descriptor(emitter->streams, emitter->ticks, open);
}

static void emit_inherited(void *context, const struct wti_open_descriptor *open)
{
	if (open->fd > STDERR_FILENO && !(open->flags & O_CLOEXEC))
		emit_descriptor(context, open);
}

void wti_record_inherited(struct wti_recorder *recorder)
{
	struct emitter emitter = {&recorder->streams, wti_clock_ticks(&recorder->clock)};

	wti_descriptors_list(recorder->launch.pid, emit_inherited, &emitter);
}

/*
 * Descriptors are looked at when calls are recorded already, so that none falls between, and
 * recorded as of before: where a call says otherwise, it comes later and is believed.
 */
static int attach(struct wti_recorder *recorder, struct wt_err *err)
{
	struct epoll_event event = {.events = EPOLLIN, .data.fd = recorder->attach.pidfd};
	struct emitter emitter = {&recorder->streams, wti_clock_ticks(&recorder->clock)};
	struct wti_family *family;
	int r;

	recorder->start_ns = wti_clock_ns(CLOCK_MONOTONIC);
	recorder->launch.pid = recorder->attach.pid;
	r = wti_syscalls_attach(&recorder->syscalls, recorder->attach.pid, err);
	family = r ? NULL : malloc(sizeof(*family));
	if (!family)
		return r ? r : wti_err(err, WT_E_NOMEM, "out of memory");
	wti_family_look(family, recorder->attach.pid);
	for (size_t i = 0; i < family->count; i++)
		wti_descriptors_list(family->pids[i], emit_descriptor, &emitter);
	free(family);
	if (recorder->attach.pidfd >= 0)
		epoll_ctl(recorder->epoll, EPOLL_CTL_ADD, recorder->attach.pidfd, &event);
	return 0;
}

/* In the folder of the program, which is not ours if we attach to it. */
static void look_around(struct wti_recorder *recorder)
{
	struct wti_environment *environment = &recorder->environment;
	const char *directory = recorder->attach.directory;
	int here = recorder->attach.pid ? open(".", O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
	bool there = here >= 0 && directory[0] && !chdir(directory);

	wti_environment_look(environment, recorder->executable, recorder->options->environment);
	if (recorder->attach.pid)
		snprintf(environment->directory, sizeof(environment->directory), "%s", directory);
	if (recorder->attach.pid && !there)
		environment->git = (struct wti_git){0};
	if (there && fchdir(here))
		environment->git = (struct wti_git){0};
	if (here >= 0)
		close(here);
}

static int prepare(struct wti_recorder *recorder, struct wt_err *err)
{
	const struct wti_record_options *options = recorder->options;
	int r;

	if (options->syscalls)
		wti_syscalls_begin(&recorder->syscalls, options->syscalls);
	wti_clock_init(&recorder->clock);
	wti_watermark_init(&recorder->watermark);
	wti_seeds_init(&recorder->seeds);
	wti_seeds_arguments(&recorder->seeds, options->argv);
	wti_seeds_environment(&recorder->seeds, options->environment);
	wti_loaded_init(&recorder->loaded);
	recorder->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (recorder->epoll < 0)
		return wti_err_errno(err, "cannot make", "an epoll set");
	look_around(recorder);
	if (options->additions)
		wti_limits_python(options->limits, recorder->python_kept_out,
				  sizeof(recorder->python_kept_out));
	r = open_session(recorder, err);
	if (!r)
		r = open_streams(recorder, err);
	if (!r)
		r = open_syscalls(recorder, err);
	if (!r)
		r = write_first(recorder, err);
	if (!r)
		r = wti_signals_open(recorder, err);
	return r;
}

static void take_apart(struct wti_recorder *recorder)
{
	wti_launch_release(&recorder->launch);
	wti_signals_close(recorder);
	wti_join_release(&recorder->join);
	wti_blobs_release(&recorder->blobs);
	wti_tree_release(&recorder->tree);
	wti_drain_release(&recorder->drain);
	wti_syscalls_close(&recorder->syscalls);
	wti_streams_release(&recorder->streams);
	wti_session_close(&recorder->session);
	wti_loaded_release(&recorder->loaded);
	wti_variables_release(recorder);
	if (recorder->epoll >= 0)
		close(recorder->epoll);
	wti_runfile_release(&recorder->runfile);
}

/* A recording that came to nothing leaves nothing behind, and takes away only what it made. */
static void take_back(struct wti_recorder *recorder)
{
	wti_streams_remove(&recorder->streams);
	wti_runfile_abandon(&recorder->runfile);
}

static void keep_redirected(struct wti_recorder *recorder)
{
	int fd = -1;

	if (!recorder->launch.unrelayed[0])
		fd = openat(recorder->runfile.folder_fd, "console.log",
			    O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	wti_redirects_keep(recorder->launch.redirects, fd);
	if (fd >= 0)
		close(fd);
}

static int finish(struct wti_recorder *recorder, struct wt_err *err)
{
	struct wti_record_outcome *outcome = recorder->outcome;
	struct wt_err later = {0};

	if (recorder->exec_errno) {
		take_back(recorder);
		outcome->exit_code = recorder->exec_errno == ENOENT ? 127 : 126;
		return wti_err(err, WT_E_ARG, "cannot execute '%.200s': %s",
			       recorder->options->argv[0], strerror(recorder->exec_errno));
	}
	if (recorder->refusal.code) {
		take_back(recorder);
		if (err)
			*err = recorder->refusal;
		return recorder->refusal.code;
	}
	keep_redirected(recorder);
	wti_describe_outcome(recorder);
	if (write_last(recorder, &later) && !outcome->trouble[0])
		snprintf(outcome->trouble, sizeof(outcome->trouble), "%.250s", later.message);
	return 0;
}

static int run(struct wti_recorder *recorder, struct wt_err *err)
{
	int r = prepare(recorder, err);

	if (!r)
		r = recorder->attach.pid ? attach(recorder, err) : launch(recorder, err);
	if (r) {
		recorder->outcome->may_run = !recorder->refused;
		take_back(recorder);
		return r;
	}
	wti_loop_run(recorder);
	return finish(recorder, err);
}

/* What is to be recorded: a file that is to be executed, or a process. */
static int find_program(struct wti_recorder *recorder, struct wt_err *err)
{
	const struct wti_record_options *options = recorder->options;
	pid_t pid = options->syscalls ? options->syscalls->attach : 0;
	int r;

	if (!pid) {
		r = wti_launch_find(options->argv[0], options->environment, recorder->executable,
				    sizeof(recorder->executable), err);
		if (r)
			recorder->outcome->exit_code = r == WT_E_MISSING ? 127 : 126;
		return r;
	}
	r = wti_attach_look(&recorder->attach, pid, err);
	if (r)
		return r;
	recorder->attached = *options;
	recorder->attached.argv = recorder->attach.argv;
	recorder->attached.environment = recorder->attach.environment;
	recorder->options = &recorder->attached;
	snprintf(recorder->executable, sizeof(recorder->executable), "/proc/%d/exe", (int)pid);
	return 0;
}

/* A folder that cannot be had is the caller's mistake, unless there is no room for it. */
static bool lacks_room(int code, int error)
{
	return code == WT_E_NOMEM || code == WT_E_LIMIT || error == ENOSPC || error == EDQUOT;
}

int wti_record_unrecorded(const struct wti_record_options *options, struct wt_err *err)
{
	char executable[PATH_MAX];
	int r = wti_launch_find(options->argv[0], options->environment, executable,
				sizeof(executable), err);

	if (r)
		return r == WT_E_MISSING ? 127 : 126;
	wti_limits_give(options->limits);
	r = wti_program_exec(executable, options->argv, options->environment);
	wti_err(err, WT_E_ARG, "cannot execute '%.200s': %s", options->argv[0], strerror(r));
	return r == ENOENT ? 127 : 126;
}

int wti_record_run(const struct wti_record_options *options, struct wti_record_outcome *ret_outcome,
		   struct wt_err *err)
{
	struct wti_recorder *recorder = calloc(1, sizeof(*recorder));
	int r;

	*ret_outcome = (struct wti_record_outcome){.exit_code = 125, .may_run = !recorder};
	if (!recorder)
		return wti_err(err, WT_E_NOMEM, "out of memory");
	recorder->options = options;
	recorder->outcome = ret_outcome;
	recorder->epoll = recorder->signals = -1;
	recorder->session.listener = recorder->session.knocker = -1;
	recorder->launch.news = recorder->launch.life = -1;
	recorder->launch.terminal = recorder->launch.gate = -1;
	recorder->launch.redirects[0].fd = recorder->launch.redirects[1].fd = -1;
	recorder->ring_bytes = ring_bytes_of(options);
	recorder->start_real_ns = wti_clock_ns(CLOCK_REALTIME);
	sigprocmask(SIG_SETMASK, NULL, &recorder->old_mask);
	r = find_program(recorder, err);
	if (r) {
		free(recorder);
		return r;
	}
	make_name(recorder);
	r = wti_limits_check(options->limits, err);
	if (!r)
		r = wti_runfile_claim(&recorder->runfile, options->folder, options->base,
				      recorder->name, err);
	ret_outcome->may_run = r && lacks_room(r, errno);
	if (!r) {
		snprintf(ret_outcome->folder, sizeof(ret_outcome->folder), "%s",
			 recorder->runfile.folder);
		r = run(recorder, err);
		take_apart(recorder);
	}
	wti_attach_release(&recorder->attach);
	free(recorder);
	return r;
}
