/* SPDX-License-Identifier: Apache-2.0 */
/* What relations have in common: names of functions, circumstances, the occasion that is reported.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "inspect/core/library.h"
#include "relation.h"

#define FUNCTIONS_MAX (1u << 20)
#define NUMBERS_MAX 65536u
#define STREAMS_MAX 65536u
#define NAME_BYTES 512

static const char *const words[WTI_WORD_COUNT] = {
	[WTI_WORD_YES] = "yes",
	[WTI_WORD_NO] = "no",
	[WTI_WORD_ON] = "on",
	[WTI_WORD_OFF] = "off",
	[WTI_WORD_NONE] = "none",
	[WTI_WORD_ZERO] = "zero",
	[WTI_WORD_NONZERO] = "nonzero",
	[WTI_WORD_POSITIVE] = "positive",
	[WTI_WORD_MODULE] = "module",
	[WTI_WORD_WRAPPER] = "wrapper",
	[WTI_WORD_AVERAGE] = "average",
	[WTI_WORD_PARAMETER] = "parameter",
	[WTI_WORD_BUFFER] = "buffer",
	[WTI_WORD_OPTIMIZER_STEP] = "Optimizer.step",
	[WTI_WORD_ZERO_GRAD] = "Optimizer.zero_grad",
	[WTI_WORD_BACKWARD] = "torch.Tensor.backward",
	[WTI_WORD_FORWARD] = "Module.forward",
	[WTI_WORD_LOADER_NEXT] = "Loader.__next__",
};

const char *const wti_forms[WTI_FORM_COUNT] = {
	[WTI_FORM_TRUE] = "true",     [WTI_FORM_CALLS] = "calls", [WTI_FORM_SINCE] = "since",
	[WTI_FORM_BEFORE] = "before", [WTI_FORM_IS] = "is",       [WTI_FORM_SAME] = "same",
	[WTI_FORM_RANGE] = "range",
};

int wti_form_by_name(const char *name)
{
	for (int i = 0; i < WTI_FORM_COUNT; i++)
		if (!strcmp(wti_forms[i], name))
			return i;
	return -1;
}

void wti_scene_init(struct wti_scene *scene, const struct wti_training *training,
		    struct wti_sink_of_occasions sink)
{
	*scene = (struct wti_scene){
		.training = training, .symbols = training->symbols, .sink = sink};
	for (size_t i = 0; i < WTI_WORD_COUNT; i++)
		scene->words[i] = wti_symbol_word(scene->symbols, words[i]);
	scene->self_word = wti_symbol_word(scene->symbols, "self");
	wti_map_init(&scene->functions, FUNCTIONS_MAX);
	wti_map_init(&scene->acts, FUNCTIONS_MAX);
	wti_map_init(&scene->numbers, NUMBERS_MAX);
	wti_map_init(&scene->fields, FUNCTIONS_MAX);
	wti_map_init(&scene->signatures, FUNCTIONS_MAX);
}

void wti_scene_release(struct wti_scene *scene)
{
	wti_map_release(&scene->functions);
	wti_map_release(&scene->acts);
	wti_map_release(&scene->numbers);
	wti_map_release(&scene->fields);
	wti_map_release(&scene->signatures);
	free(scene->processes);
	*scene = (struct wti_scene){0};
}

struct wti_scene_process *wti_scene_process(struct wti_scene *scene, size_t stream)
{
	if (wti_grow_zeroed(&scene->processes, stream + 1, &scene->process_count, STREAMS_MAX))
		return NULL;
	return &scene->processes[stream];
}

/* ---- Following the run ---------------------------------------------------------------------- */

/* The program is named by the file of its first call; where that lies is nobody's business. */
static void find_program(struct wti_scene *scene, const struct wti_moment *moment)
{
	struct wti_where where = wti_moment_where(moment);
	const char *name;

	if (!where.file || wti_is_library(where.file))
		return;
	name = strrchr(where.file, '/');
	scene->program = wti_symbol_word(scene->symbols, name ? name + 1 : where.file);
}

