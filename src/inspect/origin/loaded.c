/* SPDX-License-Identifier: Apache-2.0 */
/* A run that loaded the file: whether it used what it loaded. */
#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "own.h"

bool wti_origin_ends_with(const char *path, const char *name)
{
	size_t path_bytes = strlen(path), bytes = strlen(name);

	return bytes <= path_bytes && !strcmp(path + path_bytes - bytes, name) &&
	       (bytes == path_bytes || path[path_bytes - bytes - 1] == '.');
}

/* The last load of a file of this name; -1: there is none. */
static int64_t find_load(const struct wti_origin *origin)
{
	const char *base = wti_origin_base(origin->options.path);
	int64_t found = -1;

	for (size_t i = 0; i < origin->save_count; i++) {
		const struct wti_origin_save *save = &origin->saves[i];

		if (save->path == WTI_SYMBOL_NONE ||
		    strcmp(wti_origin_base(wti_origin_text(origin, save->path)), base))
			continue;
		if (!save->is_load)
			return -1; /* what it saved itself is judged as such */
		found = (int64_t)i;
	}
	return found;
}

/* ---- Changed since, or on the way ----------------------------------------------------------- */

static size_t judge_contents(struct wti_origin *origin, struct wt_result *result, uint32_t load)
{
	size_t equal = 0, different = 0;
	struct wti_buf first;

	wti_buf_init(&first, 8192);
	for (size_t i = 0; i < origin->options.count; i++) {
		const struct wti_origin_tensor *tensor = &origin->options.tensors[i];
		const struct wti_origin_value *value = wti_origin_find(
			origin, origin->saves[load].group, tensor->name, tensor->hash);

		if (!value || value->digest.flags & WT_TENSOR_NO_HASH)
			continue;
		equal += value->digest.hash == tensor->hash;
		if (value->digest.hash == tensor->hash || different++)
			continue;
		wti_textf(&first, "%s: '%s' is not what was loaded in step %" PRId64,
			  wti_origin_base(tensor->file), tensor->name, origin->saves[load].step);
		if (origin->options.explain)
			origin->options.explain(origin->options.cookie, i, &value->digest, &first);
	}
	if (different)
		wti_origin_finding(origin, result, "WT-LIN-001", WT_ERROR, wti_buf_cstr(&first),
				   origin->saves[load].step, different);
	wti_buf_release(&first);
	return equal;
}

/* ---- Overwritten ---------------------------------------------------------------------------- */

static void judge_overwritten(const struct wti_origin *origin, struct wt_result *result)
{
	const struct wti_origin_sighting *first = NULL;
	struct wti_buf text;
	uint64_t count = 0;

	for (size_t i = 0; i < origin->sighting_count; i++) {
		const struct wti_origin_sighting *seen = &origin->sightings[i];

		if (seen->how != WTI_ORIGIN_LIVE || !seen->is_overwritten || seen->is_average ||
		    !wti_origin_ends_with(origin->options.tensors[seen->tensor].name,
					  wti_origin_text(origin, seen->name)))
			continue;
		first = first ? first : seen;
		count++;
	}
	if (!first)
		return;
	wti_buf_init(&text, 8192);
	wti_textf(&text, "%s: '%s' was loaded into '%s'", wti_origin_base(origin->options.path),
		  origin->options.tensors[first->tensor].name,
		  wti_origin_text(origin, first->owner));
	if (first->step >= 0)
		wti_textf(&text, " in step %" PRId64, first->step);
	wti_textf(&text, ", which held another value before an optimizer had stepped");
	wti_origin_finding(origin, result, "WT-LIN-012", WT_ERROR, wti_buf_cstr(&text), first->step,
			   count);
	wti_buf_release(&text);
}

/* ---- Tied ----------------------------------------------------------------------------------- */

static const struct wti_parameter *parameter_of(const struct wti_origin *origin, const char *path)
{
	for (size_t i = 0; i < origin->training.parameters.count; i++) {
		const struct wti_parameter *at = wti_parameter_at(&origin->training, i);

		if (at->is_member && at->has_hash && !at->is_buffer &&
		    wti_origin_ends_with(path, wti_origin_text(origin, at->name)))
			return at;
	}
	return NULL;
}

/* Another tensor of the file with the same bytes, that is another parameter now. */
static bool is_apart(const struct wti_origin *origin, size_t tensor, size_t *ret_other)
{
	const struct wti_origin_tensor *tensors = origin->options.tensors;
	const struct wti_parameter *one = parameter_of(origin, tensors[tensor].name), *other;

	for (size_t i = tensor + 1; one && i < origin->options.count; i++) {
		if (tensors[i].hash != tensors[tensor].hash ||
		    strcmp(tensors[i].shape, tensors[tensor].shape))
			continue;
		other = parameter_of(origin, tensors[i].name);
		if (!other || other == one || other->hash == one->hash || !one->moved_count)
			continue;
		*ret_other = i;
		return true;
	}
	return false;
}

static void judge_tied(const struct wti_origin *origin, struct wt_result *result, int64_t step)
{
	for (size_t i = 0; i < origin->options.count; i++) {
		struct wti_buf text;
		size_t other;

		/* A vector of ones or zeros is the same in many places. */
		if (!strchr(origin->options.tensors[i].shape, 'x') || !is_apart(origin, i, &other))
			continue;
		wti_buf_init(&text, 8192);
		wti_textf(&text, "%s: '%s' and '%s' are the same in the file and were loaded",
			  wti_origin_base(origin->options.path), origin->options.tensors[i].name,
			  origin->options.tensors[other].name);
		if (step >= 0)
			wti_textf(&text, " in step %" PRId64, step);
		wti_textf(&text, "; at the end of the run they differ");
		wti_origin_finding(origin, result, "WT-LIN-013", WT_ERROR, wti_buf_cstr(&text),
				   step, 1);
		wti_buf_release(&text);
	}
}

bool wti_origin_judge_loaded(struct wti_origin *origin, struct wt_result *result)
{
	int64_t load = find_load(origin);
	size_t equal;

	if (load < 0)
		return false;
	equal = judge_contents(origin, result, (uint32_t)load);
	judge_overwritten(origin, result);
	judge_tied(origin, result, origin->saves[load].step);
	wt_result_fact_count(result, "seen", "", WT_CELL_COUNT, equal);
	wt_result_fact_count(result, "is_load", "", WT_CELL_COUNT, 1);
	wt_result_fact_text(result, "compared", "compared with the load of",
			    wti_origin_text(origin, origin->saves[load].path));
	if (origin->saves[load].step >= 0)
		wt_result_fact_count(result, "saved_step", "loaded in step", WT_CELL_ID,
				     (uint64_t)origin->saves[load].step);
	wt_result_fact_count(result, "equal", "tensors as they were loaded", WT_CELL_COUNT, equal);
	wt_result_set_status(result, result->finding_count ? "findings" : "clean");
	return true;
}
