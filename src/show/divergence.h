/* SPDX-License-Identifier: Apache-2.0 */
/* The first operation that differs between two runs, as a person reads it. */
#ifndef WTI_SHOW_DIVERGENCE_H
#define WTI_SHOW_DIVERGENCE_H

#include "inspect/divergence/divergence.h"
#include "inspect/divergence/elements.h"
#include "show.h"

/* `elements`: for each value of the first difference, where `has_elements`. */
void wti_show_divergence(struct wti_buf *out, const struct wti_divergence_report *report,
			 const bool *has_elements, const struct wti_elements *elements,
			 const struct wti_style *style);

#endif