static void take_state(struct wti_scene *scene, struct wti_scene_process *process,
		       const struct wti_moment *moment)
{
	if (!strcmp(wti_symbol_text(scene->symbols, moment->attribute), "grad_enabled"))
		process->grad_is_off = moment->number == 0;
}

void wti_scene_moment(struct wti_scene *scene, const struct wti_moment *moment)
{
	struct wti_scene_process *process = wti_scene_process(scene, moment->process->stream);

	if (!process)
		return;
	switch (moment->type) {
	case WTI_MOMENT_OBJECT:
		if (moment->object && moment->object->type < WTI_SCENE_OBJECT_TYPES)
			process->objects[moment->object->type]++;
		break;
	case WTI_MOMENT_STATE:
		if (!moment->parameter)
			take_state(scene, process, moment);
		break;
	case WTI_MOMENT_STEPPED:
		process->optimizer_steps++;
		break;
	case WTI_MOMENT_CALL:
		if (!scene->program)
			find_program(scene, moment);
		break;
	case WTI_MOMENT_LOST:
		scene->lost_count += moment->count;
		break;
	default:
		break;
	}
}

/* ---- Functions ------------------------------------------------------------------------------ */

static uint32_t name_function(struct wti_scene *scene, const struct wti_call *call, uint32_t type)
{
	char text[NAME_BYTES];

	wti_name_function(text, sizeof(text), wti_symbol_text(scene->symbols, call->module),
			  wti_symbol_text(scene->symbols, call->callee), type);
	return wti_symbol_word(scene->symbols, text);
}

uint32_t wti_scene_function(struct wti_scene *scene, const struct wti_call *call)
{
	const struct wti_object *object =
		call->object ? wti_training_object(scene->training, call->stream, call->object)
			     : NULL;
	uint32_t type = object ? object->type & 15 : 0;
	uint64_t key = (uint64_t)type << 60 | (uint64_t)call->module << 30 | call->callee;
	uint64_t *slot;

	_Static_assert(WTI_SYMBOLS_MAX <= 1u << 30, "two symbols and four bits fit one key");
	if (call->action == WT_ACTION_BACKWARD) /* loss.backward(), torch.autograd.backward(loss) */
		return scene->words[WTI_WORD_BACKWARD];
	slot = wti_map_number(&scene->functions, key);
	if (!slot)
		return WTI_SYMBOL_OTHER;
	if (!*slot)
		*slot = name_function(scene, call, type) + 1;
	return (uint32_t)*slot - 1;
}

bool wti_scene_is_act(struct wti_scene *scene, uint32_t function)
{
	uint64_t *slot = wti_map_number(&scene->acts, function);

	if (slot && !*slot)
		*slot = wti_is_act(wti_symbol_text(scene->symbols, function)) ? 2 : 1;
	return slot && *slot == 2;
}

/* Calls that are open lie one after the other, outermost first. */
const struct wti_call *wti_call_around(const struct wti_moment *moment, uint32_t k)
{
	const struct wti_call *parent = moment->parent;

	return parent && k >= 1 && k - 1 <= parent->depth ? parent - (k - 1) : NULL;
}

bool wti_is_within(struct wti_scene *scene, const struct wti_moment *moment, uint32_t function)
{
	const struct wti_call *around = moment->parent;

	for (uint32_t k = 2; around; k++) {
		if (wti_scene_function(scene, around) == function)
			return true;
		around = wti_call_around(moment, k);
	}
	return false;
}

uint32_t wti_scene_objects(struct wti_scene *scene, size_t stream, uint32_t type)
{
	return stream < scene->process_count && type < WTI_SCENE_OBJECT_TYPES
		       ? scene->processes[stream].objects[type]
		       : 0;
}

/* ---- Words ---------------------------------------------------------------------------------- */

uint32_t wti_scene_word(struct wti_scene *scene, const char *word)
{
	return wti_symbol_word(scene->symbols, word);
}

