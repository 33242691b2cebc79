/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the client share. */
#ifndef WTI_CLIENT_CLIENT_H
#define WTI_CLIENT_CLIENT_H

#include "common/agent.h"

/* Elements of a program, and what they belong to. */
struct wti_client_tensor {
	struct wt_name *owner; /* or NULL */
	struct wt_name *name;
	const void *data;
	uint32_t dtype; /* enum wt_dtype */
	uint32_t rank;
	const size_t *extents;
	uint32_t call;    /* of which it is a value; 0: of none */
	int32_t position; /* in that call */
};

/* Computes the digest, and emits it. tensor.c */
bool wti_client_tensor_emit(const struct wti_client_tensor *tensor);

#endif
