/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The recording's main loop: wait a little, receive, drain, look after what is due. It sleeps a
 * millisecond while many events come, longer and longer while few or none do, and not at all while
 * a ring is filling up. A message, a signal, the end of a process or a thread that finds its ring
 * full wakes it.
 */
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/secret.h"

#include "procfs.h"
#include "recorder.h"

#define MS_NS 1000000ull
#define ACTIVE_MS 1
#define QUIET_MS_MAX 20
#define DETACHED_MS 1000 /* there is nothing to look after: the end of the program wakes us */
#define TREE_NS (4 * MS_NS)
#define WATERMARK_NS (250 * MS_NS)
#define WATCHED_NS (50 * MS_NS) /* the same while somebody looks on */
#define LOADED_FIRST_NS (20 * MS_NS)
#define LOADED_PAUSE_NS_MAX (64000 * MS_NS)
#define JOIN_GRACE_NS (100 * MS_NS) /* for processes that may be about to join */
#define DRAIN_NS (5000 * MS_NS)
#define EVENTS 64

/* ---- Draining ------------------------------------------------------------------------------- */

static void give_back(struct wti_recorder *recorder, const struct wti_process *process,
		      uint64_t bytes)
{
	if (bytes && !process->own_page)
		atomic_fetch_sub(&recorder->session.control->rings_bytes_used, bytes);
}

/* Everything that a process has published by now. */
static enum wti_fill drain_process(struct wti_recorder *recorder, struct wti_process *process)
{
	enum wti_fill fill;

	if (!wti_drain_look(process))
		return WTI_FILL_LOW;
	wti_join_receive(&recorder->join, process);
	fill = wti_drain_take(&recorder->drain, process);
	give_back(recorder, process, wti_drain_reap(&recorder->drain, process, false));
	return fill;
}

static void end_process(struct wti_recorder *recorder, struct wti_process *process)
{
	uint32_t pid = process->source.identity.pid;

	if (process->ended)
		return;
	wti_join_receive(&recorder->join, process);
	wti_drain_look(process);
	wti_join_receive(&recorder->join, process);
	wti_drain_take(&recorder->drain, process);
	give_back(recorder, process, wti_drain_reap(&recorder->drain, process, true));
	if (process->exited && !process->beside && pid != (uint32_t)recorder->launch.pid)
		wti_streams_exit(&recorder->streams, pid,
				 wti_proc_exit_status(pid, process->pidfd));
	wti_join_forget(process);
}

/* The connection is closed: has it become a program without an agent? */
static bool became_another(const struct wti_process *process)
{
	const struct wt_identity *who = &process->source.identity;
	struct wti_proc proc;

	return !process->link && wti_proc_read(who->pid, &proc) &&
	       strncmp(proc.command, who->command, sizeof(who->command) - 1) != 0;
}

/* Where the kernel gives no descriptor of a process: nobody has the number, or another process. */
static bool has_gone(const struct wti_process *process)
{
	const struct wt_identity *who = &process->source.identity;
	struct wti_proc proc;

	if (!process->pid_is_known || !wti_proc_read((uint32_t)getpid(), &proc))
		return false; /* there is no /proc to look at */
	return !wti_proc_is_alive(who->pid, who->start_time);
}

static void look_for_exit(struct wti_recorder *recorder, struct wti_process *process)
{
	struct pollfd ready = {process->pidfd, POLLIN, 0};

	if (process->pidfd >= 0 && poll(&ready, 1, 0) > 0)
		process->exited = true;
	if (process->pidfd < 0 && (!process->link || has_gone(process)))
		process->exited = true;
	if (process->exited || process->replaced || became_another(process))
		end_process(recorder, process);
}

static void receive(struct wti_recorder *recorder)
{
	wti_join_accept(&recorder->join);
	wti_join_receive_all(&recorder->join);
}

/* How full the kernel's buffers were is not known, only whether there is more. */
static enum wti_fill drain_syscalls(struct wti_recorder *recorder)
{
	bool more;
	uint64_t events = wti_syscalls_drain(&recorder->syscalls, &more);

	wti_streams_limit(&recorder->streams);
	if (more)
		return WTI_FILL_HIGH;
	/* Whoever is traced waits for room: to look often would only take a processor from it. */
	if (recorder->syscalls.backend == WTI_SYSCALLS_PTRACE)
		return WTI_FILL_LOW;
	return events ? WTI_FILL_MIDDLE : WTI_FILL_LOW;
}

