/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of `info` that have a row for each thread and file, which may be many. */
#ifndef WTI_INSPECT_INFO_TABLES_H
#define WTI_INSPECT_INFO_TABLES_H

#include "info_groups.h"

/* `counts`: events by stream and track. */
void wti_info_tracks(struct wt_result *result, const struct wti_roles *roles,
		     const struct wti_groups *groups, const struct wti_map *counts);
void wti_info_streams(struct wt_result *result, const struct wti_roles *roles,
		      const struct wti_groups *groups);

#endif
