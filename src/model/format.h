/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a format of model files is: a file and a row in formats.c. Reading adds tensors to a model
 * through the functions below, which check what every format has to have right: names are unique,
 * sizes do not overflow, elements lie inside their source. What is peculiar to the format it checks
 * itself, all of it before it returns.
 */
#ifndef WTI_MODEL_FORMAT_H
#define WTI_MODEL_FORMAT_H

#include "base/buf.h"
#include "model/model.h"

/* More would be an attack: the largest published models have some ten thousand tensors. */
#define WTI_MODEL_TENSORS_MAX ((size_t)1 << 20)
#define WTI_MODEL_RANK_MAX 64u
#define WTI_MODEL_NAME_MAX 4096u                   /* bytes of a name */
#define WTI_MODEL_HEADER_MAX ((size_t)100000000)   /* as safetensors has it */
#define WTI_MODEL_UNPACKED_MAX ((uint64_t)1 << 32) /* of what was compressed or written as text */

/* What is known of a path before anybody reads it. */
struct wti_model_probe {
	const char *path;
	bool is_folder;
	uint64_t bytes;
	const uint8_t *head; /* the first bytes */
	size_t head_bytes;
};

struct wti_model_format {
	const char *name;     /* for --to: "safetensors" */
	const char *title;    /* for people: "PyTorch checkpoint (zip)" */
	const char *suffixes; /* "pt pth": what `convert` takes an output's name for */
	bool (*is_one)(const struct wti_model_probe *probe);
	int (*read)(struct wti_model *model, struct wt_err *err);
	/* NULL: is only read. To an open file; the caller replaces the old one when all is written.
	 */
	int (*write)(struct wti_model *model, int fd, struct wt_err *err);
};

extern const struct wti_model_format *const wti_model_formats[]; /* ends with NULL */
/* The rows, one a file. */
extern const struct wti_model_format wti_model_gguf;
extern const struct wti_model_format wti_model_npy;
extern const struct wti_model_format wti_model_npz;
extern const struct wti_model_format wti_model_onnx;
extern const struct wti_model_format wti_model_safetensors;
extern const struct wti_model_format wti_model_safetensors_index;
extern const struct wti_model_format wti_model_burn_bin;
extern const struct wti_model_format wti_model_burn_gz;
extern const struct wti_model_format wti_model_burn_json;
extern const struct wti_model_format wti_model_burn_mpk;
extern const struct wti_model_format wti_model_burnpack;
const struct wti_model_format *wti_model_format_by_name(const char *name);

/* A model without sources and tensors: what read() of a folder begins with, and tests. */
int wti_model_new(const char *path, bool is_folder, struct wti_model **ret, struct wt_err *err);

/*
 * A file beside the first one, such as a shard: its number. `path` is relative to the model's
 * folder and may not leave it. A file that was added before is not opened again.
 */
int wti_model_add_file(struct wti_model *model, const char *path, uint32_t *ret_source,
		       struct wt_err *err);
/* Bytes that were unpacked. Takes over the content of `bytes`. */
int wti_model_add_memory(struct wti_model *model, struct wti_buf *bytes, uint32_t *ret_source,
			 struct wt_err *err);
uint64_t wti_model_source_bytes(const struct wti_model *model, uint32_t source);
/* False: it was unpacked or put together, and no file has its bytes as they are. */
bool wti_model_source_is_file(const struct wti_model *model, uint32_t source);
const char *wti_model_source_path(const struct wti_model *model, uint32_t source);
/* All of these bytes, or an error with the place in the file. */
int wti_model_read(struct wti_model *model, uint32_t source, uint64_t offset, void *data,
		   size_t bytes, struct wt_err *err);
/* Appends them to `out`, whose ceiling is the format's. */
int wti_model_read_buf(struct wti_model *model, uint32_t source, uint64_t offset, uint64_t bytes,
		       struct wti_buf *out, struct wt_err *err);
/* WT_E_FORMAT: "'PATH': byte OFFSET: ...": what is wrong there. */
int wti_model_bad(const struct wti_model *model, uint32_t source, uint64_t offset,
		  struct wt_err *err, const char *format, ...)
	__attribute__((format(printf, 5, 6)));

/*
 * Copies name, type, shape and strides, computes `count` and `bytes` (of WT_DTYPE_OTHER `bytes` is
 * the caller's), and refuses a name that is there already, is empty, is longer than
 * WTI_MODEL_NAME_MAX or is not UTF-8, a product that overflows, elements outside of their source,
 * and elements that lie there fewer times than they are asked for, beyond WTI_MODEL_UNPACKED_MAX
 * bytes of all of them together: a stride of 0 would make exabytes of nothing. Tensors may share
 * elements: a format that forbids it checks that itself. A name ends at its NUL: who reads names
 * with a length looks for a NUL before.
 */
int wti_model_add(struct wti_model *model, const struct wti_model_tensor *tensor,
		  struct wt_err *err);
/* A key may come more than once. Both have to be UTF-8. */
int wti_model_add_entry(struct wti_model *model, const char *key, const char *value,
			struct wt_err *err);

#endif
