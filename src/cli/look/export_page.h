/* SPDX-License-Identifier: Apache-2.0 */
/* `export --to html` of a run with device operations, or without system calls: a page about the run
 * itself. */
#ifndef WTI_CLI_LOOK_EXPORT_PAGE_H
#define WTI_CLI_LOOK_EXPORT_PAGE_H

#include "runs/open.h"
#include "select.h"

/* Whether the run has an event of this kind. */
bool wti_has_kind(const struct wt_trace *trace, uint32_t kind);
/* Writes the page to `path`, "-" being standard output; its size. */
int wti_export_page(const struct wti_opened_run *opened, const struct wti_time_window *window,
		    const char *path, bool force, uint64_t *ret_bytes, struct wt_err *err);

#endif
