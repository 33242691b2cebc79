/* SPDX-License-Identifier: Apache-2.0 */
/* What writes files: conversions and manifests. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/file.h"
#include "base/text.h"
#include "model/format.h"
#include "model/like.h"
#include "model/manifest.h"
#include "model/write.h"
#include "runs/model/actions.h"
#include "runs/model/facts.h"

#define WORDS_MAX 512u
#define MANIFEST_BYTES_MAX ((size_t)64 << 20)

/* ---- Formats -------------------------------------------------------------------------------- */

/* Whether `path` ends with one of the endings, as "pt pth" lists them. The length of it, or 0. */
static size_t ends_like(const char *path, const char *suffixes)
{
	size_t best = 0;

	while (*suffixes) {
		size_t length = strcspn(suffixes, " ");
		size_t all = strlen(path);

		if (length && all > length && path[all - length - 1] == '.' &&
		    !strncmp(path + all - length, suffixes, length) && length > best)
			best = length;
		suffixes += length;
		suffixes += *suffixes == ' ';
	}
	return best;
}

/* The longest ending decides: .bin.gz is not .gz. */
static const struct wti_model_format *format_of_name(const char *path)
{
	const struct wti_model_format *found = NULL;
	size_t best = 0;

	for (size_t i = 0; wti_model_formats[i]; i++) {
		size_t length = wti_model_formats[i]->write
					? ends_like(path, wti_model_formats[i]->suffixes)
					: 0;

		if (length > best) {
			best = length;
			found = wti_model_formats[i];
		}
	}
	return found;
}

static int no_format(const char *what, const char *name, struct wt_err *err)
{
	char words[WORDS_MAX] = "";
	size_t at = 0;

	for (size_t i = 0; wti_model_formats[i]; i++) {
		if (wti_model_formats[i]->write && at < sizeof(words))
			at += (size_t)snprintf(words + at, sizeof(words) - at, "%s%s",
					       at ? ", " : "", wti_model_formats[i]->name);
	}
	return wti_err(err, WT_E_ARG, "%s '%.200s': --to takes one of %s", what, name, words);
}

static int choose(const char *to, const char *output, const struct wti_model_format **ret,
		  struct wt_err *err)
{
	*ret = to ? wti_model_format_by_name(to) : format_of_name(output);
	if (!*ret)
		return to ? no_format("no format", to, err)
			  : no_format("no format is known by the end of", output, err);
	return (*ret)->write ? 0 : no_format("this format is only read:", to, err);
}

/* With the names and the order of another model. */
static int open_like(const char *input, const char *like_path, struct wti_model **ret,
		     struct wt_err *err)
{
	struct wti_model *like = NULL;
	int r = wti_model_open(input, ret, err);

	if (r || !like_path)
		return r;
	r = wti_model_open(like_path, &like, err);
	if (!r)
		r = wti_model_make_like(*ret, like, err);
	wti_model_free(like);
	if (r)
		wti_model_free(*ret);
	return r;
}

int wti_model_convert(const struct wti_front *front, const char *input, const char *output,
		      const char *to, const char *like, struct wt_result *result,
		      struct wt_err *err)
{
	const struct wti_model_format *format;
	struct wti_model *model;
	int r = choose(to, output, &format, err);

	r = r ? r : open_like(input, like, &model, err);
	if (r)
		return r;
	r = wti_model_save(model, format, output, err);
	if (!r) {
		wti_model_facts(model, result);
		wt_result_fact_text(result, "output", "written to", output);
		wt_result_fact_text(result, "output_format", "as", format->title);
	}
	wti_model_free(model);
	return r;
}

/* ---- Manifests ------------------------------------------------------------------------------ */

static int write_manifest(const char *path, const struct wti_manifest *manifest, struct wt_err *err)
{
	struct wti_buf out;
	int r;

	wti_buf_init(&out, MANIFEST_BYTES_MAX);
	wti_manifest_write(&out, manifest);
	r = wti_buf_status(&out);
	r = r ? wti_err(err, r, "the manifest would be too large")
	      : wti_file_replace(path, out.data, out.bytes, err);
	wti_buf_release(&out);
	return r;
}

int wti_manifest_of(const struct wti_front *front, struct wti_model *model,
		    struct wti_manifest **ret, struct wt_err *err)
{
	struct wti_model_watch watch = {front->progress, front->cookie};
	struct wti_model_examined *examined = NULL;
	int r;

	wti_front_progress(front, 0);
	r = wti_model_examine_all(model, WTI_MODEL_HASH | WTI_MODEL_SHA, &watch, &examined, err);
	r = r ? r : wti_manifest_make(model, examined, &watch, ret, err);
	wti_front_progress(front, WTI_PROGRESS_OVER);
	free(examined);
	return r;
}

int wti_model_manifest(const struct wti_front *front, const char *path, const char *output,
		       struct wt_result *result, struct wt_err *err)
{
	char beside[4096], hex[2 * WTI_SHA256_BYTES + 1];
	struct wti_manifest *manifest = NULL;
	struct wti_model *model;
	int r = wti_model_open(path, &model, err);

	if (r)
		return r;
	wti_manifest_path(path, beside, sizeof(beside));
	r = wti_manifest_of(front, model, &manifest, err);
	r = r ? r : write_manifest(output ? output : beside, manifest, err);
	if (!r) {
		wti_model_facts(model, result);
		wt_result_fact_text(result, "canonical", "canonical digest",
				    wti_model_hex(hex, manifest->canonical));
		wt_result_fact_text(result, "manifest", "manifest", output ? output : beside);
	}
	wti_manifest_free(manifest);
	wti_model_free(model);
	return r;
}
