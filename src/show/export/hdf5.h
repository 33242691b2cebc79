/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `digits` measures of a set of runs as an HDF5 file, in the layout that Pytracer's aggregates
 * have (docs/export.md): for each function a table of values and arrays of their elements, and the
 * call graph. It looks on while the runs are compared, so memory does not grow with them.
 */
#ifndef WTI_SHOW_EXPORT_HDF5_H
#define WTI_SHOW_EXPORT_HDF5_H

#include <stdbool.h>

#include "inspect/digits/watch.h"
#include <wheeltap/err.h>

struct wti_hdf5;

/* Begins a file under another name; `path` gets it by wti_hdf5_finish(). */
int wti_hdf5_open(const char *path, bool force, struct wti_hdf5 **ret_file, struct wt_err *err);
/* For the options of the inspector. What it cannot write it says in wti_hdf5_finish(). */
struct wti_digits_watcher wti_hdf5_watcher(struct wti_hdf5 *file);
/* `err` has what went wrong, also where the inspector failed because of the file. */
int wti_hdf5_finish(struct wti_hdf5 *file, struct wt_err *err);
/* True once the file itself is the reason for a failure. */
bool wti_hdf5_failed(const struct wti_hdf5 *file);
uint64_t wti_hdf5_values(const struct wti_hdf5 *file);
/* Values beyond the ceilings, or of which only the row is there. */
uint64_t wti_hdf5_left_out(const struct wti_hdf5 *file);
/* Without wti_hdf5_finish() nothing is left of it. */
void wti_hdf5_free(struct wti_hdf5 *file);

#endif
