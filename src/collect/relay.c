/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Knows the two sides of the program's console, and the state of the terminal in between: raw while
 * keys belong to the program, as it was when the program is stopped or the recorder has died.
 */
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <termios.h>
#include <unistd.h>

#include "base/thread.h"

#include "console.h"
#include "relay.h"

#define PUMP_BYTES (64u << 10)
#define STACK_BYTES (64u << 10) /* of a pump */
#define BACKGROUND_LOOK_MS 100
#define FLUSH_NS 2000000000ull

struct relay_state;

struct pump {
	struct relay_state *state;
	unsigned source;
	int from;
	int to;
	uint8_t *data; /* on its way */
	bool drained;  /* of all that was there when the program ended */
	bool ended;
};

struct relay_state {
	const struct wti_relay *relay;
	struct wti_console console;
	struct pump pumps[WTI_CONSOLE_SOURCES];
	unsigned pump_count;
	int ending[2]; /* the write end is closed when the program has ended */
	int news[2];   /* a pump says that its state has changed */
	pthread_mutex_t lock;
	struct termios saved;
	bool have_saved;
	bool raw;
	bool recorder_dead;
};

static int compare_ints(const void *a, const void *b)
{
	const int *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Through syscall(): glibc has the function since 2.34, kernels the call since 5.9; sandboxes may
 * refuse it. */
static void close_between(unsigned first, unsigned last)
{
	const long open_max = sysconf(_SC_OPEN_MAX);

	if (!syscall(SYS_close_range, first, last, 0))
		return;
	for (unsigned fd = first; fd <= last && (long)fd < open_max; fd++)
		close((int)fd);
}

void wti_close_all_but(const int *keep, int count)
{
	int sorted[16], next = 0, kept = 0;

	for (int i = 0; i < count; i++)
		if (keep[i] >= 0 && kept < 16)
			sorted[kept++] = keep[i];
	qsort(sorted, (size_t)kept, sizeof(int), compare_ints);
	for (int i = 0; i < kept; i++) {
		if (sorted[i] > next)
			close_between((unsigned)next, (unsigned)sorted[i] - 1);
		next = sorted[i] + 1;
	}
	close_between((unsigned)next, ~0u);
}

/* ---- Output --------------------------------------------------------------------------------- */

/* All of it, also where somebody has made the other side non-blocking. */
static bool show(int fd, const uint8_t *data, size_t bytes)
{
	while (bytes) {
		ssize_t n = write(fd, data, bytes);
		struct pollfd ready = {fd, POLLOUT, 0};

		if (n < 0 && errno == EAGAIN)
			poll(&ready, 1, -1);
		else if (n < 0 && errno != EINTR)
			return false;
		if (n > 0) {
			data += n;
			bytes -= (size_t)n;
		}
	}
	return true;
}

static void say_news(struct pump *pump, bool ended)
{
	pthread_mutex_lock(&pump->state->lock);
	pump->drained = true;
	pump->ended |= ended;
	pthread_mutex_unlock(&pump->state->lock);
	if (write(pump->state->news[1], "", 1) < 0)
		return; /* full: there is news enough in it */
}

/* Waits for something to read. After the program's end, says once that there is nothing left. */
static void wait_for_output(struct pump *pump)
{
	struct pollfd fds[2] = {{pump->from, POLLIN, 0}, {pump->state->ending[0], POLLIN, 0}};

	if (pump->drained) {
		poll(fds, 1, -1);
		return;
	}
	poll(fds, 2, -1);
	if (fds[1].revents && !poll(fds, 1, 0))
		say_news(pump, false);
}

static void *pump_output(void *self)
{
	struct pump *pump = self;
	struct wti_relay_page *page = pump->state->relay->page;

	for (;;) {
		ssize_t n;

		wait_for_output(pump);
		n = read(pump->from, pump->data, PUMP_BYTES);
		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n <= 0) /* EIO: all ends of the pty are closed */
			break;
		atomic_fetch_add_explicit(&page->console_bytes, (uint64_t)n, memory_order_relaxed);
		if (!show(pump->to, pump->data, (size_t)n))
			break;
		wti_console_put(&pump->state->console, pump->source, pump->data, (size_t)n);
	}
	free(pump->data);
	close(pump->from);
	say_news(pump, true);
	return NULL;
}

