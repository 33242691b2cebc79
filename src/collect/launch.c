/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Knows which of the caller's three descriptors are replaced by what. Two that are the same file
 * stay one, so that the order of standard output and error within it is kept.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"

#include "clock.h"
#include "launch.h"
#include "redirect.h"
#include "rlimits.h"

struct ends { /* made here, given to relay and monitor, closed here */
	int master, slave;
	int out[2], err[2];
	int life[2], news[2], held[2], gate[2];
	bool keys; /* the terminal's keys go to the pty */
};

/* ---- Finding the program -------------------------------------------------------------------- */

static const char *search_path(char *const *environment)
{
	for (size_t i = 0; environment[i]; i++)
		if (!strncmp(environment[i], "PATH=", 5))
			return environment[i] + 5;
	return "/usr/local/bin:/usr/bin:/bin";
}

/* 0, or errno of why this file cannot be executed. */
static int cannot_execute(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return errno;
	if (!S_ISREG(st.st_mode))
		return S_ISDIR(st.st_mode) ? EISDIR : EACCES;
	return access(path, X_OK) ? errno : 0;
}

static int not_executable(const char *program, int why, struct wt_err *err)
{
	if (why == ENOENT || why == ENOTDIR)
		return wti_err(err, WT_E_MISSING,
			       "no such program '%.200s'; give a path or a name found in PATH",
			       program);
	return wti_err(err, WT_E_ARG, "cannot execute '%.200s': %s; is it a program?", program,
		       strerror(why));
}

int wti_launch_find(const char *program, char *const *environment, char *out, size_t bytes,
		    struct wt_err *err)
{
	const char *at = search_path(environment);
	int why = ENOENT;

	if (strchr(program, '/')) {
		why = cannot_execute(program);
		if (why)
			return not_executable(program, why, err);
		snprintf(out, bytes, "%s", program);
		return 0;
	}
	while (*program && at) {
		const char *end = strchrnul(at, ':');
		int n = snprintf(out, bytes, "%.*s%s%s", (int)(end - at), at, end > at ? "/" : "",
				 program);
		int r = n > 0 && (size_t)n < bytes ? cannot_execute(out) : ENAMETOOLONG;

		if (!r)
			return 0;
		if (r == EACCES)
			why = r;
		at = *end ? end + 1 : NULL;
	}
	return not_executable(program, why, err);
}

/* ---- Terminals and pipes -------------------------------------------------------------------- */

static int open_pty(struct ends *ends, int like)
{
	struct winsize size;
	struct termios mode;
	char name[64];

	ends->master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (ends->master < 0 || grantpt(ends->master) || unlockpt(ends->master) ||
	    ptsname_r(ends->master, name, sizeof(name)))
		return -1;
	ends->slave = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (ends->slave < 0)
		return -1;
	if (!tcgetattr(like, &mode))
		tcsetattr(ends->slave, TCSANOW, &mode);
	if (!ioctl(like, TIOCGWINSZ, &size))
		ioctl(ends->slave, TIOCSWINSZ, &size);
	return 0;
}

