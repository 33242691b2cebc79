/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs by name. A run is a folder with a run.json; a single stream (FILE.wt) serves where only
 * events are wanted. They live below the home that the front
 * end names.
 */
#ifndef WTI_RUNS_RUN_H
#define WTI_RUNS_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <wheeltap/err.h>

#include "front.h"

#define WTI_RUNS_MAX 100000u

struct wti_run {
	char *path;  /* folder or file */
	char *name;  /* the last part of the path */
	char *label; /* what the run is called, which several may be; NULL: not known */
	bool is_folder;
	bool has_json;         /* there is a run.json of ours */
	char json_damage[256]; /* why it cannot be read; empty: it can, or there is none */
	/* running, abandoned, finished, failed, killed, interrupted, or unknown */
	char status[16];
	/*
	 * The host that records it, or did: its lock says nothing here, so it counts as running.
	 * Empty: it is this one, or the run is over.
	 */
	char elsewhere[65];
	int64_t start_ns;    /* since 1970; 0: not known, as of simulated runs */
	int64_t written_ns;  /* run.json, since 1970 */
	int64_t duration_ns; /* -1: not known */
	int64_t events;      /* as counted by the recorder; -1: not known */
	int64_t lost;
	char *command;    /* words as a shell would take them; "" when not known */
	char *directory;  /* in which it was started; NULL: not known */
	bool is_set;      /* a folder of runs, of which this is said; see set.h */
	size_t run_count; /* that have ended, of a set */
	bool some_calls;  /* only some system calls were recorded: --syscalls=EXPR */
};

/*
 * `word`: a folder, a file, a folder below the home, the name of a run there, of which the newest
 * is taken, or "latest" (also NULL). A set of runs is refused, with what to do instead.
 */
int wti_run_find(const struct wti_front *front, const char *word, struct wti_run *ret_run,
		 struct wt_err *err);
/* The same, and a set is as good as a run. */
int wti_run_or_set_find(const struct wti_front *front, const char *word, struct wti_run *ret_run,
			struct wt_err *err);
/* That a run is recorded into a folder of its own, for "latest". */
void wti_run_remember(const char *home, const char *folder);
/* The same as wti_run_find() of a path alone. */
int wti_run_find_path(const char *path, struct wti_run *ret_run, struct wt_err *err);
void wti_run_release(struct wti_run *run);

/* All runs and sets below the home, newest first. No home is no error: there are no runs then. */
int wti_runs_list(const struct wti_front *front, struct wti_run **ret_runs, size_t *ret_count,
		  struct wt_err *err);
void wti_runs_free(struct wti_run *runs, size_t count);

/*
 * What `size` and `on disk` mean, wherever they are printed: the bytes of all streams, as in
 * run.json, and of all files of the run. Symlinks are not followed.
 */
struct wti_run_size {
	uint64_t stream_bytes;
	uint64_t disk_bytes;
};

struct wti_run_size wti_run_size(const char *path);
/* "2026-03-01 12:30:00" in the zone of whoever looks; "-" for 0. */
const char *wti_format_moment(char out[32], int64_t ns);

#endif