uint32_t wti_scene_number(struct wti_scene *scene, uint32_t type, uint64_t bits)
{
	uint64_t *slot = wti_map_number(&scene->numbers, bits ^ (uint64_t)type << 56);
	char text[64];
	double number;

	if (slot && *slot)
		return (uint32_t)*slot - 1;
	switch (type) {
	case WT_VALUE_TYPE_BOOL:
		snprintf(text, sizeof(text), "%s", bits ? "true" : "false");
		break;
	case WT_VALUE_TYPE_INT:
		snprintf(text, sizeof(text), "%lld", (long long)bits);
		break;
	case WT_VALUE_TYPE_FLOAT:
		memcpy(&number, &bits, sizeof(number));
		snprintf(text, sizeof(text), "%.9g", number);
		break;
	default:
		snprintf(text, sizeof(text), "none");
	}
	/* Of very many numbers those stay that have a name already: what a pack says of them is
	 * judged by it, and names of functions find room. */
	if (!slot)
		return wti_symbol_known(scene->symbols, text);
	*slot = wti_symbol_word(scene->symbols, text) + 1;
	return (uint32_t)*slot - 1;
}

uint32_t wti_scene_dtype(struct wti_scene *scene, uint32_t dtype)
{
	const struct wt_field *field =
		&wt_kind_builtin(WT_KIND_TENSOR)->fields[WT_TENSOR_FIELD_DTYPE];
	uint32_t place = dtype < 64 && dtype < field->enum_count ? dtype : 0;

	if (!scene->dtypes[place])
		scene->dtypes[place] =
			wti_symbol_word(scene->symbols, field->enum_names[place]) + 1;
	return scene->dtypes[place] - 1;
}

uint32_t wti_shape_ndim(const char *shape)
{
	uint32_t count = *shape ? 1 : 0;

	for (; *shape; shape++)
		count += *shape == 'x';
	return count;
}

int64_t wti_shape_first(const char *shape)
{
	return *shape >= '0' && *shape <= '9' ? strtoll(shape, NULL, 10) : -1;
}

/* ---- Remembering ---------------------------------------------------------------------------- */

static void *memory_of(struct wti_kept_memory *kept)
{
	return kept ? kept->memory : NULL;
}

void *wti_recall(struct wti_scene *scene, unsigned which, const struct wti_moment *moment)
{
	return memory_of(wti_keep_of(&scene->keeps[which], moment));
}

void *wti_recall_of_process(struct wti_scene *scene, unsigned which, size_t stream)
{
	return memory_of(wti_keep_of_process(&scene->keeps[which], stream));
}

void *wti_recall_of_object(struct wti_scene *scene, unsigned which, const struct wti_object *object)
{
	return memory_of(wti_keep_of_object(&scene->keeps[which], object));
}

void *wti_recall_of_parameter(struct wti_scene *scene, unsigned which,
			      const struct wti_parameter *parameter)
{
	return memory_of(wti_keep_of_parameter(&scene->keeps[which], parameter));
}

void *wti_recall_of_key(struct wti_scene *scene, unsigned which, size_t stream, uint64_t key)
{
	return memory_of(wti_keep_of_key(&scene->keeps[which], stream, key));
}

const void *wti_recall_find_key(const struct wti_scene *scene, unsigned which, size_t stream,
				uint64_t key)
{
	return memory_of(wti_keep_find_key(&scene->keeps[which], stream, key));
}

/* ---- Reporting ------------------------------------------------------------------------------- */

void wti_occasion_word(struct wti_scene *scene, enum wti_feature feature, uint32_t symbol)
{
	scene->occasion.vector.values[feature] = symbol;
}

void wti_occasion_inside(struct wti_scene *scene, const struct wti_moment *moment)
{
	if (moment->parent)
		wti_occasion_word(scene, WTI_FEATURE_INSIDE,
				  wti_scene_function(scene, moment->parent));
}

void wti_occasion_flag(struct wti_scene *scene, enum wti_feature feature, bool is)
{
	wti_occasion_word(scene, feature, scene->words[is ? WTI_WORD_YES : WTI_WORD_NO]);
}

