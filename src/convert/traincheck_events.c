/* SPDX-License-Identifier: Apache-2.0 */
/* Records of TrainCheck's as our events: calls with their values, variables. */
#include <stdio.h>
#include <string.h>

#include <xxhash.h>

#include "base/doc_write.h"
#include "base/json.h"
#include "base/number.h"
#include "inspect/traincheck/traincheck_names.h"
#include "inspect/traincheck/value.h"
#include "traincheck_row.h"

#define TEXT_BYTES 512
#define ATTRIBUTES_MAX (16u << 10)
#define MODEL "model"
#define OPTIMIZER "optimizer"
#define STEP "torch.optim.optimizer.Optimizer.step"
#define REPLICAS "DistributedDataParallel" /* what keeps a model equal on ranks is called so */

/* ---- Writing -------------------------------------------------------------------------------- */

uint32_t wti_tc_string(struct wti_tc_row *row, const char *text)
{
	struct wti_map *strings = &row->process->strings;
	size_t before = strings->count;
	uint64_t *slot = wti_map_text(strings, text, strlen(text));

	if (!slot || !*text)
		return 0;
	if (strings->count > before) {
		*slot = strings->count;
		wt_writer_string(row->process->writer, (uint32_t)*slot, text, strlen(text));
	}
	return (uint32_t)*slot;
}

static uint64_t append(struct wti_tc_row *row, uint16_t kind, const uint64_t *values, size_t count,
		       const char *text)
{
	struct wt_text texts[1] = {{text, strlen(text)}};
	uint64_t seq = ++row->track->seq;
	int r;

	if (row->time_ns < row->track->last_ns)
		row->time_ns = row->track->last_ns;
	row->track->last_ns = row->time_ns;
	r = wt_writer_append(row->process->writer, kind, row->track->id, seq, row->time_ns, values,
			     count, texts);
	if (r && !row->failed)
		row->failed = r;
	return seq;
}

/* What TrainCheck dumps after a step is its outcome, up to the next thing on the track. */
static void end_step(struct wti_tc_row *row, uint16_t kind)
{
	uint64_t values[WT_STEP_END_FIELD_CALL + 1] = {0};

	if (kind == WT_KIND_STATE || kind == WT_KIND_MEMBER || kind == WT_KIND_OBJECT)
		return;
	values[WT_STEP_END_FIELD_OBJECT] = wti_tc_string(row, OPTIMIZER);
	values[WT_STEP_END_FIELD_CALL] = (uint32_t)row->track->stepped;
	append(row, WT_KIND_STEP_END, values, WT_STEP_END_FIELD_CALL + 1, "");
	row->track->stepped = 0;
}

/* The sequence number that it got. */
uint64_t wti_tc_append(struct wti_tc_row *row, uint16_t kind, const uint64_t *values, size_t count,
		       const char *text)
{
	if (row->track->stepped)
		end_step(row, kind);
	return append(row, kind, values, count, text);
}

/* ---- Reading -------------------------------------------------------------------------------- */

const char *wti_tc_text_in(const struct wti_doc *table, const char *key)
{
	const struct wti_doc *doc = wti_doc_get(table, key);

	return doc && doc->type == WTI_DOC_STRING && doc->string.bytes < TEXT_BYTES
		       ? doc->string.data
		       : "";
}

int64_t wti_tc_number(const struct wti_doc *table, const char *key, int64_t otherwise)
{
	const struct wti_doc *doc = wti_doc_get(table, key);

	if (doc && doc->type == WTI_DOC_INT)
		return doc->integer;
	return doc && doc->type == WTI_DOC_FLOAT && doc->number > -1e15 && doc->number < 1e15
		       ? wti_i64_of(doc->number)
		       : otherwise;
}

static uint64_t dtype_of(const struct wti_doc *attributes)
{
	const char *name = wti_traincheck_dtype(wti_tc_text_in(attributes, "dtype"));
	const struct wt_field *field =
		&wt_kind_builtin(WT_KIND_TENSOR)->fields[WT_TENSOR_FIELD_DTYPE];

	for (unsigned i = 0; i < field->enum_count; i++)
		if (!strcmp(field->enum_names[i], name))
			return i;
	return WT_DTYPE_OTHER;
}

