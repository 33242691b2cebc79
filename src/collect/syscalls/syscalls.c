/* SPDX-License-Identifier: Apache-2.0 */
/* Knows which way of capturing comes first and when the next one is tried. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/thread.h"

#include "syscalls.h"

#define HOLD_PERCENT 20 /* of the ring: the recorder may be late, and freezing takes a moment */
#define GO_ON_PERCENT 2
#define PIDS_MAX 4096
#define OPENER_STACK_BYTES (256u << 10)
#define DRAIN_MAX (64u << 10) /* records at a time: others want to be looked after, too */

const char *wti_syscalls_backend_name(enum wti_syscalls_backend backend)
{
	static const char *const names[] = {"auto", "bpf", "ptrace", "fastest"};

	return names[backend];
}

static int open_ptrace(struct wti_syscalls *syscalls, const struct wti_capture_options *options,
		       struct wt_err *err)
{
	syscalls->backend = WTI_SYSCALLS_PTRACE;
	return wti_capture_ptrace(options, &syscalls->capture, err);
}

/*
 * Calls that are seldom made, or take so long by themselves that a stop makes no difference. BPF
 * costs every call some 0.2 us and its loading 12 ms; ptrace costs the wanted ones 10 to 80 us and
 * the others, which pass a filter, 0.03 us. Opening a file is not among them: builds and searches
 * do little else.
 */
static const char rare_calls[] =
	"?execve,?execveat,?fork,?vfork,?exit_group,?ptrace,?personality,?seccomp,?setsid,?unshare,"
	"?fsync,?fdatasync,?sync,?syncfs,?sync_file_range,?truncate,?flock,"
	"?rename,?renameat,?renameat2,?link,?linkat,?symlink,?symlinkat,"
	"?mkdir,?mkdirat,?rmdir,?mknod,?mknodat,"
	"?chroot,?pivot_root,?mount,?umount2,?setns,?swapon,?swapoff,?quotactl,?acct,"
	"?socket,?socketpair,?bind,?listen,?connect,"
	"?setuid,?setgid,?setreuid,?setregid,?setresuid,?setresgid,?setgroups,?capset,?setrlimit,"
	"?reboot,?kexec_load,?sethostname,?init_module,?finit_module,?delete_module,"
	"?shmget,?msgget,?semget,?memfd_create,?io_uring_setup,?bpf,?perf_event_open";

static bool are_rare(const struct wti_call_set *wanted)
{
	struct wti_call_set rare;

	if (wti_expr_compile(WTI_ARCH_HERE, rare_calls, &rare, NULL))
		return false;
	for (size_t i = 0; i < WTI_CALLS_MAX / 64; i++)
		if (wanted->bits[i] & ~rare.bits[i])
			return false;
	return true;
}

static int open_capture(struct wti_syscalls *syscalls, const struct wti_syscalls_options *options,
			struct wt_err *err)
{
	struct wti_capture_options capture = {.wanted = options->wanted,
					      .narrow = options->expression && !options->attach,
					      .contents = options->contents,
					      .stacks = options->stacks,
					      .running = options->attach != 0};
	struct wt_err refused = {0};
	int r;

	if (options->backend == WTI_SYSCALLS_PTRACE) {
		snprintf(syscalls->why, sizeof(syscalls->why), "asked for");
		return open_ptrace(syscalls, &capture, err);
	}
	if (options->backend == WTI_SYSCALLS_FASTEST && capture.narrow &&
	    are_rare(&capture.wanted)) {
		snprintf(
			syscalls->why, sizeof(syscalls->why),
			"the fastest, because these calls are rare and all others pass its filter");
		return open_ptrace(syscalls, &capture, err);
	}
	syscalls->backend = WTI_SYSCALLS_BPF;
	r = wti_capture_bpf(&capture, &syscalls->capture, &refused);
	if (r && options->backend != WTI_SYSCALLS_BPF) {
		snprintf(syscalls->why, sizeof(syscalls->why), "%.290s", refused.message);
		return open_ptrace(syscalls, &capture, err);
	}
	snprintf(syscalls->why, sizeof(syscalls->why), "%s",
		 options->backend == WTI_SYSCALLS_BPF       ? "asked for"
		 : options->backend == WTI_SYSCALLS_FASTEST ? "the fastest for these calls"
							    : "the first choice, and permitted");
	if (r && err)
		*err = refused;
	return r;
}

static void *open_beside(void *opaque)
{
	struct wti_syscalls *syscalls = opaque;

	syscalls->opened = open_capture(syscalls, syscalls->options, &syscalls->refusal);
	return NULL;
}

void wti_syscalls_begin(struct wti_syscalls *syscalls, const struct wti_syscalls_options *options)
{
	sigset_t all, before;

	*syscalls = (struct wti_syscalls){.options = options};
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are the main thread's */
	syscalls->is_opening =
		!wti_thread_start(&syscalls->opener, OPENER_STACK_BYTES, open_beside, syscalls);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!syscalls->is_opening) /* no room for a thread: then one after the other */
		open_beside(syscalls);
}

