/* SPDX-License-Identifier: Apache-2.0 */
/* The relations, one a file. */
#ifndef WTI_RELATIONS_H
#define WTI_RELATIONS_H

struct wti_relation;

extern const struct wti_relation wti_relation_argument;
extern const struct wti_relation wti_relation_changes;
extern const struct wti_relation wti_relation_consistent;
extern const struct wti_relation wti_relation_contain;
extern const struct wti_relation wti_relation_count;
extern const struct wti_relation wti_relation_data;
extern const struct wti_relation wti_relation_distinct;
extern const struct wti_relation wti_relation_every_step;
extern const struct wti_relation wti_relation_loss;
extern const struct wti_relation wti_relation_mode;
extern const struct wti_relation wti_relation_order;
extern const struct wti_relation wti_relation_output;
extern const struct wti_relation wti_relation_parts;
extern const struct wti_relation wti_relation_ranks;
extern const struct wti_relation wti_relation_saved;
extern const struct wti_relation wti_relation_schedule;

#endif