/* "64x3x7x7", and how many elements that are. */
static uint64_t shape_of(const struct wti_doc *attributes, char *out, size_t bytes)
{
	const struct wti_doc *shape = wti_doc_get(attributes, "shape");
	uint64_t count = 1;
	size_t at = 0;

	*out = 0;
	for (const struct wti_doc *extent = shape && shape->type == WTI_DOC_ARRAY ? shape->first
										  : NULL;
	     extent && at + 24 < bytes; extent = extent->next) {
		int64_t number =
			extent->type == WTI_DOC_INT && extent->integer >= 0 ? extent->integer : 0;

		at += (size_t)snprintf(out + at, bytes - at, "%s%lld", at ? "x" : "",
				       (long long)number);
		count = count > UINT64_MAX / 4 / ((uint64_t)number + 1) ? count
									: count * (uint64_t)number;
	}
	return count;
}

static bool is_true(const struct wti_doc *table, const char *key)
{
	const struct wti_doc *doc = wti_doc_get(table, key);

	return doc && doc->type == WTI_DOC_BOOL && doc->boolean;
}

/* ---- Calls ---------------------------------------------------------------------------------- */

/* By the name, which is all that TrainCheck has; that of a step and its optimizer by its class. */
static enum wt_action action_of(const char *module, const char *callee)
{
	const char *dot = strrchr(callee, '.');
	const char *method = dot ? dot + 1 : callee;
	bool is_scheduler = !strncmp(module, "torch.optim.lr_scheduler", 24);
	bool is_of_torch = !strcmp(module, "torch") || !strcmp(module, "torch.serialization");

	if (dot && !strcmp(method, "step") && !strncmp(module, "torch.optim", 11))
		return is_scheduler ? WT_ACTION_SCHEDULER_STEP : WT_ACTION_STEP;
	if (dot && !strcmp(method, "zero_grad"))
		return WT_ACTION_ZERO_GRAD;
	if (dot && !strcmp(method, "forward"))
		return WT_ACTION_FORWARD;
	if (!strcmp(callee, "Tensor.backward") ||
	    (!strcmp(callee, "backward") && !strncmp(module, "torch.autograd", 14)))
		return WT_ACTION_BACKWARD;
	if (is_of_torch && !strcmp(callee, "save"))
		return WT_ACTION_SAVE;
	return is_of_torch && !strcmp(callee, "load") ? WT_ACTION_LOAD : WT_ACTION_NONE;
}

static uint64_t begin_call(struct wti_tc_row *row, const char *path, const char *object)
{
	char module[TEXT_BYTES], callee[TEXT_BYTES];
	uint64_t values[WT_CALL_BEGIN_FIELD_ACTION + 1];

	wti_traincheck_split(path, module, callee, sizeof(module));
	values[WT_CALL_BEGIN_FIELD_CALLEE] = wti_tc_string(row, callee);
	values[WT_CALL_BEGIN_FIELD_MODULE] = wti_tc_string(row, module);
	values[WT_CALL_BEGIN_FIELD_SITE] = 0;
	values[WT_CALL_BEGIN_FIELD_FLAGS] = 0;
	values[WT_CALL_BEGIN_FIELD_OBJECT] = wti_tc_string(row, object);
	values[WT_CALL_BEGIN_FIELD_ACTION] = action_of(module, callee);
	return wti_tc_append(row, WT_KIND_CALL_BEGIN, values, WT_CALL_BEGIN_FIELD_ACTION + 1, "");
}

static void end_call(struct wti_tc_row *row, uint64_t call, const char *path, const char *exception)
{
	char module[TEXT_BYTES], callee[TEXT_BYTES];
	uint64_t values[2];

	wti_traincheck_split(path, module, callee, sizeof(module));
	values[WT_CALL_END_FIELD_CALLEE] = wti_tc_string(row, callee);
	values[WT_CALL_END_FIELD_EXCEPTION] = wti_tc_string(row, exception);
	wti_tc_append(row, WT_KIND_CALL_END, values, 2, "");
	if (!*exception && action_of(module, callee) == WT_ACTION_STEP)
		row->track->stepped = call;
}

