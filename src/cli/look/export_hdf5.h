/* SPDX-License-Identifier: Apache-2.0 */
/* `export --to hdf5`: not the events of a run, but what `digits` measures of a set of them. */
#ifndef WTI_CLI_EXPORT_HDF5_H
#define WTI_CLI_EXPORT_HDF5_H

#include <stdbool.h>
#include <stddef.h>

/* The exit code. `output` NULL: named after the first run or set. */
int wti_export_hdf5(char *const *words, size_t count, const char *output, bool force, bool json);

#endif
