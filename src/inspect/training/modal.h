/* SPDX-License-Identifier: Apache-2.0 */
/* Modules whose result depends on the mode. */
#ifndef WTI_INSPECT_MODAL_H
#define WTI_INSPECT_MODAL_H

#include "training.h"

/* Of the call of a module: dropout, batch normalisation and the like. */
bool wti_depends_on_mode(const struct wti_moment *moment);
/* Whether a part of the same structure is trained: this one may be its average, which moves with
 * it. */
bool wti_has_trained_twin(const struct wti_moment *moment, uint32_t module);

#endif