/* All that the record says of a tensor or a variable but its contents, as a text; 0: too long. */
static uint32_t attributes_of(struct wti_tc_row *row, const char *type,
			      const struct wti_doc *attributes)
{
	struct wti_json json;
	struct wti_buf text;
	uint32_t id;

	wti_buf_init(&text, ATTRIBUTES_MAX);
	wti_json_init(&json, &text, false);
	wti_json_object(&json);
	if (*type) {
		wti_json_key(&json, "var_type");
		wti_json_text(&json, type);
	}
	for (const struct wti_doc *child = attributes->first; child; child = child->next) {
		if (*type && (!strcmp(child->key, "data") || !strcmp(child->key, "grad") ||
			      !strcmp(child->key, "var_type")))
			continue; /* a key may be there only once */
		wti_json_key(&json, child->key);
		wti_doc_write(&json, child);
	}
	wti_json_object_end(&json);
	id = wti_tc_string(row, wti_buf_cstr(&text));
	wti_buf_release(&text);
	return id;
}

static void report_attributes(struct wti_tc_row *row, uint32_t owner, uint64_t call, uint32_t text)
{
	uint64_t values[WT_ATTRIBUTES_FIELD_TEXT + 1] = {owner, (uint32_t)call, text};

	if (text)
		wti_tc_append(row, WT_KIND_ATTRIBUTES, values, WT_ATTRIBUTES_FIELD_TEXT + 1, "");
}

/* What stands for a tensor's contents: the text that describes the call's arguments. */
static uint64_t description_hash(const struct wti_tc_row *row)
{
	const char *from = memmem(row->line, row->line_bytes, "\"args\"", 6);
	const char *to = memmem(row->line, row->line_bytes, "\"kwargs\"", 8);

	return from && to > from ? XXH3_64bits(from, (size_t)(to - from)) : 0;
}

static void report_tensor(struct wti_tc_row *row, uint64_t call, int32_t position, const char *name,
			  const struct wti_doc *attributes)
{
	uint64_t values[WT_TENSOR_FIELD_POSITION + 1] = {0};
	uint64_t hash = position >= 0 ? description_hash(row) : 0;
	char shape[256];

	values[WT_TENSOR_FIELD_NAME] = wti_tc_string(row, name);
	values[WT_TENSOR_FIELD_DTYPE] = dtype_of(attributes);
	values[WT_TENSOR_FIELD_COUNT] = shape_of(attributes, shape, sizeof(shape));
	values[WT_TENSOR_FIELD_SHAPE] = wti_tc_string(row, shape);
	values[WT_TENSOR_FIELD_FLAGS] =
		WT_TENSOR_NO_STATISTICS |
		(is_true(attributes, "requires_grad") ? WT_TENSOR_REQUIRES_GRAD : 0) |
		(hash ? 0 : WT_TENSOR_NO_HASH);
	values[WT_TENSOR_FIELD_HASH] = hash;
	values[WT_TENSOR_FIELD_CALL] = (uint32_t)call;
	values[WT_TENSOR_FIELD_POSITION] = (uint64_t)(int64_t)position;
	wti_tc_append(row, WT_KIND_TENSOR, values, WT_TENSOR_FIELD_POSITION + 1, "");
	report_attributes(row, 0, call, attributes_of(row, "", attributes));
}

