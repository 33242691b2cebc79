/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Standard output and error that the program has from the caller unchanged. A program may look at
 * what it writes to: grep and cat do not read their own output, dd seeks in it, tar writes nothing
 * to /dev/null, and a full device must fail. So only a pipe or a stream socket is replaced by a
 * pipe, and a terminal by a terminal; everything else is handed through. Of a regular file the end
 * of what the program wrote is copied to console.log when it has ended.
 */
#ifndef WTI_COLLECT_REDIRECT_H
#define WTI_COLLECT_REDIRECT_H

#include <stdbool.h>
#include <stdint.h>

struct wti_redirect {
	char *to;         /* what it is, as /proc names it, masked; NULL: it was replaced */
	int fd;           /* the same open file, for its offset; -1: not a regular file */
	uint64_t begin;   /* where the program's first byte goes */
	bool is_readable; /* as was seen at the end */
	uint64_t kept_bytes;
};

/* True if a pipe can stand for it without a difference to whoever writes. */
bool wti_redirect_is_pipe(int fd);
/* Notes what standard output (0) and error (1) are, before the program starts. */
void wti_redirects_note(struct wti_redirect redirects[2]);
/* Copies the ends of files to console.log, in the order in which they were written. */
void wti_redirects_keep(struct wti_redirect redirects[2], int console);
void wti_redirects_release(struct wti_redirect redirects[2]);

#endif
