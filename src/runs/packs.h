/* SPDX-License-Identifier: Apache-2.0 */
/* Packs by the name of their file. */
#ifndef WTI_RUNS_PACKS_H
#define WTI_RUNS_PACKS_H

#include "front.h"
#include "inspect/learn/pack.h"

/* The pack that comes with wheeltap, by whose name it can be opened like any other. */
#define WTI_PACK_BUILTIN "builtin"

int wti_pack_open(const struct wti_front *front, const char *path, struct wti_pack **ret_pack,
		  struct wt_err *err);
/* All of them as one. */
int wti_packs_open(const struct wti_front *front, const char *const *paths, size_t count,
		   struct wti_pack **ret_pack, struct wt_err *err);

#endif