static void report_scalar(struct wti_tc_row *row, uint64_t call, int32_t position, const char *name,
			  const struct wti_doc *value)
{
	uint64_t values[6] = {(uint32_t)call, (uint64_t)(int64_t)position,
			      wti_tc_string(row, name)};
	const char *text = "";

	switch (value->type) {
	case WTI_DOC_BOOL:
		values[WT_ARGUMENT_FIELD_TYPE] = WT_VALUE_TYPE_BOOL;
		values[WT_ARGUMENT_FIELD_VALUE] = value->boolean;
		break;
	case WTI_DOC_INT:
		values[WT_ARGUMENT_FIELD_TYPE] = WT_VALUE_TYPE_INT;
		values[WT_ARGUMENT_FIELD_VALUE] = (uint64_t)value->integer;
		break;
	case WTI_DOC_FLOAT:
		values[WT_ARGUMENT_FIELD_TYPE] = WT_VALUE_TYPE_FLOAT;
		memcpy(&values[WT_ARGUMENT_FIELD_VALUE], &value->number, 8);
		break;
	case WTI_DOC_STRING:
		values[WT_ARGUMENT_FIELD_TYPE] = WT_VALUE_TYPE_TEXT;
		text = value->string.bytes < TEXT_BYTES ? value->string.data : "";
		break;
	default:
		break;
	}
	wti_tc_append(row, WT_KIND_ARGUMENT, values, 6, text);
}

/* As the text that it is. */
static void report_list(struct wti_tc_row *row, uint64_t call, int32_t position, const char *name,
			const struct wti_doc *list)
{
	struct wti_doc value = {.type = WTI_DOC_STRING};
	struct wti_buf text;

	wti_buf_init(&text, TEXT_BYTES);
	wti_tc_write(&text, list);
	value.string.data = wti_buf_cstr(&text);
	value.string.bytes = text.bytes;
	if (!wti_buf_status(&text))
		report_scalar(row, call, position, name, &value);
	wti_buf_release(&text);
}

/* By its type, as our own agent emits what is no value; and what is said of it. */
static void report_object(struct wti_tc_row *row, uint64_t call, int32_t position, const char *name,
			  const struct wti_doc *object)
{
	uint64_t values[6] = {(uint32_t)call, (uint64_t)(int64_t)position, wti_tc_string(row, name),
			      WT_VALUE_TYPE_NONE};
	char type[TEXT_BYTES];

	snprintf(type, sizeof(type), "<%s>", object->key);
	wti_tc_append(row, WT_KIND_ARGUMENT, values, 6, type);
	report_attributes(row, 0, call, attributes_of(row, "", object));
}

/* {"torch.Tensor": {...}} or {"float": 0.1} */
static void report_value(struct wti_tc_row *row, uint64_t call, int32_t position, const char *name,
			 const struct wti_doc *typed)
{
	const struct wti_doc *value = typed && typed->type == WTI_DOC_TABLE ? typed->first : NULL;

	if (!value)
		return;
	if (value->type == WTI_DOC_TABLE && wti_doc_get(value, "shape"))
		report_tensor(row, call, position, name, value);
	else if (value->type == WTI_DOC_ARRAY)
		report_list(row, call, position, name, value);
	else if (value->type == WTI_DOC_TABLE)
		report_object(row, call, position, name, value);
	else
		report_scalar(row, call, position, name, value);
}

static void take_begin(struct wti_tc_row *row)
{
	const char *path = wti_tc_text_in(row->doc, "function");
	const struct wti_doc *args = wti_doc_get(row->doc, "args");
	const struct wti_doc *kwargs = wti_doc_get(row->doc, "kwargs");
	const char *id = wti_tc_text_in(row->doc, "func_call_id");
	bool is_optimizer = !strncmp(path, "torch.optim.", 12) && !strstr(path, "lr_scheduler");
	uint64_t call = begin_call(row, path, is_optimizer ? OPTIMIZER : "");
	uint64_t *slot = *id ? wti_map_text(&row->process->calls, id, strlen(id)) : NULL;
	int32_t position = 0;

	row->process->has_calls = true;
	wti_tc_manager(row, path, true);
	if (slot)
		*slot = call;
	for (const struct wti_doc *value = args ? args->first : NULL; value; value = value->next)
		report_value(row, call, position++, "", value);
	for (const struct wti_doc *value = kwargs ? kwargs->first : NULL; value;
	     value = value->next)
		report_value(row, call, position++, value->key ? value->key : "", value);
}

