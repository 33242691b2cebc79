/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inspector `origin`: goes through a run once and notes where the tensors of a file were seen,
 * and what each save had. What it means is in judge.c.
 */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/err.h"
#include "base/grow.h"
#include "inspect/core/inspectors.h"
#include "inspect/core/saved.h"
#include "inspect/training/members.h"
#include "inspect/training/optimizer_state.h"
#include "own.h"

#define SIGHTINGS_MAX (1u << 20)
#define SAVES_MAX (1u << 16)
#define RECENT 4096u          /* saves among which those of other ranks are looked for */
#define VALUES_MAX (1u << 22) /* a thousand saves of four thousand tensors */

const char *wti_origin_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

const char *wti_origin_text(const struct wti_origin *origin, uint32_t symbol)
{
	return wti_symbol_text(origin->training.symbols, symbol);
}

/* ---- Sightings ------------------------------------------------------------------------------ */

static void add_sighting(struct wti_origin *origin, struct wti_origin_sighting sighting)
{
	uint32_t *last = &origin->sighted[sighting.tensor];

	if (wti_grow(&origin->sightings, origin->sighting_count + 1, &origin->sighting_capacity,
		     SIGHTINGS_MAX)) {
		origin->dropped++;
		return;
	}
	sighting.next = *last;
	origin->sightings[origin->sighting_count++] = sighting;
	*last = (uint32_t)origin->sighting_count;
}

/* All tensors of the file with that hash, as they are or turned. */
static void sight(struct wti_origin *origin, uint64_t hash, struct wti_origin_sighting sighting)
{
	uint32_t at = (uint32_t)wti_map_get(&origin->wanted, hash);

	for (; at; at = origin->next_same[at - 1]) {
		uint32_t tensor = (at - 1) / 2;

		sighting.tensor = tensor;
		sighting.is_turned = (at - 1) % 2;
		add_sighting(origin, sighting);
	}
}

static bool want(struct wti_origin *origin, uint64_t hash, uint32_t number)
{
	uint64_t *slot = wti_map_number(&origin->wanted, hash);

	if (!slot)
		return false;
	origin->next_same[number] = (uint32_t)*slot;
	*slot = number + 1;
	return true;
}

/* ---- Parameters ----------------------------------------------------------------------------- */

/* A copy of a model, or one that keeps an average. */
static bool is_average(const struct wti_origin *origin, size_t stream, uint32_t owner)
{
	const struct wti_object *object = wti_training_object(&origin->training, stream, owner);

	return object && (object->type == WT_OBJECT_TYPE_AVERAGE || object->how == WT_FOUND_COPIED);
}

/* It held a value of the file, and now another: was there a step between? */
static void note_overwritten(struct wti_origin *origin, const struct wti_moment *moment)
{
	uint64_t last = wti_map_get(&origin->holding, moment->parameter->place);
	struct wti_origin_sighting *held = last ? &origin->sightings[last - 1] : NULL;

	if (!held)
		return;
	wti_map_put(&origin->holding, moment->parameter->place, 0);
	if (held->step_count != moment->process->step_count || moment->process->stepping ||
	    origin->options.tensors[held->tensor].hash == moment->parameter->hash)
		return;
	held->is_overwritten = true;
	held->overwritten_step = moment->scope.step;
}

static void take_live(struct wti_origin *origin, const struct wti_moment *moment)
{
	const struct wti_parameter *parameter = moment->parameter;
	size_t before = origin->sighting_count;

	if (!parameter || !parameter->has_hash || moment->attribute != parameter->name)
		return;
	note_overwritten(origin, moment);
	sight(origin, parameter->hash,
	      (struct wti_origin_sighting){
		      .how = WTI_ORIGIN_LIVE,
		      .is_average = is_average(origin, parameter->stream, parameter->owner),
		      .owner = parameter->owner,
		      .name = parameter->name,
		      .step = moment->scope.step,
		      .step_count = moment->process->step_count});
	if (origin->sighting_count > before)
		wti_map_put(&origin->holding, parameter->place, origin->sighting_count);
}

/* Whether a parameter could be that value: "fc1.weight" of "model.fc1.weight". */
static bool is_candidate(const struct wti_origin *origin, const struct wti_parameter *parameter,
			 const struct wti_digest_row *digest, const char *path, size_t bytes)
{
	const char *name = wti_origin_text(origin, parameter->name);
	size_t name_bytes = strlen(name);

	return parameter->is_member && parameter->has_hash && !parameter->placement &&
	       parameter->dtype == digest->dtype && parameter->shape == digest->shape &&
	       name_bytes <= bytes && !strcmp(path + bytes - name_bytes, name) &&
	       (name_bytes == bytes || path[bytes - name_bytes - 1] == '.');
}