/* ---- Keys and the terminal ------------------------------------------------------------------ */

static bool in_foreground(int terminal)
{
	return tcgetpgrp(terminal) == getpgrp();
}

static void set_terminal(struct relay_state *state, bool raw)
{
	struct termios mode = state->saved;

	if (!state->have_saved || state->raw == raw)
		return;
	if (raw)
		cfmakeraw(&mode);
	if (!tcsetattr(state->relay->keys_from, TCSADRAIN, &mode))
		state->raw = raw;
}

static bool keys_wanted(struct relay_state *state)
{
	return atomic_load(&state->relay->page->terminal) == WTI_RELAY_RAW &&
	       in_foreground(state->relay->keys_from);
}

static void *pump_keys(void *self)
{
	struct relay_state *state = self;
	int from = state->relay->keys_from, to = state->relay->keys_to;
	uint8_t data[4096];

	for (;;) {
		struct pollfd ready = {from, POLLIN, 0};
		ssize_t n;

		if (!keys_wanted(state)) {
			poll(NULL, 0, BACKGROUND_LOOK_MS);
			continue;
		}
		/* Looks again now and then: what is typed to the shell is not ours. */
		if (poll(&ready, 1, BACKGROUND_LOOK_MS) <= 0 || !keys_wanted(state))
			continue;
		n = read(from, data, sizeof(data));
		if (n < 0 && (errno == EINTR || errno == EAGAIN || errno == EIO))
			continue;
		if (n <= 0 || !show(to, data, (size_t)n))
			return NULL;
	}
}

static void follow_window(const struct wti_relay *relay)
{
	struct winsize size;

	if (relay->window >= 0 && !ioctl(relay->window, TIOCGWINSZ, &size))
		ioctl(relay->keys_to, TIOCSWINSZ, &size);
}

/* ---- The main thread ------------------------------------------------------------------------ */

static int watch_signals(void)
{
	static const int ignored[] = {SIGINT,  SIGQUIT, SIGTERM, SIGHUP,  SIGTSTP, SIGTTIN,
				      SIGTTOU, SIGPIPE, SIGUSR1, SIGUSR2, SIGALRM};
	sigset_t window, all;

	for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
		signal(ignored[i], SIG_IGN);
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	sigemptyset(&window);
	sigaddset(&window, SIGWINCH);
	return signalfd(-1, &window, SFD_CLOEXEC | SFD_NONBLOCK);
}

static bool add_pump(struct relay_state *state, unsigned source, int from, int to)
{
	pthread_t thread;
	struct pump *pump = &state->pumps[state->pump_count];

	if (from < 0)
		return true;
	*pump = (struct pump){.state = state, .source = source, .from = from, .to = to};
	state->pump_count++;
	pump->data = malloc(PUMP_BYTES);
	return pump->data && !wti_thread_start(&thread, STACK_BYTES, pump_output, pump) &&
	       !pthread_detach(thread);
}

/* The last one, as what it has read cannot be given back. */
static bool add_keys(struct relay_state *state)
{
	const struct wti_relay *relay = state->relay;
	pthread_t thread;

	if (relay->keys_from < 0)
		return true;
	state->have_saved = !tcgetattr(relay->keys_from, &state->saved);
	if (wti_thread_start(&thread, STACK_BYTES, pump_keys, state))
		return false;
	set_terminal(state, in_foreground(relay->keys_from));
	return !pthread_detach(thread);
}

