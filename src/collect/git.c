/* SPDX-License-Identifier: Apache-2.0 */
/* Knows what to ask of git, and how long an answer may take. */
#include "git.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "git_ask.h"
#include "git_diff.h"

#define PATIENCE_NS 2000000000ull
#define PARENTS_MAX 64
#define ANSWER_BYTES_MAX (1u << 20)

static bool repository_around(void)
{
	char path[PATH_MAX] = ".git";
	struct stat here, up;

	for (int i = 0; i < PARENTS_MAX; i++) {
		size_t bytes = strlen(path);

		if (!access(path, F_OK))
			return true;
		path[bytes - 4] = 0; /* without ".git" */
		if (bytes + 4 > sizeof(path) || stat(*path ? path : ".", &here))
			return false;
		memcpy(path + bytes - 4, "../", sizeof("../"));
		if (stat(path, &up) || (here.st_dev == up.st_dev && here.st_ino == up.st_ino))
			return false;
		memcpy(path + bytes - 1, ".git", sizeof(".git"));
	}
	return false;
}

/* The next line of an answer, without its end; NULL: there is none. */
static char *next_line(char **at)
{
	char *line = *at, *end = line ? strchr(line, '\n') : NULL;

	if (!end)
		return NULL;
	*end = 0;
	*at = end + 1;
	return line;
}

static void look_at_diff(struct wti_git *git, const struct wti_git_asker *asker, const char *top,
			 const char *index)
{
	struct wti_git_diff diff;

	wti_git_diff_look(&diff, asker, top, index, strlen(git->commit) / 2);
	git->dirty = diff.count > 0;
	git->dirty_known = diff.is_whole || git->dirty;
	if (git->dirty && diff.is_whole)
		snprintf(git->diff_hash, sizeof(git->diff_hash), "%016llx%016llx",
			 (unsigned long long)diff.hash[0], (unsigned long long)diff.hash[1]);
}

/* Each is a line, in this order; a repository without a work tree ends after the first. */
static void look(struct wti_git *git, const struct wti_git_asker *asker)
{
	static const char *const words[] = {"rev-parse",  "HEAD",  "--show-toplevel",
					    "--git-path", "index", "--abbrev-ref",
					    "HEAD",       NULL};
	struct wti_buf answer;
	bool ok;
	char *at, *commit, *top, *index, *branch;

	wti_buf_init(&answer, ANSWER_BYTES_MAX);
	ok = wti_git_ask(asker, words, &answer);
	wti_buf_byte(&answer, 0);
	at = (char *)answer.data;
	commit = next_line(&at);
	top = next_line(&at);
	index = next_line(&at);
	branch = next_line(&at);
	if (commit && (strlen(commit) == 40 || strlen(commit) == 64) &&
	    !commit[strspn(commit, "0123456789abcdef")]) {
		git->found = true;
		snprintf(git->commit, sizeof(git->commit), "%s", commit);
		if (branch && strcmp(branch, "HEAD") != 0)
			snprintf(git->branch, sizeof(git->branch), "%s", branch);
		if (ok && branch && !*at)
			look_at_diff(git, asker, top, index);
	}
	wti_buf_release(&answer);
}

void wti_git_look(struct wti_git *git, char *const *environment)
{
	uint64_t until_ns = wti_clock_ns(CLOCK_MONOTONIC) + PATIENCE_NS;
	struct wti_git_asker asker;

	memset(git, 0, sizeof(*git));
	if (!repository_around() || !wti_git_asker_init(&asker, environment, until_ns))
		return;
	look(git, &asker);
	wti_git_asker_release(&asker);
}
