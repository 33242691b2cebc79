/* SPDX-License-Identifier: Apache-2.0 */
/* Packs, and other texts, between files and the command line. */
#ifndef WTI_CLI_PACKS_H
#define WTI_CLI_PACKS_H

#include "runs/packs.h"

/* The pack that comes with wheeltap; NULL, and a warning, if it is not there. */
struct wti_pack *wti_pack_builtin(void);
/* Replaces the file; "-" is standard output. */
int wti_pack_save(const char *path, const struct wti_pack *pack, struct wt_err *err);
/* Replaces the file; "-" is standard output. */
int wti_save_text(const char *path, struct wti_buf *text, struct wt_err *err);

#endif