static void compare_live(struct wti_origin *origin, size_t stream, struct wti_origin_value *value)
{
	const char *path = wti_origin_text(origin, value->name);
	size_t bytes = strlen(path), best = 0;

	for (size_t i = 0; i < origin->training.parameters.count; i++) {
		const struct wti_parameter *at = wti_parameter_at(&origin->training, i);
		bool is_copy;
		enum wti_origin_live live;

		if (at->stream != stream || !is_candidate(origin, at, &value->digest, path, bytes))
			continue;
		is_copy = is_average(origin, stream, at->owner);
		if (at->hash == value->digest.hash)
			live = is_copy ? WTI_LIVE_AVERAGE : WTI_LIVE_EQUAL;
		else
			live = is_copy ? WTI_LIVE_NONE : WTI_LIVE_OTHER;
		/* Equal to the model counts most, then to a copy of it, then that it differs. */
		if (live == WTI_LIVE_EQUAL || (live == WTI_LIVE_AVERAGE && best < 2) ||
		    (live == WTI_LIVE_OTHER && best < 1)) {
			best = live == WTI_LIVE_EQUAL ? 3 : live == WTI_LIVE_AVERAGE ? 2 : 1;
			value->live = live;
			value->owner = at->owner;
		}
	}
}

/* ---- Saving and loading --------------------------------------------------------------------- */

/* The first text among its arguments: contents are tensors and numbers. */
static uint32_t path_of(const struct wti_origin *origin, const struct wti_call *call)
{
	for (uint32_t i = 0; i < call->value_count; i++) {
		const struct wti_value_row *value = &call->values[i];

		if (value->position >= 0 && value->type == WT_VALUE_TYPE_TEXT &&
		    *wti_origin_text(origin, value->text) != '<')
			return value->text;
	}
	return WTI_SYMBOL_NONE;
}

/* What a checkpoint says of itself: a number under such a key. */
static int64_t claimed_step(const struct wti_origin *origin, const struct wti_call *call)
{
	static const char *const keys[] = {"step", "global_step", "iteration", "iter", "steps"};

	for (uint32_t i = 0; i < call->value_count; i++) {
		const struct wti_value_row *value = &call->values[i];
		const char *path = wti_origin_text(origin, value->name);

		for (size_t k = 0; value->type == WT_VALUE_TYPE_INT && k < WTI_COUNT(keys); k++)
			if (!strcmp(path, keys[k]))
				return (int64_t)value->bits;
	}
	return -1;
}

/* Ranks save to one path in one step; an archive of arrays is loaded one array after the other. */
static uint32_t group_of(const struct wti_origin *origin, const struct wti_origin_save *save)
{
	size_t first = origin->save_count > RECENT ? origin->save_count - RECENT : 0;

	for (size_t i = first; i < origin->save_count; i++)
		if (save->path != WTI_SYMBOL_NONE && origin->saves[i].path == save->path &&
		    origin->saves[i].step == save->step &&
		    origin->saves[i].is_load == save->is_load &&
		    (save->is_load || origin->saves[i].rank != save->rank))
			return origin->saves[i].group;
	return (uint32_t)origin->save_count;
}

static void add_value(struct wti_origin *origin, struct wti_origin_save *save,
		      const struct wti_moment *moment, const struct wti_value_row *row)
{
	const char *name = wti_saved_name(wti_origin_text(origin, row->name));
	struct wti_origin_value value = {.name = row->name, .digest = row->digest};

	if (!name)
		return;
	if (row->name == WTI_SYMBOL_NONE)
		value.name = wti_symbol_word(origin->training.symbols, name);
	/* Without a hash it is only described, such as a tensor that is spread over devices. */
	if (!save->is_load && !(row->digest.flags & WT_TENSOR_NO_HASH))
		compare_live(origin, moment->process->stream, &value);
	if (!(row->digest.flags & WT_TENSOR_NO_HASH))
		sight(origin, row->digest.hash,
		      (struct wti_origin_sighting){.how = save->is_load ? WTI_ORIGIN_LOADED
									: WTI_ORIGIN_SAVED,
						   .name = row->name,
						   .step = moment->scope.step,
						   .save = (uint32_t)origin->save_count});
	if (wti_grow(&origin->values, origin->value_count + 1, &origin->value_capacity,
		     VALUES_MAX)) {
		origin->dropped++;
		save->is_cut = true;
		return;
	}
	origin->values[origin->value_count++] = value;
	save->has_optimizer |= wti_optimizer_keeps(wti_origin_text(origin, row->name));
	save->count++;
}

