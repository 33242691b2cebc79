/* SPDX-License-Identifier: Apache-2.0 */
/* What is saved beside what is live. */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "saved.h"

#define ENTRIES_MAX (1u << 20)

enum { PARTS_MAX = 64 };

/* ---- Entries by the ends of their paths ----------------------------------------------------- */

/* Read from the end; what another one ends with comes before it. */
static int compare_ends(const char *a, size_t a_bytes, const char *b, size_t b_bytes)
{
	size_t bytes = a_bytes < b_bytes ? a_bytes : b_bytes;

	for (size_t i = 1; i <= bytes; i++)
		if (a[a_bytes - i] != b[b_bytes - i])
			return (unsigned char)a[a_bytes - i] < (unsigned char)b[b_bytes - i] ? -1
											     : 1;
	return a_bytes < b_bytes ? -1 : a_bytes > b_bytes;
}

static int compare_entries(const void *a, const void *b)
{
	const struct wti_saved_entry *left = a, *right = b;

	return compare_ends(left->path, left->bytes, right->path, right->bytes);
}

bool wti_saved_init(struct wti_saved *saved, const struct wti_moment *moment)
{
	const struct wti_call *call = moment->call;
	size_t capacity = 0;

	*saved = (struct wti_saved){.moment = moment, .is_cut = call->is_cut};
	for (uint32_t i = 0; i < call->value_count; i++) {
		const struct wti_value_row *value = &call->values[i];
		const char *path = wti_moment_text(moment, value->name);

		if (value->type != WTI_VALUE_TENSOR)
			continue;
		/* "<3>" stands for a key that is not recorded. */
		saved->is_cut |= strchr(path, '<') != NULL;
		if (wti_grow(&saved->entries, saved->count + 1, &capacity, ENTRIES_MAX)) {
			wti_saved_release(saved);
			return false;
		}
		saved->entries[saved->count++] =
			(struct wti_saved_entry){path, strlen(path), value};
	}
	if (saved->count)
		qsort(saved->entries, saved->count, sizeof(*saved->entries), compare_entries);
	return true;
}

void wti_saved_release(struct wti_saved *saved)
{
	free(saved->entries);
	*saved = (struct wti_saved){0};
}

