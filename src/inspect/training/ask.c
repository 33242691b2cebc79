/* SPDX-License-Identifier: Apache-2.0 */
/* What rules ask about a training run: where a moment was, what a parameter is used for. */
#include <string.h>

#include "inspect/core/library.h"
#include "members.h"
#include "modal.h"

struct wti_moment wti_moment_of_end(const struct wti_training *training, size_t stream)
{
	const struct wti_trained_process *process = wti_process_at(training, stream);

	return (struct wti_moment){
		.training = training,
		.process = process,
		.scope = process->scope,
		.call = process->step_count ? &process->step_call : NULL,
	};
}

struct wti_moment wti_moment_of_object(const struct wti_training *training,
				       const struct wti_object *object)
{
	struct wti_moment moment = wti_moment_of_end(training, object->stream);

	moment.call = NULL;
	moment.object = object;
	return moment;
}

const struct wti_object *wti_optimizer_of(const struct wti_training *training,
					  const struct wti_object *scheduler)
{
	return scheduler->of ? wti_training_object(training, scheduler->stream, scheduler->of)
			     : NULL;
}

const struct wti_object *wti_scheduler_next(const struct wti_training *training,
					    const struct wti_object *optimizer, size_t *place)
{
	while (*place < training->objects.count) {
		const struct wti_object *object = wti_object_at(training, (*place)++);

		if (object->type == WT_OBJECT_TYPE_SCHEDULER &&
		    object->stream == optimizer->stream && object->of == optimizer->name)
			return object;
	}
	return NULL;
}

const struct wti_object *wti_scheduler_of(const struct wti_training *training,
					  const struct wti_object *optimizer,
					  const char *class_name)
{
	const struct wti_object *scheduler;
	size_t place = 0;

	while ((scheduler = wti_scheduler_next(training, optimizer, &place)))
		if (!class_name ||
		    !strcmp(wti_symbol_text(training->symbols, scheduler->class_name), class_name))
			return scheduler;
	return NULL;
}

static struct wt_text file_of(const struct wt_reader *reader, const struct wt_site *site)
{
	return wt_reader_string(reader, site->file);
}

/* The innermost of the first `count` open calls that the program itself has made; of one given to
 * `python -c` there is no file. 0: there is none. */
static uint32_t site_among(const struct wti_call_track *track, uint32_t count,
			   const struct wt_reader *reader)
{
	for (uint32_t i = count; i-- > 0;)
		if (!wti_is_library_site(reader, track->open[i].site))
			return track->open[i].site;
	for (uint32_t i = count; i-- > 0;)
		if (wti_is_string_site(reader, track->open[i].site))
			return track->open[i].site;
	return 0;
}

/* The innermost of the calls around this one, it included, that the program itself has made. */
static uint32_t site_of_program(const struct wti_moment *moment, const struct wt_reader *reader)
{
	const struct wti_call *call = moment->call;
	const struct wti_calls *calls = &moment->training->calls;
	const uint64_t *place =
		wti_map_find_number(&calls->index, (uint64_t)call->stream << 32 | call->track);
	const struct wti_call_track *track = place && *place ? &calls->tracks[*place - 1] : NULL;
	uint32_t site;

	if (!wti_is_library_site(reader, call->site) || !track ||
	    call->depth >= track->open_count || track->open[call->depth].ordinal != call->ordinal)
		return call->site;
	site = site_among(track, call->depth + 1, reader);
	return site ? site : call->site;
}

struct wti_call wti_moment_call(const struct wti_moment *moment)
{
	struct wti_call kept = wti_call_without_values(moment->call);

	if (moment->process->reader)
		kept.site = site_of_program(moment, moment->process->reader);
	return kept;
}

struct wti_where wti_moment_where(const struct wti_moment *moment)
{
	const struct wti_symbols *symbols = moment->training->symbols;
	struct wti_where where = {.line = -1};
	const struct wt_reader *reader;
	const struct wt_site *site;

