/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing zip files whose entries are stored as they are, each at a multiple of 64 bytes as
 * torch.save() does it, so that they can be mapped. To a file that can be written anywhere:
 * checksums are put down when the content is known.
 */
#ifndef WTI_MODEL_ZIP_WRITE_H
#define WTI_MODEL_ZIP_WRITE_H

#include "base/buf.h"
#include "model/model.h"

struct wti_zip_writer {
	int fd;
	uint64_t at;              /* end of what was written */
	struct wti_buf directory; /* its entries */
	uint64_t count;
};

void wti_zip_writer_init(struct wti_zip_writer *writer, int fd);
void wti_zip_writer_release(struct wti_zip_writer *writer);
int wti_zip_put(struct wti_zip_writer *writer, const char *name, const void *data, size_t bytes,
		struct wt_err *err);
/* `head`, which may be NULL, and behind it all elements, packed and little-endian. */
int wti_zip_put_tensor(struct wti_zip_writer *writer, const char *name, const struct wti_buf *head,
		       struct wti_model *model, const struct wti_model_tensor *tensor,
		       struct wt_err *err);
/* The directory and the end. */
int wti_zip_finish(struct wti_zip_writer *writer, struct wt_err *err);

#endif
