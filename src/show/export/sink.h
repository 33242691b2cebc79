/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where an export goes: a buffer in front of a file that appears, whole, under its name when it is
 * committed, or in front of standard output. Formats escape in their own way what comes from a
 * trace; what one of them forgets is escaped here, as files are shown in terminals, too.
 */
#ifndef WTI_SHOW_EXPORT_SINK_H
#define WTI_SHOW_EXPORT_SINK_H

#include <stdbool.h>
#include <stdint.h>

#include <wheeltap/err.h>

#include "base/buf.h"

#define WTI_SINK_BUFFER (1u << 20)
/* One event with texts of the largest size, escaped, fits. */
#define WTI_SINK_CEILING (1u << 28)

struct wti_export_sink {
	struct wti_buf buf; /* what is written next; append to it */
	int fd;
	char *path;      /* NULL: standard output */
	char *temporary; /* NULL once committed */
	uint64_t bytes;  /* already written */
	size_t spill_bytes;
	bool is_binary; /* otherwise what a terminal would obey is escaped */
};

/* A name for a temporary file beside `path`; to be freed. NULL: out of memory. */
char *wti_temporary_name(const char *path);
/* WT_E_EXISTS if there is something and it may not be replaced. */
int wti_check_absent(const char *path, bool force, struct wt_err *err);
/* Gives a finished file its name. */
int wti_put_in_place(const char *temporary, const char *path, bool force, struct wt_err *err);

int wti_sink_open(struct wti_export_sink *sink, const char *path, bool force, struct wt_err *err);
/* Writes everything that is in the buffer. */
int wti_sink_flush(struct wti_export_sink *sink, struct wt_err *err);
int wti_sink_commit(struct wti_export_sink *sink, bool force, struct wt_err *err);
/* Whatever is not committed is gone. Zeroed memory is fine, too. */
void wti_sink_release(struct wti_export_sink *sink);

/* To be called after each event: writes the buffer when it is full enough. */
static inline int wti_sink_spill(struct wti_export_sink *sink, struct wt_err *err)
{
	if (sink->buf.bytes < sink->spill_bytes && !sink->buf.status)
		return 0;
	return wti_sink_flush(sink, err);
}

#endif
