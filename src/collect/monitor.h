/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program's parent: a process that does nothing but start it, wait for it and report. It
 * outlives a recorder that is killed, so that the program keeps its parent and its terminal; and as
 * the leader of the program's session it makes stopping by Ctrl-Z possible there.
 */
#ifndef WTI_COLLECT_MONITOR_H
#define WTI_COLLECT_MONITOR_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>

#define WTI_GATE_FILTER 'f'

struct sock_fprog;
struct wti_limits;

enum wti_monitor_news_type {
	WTI_MONITOR_STARTED, /* value: its process number */
	WTI_MONITOR_FAILED,  /* value: errno of exec */
	WTI_MONITOR_STATUS,  /* value: as waitpid() gives it */
};

struct wti_monitor_news {
	uint32_t type;
	int32_t value;
	uint64_t cpu_ns;       /* of the program and the children that it waited for */
	uint64_t memory_bytes; /* greatest resident size */
	/* Of which so much may be what the process was before it became the program. */
	uint64_t memory_floor_bytes;
	uint64_t fault_count;       /* pages that had to be provided */
	uint64_t major_fault_count; /* of which had to be read from a disk */
	uint64_t monotonic_ns;      /* when it happened: the recorder may hear of it much later */
	uint64_t real_ns;
};

struct wti_monitor {
	const char *executable;
	char *const *argv;
	char *const *environment;
	int in; /* standard input of the program; -1: ours */
	int out;
	int err;
	int slave;                       /* the pty; -1: none */
	int terminal;                    /* to be given to the program's group; -1: none */
	int news;                        /* where to report */
	int relay_lives;                 /* ends with the relay */
	const struct sock_fprog *filter; /* installed if that something is a WTI_GATE_FILTER */
	int gate[2];   /* the program begins when the first has something or ends; -1: at once */
	sigset_t mask; /* the program gets these as we got them */
	struct sigaction sigpipe;
	const struct wti_limits *limits;
};

/* Becomes the program; returns errno if that fails. Safe after a fork. */
int wti_program_exec(const char *executable, char *const *argv, char *const *environment);

_Noreturn void wti_monitor_run(const struct wti_monitor *monitor);

#endif
