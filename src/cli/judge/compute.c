/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nothing of a model file is executed: what runs here is what the command line names. Its output
 * goes to standard error, as standard output is the result's.
 */
#include "cli/judge/compute.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"

extern char **environ;

static int make_place(struct wti_compute *compute, struct wt_err *err)
{
	const char *place = getenv("TMPDIR");

	if (*compute->folder) {
		unlink(compute->outputs); /* what an earlier call gave is not what this one gives */
		return 0;
	}
	snprintf(compute->folder, sizeof(compute->folder), "%.3900s/wheeltap-XXXXXX",
		 place && *place ? place : "/tmp");
	if (!mkdtemp(compute->folder)) {
		int r = wti_err_errno(err, "cannot make a folder for outputs", compute->folder);

		*compute->folder = 0;
		return r;
	}
	snprintf(compute->outputs, sizeof(compute->outputs), "%.4000s/outputs.npy",
		 compute->folder);
	return 0;
}

/* The words reach the command as arguments, so that no path has to be quoted. */
static int start(const struct wti_compute *compute, const char *model, const char *inputs,
		 const char *line, pid_t *ret_pid)
{
	const char *const argv[] = {"sh", "-c", line, "sh", model, inputs, compute->outputs, NULL};
	posix_spawn_file_actions_t actions;
	int r;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, 2, 1);
	r = posix_spawn(ret_pid, "/bin/sh", &actions, NULL, (char *const *)argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	return r;
}

static int await(const struct wti_compute *compute, pid_t pid, struct wt_err *err)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return wti_err_errno(err, "cannot wait for", compute->command);
	if (WIFSIGNALED(status))
		return wti_err(err, WT_E_ARG, "'%.200s' was ended by signal %d", compute->command,
			       WTERMSIG(status));
	if (WEXITSTATUS(status))
		return wti_err(err, WT_E_ARG,
			       "'%.200s' ended with status %d: it should write the "
			       "outputs to its last argument and end with 0",
			       compute->command, WEXITSTATUS(status));
	if (access(compute->outputs, R_OK))
		return wti_err(err, WT_E_ARG,
			       "'%.200s' wrote no outputs: it is given MODEL INPUTS OUTPUTS, and "
			       "writes the last one, as numpy.save() does",
			       compute->command);
	return 0;
}

int wti_compute_run(void *self, const char *model, const char *inputs, char ret_outputs[PATH_MAX],
		    struct wt_err *err)
{
	struct wti_compute *compute = self;
	char *line = NULL;
	pid_t pid;
	int r = make_place(compute, err);

	if (r)
		return r;
	if (asprintf(&line, "%s \"$@\"", compute->command) < 0)
		return wti_err(err, WT_E_NOMEM, "out of memory");
	errno = start(compute, model, inputs, line, &pid);
	r = errno ? wti_err_errno(err, "cannot run", compute->command) : await(compute, pid, err);
	free(line);
	if (!r)
		snprintf(ret_outputs, PATH_MAX, "%s", compute->outputs);
	return r;
}

void wti_compute_release(struct wti_compute *compute)
{
	if (!*compute->folder)
		return;
	unlink(compute->outputs);
	rmdir(compute->folder);
	*compute->folder = 0;
}