static enum wti_fill fuller(enum wti_fill a, enum wti_fill b)
{
	return a > b ? a : b;
}

/* All processes. `news`: something was said by the kernel, so look for ends as well. */
static enum wti_fill drain_all(struct wti_recorder *recorder, bool news)
{
	enum wti_fill fullest = WTI_FILL_LOW;

	for (size_t i = 0; i < recorder->join.process_count; i++) {
		struct wti_process *process = recorder->join.processes[i];

		if (process->ended)
			continue;
		fullest = fuller(fullest, drain_process(recorder, process));
		if (news)
			look_for_exit(recorder, process);
	}
	wti_streams_limit(&recorder->streams);
	return fullest;
}

static void advance_watermark(struct wti_recorder *recorder)
{
	wti_watermark_begin(&recorder->watermark, &recorder->clock);
	receive(recorder);
	for (size_t i = 0; i < recorder->join.process_count; i++)
		wti_watermark_consider(&recorder->watermark, recorder->join.processes[i]);
	drain_all(recorder, false);
	wti_watermark_reach(&recorder->watermark);
	for (size_t i = 0; i < recorder->drain.sink_count; i++) {
		struct wti_sink *sink = recorder->drain.sinks[i];

		sink->watermark(sink->self, recorder->watermark.reached);
	}
}

/* ---- What is due now and then --------------------------------------------------------------- */

static uint32_t why_not(const struct wti_recorder *recorder, const struct wti_tree_node *node)
{
	struct wti_session_counts counts;

	if (node->refused)
		return WT_NOT_FOLLOWED_REFUSED;
	if (!node->looked_inside)
		return WT_NOT_FOLLOWED_UNKNOWN;
	if (node->has_agent && !node->has_variable)
		return WT_NOT_FOLLOWED_ENVIRONMENT;
	wti_session_count(&recorder->session, &counts);
	if (node->has_agent && counts.mismatch_count)
		return WT_NOT_FOLLOWED_VERSION;
	return node->agent_seen ? WT_NOT_FOLLOWED_REFUSED : WT_NOT_FOLLOWED_NO_AGENT;
}

static void emit_stranger(struct wti_recorder *recorder, struct wti_tree_node *node)
{
	struct wti_record_outcome *outcome = recorder->outcome;
	uint32_t reason = why_not(recorder, node);

	node->emitted = true;
	if (wti_tree_is_launcher(node))
		return;
	/* It has emitted nothing, or has counted what was lost; or it had no time to show it. */
	if (!node->refused && (node->copy || node->takes_part ||
			       (node->has_agent && reason == WT_NOT_FOLLOWED_NO_AGENT))) {
		outcome->silent_count++;
		return;
	}
	wti_streams_not_followed(&recorder->streams, node->pid, reason, node->command);
	if (outcome->stranger_count < WTI_RECORD_STRANGERS_SHOWN) {
		struct wti_stranger *shown = &outcome->strangers[outcome->stranger_count];

		shown->pid = node->pid;
		shown->reason = reason;
		shown->is_python = node->is_python;
		shown->is_program = node->is_root;
		shown->cpu_ns = wti_proc_ticks_ns(node->cpu_ticks);
		memcpy(shown->command, node->command, sizeof(shown->command));
	}
	outcome->stranger_count++;
}

static bool is_unrecorded(struct wti_recorder *recorder, struct wti_tree_node *node, bool all)
{
	if (node->joined || node->emitted)
		return false;
	return all || (node->gone && !wti_tree_is_undecided(&recorder->tree, node));
}

/* Processes that have our variable and may not join say so. */
static void hear_knocks(struct wti_recorder *recorder)
{
	char command[16];
	uint32_t pid;

	while (wti_session_knocked(&recorder->session, &pid, command))
		wti_tree_refused(&recorder->tree, pid, command);
}

/* Those that have gone without joining; or `all` that have not joined. */
static void emit_strangers(struct wti_recorder *recorder, bool all)
{
	bool any = false;

	for (size_t i = 0; i < recorder->tree.count; i++)
		any |= is_unrecorded(recorder, &recorder->tree.nodes[i], all);
	if (any) /* what they said before they went may still be waiting */
		receive(recorder);
	for (size_t i = 0; i < recorder->tree.count; i++) {
		struct wti_tree_node *node = &recorder->tree.nodes[i];

		if (is_unrecorded(recorder, node, all))
			emit_stranger(recorder, node);
	}
}

