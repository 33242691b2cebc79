/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Knows which signals are meant for the program and how a stop and a continue go through: the
 * program stops, its terminal comes back to the caller, we stop as well; continued, all in reverse.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "syscall/decode.h"

#include "recorder.h"

static const int passed_on[] = {SIGHUP,    SIGINT,  SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM,
				SIGVTALRM, SIGPROF, SIGIO,   SIGPWR,  SIGURG,  SIGTSTP, SIGCONT};
static const int also_blocked[] = {SIGTTOU, SIGTTIN, SIGCHLD};

int wti_signals_open(struct wti_recorder *recorder, struct wt_err *err)
{
	struct epoll_event event = {.events = EPOLLIN};
	sigset_t watched, blocked;

	sigemptyset(&watched);
	for (size_t i = 0; i < sizeof(passed_on) / sizeof(passed_on[0]); i++)
		sigaddset(&watched, passed_on[i]);
	for (int number = SIGRTMIN; number <= SIGRTMAX; number++)
		sigaddset(&watched, number);
	blocked = watched;
	for (size_t i = 0; i < sizeof(also_blocked) / sizeof(also_blocked[0]); i++)
		sigaddset(&blocked, also_blocked[i]);
	sigprocmask(SIG_BLOCK, &blocked, &recorder->old_mask);
	sigaction(SIGPIPE, &(struct sigaction){.sa_handler = SIG_IGN}, &recorder->old_sigpipe);
	recorder->signals = signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK);
	if (recorder->signals < 0)
		return wti_err_errno(err, "cannot watch", "signals");
	event.data.fd = recorder->signals;
	epoll_ctl(recorder->epoll, EPOLL_CTL_ADD, recorder->signals, &event);
	return 0;
}

void wti_signals_close(struct wti_recorder *recorder)
{
	struct signalfd_siginfo left;

	/* What came too late for the program is not for us either. */
	while (recorder->signals >= 0 &&
	       read(recorder->signals, &left, sizeof(left)) == sizeof(left))
		;
	if (recorder->signals < 0)
		return;
	close(recorder->signals);
	recorder->signals = -1;
	sigprocmask(SIG_SETMASK, &recorder->old_mask, NULL);
	sigaction(SIGPIPE, &recorder->old_sigpipe, NULL);
}

static bool asks_to_end(int number)
{
	return number == SIGINT || number == SIGTERM || number == SIGHUP || number == SIGQUIT;
}

/* A shell may end without passing it on: what it has started would go on, unrecorded. */
static bool is_for_group(const struct wti_recorder *recorder, int number)
{
	return recorder->options->ends_group && asks_to_end(number);
}

/* What becomes of it is the program's decision: see status_of() in describe.c. */
static void note_end(struct wti_recorder *recorder, int number)
{
	char text[80], label[WTI_SIGNAL_LABEL_BYTES];

	recorder->asked_to_end = number;
	snprintf(text, sizeof(text), "signal %d (%s) was passed on to the program", number,
		 wti_signal_label(label, (uint32_t)number));
	wti_streams_note(&recorder->streams, WT_NOTE_INFO, text);
}

static void pass_on(struct wti_recorder *recorder, const struct signalfd_siginfo *info)
{
	int number = (int)info->ssi_signo;
	/* From the terminal it is for the whole group, which has not seen it: see launch.h. */
	bool group = info->ssi_code == SI_KERNEL || is_for_group(recorder, number);

	if (number == SIGCONT) {
		wti_launch_terminal(&recorder->launch, true);
		group = true;
	}
	if (recorder->attach.pid) { /* it is ours to end, and the program's to go on */
		recorder->attach.let_go |= asks_to_end(number);
		return;
	}
	if (asks_to_end(number))
		note_end(recorder, number);
	/* The program is over: what it has left gets the time to end that it always has. */
	if (asks_to_end(number) && recorder->ended_ns && recorder->wait_ns > WTI_RECORD_GRACE_NS) {
		recorder->heard_ns = wti_clock_ns(CLOCK_MONOTONIC);
		recorder->wait_ns = WTI_RECORD_GRACE_NS;
	}
	if (recorder->launch.pid <= 0) {
		recorder->signals_waiting |= 1ull << (number & 63);
		return;
	}
	wti_launch_signal(&recorder->launch, number, group);
}

