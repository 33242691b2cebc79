/* SPDX-License-Identifier: Apache-2.0 */
/* Where agents and recorder meet: the folder, its files, the control page, the socket. */
#ifndef WTI_AGENTS_MEETING_H
#define WTI_AGENTS_MEETING_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct wti_control;

enum { WTI_PAGE_BYTES = 4096 };

struct wti_meeting {
	char directory[1024];
	char key[24];
	int segment;            /* with the control page; -1: there is none */
	bool is_other_protocol; /* then there is only the directory */
};

#pragma GCC visibility push(hidden)

/* What the variable names; false: nothing. */
bool wti_meeting_find(struct wti_meeting *meeting, const char *variable);
/* The folder, if it is to be believed; -1 and errno (EPERM: it is not). */
int wti_meeting_open(const struct wti_meeting *meeting);
/* What is in one of its files; -1 and errno. */
ssize_t wti_meeting_read(const struct wti_meeting *meeting, const char *name, char *out,
			 size_t bytes);
/* Says that we speak another protocol. */
void wti_meeting_mismatch(const struct wti_meeting *meeting);
/*
 * The control page, with -1; or where that cannot be reached one of our own, with its descriptor.
 * NULL and errno: nobody records us, or nobody whom we believe.
 */
struct wti_control *wti_meeting_page(const struct wti_meeting *meeting, int *ret_fd);
void wti_page_release(struct wti_control *control, int fd);
/* Connects to the recorder; -1 and errno. Never waits. */
int wti_meeting_connect(const struct wti_meeting *meeting);
/* True if the other end of a socket was made by our own user. */
bool wti_peer_is_ours(int fd);
/* Says that we have the variable and may not join, to a recorder of the superuser's or our own. */
void wti_meeting_knock(const struct wti_meeting *meeting);

#pragma GCC visibility pop

#endif
