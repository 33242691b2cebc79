/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From raw records to a stream: one for all threads of the run, a track a thread. Checks the
 * sequence numbers of each, and records each hole as a loss.
 */
#ifndef WTI_SYSCALLS_FEED_H
#define WTI_SYSCALLS_FEED_H

#include "trace/sink.h"

#include "own.h"
#include "places.h"
#include "raw.h"

struct wti_stacks; /* stacks.h */

struct wti_feed_track {
	uint64_t next_seq;
	uint64_t last_ns;
	uint8_t *entry; /* pieces that came ahead of their call; NULL: none */
	uint64_t entry_seq;
	uint32_t entry_bytes;
	uint32_t stack; /* of the call `stack_seq`; 0: none came */
	uint64_t stack_seq;
	uint32_t tid;
	uint32_t pid;
	bool is_defined;
	bool alive;
};

struct wti_syscall_feed {
	struct wti_sink *sink;
	void *stream;
	struct wti_own own;            /* has no folders: there is nothing of ours to find */
	struct wti_places *places;     /* of files that are changed; NULL: not known */
	struct wti_stacks *stacks;     /* of calls; NULL: not wanted */
	bool is_private;               /* words that look secret are masked */
	char program[16];              /* short name of what the first process is about to become */
	struct wti_feed_track *tracks; /* by number */
	size_t track_capacity;
	uint32_t alive_count;
	uint32_t process_count;
	uint32_t watched_pid; /* a process whose end is of interest; 0: none */
	bool watched_ended;
	int watched_status;  /* then, as waitpid() gives it */
	uint64_t call_count; /* own ones among them */
	uint64_t own_count;
	uint64_t foreign_count; /* calls by the table of another architecture: without names */
	uint64_t gaps;          /* records that a hole proves lost */
	uint64_t refused; /* records that are not what they should be, or of too many threads */
};

/* `program`: its path; `boot` as in struct wt_identity; `folder`: that it is started in, or NULL.
 */
void wti_feed_init(struct wti_syscall_feed *feed, struct wti_sink *sink, const char *program,
		   const uint8_t boot[16], const char *folder);
void wti_feed_take(struct wti_syscall_feed *feed, const struct wti_raw *raw, size_t bytes);
/* No more will come; `lost` records found no room, as the capture counted them. */
void wti_feed_end(struct wti_syscall_feed *feed, uint64_t lost);
void wti_feed_release(struct wti_syscall_feed *feed);

#endif
