/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of stacks, for the verbs that name places: which stacks lead to the same one. */
#ifndef WTI_RUNS_FINDER_H
#define WTI_RUNS_FINDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <wheeltap/result.h>
#include <wheeltap/trace.h>

#include "symbols/native.h"

struct wti_finder;

struct wti_finder *wti_finder_new(void); /* NULL: out of memory */
void wti_finder_free(struct wti_finder *finder);
struct wti_native *wti_finder_native(const struct wti_finder *finder);
/* The first stack of the reader with the same line; 0: it has none. `finder`: struct wti_finder. */
uint32_t wti_finder_place(void *finder, const struct wt_reader *reader, uint32_t stack);
bool wti_finder_locate(struct wti_finder *finder, const struct wt_reader *reader, uint32_t stack,
		       char *ret_file, size_t file_bytes, uint32_t *ret_line);
/* Says which files have changed since the run, so that nothing is named in them. */
void wti_finder_note(const struct wti_finder *finder, struct wt_result *result);

#endif