static void look_at_loaded(struct wti_recorder *recorder, uint64_t now_ns)
{
	wti_loaded_look(&recorder->loaded, (uint32_t)recorder->launch.pid);
	for (size_t i = 0; i < recorder->join.process_count; i++)
		if (!recorder->join.processes[i]->ended)
			wti_loaded_look(&recorder->loaded,
					recorder->join.processes[i]->source.identity.pid);
	recorder->loaded_looked_ns = now_ns;
	if (recorder->loaded_pause_ns < LOADED_PAUSE_NS_MAX)
		recorder->loaded_pause_ns *= 4;
}

static void do_what_is_due(struct wti_recorder *recorder, uint64_t now_ns)
{
	if (!recorder->attach.pid && now_ns - recorder->tree_looked_ns >= TREE_NS) {
		recorder->tree_looked_ns = now_ns;
		hear_knocks(recorder);
		emit_strangers(recorder, false);
		wti_tree_look(&recorder->tree, now_ns);
	}
	if (now_ns - recorder->watermark_ns >=
	    (recorder->options->watch ? WATCHED_NS : WATERMARK_NS)) {
		recorder->watermark_ns = now_ns;
		advance_watermark(recorder);
	}
	if (now_ns - recorder->loaded_looked_ns >= recorder->loaded_pause_ns)
		look_at_loaded(recorder, now_ns);
	wti_streams_tick(&recorder->streams, now_ns);
}

/* ---- The end -------------------------------------------------------------------------------- */

static uint32_t count_alive(const struct wti_recorder *recorder)
{
	uint32_t alive = 0;

	for (size_t i = 0; i < recorder->join.process_count; i++)
		alive += !recorder->join.processes[i]->ended;
	return alive;
}

/* Events of processes that have the agent but found no way to join. */
static void emit_unjoined(struct wti_recorder *recorder)
{
	struct wti_loss loss = {.track = WTI_STREAM_OWN_TRACK, .reason = WT_LOST_NO_RING};
	struct wti_session_counts counts;
	char why[200];

	wti_session_count(&recorder->session, &counts);
	recorder->outcome->refused_rings = counts.refused_rings;
	wti_limits_words(counts.stayed_out, why, sizeof(why));
	if (why[0])
		wti_record_limited(recorder, why);
	loss.count = counts.lost_unjoined;
	if (loss.count)
		wti_stream_lost(recorder->streams.own, &loss);
}

/* How a program has ended that is not our child. */
static void read_status(struct wti_recorder *recorder)
{
	const struct wti_syscall_feed *feed = &recorder->syscalls.feed;
	int32_t status;

	if (feed->watched_ended) {
		recorder->wait_status = feed->watched_status;
		return;
	}
	status = wti_proc_exit_status((uint32_t)recorder->attach.pid, recorder->attach.pidfd);
	if (status != INT32_MIN)
		recorder->wait_status = status < 0 ? -status : W_EXITCODE(status, 0);
}

/* Nothing is recorded after this. */
static void detach(struct wti_recorder *recorder)
{
	if (recorder->detached)
		return;
	recorder->detached = true;
	wti_session_over(&recorder->session);
	wti_tree_look(&recorder->tree, UINT64_MAX);
	receive(recorder);
	hear_knocks(recorder);
	wti_session_refuse(&recorder->session);
	wti_syscalls_stop(&recorder->syscalls);
	if (recorder->attach.pid && recorder->ended_ns)
		read_status(recorder);
	wti_left_look(recorder);
	for (size_t i = 0; i < recorder->join.process_count; i++)
		end_process(recorder, recorder->join.processes[i]);
	emit_strangers(recorder, true);
	wti_python_look(recorder);
	emit_unjoined(recorder);
	if (recorder->exec_errno == 0 && recorder->ended_ns)
		wti_streams_exit(&recorder->streams, (uint32_t)recorder->launch.pid,
				 WIFSIGNALED(recorder->wait_status)
					 ? -WTERMSIG(recorder->wait_status)
					 : WEXITSTATUS(recorder->wait_status));
	wti_streams_finish(&recorder->streams);
}

static bool strangers_alive(struct wti_recorder *recorder)
{
	wti_tree_look(&recorder->tree, wti_clock_ns(CLOCK_MONOTONIC));
	for (size_t i = 0; i < recorder->tree.count; i++)
		if (!recorder->tree.nodes[i].joined && !recorder->tree.nodes[i].gone)
			return true;
	return false;
}