static void take_end(struct wti_tc_row *row, const char *exception)
{
	const struct wti_doc *returned = wti_doc_get(row->doc, "return_values");
	const char *id = wti_tc_text_in(row->doc, "func_call_id");
	const uint64_t *call = wti_map_find_text(&row->process->calls, id, strlen(id));

	if (!call)
		return; /* it began before the trace did */
	if (returned && returned->type == WTI_DOC_ARRAY)
		for (const struct wti_doc *value = returned->first; value; value = value->next)
			report_value(row, *call, -1, "", value);
	else
		report_value(row, *call, -1, "", returned);
	end_call(row, *call, wti_tc_text_in(row->doc, "function"), exception);
	wti_tc_manager(row, wti_tc_text_in(row->doc, "function"), false);
}

/* ---- Variables ------------------------------------------------------------------------------ */

static void report_thing(struct wti_tc_row *row, const char *name, const char *class_name,
			 const char *of, uint32_t type)
{
	uint64_t values[WT_OBJECT_FIELD_SITE + 1] = {0};

	values[WT_OBJECT_FIELD_NAME] = wti_tc_string(row, name);
	values[WT_OBJECT_FIELD_CLASS] = wti_tc_string(row, class_name);
	values[WT_OBJECT_FIELD_OF] = wti_tc_string(row, of);
	values[WT_OBJECT_FIELD_TYPE] = type;
	wti_tc_append(row, WT_KIND_OBJECT, values, WT_OBJECT_FIELD_SITE + 1, "");
}

static void report_member(struct wti_tc_row *row, const char *object, const char *name,
			  uint32_t role, const struct wti_doc *attributes)
{
	uint64_t values[WT_MEMBER_FIELD_FLAGS + 1] = {0};
	char shape[256];

	shape_of(attributes, shape, sizeof(shape));
	values[WT_MEMBER_FIELD_OBJECT] = wti_tc_string(row, object);
	values[WT_MEMBER_FIELD_NAME] = values[WT_MEMBER_FIELD_KNOWN_AS] = wti_tc_string(row, name);
	values[WT_MEMBER_FIELD_OWNER] = wti_tc_string(row, MODEL);
	values[WT_MEMBER_FIELD_ROLE] = role;
	values[WT_MEMBER_FIELD_DTYPE] = dtype_of(attributes);
	values[WT_MEMBER_FIELD_SHAPE] = wti_tc_string(row, shape);
	values[WT_MEMBER_FIELD_FLAGS] =
		is_true(attributes, "requires_grad") ? WT_MEMBER_REQUIRES_GRAD : 0;
	wti_tc_append(row, WT_KIND_MEMBER, values, WT_MEMBER_FIELD_FLAGS + 1, "");
}

static void report_state(struct wti_tc_row *row, const char *name, const struct wti_doc *value,
			 bool first)
{
	uint64_t values[7] = {wti_tc_string(row, MODEL), wti_tc_string(row, name)};

	values[WT_STATE_FIELD_TYPE] = WT_VALUE_TYPE_HASH;
	values[WT_STATE_FIELD_FLAGS] = first ? WT_STATE_FIRST : 0;
	if (value->type == WTI_DOC_NULL)
		values[WT_STATE_FIELD_TYPE] = WT_VALUE_TYPE_NONE;
	else if (value->type == WTI_DOC_INT)
		values[WT_STATE_FIELD_NEW] = (uint64_t)value->integer;
	else if (value->type == WTI_DOC_FLOAT)
		memcpy(&values[WT_STATE_FIELD_NEW], &value->number, 8);
	wti_tc_append(row, WT_KIND_STATE, values, 7, "");
}

/* Most of what is said of a variable never changes. */
static void report_about(struct wti_tc_row *row, const char *name, const struct wti_doc *attributes)
{
	const char *type = wti_tc_text_in(row->doc, "var_type");
	uint32_t id = attributes_of(row, *type ? type : "torch.nn.Parameter", attributes);
	uint64_t *last = wti_map_text(&row->process->attributes, name, strlen(name));

	if (last && *last == id)
		return;
	if (last)
		*last = id;
	report_attributes(row, wti_tc_string(row, name), 0, id);
}

