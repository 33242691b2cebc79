/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the pictures of a page are drawn from (show/page): tables without titles, `points`,
 * `elements`, `edges` and `spans`, each with a ceiling whatever the runs are like.
 */
#ifndef WTI_DIGITS_PICTURES_H
#define WTI_DIGITS_PICTURES_H

#include <wheeltap/result.h>

#include "watch.h"

#define WTI_PICTURE_POINTS_MAX 20000u
#define WTI_PICTURE_TENSORS_MAX 16u
#define WTI_PICTURE_ELEMENTS_MAX 1024u
#define WTI_PICTURE_EDGES_MAX 200u
#define WTI_PICTURE_SPANS_MAX 8000u

struct wti_pictures;

/* NULL: out of memory. */
struct wti_pictures *wti_pictures_new(void);
void wti_pictures_free(struct wti_pictures *pictures);
/* To be asked for by the options of the inspector. */
struct wti_digits_watcher wti_pictures_watcher(struct wti_pictures *pictures);
/* `base`: of the digits. */
void wti_pictures_report(struct wti_pictures *pictures, double base, struct wt_result *result);

#endif