static bool same_file(int a, int b)
{
	struct stat x, y;

	return !fstat(a, &x) && !fstat(b, &y) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static bool gets_pipe(int fd)
{
	return wti_descriptor_given(fd) && wti_redirect_is_pipe(fd);
}

static int open_ends(struct ends *ends, bool gated, struct wt_err *err)
{
	*ends = (struct ends){-1,       -1,       {-1, -1}, {-1, -1}, {-1, -1},
			      {-1, -1}, {-1, -1}, {-1, -1}, false};
	if (pipe2(ends->news, O_CLOEXEC) || (gated && pipe2(ends->gate, O_CLOEXEC)))
		return wti_err_errno(err, "cannot make a pipe for", "the program");
	return 0;
}

/* What stands between the program and the caller's output; false, and why, if nothing can. */
static bool open_console(struct wti_launch *launch, struct ends *ends)
{
	bool out_tty = isatty(STDOUT_FILENO), err_tty = isatty(STDERR_FILENO);
	bool out_pipe = gets_pipe(STDOUT_FILENO), err_pipe = gets_pipe(STDERR_FILENO);
	char *why = launch->unrelayed;

	launch->pty = out_tty || err_tty;
	ends->keys = launch->pty && isatty(STDIN_FILENO);
	if (!wti_limits_relay(launch->limits, why, sizeof(launch->unrelayed)))
		return false;
	if ((!launch->pty || !open_pty(ends, out_tty ? STDOUT_FILENO : STDERR_FILENO)) &&
	    !pipe2(ends->life, O_CLOEXEC | O_NONBLOCK) && !pipe2(ends->held, O_CLOEXEC) &&
	    (!out_pipe || !pipe2(ends->out, O_CLOEXEC)) &&
	    (!err_pipe || (out_pipe && same_file(STDOUT_FILENO, STDERR_FILENO)) ||
	     !pipe2(ends->err, O_CLOEXEC)))
		return true;
	snprintf(why, sizeof(launch->unrelayed),
		 "console.log is not written: no %s for the program's output: %s",
		 launch->pty ? "terminal or pipe" : "pipe", strerror(errno));
	return false;
}

static void close_one(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void close_console(struct ends *ends)
{
	int *all[] = {&ends->master,  &ends->slave,  &ends->out[0],  &ends->out[1],
		      &ends->err[0],  &ends->err[1], &ends->life[0], &ends->life[1],
		      &ends->held[0], &ends->held[1]};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		close_one(all[i]);
	ends->keys = false;
}

static void close_ends(struct ends *ends)
{
	close_console(ends);
	close_one(&ends->news[0]);
	close_one(&ends->news[1]);
	close_one(&ends->gate[0]);
	close_one(&ends->gate[1]);
}

/* ---- The two processes ---------------------------------------------------------------------- */

static struct wti_relay relay_of(const struct wti_launch *launch, const struct ends *ends,
				 int ready)
{
	bool out_tty = launch->pty && isatty(STDOUT_FILENO);
	struct wti_relay relay = {
		.out_from = ends->out[0],
		.out_to = ends->out[0] >= 0 ? STDOUT_FILENO : -1,
		.err_from = ends->err[0],
		.err_to = ends->err[0] >= 0 ? STDERR_FILENO : -1,
		.keys_from = ends->keys ? STDIN_FILENO : -1,
		.keys_to = ends->master,
		.window = -1,
		.console = launch->console,
		.life = ends->life[0],
		.held = ends->held[1],
		.ready = ready,
		.session = launch->session,
		.page = launch->page,
	};

	if (!launch->pty)
		return relay;
	/* One pty serves whichever of the two is a terminal; the other keeps its pipe. */
	relay.window = out_tty ? STDOUT_FILENO : STDERR_FILENO;
	if (out_tty) {
		relay.out_from = ends->master;
		relay.out_to = STDOUT_FILENO;
	} else {
		relay.err_from = ends->master;
		relay.err_to = STDERR_FILENO;
	}
	return relay;
}

static struct wti_monitor monitor_of(const struct wti_launch *launch, const struct ends *ends)
{
	bool out_tty = launch->pty && isatty(STDOUT_FILENO);
	bool err_tty = launch->pty && isatty(STDERR_FILENO);
	struct wti_monitor monitor = {
		.executable = launch->executable,
		.argv = launch->argv,
		.environment = launch->environment,
		.in = ends->keys ? ends->slave : -1,
		.out = out_tty ? ends->slave : ends->out[1],
		.err = err_tty ? ends->slave : ends->err[1],
		.slave = ends->slave,
		.terminal = launch->terminal,
		.news = ends->news[1],
		.relay_lives = ends->held[0],
		.filter = launch->filter,
		.gate = {ends->gate[0], ends->gate[1]},
		.mask = launch->mask,
		.sigpipe = launch->sigpipe,
		.limits = launch->limits,
	};

	if (!err_tty && monitor.err < 0 && gets_pipe(STDERR_FILENO))
		monitor.err = monitor.out; /* the same pipe as standard output */
	return monitor;
}

/* Waits until the relay has all that it needs; one that has not ends by itself. */
static bool start_relay(struct wti_launch *launch, const struct ends *ends)
{
	int ready[2];
	ssize_t n;
	char byte;

	if (pipe2(ready, O_CLOEXEC))
		return false;
	launch->relay_pid = fork();
	if (launch->relay_pid == 0) {
		struct wti_relay relay = relay_of(launch, ends, ready[1]);

		wti_relay_run(&relay);
	}
	close(ready[1]);
	while ((n = read(ready[0], &byte, 1)) < 0 && errno == EINTR)
		;
	close(ready[0]);
	if (n != 1 && launch->relay_pid > 0)
		waitpid(launch->relay_pid, NULL, 0);
	if (n != 1)
		launch->relay_pid = 0;
	return n == 1;
}

static void start_console(struct wti_launch *launch, struct ends *ends)
{
	if (open_console(launch, ends) && start_relay(launch, ends)) {
		launch->relay_is_idle = !launch->pty && ends->out[0] < 0 && ends->err[0] < 0;
		return;
	}
	if (!launch->unrelayed[0])
		snprintf(launch->unrelayed, sizeof(launch->unrelayed),
			 "console.log is not written: no process, thread or memory for the relay");
	close_console(ends);
	launch->pty = false;
}

/* The monitor's first words: that there is a process for the program, or why there is none. */
static int hear_start(struct wti_launch *launch, int news, struct wt_err *err)
{
	ssize_t n;

	while ((n = read(news, &launch->first, sizeof(launch->first))) < 0 && errno == EINTR)
		;
	if (n == sizeof(launch->first) && launch->first.type == WTI_MONITOR_STARTED)
		return 0;
	errno = n == sizeof(launch->first) ? launch->first.value : EAGAIN;
	return wti_err_errno(err, "cannot start", launch->executable);
}

static int start_monitor(struct wti_launch *launch, struct ends *ends, struct wt_err *err)
{
	int r;

	launch->monitor_pid = fork();
	if (launch->monitor_pid == 0) {
		struct wti_monitor monitor = monitor_of(launch, ends);

		wti_monitor_run(&monitor);
	}
	if (launch->monitor_pid < 0)
		return wti_err_errno(err, "cannot start", launch->executable);
	close_one(&ends->news[1]);
	r = hear_start(launch, ends->news[0], err);
	if (r)
		waitpid(launch->monitor_pid, NULL, 0);
	return r;
}

/* The terminal in whose foreground we are, to be given to the program's group; or -1. */
static int our_terminal(void)
{
	int fd = open("/dev/tty", O_RDWR | O_CLOEXEC);

	if (fd >= 0 && tcgetpgrp(fd) == getpgrp())
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

/* Whoever is at the other end must see when the program is gone, and not wait for us. */
static void let_go_of_pipes(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null < 0)
		return;
	dup2(null, STDIN_FILENO);
	if (!isatty(STDOUT_FILENO) && wti_descriptor_given(STDOUT_FILENO))
		dup2(null, STDOUT_FILENO);
	close(null);
}

int wti_launch(struct wti_launch *launch, struct wt_err *err)
{
	struct ends ends;
	int r;

	launch->terminal = launch->news = launch->life = launch->gate = -1;
	wti_redirects_note(launch->redirects);
	launch->page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (launch->page == MAP_FAILED) {
		launch->page = NULL;
		return wti_err(err, WT_E_NOMEM, "out of memory for the console relay");
	}
	r = open_ends(&ends, launch->gated, err);
	if (!r)
		start_console(launch, &ends);
	if (!r && !launch->pty)
		launch->terminal = our_terminal();
	if (!r)
		r = start_monitor(launch, &ends, err);
	if (!r) {
		launch->news = ends.news[0];
		launch->life = ends.life[1];
		launch->gate = ends.gate[1];
		ends.news[0] = ends.life[1] = ends.gate[1] = -1;
		let_go_of_pipes();
	}
	close_ends(&ends);
	close_one(&launch->console);
	if (r && launch->relay_pid > 0) /* its ends are closed: it ends, too */
		waitpid(launch->relay_pid, NULL, 0);
	return r;
}

/* ---- While it runs -------------------------------------------------------------------------- */

static void wake_relay(const struct wti_launch *launch)
{
	if (launch->life >= 0 && write(launch->life, "", 1) < 0)
		return; /* full: it has enough to wake up for */
}

void wti_launch_go(struct wti_launch *launch, bool with_filter)
{
	char word = WTI_GATE_FILTER;

	/* Who is dead by now needs no word. */
	if (with_filter && launch->gate >= 0 && write(launch->gate, &word, 1) < 0)
		with_filter = false;
	close_one(&launch->gate);
}

void wti_launch_terminal(struct wti_launch *launch, bool to_program)
{
	if (launch->pty) {
		atomic_store(&launch->page->terminal,
			     to_program ? WTI_RELAY_RAW : WTI_RELAY_COOKED);
		wake_relay(launch);
		return;
	}
	if (launch->terminal < 0) /* we may have come to the foreground since */
		launch->terminal = to_program ? our_terminal() : -1;
	if (launch->terminal >= 0)
		tcsetpgrp(launch->terminal, to_program ? launch->pid : getpgrp());
}

void wti_launch_signal(const struct wti_launch *launch, int number, bool group)
{
	if (launch->pid <= 0)
		return;
	/* One that has just been forked does not lead its group yet. */
	if (!group || kill(-launch->pid, number))
		kill(launch->pid, number);
}

bool wti_launch_drain(struct wti_launch *launch, uint64_t timeout_ns)
{
	uint64_t until = wti_clock_ns(CLOCK_MONOTONIC) + timeout_ns;

	if (launch->relay_pid <= 0)
		return true;
	atomic_store(&launch->page->program_ended, 1);
	wake_relay(launch);
	while (!atomic_load(&launch->page->drained)) {
		if (wti_clock_ns(CLOCK_MONOTONIC) >= until)
			return false;
		if (waitpid(launch->relay_pid, NULL, WNOHANG) == launch->relay_pid)
			return true;
		poll(NULL, 0, 1);
	}
	return true;
}

void wti_launch_release(struct wti_launch *launch)
{
	if (launch->terminal >= 0)
		tcsetpgrp(launch->terminal, getpgrp());
	close_one(&launch->gate);
	close_one(&launch->terminal);
	close_one(&launch->news);
	close_one(&launch->life);
	if (launch->relay_is_idle)
		waitpid(launch->relay_pid, NULL, 0);
	wti_redirects_release(launch->redirects);
	if (launch->page)
		munmap(launch->page, 4096);
	launch->page = NULL;
}