	if (moment->scope.stage)
		where.stage = wti_symbol_text(symbols, moment->scope.stage);
	if (!moment->call && !moment->object)
		return where;
	reader = moment->process->reader;
	if (moment->call)
		where.op = wti_symbol_text(symbols, moment->call->callee);
	if (!reader)
		return where;
	site = wt_reader_site(reader, moment->call ? site_of_program(moment, reader)
						   : moment->object->site);
	if (site) {
		struct wt_text file = file_of(reader, site);

		where.file = wti_symbol_text(
			symbols, wti_symbol(moment->training->symbols, file.data, file.bytes));
		where.line = site->line;
	}
	return where;
}

static uint64_t use_of(const struct wti_training *training, const struct wti_parameter *parameter)
{
	uint64_t key = (uint64_t)parameter->stream << 32 | parameter->module;
	const uint64_t *use = wti_map_find_number(&training->used, key);

	return use ? *use : 0;
}

bool wti_parameter_is_used(const struct wti_training *training,
			   const struct wti_parameter *parameter)
{
	return use_of(training, parameter) & WTI_USE_GRAD;
}

bool wti_parameter_is_shut_off(const struct wti_training *training,
			       const struct wti_parameter *parameter)
{
	return use_of(training, parameter) & WTI_USE_SHUT_OFF;
}

struct wti_call wti_parameter_use(const struct wti_training *training,
				  const struct wti_parameter *parameter)
{
	return (struct wti_call){.stream = parameter->stream,
				 .callee = parameter->module,
				 .site = (uint32_t)(use_of(training, parameter) >> 32)};
}

bool wti_parameter_is_matrix(const struct wti_training *training,
			     const struct wti_parameter *parameter)
{
	return strchr(wti_symbol_text(training->symbols, parameter->shape), 'x');
}

bool wti_is_model_call(const struct wti_call *call)
{
	return call->flags & WT_CALL_OUTERMOST && call->what == WTI_CALLEE_OTHER;
}

bool wti_dropout_is_idle(const struct wti_training *training, size_t stream, uint32_t module)
{
	const uint64_t *rate =
		wti_map_find_number(&training->rates, (uint64_t)stream << 32 | module);

	return rate && *rate == 1;
}

bool wti_optimizer_is_used(const struct wti_training *training, const struct wti_object *optimizer)
{
	for (uint32_t i = 0; i < optimizer->member_count; i++)
		if (wti_parameter_is_used(training, wti_object_member(training, optimizer, i)))
			return true;
	return false;
}

bool wti_parameter_lr(const struct wti_training *training, const struct wti_parameter *parameter,
		      double *ret_lr)
{
	const struct wti_object *optimizer;

	if (!parameter->optimizer || parameter->group >= WTI_GROUPS_MAX)
		return false;
	optimizer = wti_object_at(training, parameter->optimizer - 1);
	if (!(optimizer->lr_known & 1u << parameter->group))
		return false;
	*ret_lr = optimizer->lr[parameter->group];
	return true;
}

const struct wti_parameter *wti_object_member(const struct wti_training *training,
					      const struct wti_object *object, uint32_t index)
{
	return index < object->member_count ? wti_parameter_at(training, object->members[index])
					    : NULL;
}

uint32_t wti_root_of(const struct wti_training *training, uint32_t module)
{
	const char *text = wti_symbol_text(training->symbols, module);
	const char *dot = strchr(text, '.');

	return dot ? wti_symbol(training->symbols, text, (size_t)(dot - text)) : module;
}

const char *wti_moment_text(const struct wti_moment *moment, uint32_t symbol)
{
	return wti_symbol_text(moment->training->symbols, symbol);
}

bool wti_stage_is(const struct wti_moment *moment, const char *stage)
{
	return !strcmp(wti_moment_text(moment, moment->scope.stage), stage);
}

/* "Net.body" has what is in "Net.body.0". */
static bool is_inside(const struct wti_training *training, uint32_t module, const char *part)
{
	const char *name = wti_symbol_text(training->symbols, module);
	size_t bytes = strlen(part);

	return !strncmp(name, part, bytes) && (!name[bytes] || name[bytes] == '.');
}

