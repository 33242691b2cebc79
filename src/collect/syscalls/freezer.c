/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Knows both versions of control groups: where they are mounted, which group is ours, and the file
 * that freezes. A process of its own waits for our death, as nothing may stay frozen after it.
 */
#include "freezer.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "collect/relay.h"

#define TEXT_BYTES_MAX (256u << 10)
#define MOVE_ROUNDS 8 /* at the end, for what is forked meanwhile */

void wti_freezer_init(struct wti_freezer *freezer)
{
	*freezer = (struct wti_freezer){.guard_end = -1};
}

static bool put(const char *folder, const char *file, const char *text)
{
	char path[600];
	bool ok;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", folder, file);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	ok = write(fd, text, strlen(text)) == (ssize_t)strlen(text);
	close(fd);
	return ok;
}

/* ---- Finding the group ----------------------------------------------------------------------- */

/* The word of a line of /proc/self/mounts that is the place; false: it is another file system. */
static bool mount_place(const char *line, bool v2, char *out, size_t bytes)
{
	char place[256], type[32], options[256];

	if (sscanf(line, "%*s %255s %31s %255s", place, type, options) != 3)
		return false;
	if (strcmp(type, v2 ? "cgroup2" : "cgroup") || (!v2 && !strstr(options, "freezer")))
		return false;
	snprintf(out, bytes, "%s", place);
	return true;
}

/* Our own group: "0::/path" of version 2, "6:freezer:/path" of version 1. */
static bool own_group(const char *line, bool v2, char *out, size_t bytes)
{
	const char *first = strchr(line, ':');
	const char *second = first ? strchr(first + 1, ':') : NULL;

	if (!second || (v2 ? second != first + 1 : !strstr(line, "freezer")))
		return false;
	snprintf(out, bytes, "%.*s", (int)strcspn(second + 1, "\n"), second + 1);
	return true;
}

static bool find_line(const char *path, bool v2,
		      bool (*fits)(const char *line, bool v2, char *out, size_t bytes), char *out,
		      size_t bytes)
{
	struct wti_buf text;
	bool found = false;

	wti_buf_init(&text, TEXT_BYTES_MAX);
	if (!wti_file_read(path, TEXT_BYTES_MAX - 1, &text, NULL) && !wti_buf_byte(&text, 0)) {
		for (char *line = (char *)text.data; line && !found;) {
			found = fits(line, v2, out, bytes);
			line = strchr(line, '\n');
			line = line ? line + 1 : NULL;
		}
	}
	wti_buf_release(&text);
	return found;
}

static bool make_group(struct wti_freezer *freezer, bool v2)
{
	char place[256], group[200], path[600];

	if (!find_line("/proc/self/mounts", v2, mount_place, place, sizeof(place)) ||
	    !find_line("/proc/self/cgroup", v2, own_group, group, sizeof(group)))
		return false;
	snprintf(freezer->parent, sizeof(freezer->parent), "%s%s", place,
		 strcmp(group, "/") ? group : "");
	snprintf(freezer->folder, sizeof(freezer->folder), "%.480s/wheeltap-%d", freezer->parent,
		 (int)getpid());
	freezer->is_v2 = v2;
	if (mkdir(freezer->folder, 0755)) {
		freezer->folder[0] = 0;
		return false;
	}
	snprintf(path, sizeof(path), "%s/%s", freezer->folder,
		 v2 ? "cgroup.freeze" : "freezer.state");
	if (!access(path, W_OK))
		return true;
	rmdir(freezer->folder);
	freezer->folder[0] = 0;
	return false;
}

/* ---- Freezing -------------------------------------------------------------------------------- */

static bool set(const struct wti_freezer *freezer, bool frozen)
{
	if (freezer->is_v2)
		return put(freezer->folder, "cgroup.freeze", frozen ? "1" : "0");
	return put(freezer->folder, "freezer.state", frozen ? "FROZEN" : "THAWED");
}

/* The child: lives until our end of the pipe is closed, by us or by our death. */
static _Noreturn void guard(const struct wti_freezer *freezer, int end)
{
	char byte;

	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	wti_close_all_but(&end, 1);
	while (read(end, &byte, 1) < 0 && errno == EINTR)
		;
	set(freezer, false);
	_exit(0);
}

static bool start_guard(struct wti_freezer *freezer)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		return false;
	freezer->guard = fork();
	if (freezer->guard == 0)
		guard(freezer, ends[0]);
	close(ends[0]);
	if (freezer->guard < 0) {
		close(ends[1]);
		return false;
	}
	freezer->guard_end = ends[1];
	return true;
}

bool wti_freezer_take(struct wti_freezer *freezer, const uint32_t *pids, size_t count)
{
	if (!freezer->tried) {
		freezer->tried = true;
		if (make_group(freezer, true) || make_group(freezer, false)) {
			if (!start_guard(freezer))
				wti_freezer_close(freezer);
		}
	}
	for (size_t i = 0; freezer->folder[0] && i < count; i++) {
		char text[16];

		snprintf(text, sizeof(text), "%u", pids[i]);
		put(freezer->folder, "cgroup.procs", text);
	}
	return freezer->folder[0] != 0;
}

bool wti_freezer_hold(struct wti_freezer *freezer)
{
	if (!freezer->folder[0] || !set(freezer, true))
		return false;
	freezer->count += !freezer->held;
	freezer->held = true;
	return true;
}

void wti_freezer_let_go(struct wti_freezer *freezer)
{
	if (freezer->held)
		set(freezer, false);
	freezer->held = false;
}

/* Those that run on after us; how many they were. */
static size_t move_back(const struct wti_freezer *freezer)
{
	char path[600];
	struct wti_buf text;
	size_t count = 0;

	snprintf(path, sizeof(path), "%s/cgroup.procs", freezer->folder);
	wti_buf_init(&text, TEXT_BYTES_MAX);
	if (!wti_file_read(path, TEXT_BYTES_MAX - 1, &text, NULL) && !wti_buf_byte(&text, 0)) {
		for (char *line = (char *)text.data; *line;) {
			char *end = strchrnul(line, '\n');
			bool last = !*end;

			*end = 0;
			put(freezer->parent, "cgroup.procs", line);
			count++;
			line = last ? end : end + 1;
		}
	}
	wti_buf_release(&text);
	return count;
}

void wti_freezer_close(struct wti_freezer *freezer)
{
	if (!freezer->folder[0])
		return;
	wti_freezer_let_go(freezer);
	for (int i = 0; i < MOVE_ROUNDS && move_back(freezer); i++)
		;
	if (freezer->guard_end >= 0) {
		close(freezer->guard_end);
		waitpid(freezer->guard, NULL, 0);
	}
	freezer->guard_end = -1;
	rmdir(freezer->folder);
	freezer->folder[0] = 0;
}