static void wait_for_opener(struct wti_syscalls *syscalls)
{
	if (syscalls->is_opening)
		pthread_join(syscalls->opener, NULL);
	syscalls->is_opening = false;
}

int wti_syscalls_open(struct wti_syscalls *syscalls, struct wti_sink *sink, const char *program,
		      const uint8_t boot[16], struct wt_err *err)
{
	const struct wti_syscalls_options *options = syscalls->options;
	char folder[PATH_MAX];
	bool has_folder;

	wait_for_opener(syscalls);
	if (syscalls->opened && err)
		*err = syscalls->refusal;
	if (syscalls->opened)
		return syscalls->opened;
	wti_freezer_init(&syscalls->freezer);
	has_folder = !options->attach && getcwd(folder, sizeof(folder));
	wti_feed_init(&syscalls->feed, sink, program, boot, has_folder ? folder : NULL);
	syscalls->feed.is_private = !options->contents;
	if (options->stacks) {
		wti_stacks_init(&syscalls->stacks, sink, syscalls->feed.stream);
		syscalls->feed.stacks = &syscalls->stacks;
	}
	syscalls->is_open = true;
	return 0;
}

int wti_syscalls_program(struct wti_syscalls *syscalls, pid_t pid, struct wt_err *err)
{
	return syscalls->capture.follow(syscalls->capture.self, pid, WTI_ROOT_PROGRAM, err);
}

int wti_syscalls_attach(struct wti_syscalls *syscalls, pid_t pid, struct wt_err *err)
{
	/* Its control group is the concern of whoever has started it: losses are counted. */
	syscalls->freezer.tried = true;
	syscalls->feed.watched_pid = (uint32_t)pid;
	return syscalls->capture.follow(syscalls->capture.self, pid, WTI_ROOT_ATTACH, err);
}

const struct sock_fprog *wti_syscalls_filter(const struct wti_syscalls *syscalls)
{
	return syscalls->is_open ? syscalls->capture.filter(syscalls->capture.self) : NULL;
}

static void take(void *context, const struct wti_raw *raw, size_t bytes)
{
	wti_feed_take(context, raw, bytes);
}

/* The processes of all threads that live, as far as we know. */
static size_t list_alive(const struct wti_syscall_feed *feed, uint32_t pids[PIDS_MAX])
{
	size_t count = 0;

	for (uint32_t i = 0; i < feed->track_capacity && count < PIDS_MAX; i++)
		if (feed->tracks[i].alive && feed->tracks[i].tid == feed->tracks[i].pid)
			pids[count++] = feed->tracks[i].pid;
	return count;
}

/* Before the ring is full the program is held back, where that can be; else losses are counted. */
static void hold_back(struct wti_syscalls *syscalls)
{
	unsigned fill = syscalls->capture.fill(syscalls->capture.self);
	uint32_t *pids;

	if (syscalls->freezer.held && fill <= GO_ON_PERCENT)
		wti_freezer_let_go(&syscalls->freezer);
	if (syscalls->backend != WTI_SYSCALLS_BPF || syscalls->freezer.held || fill < HOLD_PERCENT)
		return;
	pids = malloc(PIDS_MAX * sizeof(*pids));
	if (pids && wti_freezer_take(&syscalls->freezer, pids, list_alive(&syscalls->feed, pids)))
		wti_freezer_hold(&syscalls->freezer);
	free(pids);
}

uint64_t wti_syscalls_drain(struct wti_syscalls *syscalls, bool *ret_more)
{
	uint64_t before = syscalls->feed.call_count;

	*ret_more = false;
	if (!syscalls->is_open || syscalls->is_over)
		return 0;
	hold_back(syscalls);
	*ret_more =
		syscalls->capture.drain(syscalls->capture.self, DRAIN_MAX, take, &syscalls->feed);
	return syscalls->feed.call_count - before;
}

uint32_t wti_syscalls_alive(const struct wti_syscalls *syscalls)
{
	return syscalls->is_open && !syscalls->is_over ? syscalls->feed.alive_count : 0;
}

void wti_syscalls_stop(struct wti_syscalls *syscalls)
{
	bool more = true;

	if (!syscalls->is_open || syscalls->is_over)
		return;
	syscalls->capture.stop(syscalls->capture.self);
	wti_freezer_close(&syscalls->freezer);
	while (more)
		wti_syscalls_drain(syscalls, &more);
	syscalls->lost_stacks = syscalls->capture.lost_stacks(syscalls->capture.self);
	wti_feed_end(&syscalls->feed, syscalls->capture.lost(syscalls->capture.self));
	syscalls->is_over = true;
}

void wti_syscalls_close(struct wti_syscalls *syscalls)
{
	wait_for_opener(syscalls);
	if (syscalls->capture.free) /* also one that was got ready for nothing */
		syscalls->capture.free(syscalls->capture.self);
	syscalls->capture = (struct wti_capture){0};
	if (!syscalls->is_open)
		return;
	wti_feed_release(&syscalls->feed);
	if (syscalls->feed.stacks)
		wti_stacks_release(&syscalls->stacks);
	syscalls->is_open = false;
}
