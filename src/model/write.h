/* SPDX-License-Identifier: Apache-2.0 */
/* What writers of formats share. */
#ifndef WTI_MODEL_WRITE_H
#define WTI_MODEL_WRITE_H

#include "model/model.h"

int wti_model_put(int fd, const void *data, size_t bytes, struct wt_err *err);
/* All elements, packed and little-endian. */
int wti_model_put_tensor(struct wti_model *model, const struct wti_model_tensor *tensor, int fd,
			 struct wt_err *err);

/*
 * Writes the model as that format to `path`, through a temporary file beside it: what was there
 * stays until all is written and on the disk. The format has to be one that is written.
 */
int wti_model_save(struct wti_model *model, const struct wti_model_format *format, const char *path,
		   struct wt_err *err);

#endif