/* False if there is no room for a part: then the program does without a relay. */
static bool start(struct relay_state *state)
{
	const struct wti_relay *relay = state->relay;

	mallopt(M_ARENA_MAX, 1); /* each further one takes 64 MB of a limited address space */
	pthread_mutex_init(&state->lock, NULL);
	if (pipe2(state->ending, O_CLOEXEC) || pipe2(state->news, O_CLOEXEC | O_NONBLOCK))
		return false;
	/* A console that cannot be kept is counted, and shown all the same. */
	wti_console_start(&state->console, relay->console, &relay->page->dropped_bytes);
	return add_pump(state, 0, relay->out_from, relay->out_to) &&
	       add_pump(state, 1, relay->err_from, relay->err_to) && add_keys(state);
}

/* All pumps: 2 ended, 1 drained, 0 neither. */
static int progress(struct relay_state *state)
{
	bool drained = true, ended = true;

	pthread_mutex_lock(&state->lock);
	for (unsigned i = 0; i < state->pump_count; i++) {
		drained &= state->pumps[i].drained;
		ended &= state->pumps[i].ended;
	}
	pthread_mutex_unlock(&state->lock);
	if (!state->pump_count) /* here only to end the session for a recorder that is killed */
		return state->recorder_dead ? 2 : 1;
	return ended ? 2 : drained;
}

static void obey(struct relay_state *state)
{
	struct wti_relay_page *page = state->relay->page;

	if (state->recorder_dead) {
		if (state->have_saved && in_foreground(state->relay->keys_from))
			set_terminal(state, false);
		return;
	}
	if (atomic_load(&page->program_ended) && state->ending[1] >= 0) {
		close(state->ending[1]);
		state->ending[1] = -1;
	}
	/* After the program's end it stays as it is until the last output is out: see say_drained.
	 */
	set_terminal(state, atomic_load(&page->terminal) == WTI_RELAY_RAW);
}

static void hear_recorder(struct relay_state *state)
{
	char bytes[64];
	ssize_t n = read(state->relay->life, bytes, sizeof(bytes));

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n <= 0) {
		state->recorder_dead = true;
		wti_session_close(state->relay->session);
		atomic_store(&state->relay->page->terminal, WTI_RELAY_COOKED); /* no more keys */
	}
	obey(state);
}

static void empty(int fd)
{
	char bytes[256];

	while (read(fd, bytes, sizeof(bytes)) > 0)
		;
}

static void say_drained(struct relay_state *state)
{
	if (atomic_load(&state->relay->page->drained))
		return;
	wti_console_flush(&state->console, FLUSH_NS);
	set_terminal(state, false);
	atomic_store(&state->relay->page->drained, 1);
}

_Noreturn void wti_relay_run(const struct wti_relay *relay)
{
	struct relay_state *state = calloc(1, sizeof(*state));
	int keep[] = {relay->out_from,  relay->out_to,  relay->err_from, relay->err_to,
		      relay->keys_from, relay->keys_to, relay->window,   relay->console,
		      relay->life,      relay->held,    relay->ready};
	int window;

	wti_close_all_but(keep, sizeof(keep) / sizeof(keep[0]));
	/* Its number may be that of a pipe of ours by the time that we close the session. */
	relay->session->listener = relay->session->knocker = -1;
	if (!state)
		_exit(1);
	window = watch_signals();
	state->relay = relay;
	if (!start(state) || write(relay->ready, "", 1) != 1)
		_exit(1);
	close(relay->ready);
	while (progress(state) < 2) {
		struct pollfd fds[3] = {{state->news[0], POLLIN, 0},
					{window, POLLIN, 0},
					{state->recorder_dead ? -1 : relay->life, POLLIN, 0}};

		poll(fds, 3, -1);
		if (fds[0].revents)
			empty(state->news[0]);
		if (fds[1].revents) {
			empty(window);
			follow_window(relay);
		}
		if (fds[2].revents)
			hear_recorder(state);
		if (atomic_load(&relay->page->program_ended) && progress(state) >= 1)
			say_drained(state);
	}
	/* Whoever reads our output should not wait for the disk with us. */
	set_terminal(state, false);
	close(relay->out_to);
	close(relay->err_to);
	wti_console_close(&state->console);
	say_drained(state);
	_exit(0);
}