void wti_signals_take(struct wti_recorder *recorder)
{
	struct signalfd_siginfo info;

	while (read(recorder->signals, &info, sizeof(info)) == sizeof(info))
		pass_on(recorder, &info);
}

/* The program runs, and may even have spoken, before we get its pid. */
static void pass_on_waiting(struct wti_recorder *recorder)
{
	for (int number = 1; number < 64; number++) {
		if (recorder->signals_waiting & (1ull << number))
			wti_launch_signal(&recorder->launch, number,
					  is_for_group(recorder, number));
	}
	recorder->signals_waiting = 0;
}

/* The program was stopped from its terminal: stop as well, so that the shell takes over. */
static void stop_too(struct wti_recorder *recorder, int number)
{
	sigset_t stop;

	if (number != SIGTSTP && number != SIGTTIN && number != SIGTTOU)
		return;
	wti_launch_terminal(&recorder->launch, false);
	sigemptyset(&stop);
	sigaddset(&stop, SIGTSTP);
	raise(SIGTSTP);
	/* Ignored by the kernel where nobody could ever continue us. */
	sigprocmask(SIG_UNBLOCK, &stop, NULL);
	sigprocmask(SIG_BLOCK, &stop, NULL);
}

static void take_status(struct wti_recorder *recorder, const struct wti_monitor_news *news)
{
	int status = news->value;

	if (WIFSTOPPED(status)) {
		stop_too(recorder, WSTOPSIG(status));
		return;
	}
	if (!WIFEXITED(status) && !WIFSIGNALED(status))
		return;
	recorder->wait_status = status;
	recorder->cpu_ns = news->cpu_ns;
	recorder->memory_bytes = news->memory_bytes;
	recorder->memory_floor_bytes = news->memory_floor_bytes;
	recorder->fault_count = news->fault_count;
	recorder->major_fault_count = news->major_fault_count;
	recorder->ended_ns = news->monotonic_ns;
	recorder->heard_ns = wti_clock_ns(CLOCK_MONOTONIC);
	recorder->end_real_ns = news->real_ns;
}

/* System calls were asked for and cannot be had: it has not begun, and does not. */
static void refuse(struct wti_recorder *recorder, const struct wt_err *err)
{
	wti_err(&recorder->refusal, err->code,
		"no system calls could be recorded, so the program was not started: %.400s",
		err->message);
	kill(recorder->launch.pid, SIGKILL);
}

/* The program waits to be seen from its first system call on. */
static void open_gate(struct wti_recorder *recorder)
{
	struct wt_err err = {0};
	int r;

	if (!recorder->syscalls.is_open)
		return;
	wti_record_inherited(recorder);
	r = wti_syscalls_program(&recorder->syscalls, recorder->launch.pid, &err);
	if (r && r != WT_E_MISSING) { /* it was killed meanwhile: that is reported anyway */
		refuse(recorder, &err);
		return;
	}
	/* A filter without a tracer would make calls fail. */
	wti_launch_go(&recorder->launch, !r && recorder->launch.filter);
}

void wti_signals_heard(struct wti_recorder *recorder, const struct wti_monitor_news *news)
{
	if (news->type == WTI_MONITOR_STARTED) {
		recorder->launch.pid = news->value;
		open_gate(recorder);
		pass_on_waiting(recorder);
		wti_tree_root(&recorder->tree, (uint32_t)news->value, recorder->options->argv,
			      recorder->environment.has_agent);
	} else if (news->type == WTI_MONITOR_FAILED) {
		recorder->exec_errno = news->value;
		if (!recorder->ended_ns)
			recorder->ended_ns = wti_clock_ns(CLOCK_MONOTONIC);
	} else {
		take_status(recorder, news);
	}
}

void wti_signals_news(struct wti_recorder *recorder)
{
	struct wti_monitor_news news;
	ssize_t n = read(recorder->launch.news, &news, sizeof(news));

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n != sizeof(news)) { /* the monitor was killed: we cannot know more */
		epoll_ctl(recorder->epoll, EPOLL_CTL_DEL, recorder->launch.news, NULL);
		if (!recorder->ended_ns) {
			recorder->wait_status = SIGKILL;
			recorder->ended_ns = wti_clock_ns(CLOCK_MONOTONIC);
			recorder->end_real_ns = wti_clock_ns(CLOCK_REALTIME);
		}
		return;
	}
	wti_signals_heard(recorder, &news);
}