void wti_occasion_number(struct wti_scene *scene, enum wti_feature feature, uint32_t number)
{
	scene->occasion.vector.values[feature] = number < UINT32_MAX ? number + 1 : number;
}

/* The mode of the innermost module around it, or of itself. */
static void modes(struct wti_scene *scene, const struct wti_moment *moment)
{
	const struct wti_call *call = moment->call;
	uint32_t flags = call ? call->flags : 0;

	for (uint32_t k = 1; call && !(flags & WT_CALL_MODE_KNOWN); k++) {
		call = wti_call_around(moment, k);
		flags = call ? call->flags : 0;
	}
	if (!(flags & WT_CALL_MODE_KNOWN))
		return;
	wti_occasion_flag(scene, WTI_FEATURE_TRAINING, flags & WT_CALL_TRAIN);
	wti_occasion_flag(scene, WTI_FEATURE_AUTOCAST, flags & WT_CALL_AUTOCAST);
}

static void presence(struct wti_scene *scene, size_t stream)
{
	static const struct {
		enum wti_feature feature;
		uint32_t type;
	} objects[] = {
		{WTI_FEATURE_SCHEDULER, WT_OBJECT_TYPE_SCHEDULER},
		{WTI_FEATURE_SCALER, WT_OBJECT_TYPE_SCALER},
		{WTI_FEATURE_WRAPPER, WT_OBJECT_TYPE_WRAPPER},
		{WTI_FEATURE_AVERAGE, WT_OBJECT_TYPE_AVERAGE},
	};
	uint32_t optimizers = wti_scene_objects(scene, stream, WT_OBJECT_TYPE_OPTIMIZER);

	for (size_t i = 0; i < sizeof(objects) / sizeof(objects[0]); i++)
		if (wti_scene_objects(scene, stream, objects[i].type))
			wti_occasion_flag(scene, objects[i].feature, true);
	wti_occasion_number(scene, WTI_FEATURE_OPTIMIZERS, optimizers < 2 ? optimizers : 2);
}

static uint32_t place_of(const struct wti_relation *relation)
{
	uint32_t place = 0;

	while (wti_relations[place] != relation)
		place++;
	return place;
}

static uint32_t term_at(struct wti_scene *scene, uint32_t relation, int term)
{
	uint32_t *symbol = &scene->terms[relation][term];

	if (!*symbol)
		*symbol =
			wti_symbol_word(scene->symbols, wti_relations[relation]->terms[term].word);
	return *symbol;
}

uint32_t wti_term(struct wti_scene *scene, const struct wti_relation *relation, int term)
{
	return term_at(scene, place_of(relation), term);
}

struct wti_occasion *wti_occasion_of_term(struct wti_scene *scene,
					  const struct wti_relation *relation,
					  const struct wti_moment *moment, int subject, int second)
{
	uint32_t place = place_of(relation);

	return wti_occasion(scene, relation, moment, term_at(scene, place, subject),
			    second == WTI_NO_TERM ? 0 : term_at(scene, place, second));
}

struct wti_occasion *wti_occasion(struct wti_scene *scene, const struct wti_relation *relation,
				  const struct wti_moment *moment, uint32_t subject,
				  uint32_t second)
{
	struct wti_occasion *occasion = &scene->occasion;
	struct wti_scene_process *process = wti_scene_process(scene, moment->process->stream);

	occasion->relation = place_of(relation);
	occasion->subject[0] = subject;
	occasion->subject[1] = second;
	occasion->moment = moment;
	occasion->about = 0;
	occasion->fact_count = occasion->measure_count = 0;
	memset(&occasion->vector, 0, sizeof(occasion->vector));
	wti_occasion_word(scene, WTI_FEATURE_STAGE, moment->scope.stage);
	if (!process)
		return occasion;
	wti_occasion_word(scene, WTI_FEATURE_GRAD_MODE,
			  scene->words[process->grad_is_off ? WTI_WORD_OFF : WTI_WORD_ON]);
	modes(scene, moment);
	presence(scene, moment->process->stream);
	return occasion;
}

