/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of a training run: processes, objects, parameters. For the files of this folder. */
#ifndef WTI_INSPECT_MEMBERS_H
#define WTI_INSPECT_MEMBERS_H

#include "training.h"

/* Made when first asked for; NULL: no room. */
struct wti_trained_process *wti_training_process(struct wti_training *training, size_t stream);
struct wti_object *wti_object_of(struct wti_training *training, size_t stream, uint32_t name);
struct wti_parameter *wti_parameter_of(struct wti_training *training, size_t stream, uint32_t owner,
				       uint32_t name);
/* NULL: there is none. */
struct wti_parameter *wti_parameter_find(const struct wti_training *training, size_t stream,
					 uint32_t owner, uint32_t name);
bool wti_object_add_member(struct wti_object *object, uint32_t parameter);

/* Take an event of kind object, member. NULL: no room. */
struct wti_object *wti_take_object(struct wti_training *training, const struct wt_event *event);
struct wti_parameter *wti_take_member(struct wti_training *training, const struct wt_event *event);

#endif
