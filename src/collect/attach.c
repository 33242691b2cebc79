/* SPDX-License-Identifier: Apache-2.0 */
/* Knows what /proc says of a process that somebody else has started. */
#include "attach.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"

#include "procfs.h"

#define WORDS_BYTES_MAX (4u << 20) /* of a command line or an environment */

/* The texts of a file in which each ends with a NUL; an array that ends with NULL, or NULL. */
static char **read_words(pid_t pid, const char *file)
{
	char path[64];
	struct wti_buf text;
	size_t count = 0;
	char **words = NULL;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, file);
	wti_buf_init(&text, WORDS_BYTES_MAX + 1);
	if (wti_file_read(path, WORDS_BYTES_MAX, &text, NULL))
		wti_buf_clear(&text);
	wti_buf_byte(&text, 0); /* the last may have none */
	for (size_t i = 0; i < text.bytes; i++)
		count += !text.data[i];
	/* One allocation: the pointers, then the texts. */
	if (!wti_buf_status(&text))
		words = malloc((count + 1) * sizeof(*words) + text.bytes);
	if (words) {
		char *at = (char *)&words[count + 1];

		memcpy(at, text.data, text.bytes);
		count = 0;
		for (char *end = at + text.bytes; at < end; at += strlen(at) + 1)
			if (*at)
				words[count++] = at;
		words[count] = NULL;
	}
	wti_buf_release(&text);
	return words;
}

/* The command line; of one that has none its short name. */
static char **read_command(pid_t pid, const struct wti_proc *proc)
{
	char **words = read_words(pid, "cmdline");

	if (!words || words[0])
		return words;
	free(words);
	words = malloc(2 * sizeof(*words) + sizeof(proc->command));
	if (!words)
		return NULL;
	words[0] = (char *)&words[2];
	words[1] = NULL;
	memcpy(words[0], proc->command, sizeof(proc->command));
	return words;
}

static void read_directory(struct wti_attach *attach)
{
	char path[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/cwd", (int)attach->pid);
	n = readlink(path, attach->directory, sizeof(attach->directory) - 1);
	attach->directory[n > 0 ? n : 0] = 0;
}

/* A kernel's thread has no program. */
static bool is_of_kernel(pid_t pid)
{
	char text[64];

	return wti_proc_file((uint32_t)pid, "maps", text, sizeof(text)) == 0;
}

static int check(pid_t pid, const struct wti_proc *proc, struct wt_err *err)
{
	if (pid == getpid())
		return wti_err(err, WT_E_ARG,
			       "process %d is this recorder itself; give another process",
			       (int)pid);
	if (wti_proc_is_thread((uint32_t)pid))
		return wti_err(err, WT_E_ARG,
			       "%d is a thread of process %d; attach to the process, which records "
			       "all its threads",
			       (int)pid, (int)wti_proc_process_of((uint32_t)pid));
	if (proc->state == 'Z' || proc->state == 'X')
		return wti_err(err, WT_E_ARG,
			       "process %d (%s) has already ended and waits for its parent %u to "
			       "collect its status; there is nothing left to record",
			       (int)pid, proc->command, proc->ppid);
	if (is_of_kernel(pid))
		return wti_err(err, WT_E_ARG,
			       "process %d (%s) is a kernel thread and makes no system calls",
			       (int)pid, proc->command);
	return 0;
}

int wti_attach_look(struct wti_attach *attach, pid_t pid, struct wt_err *err)
{
	struct wti_proc proc;
	int r;

	*attach = (struct wti_attach){.pid = pid, .pidfd = wti_pidfd_open((uint32_t)pid)};
	if (!wti_proc_read((uint32_t)pid, &proc))
		r = wti_err(err, WT_E_MISSING,
			    "there is no process %d; 'ps -e' lists running processes", (int)pid);
	else
		r = check(pid, &proc, err);
	if (!r) {
		attach->argv = read_command(pid, &proc);
		attach->environment = read_words(pid, "environ");
		read_directory(attach);
		if (!attach->argv || !attach->environment)
			r = wti_err(err, WT_E_NOMEM, "out of memory");
	}
	if (r)
		wti_attach_release(attach);
	return r;
}

bool wti_attach_ended(const struct wti_attach *attach)
{
	struct pollfd ready = {attach->pidfd, POLLIN, 0};
	struct wti_proc proc;

	if (attach->pidfd >= 0)
		return poll(&ready, 1, 0) > 0;
	return !wti_proc_read((uint32_t)attach->pid, &proc) || proc.state == 'Z';
}

void wti_attach_release(struct wti_attach *attach)
{
	free(attach->argv);
	free(attach->environment);
	if (attach->pid && attach->pidfd >= 0)
		close(attach->pidfd);
	*attach = (struct wti_attach){.pidfd = -1};
}