static uint32_t gradient_word(const struct wti_parameter *parameter)
{
	switch (parameter->grad) {
	case WTI_GRAD_NONE:
		return WTI_WORD_NONE;
	case WTI_GRAD_ZERO:
		return WTI_WORD_ZERO;
	case WTI_GRAD_NONZERO:
		return WTI_WORD_NONZERO;
	default:
		return WTI_WORD_COUNT;
	}
}

void wti_occasion_parameter(struct wti_scene *scene, const struct wti_parameter *parameter)
{
	const struct wti_object *owner =
		wti_training_object(scene->training, parameter->stream, parameter->owner);
	uint32_t gradient = gradient_word(parameter);
	double rate;

	scene->occasion.about = parameter->name;
	wti_occasion_flag(scene, WTI_FEATURE_REQUIRES_GRAD, parameter->requires_grad);
	wti_occasion_word(scene, WTI_FEATURE_DTYPE, wti_scene_dtype(scene, parameter->dtype));
	wti_occasion_number(scene, WTI_FEATURE_NDIM,
			    wti_shape_ndim(wti_symbol_text(scene->symbols, parameter->shape)));
	wti_occasion_word(scene, WTI_FEATURE_PLACEMENT, parameter->placement);
	wti_occasion_flag(scene, WTI_FEATURE_OPTIMIZED, parameter->optimizer);
	wti_occasion_flag(scene, WTI_FEATURE_USED,
			  wti_parameter_is_used(scene->training, parameter));
	wti_occasion_word(
		scene, WTI_FEATURE_KIND,
		scene->words[parameter->is_buffer ? WTI_WORD_BUFFER : WTI_WORD_PARAMETER]);
	if (owner)
		wti_occasion_word(
			scene, WTI_FEATURE_OWNER,
			scene->words[owner->type == WT_OBJECT_TYPE_AVERAGE   ? WTI_WORD_AVERAGE
				     : owner->type == WT_OBJECT_TYPE_WRAPPER ? WTI_WORD_WRAPPER
									     : WTI_WORD_MODULE]);
	if (gradient < WTI_WORD_COUNT)
		wti_occasion_word(scene, WTI_FEATURE_GRADIENT, scene->words[gradient]);
	if (wti_parameter_lr(scene->training, parameter, &rate))
		wti_occasion_word(scene, WTI_FEATURE_RATE,
				  scene->words[rate == 0 ? WTI_WORD_ZERO : WTI_WORD_POSITIVE]);
}

/* Beyond the ceiling facts are left out, in check as in learning. */
static void say(struct wti_occasion *occasion, struct wti_fact fact)
{
	if (occasion->fact_count < WTI_FACTS_MAX)
		occasion->facts[occasion->fact_count++] = fact;
}

void wti_say(struct wti_scene *scene, enum wti_form form, uint32_t a, uint32_t b)
{
	say(&scene->occasion, (struct wti_fact){form, a, b});
}

void wti_say_term(struct wti_scene *scene, int term)
{
	wti_say(scene, WTI_FORM_TRUE, term_at(scene, scene->occasion.relation, term), 0);
}

void wti_say_called(struct wti_scene *scene, uint32_t function, uint32_t times)
{
	say(&scene->occasion, (struct wti_fact){WTI_FORM_CALLS, function, .times = times});
}

void wti_measure(struct wti_scene *scene, uint32_t name, double value)
{
	struct wti_occasion *occasion = &scene->occasion;

	if (occasion->measure_count < WTI_MEASURES_MAX)
		occasion->measures[occasion->measure_count++] = (struct wti_measure){name, value};
}

void wti_report(struct wti_scene *scene)
{
	uint32_t features = wti_relations[scene->occasion.relation]->features;

	for (uint32_t i = 0; i < WTI_FEATURE_COUNT; i++)
		if (!(features >> i & 1))
			scene->occasion.vector.values[i] = 0;
	scene->sink.take(scene->sink.self, &scene->occasion);
}