static void let_go(struct wti_recorder *recorder, const char *why)
{
	recorder->interrupted = true;
	wti_streams_note(&recorder->streams, WT_NOTE_RECORDER_STOPPED, why);
	detach(recorder);
}

/* Of a program that we did not start, and cannot wait for. */
static void look_for_end(struct wti_recorder *recorder, uint64_t now_ns)
{
	if (recorder->detached || wti_attach_ended(&recorder->attach)) {
		recorder->ended_ns = recorder->heard_ns = now_ns;
		recorder->end_real_ns = wti_clock_ns(CLOCK_REALTIME);
		if (recorder->attach.pidfd >= 0)
			epoll_ctl(recorder->epoll, EPOLL_CTL_DEL, recorder->attach.pidfd, NULL);
	}
}

/* Killed by a limit we could not say how the program ended: better to be quiet from now on. */
static void let_go_exhausted(struct wti_recorder *recorder)
{
	static const char why[] =
		"the recorder has used up its CPU time (ulimit -t); the program goes on";

	snprintf(recorder->streams.why, sizeof(recorder->streams.why), "%s", why);
	wti_streams_note(&recorder->streams, WT_NOTE_RECORDER_STOPPED, why);
	detach(recorder);
}

/* True if there is nothing left to wait for. */
static bool is_over(struct wti_recorder *recorder, uint64_t now_ns)
{
	int64_t duration_ns = recorder->options->duration_ns;

	if (!recorder->detached && duration_ns > 0 && !recorder->ended_ns &&
	    now_ns - recorder->start_ns >= (uint64_t)duration_ns)
		let_go(recorder, "the given duration is over; the program goes on");
	if (!recorder->detached && !recorder->ended_ns &&
	    wti_limits_exhausted(recorder->options->limits))
		let_go_exhausted(recorder);
	if (!recorder->detached && recorder->attach.let_go)
		let_go(recorder, "a signal ended the recording; the program goes on");
	if (recorder->attach.pid && !recorder->ended_ns)
		look_for_end(recorder, now_ns);
	if (!recorder->ended_ns)
		return false;
	if (recorder->detached || now_ns - recorder->heard_ns >= (uint64_t)recorder->wait_ns)
		return true;
	if (count_alive(recorder) || wti_syscalls_alive(&recorder->syscalls))
		return false;
	if (recorder->wait_ns > WTI_RECORD_GRACE_NS || now_ns - recorder->heard_ns < JOIN_GRACE_NS)
		return !strangers_alive(recorder);
	return !wti_tree_guests(&recorder->tree, now_ns);
}

static bool handle(struct wti_recorder *recorder, const struct epoll_event *events, int count)
{
	bool other = false;

	for (int i = 0; i < count; i++) {
		int fd = events[i].data.fd;

		if (fd && fd == recorder->signals)
			wti_signals_take(recorder);
		else if (fd && fd == recorder->launch.news)
			wti_signals_news(recorder);
		else
			other = true;
	}
	return other;
}

static int next_pause(int pause, enum wti_fill fill)
{
	if (fill == WTI_FILL_HIGH)
		return 0;
	if (fill == WTI_FILL_MIDDLE || pause < ACTIVE_MS)
		return ACTIVE_MS;
	return pause * 2 > QUIET_MS_MAX ? QUIET_MS_MAX : pause * 2;
}

void wti_loop_run(struct wti_recorder *recorder)
{
	int pause = ACTIVE_MS;

	recorder->loaded_pause_ns = LOADED_FIRST_NS;
	recorder->wait_ns = recorder->options->wait_ns;
	for (;;) {
		struct epoll_event events[EVENTS];
		int n = epoll_wait(recorder->epoll, events, EVENTS, pause);
		bool news = handle(recorder, events, n);
		uint64_t now_ns = wti_clock_ns(CLOCK_MONOTONIC);
		enum wti_fill fill = WTI_FILL_LOW;

		if (!recorder->detached) {
			if (news)
				receive(recorder);
			fill = drain_all(recorder, news || recorder->ended_ns);
			fill = fuller(fill, drain_syscalls(recorder));
			do_what_is_due(recorder, now_ns);
		}
		if (is_over(recorder, now_ns))
			break;
		pause = recorder->detached   ? DETACHED_MS
			: recorder->ended_ns ? ACTIVE_MS
					     : next_pause(pause, fill);
	}
	receive(recorder);
	detach(recorder);
	if (!recorder->attach.pid)
		wti_launch_drain(&recorder->launch, DRAIN_NS);
}