static void take_save(struct wti_origin *origin, const struct wti_moment *moment)
{
	const struct wti_call *call = moment->call;
	struct wti_origin_save save = {.is_load = moment->type == WTI_MOMENT_LOAD,
				       .is_cut = call->is_cut,
				       .step = moment->scope.step,
				       .rank = moment->scope.rank,
				       .path = path_of(origin, call),
				       .first = origin->value_count,
				       .claimed = claimed_step(origin, call),
				       .optimizer_steps = moment->process->step_count};

	if (wti_grow(&origin->saves, origin->save_count + 1, &origin->save_capacity, SAVES_MAX)) {
		origin->dropped++;
		return;
	}
	save.group = group_of(origin, &save);
	for (uint32_t i = 0; i < call->value_count; i++) {
		const struct wti_value_row *row = &call->values[i];

		if (row->type == WTI_VALUE_TENSOR && (row->position < 0) == save.is_load)
			add_value(origin, &save, moment, row);
	}
	origin->saves[origin->save_count++] = save;
}

static void report(void *self, const struct wti_moment *moment)
{
	struct wti_origin *origin = self;

	if (moment->type == WTI_MOMENT_STATE)
		take_live(origin, moment);
	else if (moment->type & (WTI_MOMENT_SAVE | WTI_MOMENT_LOAD) && moment->call)
		take_save(origin, moment);
}

const struct wti_origin_value *wti_origin_find(const struct wti_origin *origin, uint32_t group,
					       const char *name, uint64_t hash)
{
	uint32_t symbol = wti_symbol_known(origin->training.symbols, name);
	const struct wti_origin_value *found = NULL;

	for (size_t i = group; i < origin->save_count; i++) {
		const struct wti_origin_save *save = &origin->saves[i];

		if (save->group != group)
			continue;
		for (size_t j = save->first; j < save->first + save->count; j++) {
			if (origin->values[j].name != symbol)
				continue;
			if (origin->values[j].digest.hash == hash)
				return &origin->values[j];
			found = found ? found : &origin->values[j];
		}
	}
	return found;
}

/* ---- The inspector -------------------------------------------------------------------------- */

static int begin(void *opaque, const struct wt_trace *trace, const void *options,
		 struct wt_err *err)
{
	struct wti_origin *origin = opaque;
	size_t count;
	int r;

	if (!options)
		return wti_err(err, WT_E_ARG, "no file is given whose origin is asked for");
	origin->options = *(const struct wti_origin_options *)options;
	r = wti_training_init(&origin->training, report, origin, err);
	if (r)
		return r;
	count = origin->options.count;
	wti_map_init(&origin->wanted, 2 * count + 1);
	wti_map_init(&origin->holding, SIGHTINGS_MAX);
	origin->next_same = calloc(2 * count + 1, sizeof(*origin->next_same));
	origin->sighted = calloc(count + 1, sizeof(*origin->sighted));
	if (!origin->next_same || !origin->sighted)
		return wti_err(err, WT_E_NOMEM, "out of memory");
	for (size_t i = 0; i < count; i++) {
		const struct wti_origin_tensor *tensor = &origin->options.tensors[i];

		if (!want(origin, tensor->hash, (uint32_t)(2 * i)) ||
		    (tensor->turned_hash && tensor->turned_hash != tensor->hash &&
		     !want(origin, tensor->turned_hash, (uint32_t)(2 * i + 1))))
			return wti_err(err, WT_E_NOMEM, "out of memory");
	}
	return 0;
}

static int event(void *opaque, const struct wt_event *event, struct wt_err *err)
{
	struct wti_origin *origin = opaque;

	return wti_training_event(&origin->training, event, err);
}

static int finish(void *opaque, struct wt_result *result, struct wt_err *err)
{
	struct wti_origin *origin = opaque;

	wti_training_finish(&origin->training);
	return wti_origin_judge(origin, result);
}

static void release(void *opaque)
{
	struct wti_origin *origin = opaque;

	wti_training_release(&origin->training);
	wti_map_release(&origin->wanted);
	wti_map_release(&origin->holding);
	free(origin->next_same);
	free(origin->sighted);
	free(origin->sightings);
	free(origin->saves);
	free(origin->values);
}

const struct wt_inspector wti_inspector_origin = {
	.name = "origin",
	.summary = "where the tensors of a file come from",
	.state_bytes = sizeof(struct wti_origin),
	.begin = begin,
	.event = event,
	.finish = finish,
	.release = release,
};
