/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The meeting place of agents and recorder: a private folder with a socket, the control page, and a
 * knocker outside. What agents make sure of before they believe in it is in protocol.h.
 */
#ifndef WTI_COLLECT_SESSION_H
#define WTI_COLLECT_SESSION_H

#include <stddef.h>
#include <stdbool.h>
#include <stdint.h>

#include <wheeltap/err.h>

#include "trace/protocol.h"

#define WTI_SESSION_PAGES_MAX 1024u

struct wti_session {
	char folder[64]; /* which others may enter, but not list */
	char inner[100]; /* the private one in it; short enough for a socket's address */
	int listener;    /* -1 when closed */
	int knocker;     /* likewise */
	struct wti_control *control; /* shared with the program, which may scribble over it */
	struct wti_control *pages[WTI_SESSION_PAGES_MAX]; /* of processes that cannot reach it */
	uint32_t page_count;
	uint32_t pages_refused; /* beyond the ceiling */
};

/* What all pages say together, and the file for agents of other protocols. */
struct wti_session_counts {
	uint64_t lost_unjoined;
	uint64_t refused_rings;
	uint32_t python_count;
	uint32_t stayed_out; /* enum wti_stayed_out, bits */
	uint32_t mismatch_count;
	uint32_t mismatch_protocol;
};

struct wti_session_options {
	const char *temporary;
	uint32_t ring_bytes;
	uint32_t on_full;  /* enum wti_on_full */
	uint64_t block_ns; /* a process may wait this long for room in a minute; 0: the default */
	uint64_t rings_bytes_max;
	uint32_t definitions_bytes_max;
	uint32_t strings_keep;
	uint64_t blobs_bytes_max;
	bool syscalls;        /* are recorded */
	const char *settings; /* or NULL */
};

int wti_session_open(struct wti_session *session, const struct wti_session_options *options,
		     struct wt_err *err);
/* The variable's value for agents. */
void wti_session_variable(const struct wti_session *session, char *ret_text, size_t bytes);
void wti_session_count(const struct wti_session *session, struct wti_session_counts *ret);
/* A process counts on a page of its own. The descriptor is borrowed. */
void wti_session_add_page(struct wti_session *session, int fd);
/* The next process that has our variable and may not join; false: no more. */
bool wti_session_knocked(const struct wti_session *session, uint32_t *ret_pid,
			 char ret_command[16]);
/* What an agent that could not be loaded has left to say; empty if none has. */
void wti_session_trouble(const struct wti_session *session, char *ret_text, size_t bytes);
/* Asks agents to stop. What they have sent can still be received. */
void wti_session_over(struct wti_session *session);
/* Nobody can join any more. */
void wti_session_refuse(struct wti_session *session);
void wti_session_close(struct wti_session *session);

#endif
