/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the formats of PyTorch share: a tree of values out of a pickle becomes tensors and entries
 * of a model, under their paths of keys ("model.fc1.weight", "optimizer.state.0.exp_avg"). The
 * names are those that the Python agent gives what is saved (python/wheeltap/_saved.py), so that a
 * file can be compared with a recording.
 */
#ifndef WTI_MODEL_TORCH_H
#define WTI_MODEL_TORCH_H

#include "model/format.h"
#include "model/torch/pickle.h"

/* Where the elements of a storage lie. */
struct wti_torch_storage {
	uint32_t source;
	uint64_t offset;
	uint64_t bytes;
};

/* What a persistent id says of a storage. */
struct wti_torch_id {
	const char *key;
	const char *type; /* "torch.FloatStorage" */
	uint32_t dtype;
	uint64_t count; /* elements */
	uint64_t begin; /* of a view into the storage: its first element */
};

struct wti_torch {
	struct wti_model *model;
	bool is_big_endian;
	/* Finds a storage; NULL: the file can have none. */
	int (*find)(void *cookie, const struct wti_torch_id *id, struct wti_torch_storage *ret,
		    struct wt_err *err);
	void *cookie;
};

int wti_torch_read_id(const struct wti_torch *torch, const struct wti_pickle_value *persistent,
		      struct wti_torch_id *ret, struct wt_err *err);
/* All that the values have, below `path` ("" for the top). */
int wti_torch_add(const struct wti_torch *torch, const char *path,
		  const struct wti_pickle_value *root, struct wt_err *err);
/* One tensor, not added yet: false where the value is none. */
struct wti_torch_tensor {
	struct wti_model_tensor tensor; /* without name */
	uint64_t shape[WTI_MODEL_RANK_MAX];
	int64_t strides[WTI_MODEL_RANK_MAX];
};
bool wti_torch_is_tensor(const struct wti_pickle_value *value);
int wti_torch_tensor(const struct wti_torch *torch, const char *name,
		     const struct wti_pickle_value *value, struct wti_torch_tensor *ret,
		     struct wt_err *err);

/* A zip archive that torch.save() made, which is all of a source, below `path`. */
int wti_torch_read_zip(struct wti_model *model, uint32_t source, const char *path,
		       struct wt_err *err);
/* The only value of such an archive: a tensor. `type` and the like live as long as the model. */
int wti_torch_read_zip_tensor(struct wti_model *model, uint32_t source, const char *name,
			      struct wti_torch_tensor *ret, struct wt_err *err);

extern const struct wti_model_format wti_model_torch_zip;
extern const struct wti_model_format wti_model_torch_legacy;
extern const struct wti_model_format wti_model_pickle;
extern const struct wti_model_format wti_model_dcp;

#endif
