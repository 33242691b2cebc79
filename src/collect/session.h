/* SPDX-License-Identifier: Apache-2.0 */
/* The meeting place of agents and recorder: a private folder with a socket and the control page. */
#ifndef WTI_COLLECT_SESSION_H
#define WTI_COLLECT_SESSION_H

#include <stddef.h>
#include <stdbool.h>
#include <stdint.h>

#include <wheeltap/err.h>

#include "trace/protocol.h"

struct wti_session {
	char folder[88];             /* short enough for a socket's address */
	int listener;                /* -1 when closed */
	struct wti_control *control; /* shared with the program, which may scribble over it */
};

struct wti_session_options {
	const char *temporary;
	uint32_t ring_bytes;
	uint32_t on_full; /* enum wti_on_full */
	uint64_t rings_bytes_max;
	uint32_t definitions_bytes_max;
	uint32_t strings_keep;
	uint64_t blobs_bytes_max;
	bool syscalls;        /* are recorded */
	const char *settings; /* or NULL */
};

int wti_session_open(struct wti_session *session, const struct wti_session_options *options,
		     struct wt_err *err);
/* What an agent that could not be loaded has left to say; empty if none has. */
void wti_session_trouble(const struct wti_session *session, char *ret_text, size_t bytes);
/* Tells agents to stop. What they have sent can still be received. */
void wti_session_over(struct wti_session *session);
/* Nobody can join any more. */
void wti_session_refuse(struct wti_session *session);
void wti_session_close(struct wti_session *session);

#endif
