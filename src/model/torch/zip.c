/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What torch.save() writes since version 1.6: a zip file with NAME/data.pkl, a pickle, and
 * NAME/data/0 and so on, the bytes of storages. TorchScript archives have the same; their code and
 * constants are not read.
 */
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/err.h"
#include "model/torch/torch.h"
#include "model/torch/write.h"
#include "model/zip.h"

#define FOLDER_MAX 1024u /* bytes of NAME */

struct archive {
	struct wti_zip *zip;
	char folder[FOLDER_MAX + 1]; /* with the slash */
};

/* The first entry of the archive lies in a folder; those of an .npz do not. */
static bool is_one(const struct wti_model_probe *probe)
{
	size_t bytes = probe->head_bytes < 30 ? 0 : wti_get16(probe->head + 26);

	if (probe->is_folder || !bytes || wti_get32(probe->head) != 0x04034b50u ||
	    bytes > probe->head_bytes - 30)
		return false;
	return memchr(probe->head + 30, '/', bytes) &&
	       (bytes < 4 || memcmp(probe->head + 30 + bytes - 4, ".npy", 4) != 0);
}

static const struct wti_zip_entry *find(const struct archive *archive, const char *front,
					const char *name)
{
	char path[FOLDER_MAX + 512];
	int bytes = snprintf(path, sizeof(path), "%s%s%s", archive->folder, front, name);

	return bytes > 0 && (size_t)bytes < sizeof(path) ? wti_zip_find(archive->zip, path) : NULL;
}

/* The one pickle; all else lies beside it. */
static const struct wti_zip_entry *find_pickle(struct archive *archive)
{
	for (size_t i = 0; i < archive->zip->count; i++) {
		const char *name = archive->zip->entries[i].name;
		const char *slash = strchr(name, '/');

		if (!slash || strcmp(slash, "/data.pkl") != 0 ||
		    (size_t)(slash - name) >= FOLDER_MAX)
			continue;
		snprintf(archive->folder, sizeof(archive->folder), "%.*s", (int)(slash + 1 - name),
			 name);
		return &archive->zip->entries[i];
	}
	return NULL;
}

static int find_storage(void *cookie, const struct wti_torch_id *id, struct wti_torch_storage *ret,
			struct wt_err *err)
{
	const struct archive *archive = cookie;
	const struct wti_zip_entry *entry = find(archive, "data/", id->key);

	if (!entry)
		return wti_err(err, WT_E_FORMAT,
			       "'%s': the storage '%sdata/%.60s' is missing: copy or download the "
			       "file again",
			       archive->zip->model->path, archive->folder, id->key);
	if (entry->method != WTI_ZIP_STORED)
		return wti_err(err, WT_E_FORMAT,
			       "'%s': the storage '%s' is compressed, which torch.save() never "
			       "does: unpack the archive and pack it with 'zip -0'",
			       archive->zip->model->path, entry->name);
	*ret = (struct wti_torch_storage){archive->zip->source, entry->offset, entry->bytes};
	return 0;
}

static int read_order(struct archive *archive, bool *ret_is_big, struct wt_err *err)
{
	const struct wti_zip_entry *entry = find(archive, "", "byteorder");
	struct wti_buf text;
	int r;

	*ret_is_big = false;
	if (!entry)
		return 0;
	wti_buf_init(&text, 64);
	r = wti_zip_read(archive->zip, entry, &text, err);
	if (!r && text.bytes == 3 && !memcmp(text.data, "big", 3))
		*ret_is_big = true;
	else if (!r && (text.bytes != 6 || memcmp(text.data, "little", 6) != 0))
		r = wti_err(err, WT_E_FORMAT, "'%s': '%s' is neither little nor big",
			    archive->zip->model->path, entry->name);
	wti_buf_release(&text);
	return r;
}

/* Opens archive and pickle, and hands the values to a function. */
typedef int take_fn(const struct wti_torch *torch, const struct wti_pickle_value *root,
		    void *cookie, struct wt_err *err);

static int read_pickle(struct wti_torch *torch, const struct wti_zip_entry *entry, take_fn *take,
		       void *cookie, struct wt_err *err)
{
	struct archive *archive = torch->cookie;
	struct wti_pickle pickle;
	struct wti_buf bytes;
	int r;

	wti_buf_init(&bytes, WTI_PICKLE_BYTES_MAX);
	r = read_order(archive, &torch->is_big_endian, err);
	r = r ? r : wti_zip_read(archive->zip, entry, &bytes, err);
	r = r ? r
	      : wti_pickle_open(&pickle, wti_model_source_path(torch->model, archive->zip->source),
				entry->offset, bytes.data, bytes.bytes, err);
	if (!r) {
		r = take(torch, pickle.root, cookie, err);
		wti_pickle_release(&pickle);
	}
	wti_buf_release(&bytes);
	return r;
}

static int read_archive(struct wti_model *model, uint32_t source, take_fn *take, void *cookie,
			struct wt_err *err)
{
	struct archive archive = {0};
	struct wti_torch torch = {.model = model, .find = find_storage, .cookie = &archive};
	const struct wti_zip_entry *entry;
	int r = wti_zip_open(model, source, &archive.zip, err);

	if (r)
		return r;
	entry = find_pickle(&archive);
	if (entry)
		r = read_pickle(&torch, entry, take, cookie, err);
	else
		r = wti_err(err, WT_E_FORMAT,
			    "'%s' is a zip file without data.pkl: it is not a PyTorch checkpoint",
			    wti_model_source_path(model, source));
	wti_zip_free(archive.zip);
	return r;
}

static int take_all(const struct wti_torch *torch, const struct wti_pickle_value *root,
		    void *cookie, struct wt_err *err)
{
	return wti_torch_add(torch, cookie, root, err);
}

int wti_torch_read_zip(struct wti_model *model, uint32_t source, const char *path,
		       struct wt_err *err)
{
	return read_archive(model, source, take_all, (void *)path, err);
}

static int read_model(struct wti_model *model, struct wt_err *err)
{
	return wti_torch_read_zip(model, 0, "", err);
}

/* ---- A single tensor ------------------------------------------------------------------------ */

struct single {
	const char *name;
	struct wti_torch_tensor *tensor;
};

static int take_tensor(const struct wti_torch *torch, const struct wti_pickle_value *root,
		       void *cookie, struct wt_err *err)
{
	const struct single *single = cookie;
	struct wti_torch_tensor *made = single->tensor;
	int r = wti_torch_tensor(torch, single->name, root, made, err);

	if (r)
		return r;
	made->tensor.type =
		wti_arena_text(&torch->model->arena, made->tensor.type, strlen(made->tensor.type));
	return made->tensor.type ? 0 : wti_err(err, WT_E_NOMEM, "out of memory");
}

int wti_torch_read_zip_tensor(struct wti_model *model, uint32_t source, const char *name,
			      struct wti_torch_tensor *ret, struct wt_err *err)
{
	struct single single = {name, ret};

	return read_archive(model, source, take_tensor, &single, err);
}

const struct wti_model_format wti_model_torch_zip = {
	.name = "pt",
	.title = "PyTorch checkpoint",
	.suffixes = "pt pth ckpt",
	.is_one = is_one,
	.read = read_model,
	.write = wti_torch_write,
};