/* The first that is not before the name. */
static size_t find_first(const struct wti_saved *saved, const char *name, size_t bytes)
{
	size_t from = 0, to = saved->count;

	while (from < to) {
		size_t middle = from + (to - from) / 2;
		const struct wti_saved_entry *entry = &saved->entries[middle];

		if (compare_ends(entry->path, entry->bytes, name, bytes) < 0)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

static bool ends_with(const struct wti_saved_entry *entry, const char *name, size_t bytes)
{
	return entry->bytes >= bytes && !memcmp(entry->path + entry->bytes - bytes, name, bytes);
}

/* The tensors that could be a parameter, one after the other. */
struct candidates {
	const struct wti_saved *saved;
	const struct wti_parameter *parameter;
	const char *name;
	size_t bytes; /* of name */
	size_t next;
};

static struct candidates candidates_of(const struct wti_saved *saved,
				       const struct wti_parameter *parameter)
{
	const char *name = wti_moment_text(saved->moment, parameter->name);
	size_t bytes = strlen(name);

	return (struct candidates){saved, parameter, name, bytes, find_first(saved, name, bytes)};
}

/* "model.fc1.weight" ends with "fc1.weight" at a dot, or is it. */
static const struct wti_saved_entry *next_candidate(struct candidates *candidates)
{
	const struct wti_saved *saved = candidates->saved;
	const struct wti_parameter *parameter = candidates->parameter;

	while (candidates->next < saved->count) {
		const struct wti_saved_entry *entry = &saved->entries[candidates->next++];
		const struct wti_digest_row *digest = &entry->value->digest;
		size_t front = entry->bytes - candidates->bytes;

		if (!ends_with(entry, candidates->name, candidates->bytes))
			return NULL;
		if ((!front || entry->path[front - 1] == '.') &&
		    !(digest->flags & WT_TENSOR_NO_HASH) && digest->dtype == parameter->dtype &&
		    digest->shape == parameter->shape)
			return entry;
	}
	return NULL;
}

bool wti_saved_has(const struct wti_saved *saved, const struct wti_parameter *parameter)
{
	struct candidates candidates = candidates_of(saved, parameter);

	return next_candidate(&candidates) != NULL;
}

/* ---- Parameters of a model ------------------------------------------------------------------ */

/* What no optimizer has moves as well: an average that the program keeps up. */
static bool has_moved(const struct wti_parameter *parameter)
{
	return parameter->moved_count || (!parameter->optimizer && parameter->moved);
}

/* The next one of a model that can be compared; NULL: there is none. */
static const struct wti_parameter *next_of_model(const struct wti_saved *saved, uint32_t owner,
						 size_t *place)
{
	const struct wti_training *training = saved->moment->training;

	while (*place < training->parameters.count) {
		const struct wti_parameter *parameter = wti_parameter_at(training, (*place)++);

		if (parameter->owner == owner &&
		    parameter->stream == saved->moment->process->stream && parameter->is_member &&
		    !parameter->is_buffer && parameter->has_hash && !parameter->placement)
			return parameter;
	}
	return NULL;
}

/* ---- Parts of a checkpoint ------------------------------------------------------------------ */

struct part {
	const char *path; /* its first bytes */
	size_t bytes;
	uint32_t equal;   /* tensors with the bytes of the model in question */
	bool is_of_other; /* another model has more of them */
};

struct parts {
	struct part all[PARTS_MAX];
	size_t count;
};

/* NULL: there are too many. */
static struct part *part_of(struct parts *parts, const struct wti_saved_entry *entry,
			    size_t name_bytes)
{
	size_t bytes = entry->bytes - name_bytes;

	for (size_t i = 0; i < parts->count; i++)
		if (parts->all[i].bytes == bytes && !memcmp(parts->all[i].path, entry->path, bytes))
			return &parts->all[i];
	if (parts->count == PARTS_MAX)
		return NULL;
	parts->all[parts->count] = (struct part){.path = entry->path, .bytes = bytes};
	return &parts->all[parts->count++];
}

/* Counts, part by part, what has the bytes of a model; false: nothing is known of the model. */
static bool count_equal(const struct wti_saved *saved, uint32_t owner, struct parts *ret)
{
	const struct wti_parameter *parameter;
	bool is_known = false;
	size_t place = 0;

	*ret = (struct parts){0};
	while ((parameter = next_of_model(saved, owner, &place))) {
		struct candidates candidates = candidates_of(saved, parameter);
		const struct wti_saved_entry *entry;

		is_known = true;
		while ((entry = next_candidate(&candidates))) {
			struct part *part = part_of(ret, entry, candidates.bytes);

			if (part && entry->value->digest.hash == parameter->hash)
				part->equal++;
		}
	}
	return is_known;
}

/* Marks the parts that another model has more of. */
static void mark_others(struct parts *parts, const struct parts *other)
{
	for (size_t i = 0; i < parts->count; i++)
		for (size_t j = 0; j < other->count; j++)
			if (parts->all[i].bytes == other->all[j].bytes &&
			    !memcmp(parts->all[i].path, other->all[j].path, parts->all[i].bytes))
				parts->all[i].is_of_other |=
					other->all[j].equal > parts->all[i].equal;
}

/* ---- Models beside what is saved ------------------------------------------------------------ */

/* Its bytes are saved under another name: it was renamed since it became known, as pruning does. */
static bool is_renamed(const struct wti_saved *saved, const struct wti_parameter *parameter)
{
	for (size_t i = 0; i < saved->count; i++) {
		const struct wti_digest_row *digest = &saved->entries[i].value->digest;

		if (!(digest->flags & WT_TENSOR_NO_HASH) && digest->hash == parameter->hash &&
		    digest->dtype == parameter->dtype && digest->shape == parameter->shape)
			return true;
	}
	return false;
}

static void match_parameter(struct wti_saved_match *match, const struct wti_saved *saved,
			    const struct wti_parameter *parameter, struct parts *parts)
{
	struct candidates candidates = candidates_of(saved, parameter);
	bool is_there = false, is_equal = false, is_initial = false;
	const struct wti_saved_entry *entry;

	while ((entry = next_candidate(&candidates))) {
		const struct part *part = parts ? part_of(parts, entry, candidates.bytes) : NULL;

		if (part && part->is_of_other)
			continue;
		is_there = true;
		is_equal |= entry->value->digest.hash == parameter->hash;
		is_initial |= entry->value->digest.hash == parameter->first_hash;
	}
	if (!is_there && !parts && is_renamed(saved, parameter)) {
		match->equal++;
	} else if (!is_there) {
		match->missing++;
		if (parameter->requires_grad && !match->first_missing)
			match->first_missing = parameter;
	} else if (is_equal) {
		match->equal++;
	} else {
		match->different++;
		match->initial += is_initial;
		if (!match->first_different)
			match->first_different = parameter;
	}
}

static struct wti_saved_match match_parts(const struct wti_saved *saved, uint32_t owner,
					  struct parts *parts)
{
	struct wti_saved_match match = {0};
	const struct wti_parameter *parameter;
	size_t place = 0;

	while ((parameter = next_of_model(saved, owner, &place)))
		if (parts ? has_moved(parameter) : parameter->moved_count > 0)
			match_parameter(&match, saved, parameter, parts);
	return match;
}

struct wti_saved_match wti_saved_match(const struct wti_saved *saved, uint32_t owner)
{
	return match_parts(saved, owner, NULL);
}

static bool is_copy(const struct wti_object *copy, const struct wti_object *of)
{
	return copy->how == WT_FOUND_COPIED && copy->of == of->name;
}

static bool are_copies(const struct wti_object *a, const struct wti_object *b)
{
	return is_copy(a, b) || is_copy(b, a) ||
	       (a->how == WT_FOUND_COPIED && b->how == WT_FOUND_COPIED && a->of == b->of);
}

bool wti_saved_match_own(const struct wti_saved *saved, const struct wti_object *model,
			 struct wti_saved_match *ret)
{
	const struct wti_training *training = saved->moment->training;
	struct parts parts, others;

	count_equal(saved, model->name, &parts);
	for (size_t i = 0; i < training->objects.count; i++) {
		const struct wti_object *other = wti_object_at(training, i);

		if (other == model || other->stream != model->stream ||
		    other->type != WT_OBJECT_TYPE_MODULE || !are_copies(other, model))
			continue;
		if (!count_equal(saved, other->name, &others))
			return false;
		mark_others(&parts, &others);
	}
	*ret = match_parts(saved, model->name, &parts);
	return true;
}
