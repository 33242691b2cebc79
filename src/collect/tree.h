/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which processes the run consists of, whether they joined or not. Seen through /proc: every new
 * process number is looked at once, so that the cost follows what is started on the machine and not
 * what runs on it. A process that comes and goes between two looks is not seen.
 */
#ifndef WTI_COLLECT_TREE_H
#define WTI_COLLECT_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"

#include "session.h"

#define WTI_TREE_COMMAND_BYTES 64
#define WTI_TREE_ANCESTORS_MAX 64

struct wti_tree_node {
	uint32_t pid;
	uint32_t ppid;
	uint64_t start_time;
	uint64_t cpu_ticks; /* when it was last looked at */
	uint64_t look_ns;   /* when to look at it again */
	uint64_t pause_ns;
	uint64_t left_ns; /* when it was seen to take part no more; 0: never */
	size_t above;     /* index + 1 of an ancestor that may still join; 0: not looked for */
	bool is_root;     /* the program itself */
	bool joined;
	bool launched; /* one below it has joined */
	bool gone;
	bool emitted;      /* that it was not followed; or nobody needs to know */
	bool has_agent;    /* as far as is known */
	bool agent_seen;   /* in its memory, not only in its file */
	bool takes_part;   /* its agent has the control page: it joins when it emits, or counts */
	bool refused;      /* it has knocked: it may not join */
	bool has_variable; /* the environment variable that agents read */
	bool looked_inside;
	bool copy; /* a fork of a process that joined */
	bool is_python;
	bool has_entrance; /* the folder through which the Python agent comes in */
	char shut[3];      /* the interpreter's option that keeps it out, or empty */
	char command[WTI_TREE_COMMAND_BYTES];
};

struct wti_tree {
	struct wti_map by_pid; /* pid -> index + 1 */
	struct wti_tree_node *nodes;
	size_t count;
	size_t capacity;
	uint32_t last_pid;
	const struct wti_session *session;
	int segment;                                /* of the control page, or -1 */
	uint32_t ancestors[WTI_TREE_ANCESTORS_MAX]; /* of ours: they get whose parent is gone */
	size_t ancestor_count;
	const char *entrance; /* folder in PYTHONPATH, likewise; or NULL */
};

void wti_tree_init(struct wti_tree *tree, const struct wti_session *session, const char *entrance);
void wti_tree_release(struct wti_tree *tree);
/* The program itself. `has_agent`: as far as its file shows. */
void wti_tree_root(struct wti_tree *tree, uint32_t pid, char *const *argv, bool has_agent);
/* A process said hello. */
void wti_tree_joined(struct wti_tree *tree, uint32_t pid);
/* A process said that it may not join. */
void wti_tree_refused(struct wti_tree *tree, uint32_t pid, const char *command);
/*
 * True of one that has no agent, has started what joined, and has done next to nothing itself: a
 * shell, `time`, `nice`, `make`. It is a way to start the program and no part of what was to be
 * recorded.
 */
bool wti_tree_is_launcher(const struct wti_tree_node *node);
/*
 * True of a process that has gone while one above it may still join. A script that ends in exec
 * starts others to find out what to become; when it has become that and joins, they were a part of
 * starting it, and none of them is recorded as not followed. What the program itself has started
 * may join as long as the recording goes on.
 */
bool wti_tree_is_undecided(struct wti_tree *tree, struct wti_tree_node *node);
/* Processes that are alive now, take part, and have not joined, as they have not emitted yet. */
uint32_t wti_tree_guests(struct wti_tree *tree, uint64_t now_ns);
/* Looks for new processes, and again at those that have not joined, ever less often. */
void wti_tree_look(struct wti_tree *tree, uint64_t now_ns);

#endif