/* Data-parallel ranks hold the same model, unless another kind of rank says that they share it. */
static bool is_replica(const struct wti_doc *meta)
{
	bool replica = false;

	for (const struct wti_doc *value = meta ? meta->first : NULL; value; value = value->next) {
		if (!value->key || !strstr(value->key, "RANK"))
			continue;
		if (!strstr(value->key, "DATA_PARALLEL"))
			return false;
		replica = true;
	}
	return replica;
}

static void take_variable(struct wti_tc_row *row)
{
	const struct wti_doc *attributes = wti_doc_get(row->doc, "attributes");
	const struct wti_doc *data = wti_doc_get(attributes, "data");
	const struct wti_doc *grad = wti_doc_get(attributes, "grad");
	const char *name = wti_tc_text_in(row->doc, "var_name");
	size_t before = row->process->members.count;
	char of_grad[TEXT_BYTES + 8];
	bool is_new;

	if (!*name || !data)
		return;
	wti_map_text(&row->process->members, name, strlen(name));
	is_new = row->process->members.count > before;
	if (!row->process->has_objects) {
		report_thing(row, MODEL, MODEL, "", WT_OBJECT_TYPE_MODULE);
		report_thing(row, OPTIMIZER, OPTIMIZER, "", WT_OBJECT_TYPE_OPTIMIZER);
		row->process->has_objects = true;
	}
	/* Scripts say their rank after they have made the model. */
	if (!row->process->says_replica && is_replica(wti_doc_get(row->doc, "meta_vars"))) {
		report_thing(row, REPLICAS, REPLICAS, MODEL, WT_OBJECT_TYPE_WRAPPER);
		row->process->says_replica = true;
	}
	if (is_new) {
		report_member(row, MODEL, name, WT_ROLE_PARAMETER, attributes);
		if (row->process->has_calls || is_true(attributes, "requires_grad"))
			report_member(row, OPTIMIZER, name, WT_ROLE_OPTIMIZED, attributes);
	}
	report_about(row, name, attributes);
	snprintf(of_grad, sizeof(of_grad), "%s.grad", name);
	if (grad)
		report_state(row, of_grad, grad, is_new);
	report_state(row, name, data, is_new);
}

/* ---- Records --------------------------------------------------------------------------------- */

/* Nothing else of the program was recorded: what did not happen is not known. */
static void report_lost(struct wti_tc_row *row)
{
	uint64_t values[7] = {0};

	values[WT_LOST_FIELD_REASON] = WT_LOST_GAP;
	values[WT_LOST_FIELD_OF] = WT_KIND_CALL_BEGIN;
	values[WT_LOST_FIELD_COUNT] = 1;
	wti_tc_append(row, WT_KIND_LOST, values, 7, "");
	row->process->says_lost = true;
}

void wti_tc_take(struct wti_tc_row *row)
{
	const char *type = wti_tc_text_in(row->doc, "type");
	const struct wti_doc *meta = wti_doc_get(row->doc, "meta_vars");
	int64_t step = wti_tc_number(meta, "step", -1);

	wti_tc_where(row);
	/* Variables alone: they were dumped because the optimizer had stepped. */
	if (!strcmp(type, "state_change") && !row->process->has_calls && step >= 0 &&
	    step != row->process->step && row->process->has_objects) {
		if (!row->process->says_lost)
			report_lost(row);
		end_call(row, begin_call(row, STEP, OPTIMIZER), STEP, "");
	}
	if (step >= 0)
		row->process->step = step;
	if (!strcmp(type, "state_change"))
		take_variable(row);
	else if (!strcmp(type, "function_call (pre)"))
		take_begin(row);
	else if (!strcmp(type, "function_call (post)"))
		take_end(row, "");
	else if (!strcmp(type, "function_call (post) (exception)"))
		take_end(row, wti_tc_text_in(row->doc, "exception"));
}
