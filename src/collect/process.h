/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A followed process: its connection, its definitions and its rings, as the recorder sees them.
 *
 * All of this memory belongs to the program too, which may be broken or hostile: every number is
 * read once, checked, and used from a private copy. A ring or a chunk that says something
 * impossible is marked damaged and left alone.
 */
#ifndef WTI_COLLECT_PROCESS_H
#define WTI_COLLECT_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/protocol.h"
#include "trace/ring.h"

#include "trace/sink.h"

#define WTI_RINGS_MAX 16384u /* of a process */
#define WTI_CHUNKS_MAX 4096u

struct wti_ring_view {
	struct wti_ring *ring;
	size_t map_bytes;
	uint32_t data_bytes;
	uint32_t track;
	uint64_t flags; /* copied once */
	uint64_t head;  /* as last looked at */
	uint64_t tail;
	uint64_t next_seq;
	uint64_t last_ticks;
	uint64_t gaps;      /* events missing in the sequence so far */
	uint64_t reentrant; /* recorded so far */
	bool closed;        /* its thread has ended; drained up to `head` it is done */
	bool damaged;
};

struct wti_chunk_view {
	const uint8_t *map;
	size_t bytes;
	size_t at; /* how far it was read */
	bool done; /* the next chunk goes on */
	bool damaged;
};

struct wti_link;

struct wti_process {
	struct wti_recorded_source source;
	struct wti_link *link; /* the connection, NULL when closed */
	int pidfd;             /* -1: the process is gone, or the kernel has none */
	bool pid_is_known;     /* and not only what it calls itself */
	bool exited;
	bool replaced;                /* by exec: a later one of the same process has joined */
	bool beside;                  /* a second agent of a program that has joined already */
	uint32_t image;               /* of the program, from the message; 0: not known */
	bool own_page;                /* its ceilings are not counted on ours */
	bool ended;                   /* nothing more will come; its stream is closed */
	void *streams[WTI_SINKS_MAX]; /* of the sinks; made with the first ring */
	bool begun;
	struct wti_ring_view *rings;
	size_t ring_count;
	size_t ring_capacity;
	struct wti_chunk_view *chunks; /* by index; map NULL: not here yet */
	size_t chunk_count;
	size_t chunk_capacity;
	uint64_t overflow; /* definitions that found no room, recorded so far */
	uint32_t definition_id_max;
};

/* Descriptors are only borrowed. Errors say that the memory is not what it should be. */
int wti_process_add_chunk(struct wti_process *process, uint32_t index, int fd);
int wti_process_add_ring(struct wti_process *process, const struct wti_message *message, int fd);
/* Unmaps a ring and forgets it; the last one takes its place. */
void wti_process_remove_ring(struct wti_process *process, size_t index);
void wti_process_release(struct wti_process *process);

#endif
