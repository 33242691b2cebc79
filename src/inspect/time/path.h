/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The critical path of a run: from its end back to its beginning, always through the thread that
 * the others waited for. What lies on it made the run as long as it is; what does not, ran beside.
 *
 * The path covers the whole time, without gap or overlap: every piece is work of one thread (its
 * own computing, and calls that do not wait for others, files and disks included), the moment
 * between a release and the going on of who was released, or a wait for something outside of the
 * run. Its length is that of all but the last.
 */
#ifndef WTI_PATH_PATH_H
#define WTI_PATH_PATH_H

#include "path_ties.h"

enum wti_piece_of_path {
	WTI_PATH_WORK,
	WTI_PATH_HANDOVER,
	WTI_PATH_OUTSIDE,
	WTI_PATH_PIECES,
};

/* All pieces of one kind of one thread; of waits, in one call. */
struct wti_path_row {
	uint32_t task; /* place in the ties */
	enum wti_piece_of_path piece;
	uint32_t arch, nr; /* WTI_PATH_OUTSIDE */
	uint64_t time_ns;
	uint64_t count;
};

struct wti_path {
	struct wti_path_row *rows; /* the longest first */
	size_t row_count, row_capacity;
	struct wti_map row_of; /* task, piece and call: place plus one */
	uint64_t times_ns[WTI_PATH_PIECES];
	uint64_t switch_count; /* from one thread to another */
};

/* Sorts the ties. To be released also after a failure. */
int wti_path_walk(struct wti_ties *ties, struct wti_path *ret_path, struct wt_err *err);
void wti_path_release(struct wti_path *path);

/* Options of the inspector `path`. */
struct wti_path_view {
	uint64_t limit; /* rows; 0: all */
};

#endif
