/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The zip files that models are kept in (.npz, .pt), read strictly. One that opens has local
 * headers that say the same as the directory, names that are unique, entries that do not overlap
 * and nothing hidden between, before or behind them: there is one way to read it.
 */
#ifndef WTI_MODEL_ZIP_H
#define WTI_MODEL_ZIP_H

#include "base/buf.h"
#include "model/model.h"

enum {
	WTI_ZIP_STORED = 0,
	WTI_ZIP_DEFLATED = 8,
};

struct wti_zip_entry {
	const char *name; /* UTF-8, without a NUL; lives as long as the model */
	uint16_t method;  /* WTI_ZIP_STORED or WTI_ZIP_DEFLATED */
	uint16_t flags;
	uint32_t crc;
	uint64_t header; /* of its local header in the source */
	uint64_t offset; /* of its data in the source */
	uint64_t packed; /* bytes of them there, */
	uint64_t bytes;  /* and unpacked: the same of WTI_ZIP_STORED */
};

struct wti_zip {
	struct wti_model *model;
	uint32_t source;
	struct wti_zip_entry *entries; /* in the order of the directory */
	size_t count;
	size_t capacity;
	struct wti_map names;
};

int wti_zip_open(struct wti_model *model, uint32_t source, struct wti_zip **ret,
		 struct wt_err *err);
void wti_zip_free(struct wti_zip *zip);
const struct wti_zip_entry *wti_zip_find(const struct wti_zip *zip, const char *name); /* or NULL */

/* Appends the content, unpacked and with its checksum compared; the ceiling is that of `out`. */
int wti_zip_read(struct wti_zip *zip, const struct wti_zip_entry *entry, struct wti_buf *out,
		 struct wt_err *err);
/* Compares the checksum, a block at a time. For stored entries. */
int wti_zip_check(struct wti_zip *zip, const struct wti_zip_entry *entry, struct wt_err *err);

#endif
