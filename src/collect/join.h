/* SPDX-License-Identifier: Apache-2.0 */
/* From connections and messages to followed processes. */
#ifndef WTI_COLLECT_JOIN_H
#define WTI_COLLECT_JOIN_H

#include <stddef.h>
#include <stdint.h>

#include "process.h"
#include "session.h"

struct wti_link {                    /* a connection */
	int fd;                      /* -1: closed, about to be forgotten */
	struct wti_process *process; /* NULL until it has said hello, and after its end */
};

/* What has to be known about a new or ended process elsewhere. */
struct wti_join_events {
	void *self;
	void (*joined)(void *self, struct wti_process *process);
	/* Memory that was handed over but is not what it should be. */
	void (*refused)(void *self, struct wti_process *process, const char *what);
	/* Bytes to be kept; the descriptor is borrowed. NULL: nobody does. */
	void (*blob)(void *self, const struct wti_process *process, int fd);
};

struct wti_join {
	struct wti_session *session;
	int epoll; /* connections and pidfds are put in here */
	const struct wti_join_events *events;
	uint8_t boot[16];
	uint32_t definitions_bytes_max;
	struct wti_link **links;
	size_t link_count;
	size_t link_capacity;
	struct wti_process **processes; /* all that ever joined, in that order */
	size_t process_count;
	size_t process_capacity;
	uint32_t refused; /* connections beyond the ceiling */
};

void wti_join_init(struct wti_join *join, struct wti_session *session, int epoll,
		   const struct wti_join_events *events);
void wti_join_release(struct wti_join *join);
/* Takes in all connections that are waiting. */
void wti_join_accept(struct wti_join *join);
/* Takes in all messages that are waiting, of one process or of everybody. */
void wti_join_receive(struct wti_join *join, struct wti_process *process);
void wti_join_receive_all(struct wti_join *join);
/* Lets go of what a process that has ended still holds. */
void wti_join_forget(struct wti_process *process);

#endif
