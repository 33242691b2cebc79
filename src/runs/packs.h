/* SPDX-License-Identifier: Apache-2.0 */
/* Packs by the name of their file. */
#ifndef WTI_RUNS_PACKS_H
#define WTI_RUNS_PACKS_H

#include "inspect/learn/pack.h"

/* All of them as one. */
int wti_packs_open(const char *const *paths, size_t count, struct wti_pack **ret_pack,
		   struct wt_err *err);
int wti_pack_open(const char *path, struct wti_pack **ret_pack, struct wt_err *err);
/* The pack that comes with wheeltap, by whose name it can be opened like any other. NULL, and a
 * warning, if it is not there. */
#define WTI_PACK_BUILTIN "builtin"
struct wti_pack *wti_pack_builtin(void);
/* Replaces the file; "-" is standard output. */
int wti_pack_save(const char *path, const struct wti_pack *pack, struct wt_err *err);
/* Replaces the file; "-" is standard output. */
int wti_save_text(const char *path, struct wti_buf *text, struct wt_err *err);
/* "2026-03-01" */
const char *wti_today(char out[16]);

#endif