bool wti_is_training_call(const struct wti_call *call)
{
	return call->flags & WT_CALL_TRAIN && call->flags & WT_CALL_GRAD;
}

bool wti_is_evaluation_call(const struct wti_call *call)
{
	return call->flags & WT_CALL_MODE_KNOWN && !(call->flags & WT_CALL_TRAIN);
}

bool wti_loader_is_begun(const struct wti_moment *moment)
{
	static const char method[] = "__iter__";
	const char *callee = wti_moment_text(moment, moment->call->callee);
	size_t bytes = strlen(callee), method_bytes = strlen(method);

	return bytes >= method_bytes && !strcmp(callee + bytes - method_bytes, method);
}

double wti_ignored_class(const struct wti_moment *moment)
{
	uint32_t name = wti_symbol_word(moment->training->symbols, "ignore_index");
	double ignored = -100; /* torch's own */

	wti_call_as_number(moment->call, name, -2, &ignored);
	return ignored;
}

bool wti_model_is_trained(const struct wti_training *training, size_t stream, uint32_t model)
{
	const char *name = wti_symbol_text(training->symbols, model);
	bool is_part = strchr(name, '.');

	for (size_t i = 0; i < training->parameters.count; i++) {
		const struct wti_parameter *parameter = wti_parameter_at(training, i);

		if (parameter->stream != stream || !parameter->step_count)
			continue;
		if (is_part ? is_inside(training, parameter->module, name)
			    : parameter->owner == model)
			return true;
	}
	return false;
}

bool wti_object_replicates(const struct wti_training *training, const struct wti_object *object)
{
	return object->type == WT_OBJECT_TYPE_WRAPPER &&
	       strstr(wti_symbol_text(training->symbols, object->class_name),
		      "DistributedDataParallel");
}

bool wti_model_is_replicated(const struct wti_training *training, size_t stream, uint32_t model)
{
	for (size_t i = 0; i < training->objects.count; i++) {
		const struct wti_object *object = wti_object_at(training, i);

		if (object->stream == stream && object->of == model &&
		    wti_object_replicates(training, object))
			return true;
	}
	return false;
}

bool wti_module_is_frozen(const struct wti_training *training, size_t stream, uint32_t module)
{
	bool has_any = false;

	for (size_t i = 0; i < training->parameters.count; i++) {
		const struct wti_parameter *parameter = wti_parameter_at(training, i);

		if (parameter->stream != stream || parameter->module != module ||
		    parameter->is_buffer)
			continue;
		if (parameter->requires_grad)
			return false;
		has_any = true;
	}
	return has_any;
}

/* "key.1.weight" -> "1.weight" */
static const char *name_below(const struct wti_moment *moment,
			      const struct wti_parameter *parameter)
{
	const char *name = wti_moment_text(moment, parameter->name);
	const char *dot = strchr(name, '.');

	return dot ? dot + 1 : name;
}

static bool has_twin_of(const struct wti_moment *moment, const struct wti_parameter *own)
{
	for (size_t i = 0; i < moment->training->parameters.count; i++) {
		const struct wti_parameter *other = wti_parameter_at(moment->training, i);

		if (other->stream == own->stream && other->owner == own->owner &&
		    other->requires_grad && other->shape == own->shape &&
		    !strcmp(name_below(moment, other), name_below(moment, own)))
			return true;
	}
	return false;
}

bool wti_has_trained_twin(const struct wti_moment *moment, uint32_t module)
{
	for (size_t i = 0; i < moment->training->parameters.count; i++) {
		const struct wti_parameter *own = wti_parameter_at(moment->training, i);

		if (own->stream == moment->process->stream && own->module == module &&
		    !own->is_buffer)
			return has_twin_of(moment, own);
	}
	return false;
}

bool wti_is_of_arrays(const struct wti_moment *moment)
{
	return moment->call && !strcmp(wti_moment_text(moment, moment->call->module), "numpy");
}
