/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program that a test of rules describes, and the events that an agent would emit of it. Names
 * are known by their symbols; there is no file behind them.
 */
#ifndef RULES_EVENTS_H
#define RULES_EVENTS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "inspect/judge/judge.h"
#include "inspect/training/members.h"
#include "test.h"

enum {
	VALUES_MAX = 16,
	STREAMS = 2,
	OBJECTS_MAX = 64,
	PARAMETERS_MAX = 64,
	GROUPS_MAX = 4,
	DEPTH_MAX = 8,
	TRACK = 1,
};

/* What the program has; `name`, `class_name` and the like are symbols. */
struct made_object {
	size_t stream;
	uint32_t name, class_name, of;
	uint32_t type, how, site;
	double lr[GROUPS_MAX];
	uint32_t lr_known; /* a bit for each group */
};

struct made_parameter {
	size_t stream;
	uint32_t owner, name, shape, dtype;
	const struct made_object *optimizer;
	uint32_t group;
	bool is_buffer, requires_grad;
	bool is_loose; /* no module has it */
	uint64_t hash;
	bool moved; /* by every step of its optimizer, also if `hash` stays as it is */
	bool has_statistics, has_grad_statistics;
	struct wti_digest_row statistics, grad_statistics;
	enum wti_grad grad; /* that a step finds; unknown: none was recorded */
	uint64_t grad_hash;
};

struct open_call {
	uint32_t callee;
	uint32_t object;
	uint32_t seq;
};

struct world {
	struct wti_training training;
	struct wti_judge judge;
	size_t stream; /* that acts */
	struct wti_scope scope;
	struct made_object objects[OBJECTS_MAX], known_objects[OBJECTS_MAX];
	struct made_parameter parameters[PARAMETERS_MAX], known_parameters[PARAMETERS_MAX];
	size_t object_count, parameter_count;
	/* The call that is being described. */
	struct wti_call call;
	struct wti_value_row values[VALUES_MAX];
	uint32_t owner; /* of the next fact, if it is not an object */
	/* Of each stream. */
	struct open_call open[STREAMS][DEPTH_MAX];
	uint32_t open_count[STREAMS];
	struct wti_scope known_scope[STREAMS];
	bool has_gone_backward[STREAMS];     /* since the last step */
	bool has_counted_gradients[STREAMS]; /* for the next step */
	const struct made_object *stepping;  /* its parameters change when it has stepped */
	/* The event that is being made. */
	struct wt_event event;
	struct wt_batch batch;
	uint64_t fields[WT_FIELDS_MAX];
	uint32_t text_at[WT_FIELDS_MAX][2];
	char text[256]; /* of its one text */
	uint64_t seq;
	uint32_t heard; /* types of the moments that the last call became, bits */
	void (*listen)(void *listener, const struct wti_moment *moment); /* beside the judge */
	void *listener;
};

static inline void ignore(void *self, const struct wti_moment *moment)
{
}

static inline uint32_t word(struct world *w, const char *text)
{
	return wti_symbol_word(w->training.symbols, text);
}

/* ---- Beginning and end ---------------------------------------------------------------------- */

static inline void hear(void *self, const struct wti_moment *moment)
{
	struct world *w = self;

	w->heard |= moment->type;
	wti_judge_moment(&w->judge, moment);
	if (w->listen)
		w->listen(w->listener, moment);
}

static inline void begin(struct world *w)
{
	struct wt_err err = {.offset = -1};

	*w = (struct world){.scope = {.step = 0, .epoch = -1, .rank = -1, .world = -1}};
	CHECK_INT(wti_training_init(&w->training, hear, w, &err), 0);
	CHECK_INT(wti_judge_init(&w->judge, &w->training, &err), 0);
	for (size_t i = 0; i < STREAMS; i++) {
		CHECK(wti_training_process(&w->training, i));
		w->known_scope[i] =
			(struct wti_scope){.step = -1, .epoch = -1, .rank = -1, .world = -1};
	}
	w->scope.stage = word(w, "train");
}

static inline void end(struct world *w)
{
	wti_judge_release(&w->judge);
	wti_training_release(&w->training);
}

/* ---- Events --------------------------------------------------------------------------------- */

/* Ids of names are a stream's own; here they are the symbols. */
static inline void know_name(struct world *w, size_t stream, uint32_t symbol)
{
	struct wti_symbols *symbols = w->training.symbols;
	struct wti_symbol_cache *cache;

	CHECK_INT(wti_grow_zeroed(&symbols->caches, stream + 1, &symbols->cache_count,
				  WTI_NO_CEILING),
		  0);
	cache = &symbols->caches[stream];
	CHECK_INT(wti_grow_zeroed(&cache->symbols, symbol + 1, &cache->count, WTI_NO_CEILING), 0);
	cache->symbols[symbol] = symbol + 1;
}

static inline void begin_event(struct world *w, size_t stream, uint16_t kind)
{
	w->event = (struct wt_event){.kind = wt_kind_builtin(kind),
				     .batch = &w->batch,
				     .stream = stream,
				     .track = TRACK,
				     .seq = ++w->seq,
				     .time_ns = (int64_t)w->seq * 1000};
	for (int i = 0; i < w->event.kind->field_count; i++) {
		w->fields[i] = 0;
		w->text_at[i][1] = 0;
		w->batch.values[i] = &w->fields[i];
		w->batch.text[i] = w->text;
		w->batch.text_at[i] = w->text_at[i];
	}
	know_name(w, stream, WTI_SYMBOL_NONE);
}

static inline void set(struct world *w, int field, uint64_t value)
{
	w->fields[field] = value;
}

static inline void set_real(struct world *w, int field, double value)
{
	memcpy(&w->fields[field], &value, sizeof(value));
}

/* Of a name, or of the text. */
static inline void set_symbol(struct world *w, int field, uint32_t symbol)
{
	if (w->event.kind->fields[field].type == WT_TYPE_NAME) {
		know_name(w, w->event.stream, symbol);
		w->fields[field] = symbol;
		return;
	}
	w->text_at[field][1] = (uint32_t)snprintf(w->text, sizeof(w->text), "%s",
						  wti_symbol_text(w->training.symbols, symbol));
}

static inline void emit(struct world *w)
{
	CHECK_INT(wti_training_event(&w->training, &w->event, NULL), 0);
}

static inline void set_digest(struct world *w, const struct wti_digest_row *digest)
{
	set(w, WT_TENSOR_FIELD_DTYPE, digest->dtype);
	set_symbol(w, WT_TENSOR_FIELD_SHAPE, digest->shape);
	set(w, WT_TENSOR_FIELD_FLAGS, digest->flags);
	set(w, WT_TENSOR_FIELD_COUNT, digest->count);
	set(w, WT_TENSOR_FIELD_HASH, digest->hash);
	set(w, WT_TENSOR_FIELD_NAN, digest->nan);
	set(w, WT_TENSOR_FIELD_INF, digest->inf);
	set(w, WT_TENSOR_FIELD_ZEROS, digest->zeros);
	set_real(w, WT_TENSOR_FIELD_MIN, digest->min);
	set_real(w, WT_TENSOR_FIELD_MAX, digest->max);
	set_real(w, WT_TENSOR_FIELD_MEAN, digest->mean);
	set_real(w, WT_TENSOR_FIELD_M2, digest->m2);
}

static inline void begin_state(struct world *w, size_t stream, uint32_t owner, uint32_t attribute,
			       uint64_t type)
{
	begin_event(w, stream, WT_KIND_STATE);
	set_symbol(w, WT_STATE_FIELD_OWNER, owner);
	set_symbol(w, WT_STATE_FIELD_ATTRIBUTE, attribute);
	set(w, WT_STATE_FIELD_TYPE, type);
}

/* ---- What was described since --------------------------------------------------------------- */

static inline void emit_context(struct world *w, const char *key, int64_t value, uint32_t text)
{
	begin_event(w, w->stream, WT_KIND_CONTEXT);
	set_symbol(w, WT_CONTEXT_FIELD_KEY, word(w, key));
	set(w, WT_CONTEXT_FIELD_TYPE, text ? WT_VALUE_TYPE_TEXT : WT_VALUE_TYPE_INT);
	set(w, WT_CONTEXT_FIELD_VALUE, (uint64_t)value);
	set_symbol(w, WT_CONTEXT_FIELD_TEXT, text);
	emit(w);
}

static inline void flush_scope(struct world *w)
{
	struct wti_scope *known = &w->known_scope[w->stream];

	if (w->scope.world > 1 && known->world != w->scope.world) {
		begin_event(w, w->stream, WT_KIND_RANK);
		set(w, WT_RANK_FIELD_RANK, w->stream);
		set(w, WT_RANK_FIELD_WORLD, (uint64_t)w->scope.world);
		emit(w);
	}
	if (known->step != w->scope.step)
		emit_context(w, "step", w->scope.step, 0);
	if (known->epoch != w->scope.epoch)
		emit_context(w, "epoch", w->scope.epoch, 0);
	if (known->stage != w->scope.stage)
		emit_context(w, "stage", 0, w->scope.stage);
	*known = w->scope;
}

static inline void flush_object(struct world *w, const struct made_object *now,
				struct made_object *known)
{
	bool is_new = !known->name;
	char attribute[32] = "lr";

	if (is_new || known->class_name != now->class_name || known->of != now->of ||
	    known->type != now->type || known->how != now->how || known->site != now->site) {
		begin_event(w, now->stream, WT_KIND_OBJECT);
		set_symbol(w, WT_OBJECT_FIELD_NAME, now->name);
		set(w, WT_OBJECT_FIELD_TYPE, now->type);
		set_symbol(w, WT_OBJECT_FIELD_CLASS, now->class_name);
		set_symbol(w, WT_OBJECT_FIELD_OF, now->of);
		set(w, WT_OBJECT_FIELD_HOW, now->how);
		set(w, WT_OBJECT_FIELD_SITE, now->site);
		emit(w);
	}
	for (int i = 0; i < GROUPS_MAX; i++) {
		if (!(now->lr_known & 1u << i) ||
		    (!is_new && known->lr_known & 1u << i && known->lr[i] == now->lr[i]))
			continue;
		if (i)
			snprintf(attribute, sizeof(attribute), "group%d.lr", i);
		begin_state(w, now->stream, now->name, word(w, attribute), WT_VALUE_TYPE_FLOAT);
		set_real(w, WT_STATE_FIELD_NEW, now->lr[i]);
		emit(w);
	}
	*known = *now;
}

static inline void emit_member(struct world *w, const struct made_parameter *of, uint32_t object,
			       uint32_t name, uint64_t role)
{
	begin_event(w, of->stream, WT_KIND_MEMBER);
	set_symbol(w, WT_MEMBER_FIELD_OBJECT, object);
	set_symbol(w, WT_MEMBER_FIELD_NAME, name);
	set_symbol(w, WT_MEMBER_FIELD_OWNER, of->owner);
	set_symbol(w, WT_MEMBER_FIELD_KNOWN_AS, of->name);
	set(w, WT_MEMBER_FIELD_ROLE, role);
	set(w, WT_MEMBER_FIELD_GROUP, of->group);
	set(w, WT_MEMBER_FIELD_DTYPE, of->dtype);
	set_symbol(w, WT_MEMBER_FIELD_SHAPE, of->shape);
	set(w, WT_MEMBER_FIELD_FLAGS, of->requires_grad);
	emit(w);
}

static inline void emit_statistics(struct world *w, const struct made_parameter *of, uint32_t name,
				   const struct wti_digest_row *statistics, uint64_t hash)
{
	struct wti_digest_row digest = *statistics;

	digest.hash = hash;
	digest.dtype = of->dtype;
	digest.shape = of->shape;
	begin_event(w, of->stream, WT_KIND_TENSOR);
	set_symbol(w, WT_TENSOR_FIELD_NAME, name);
	set_symbol(w, WT_TENSOR_FIELD_OWNER, of->owner);
	set_digest(w, &digest);
	emit(w);
}

static inline void emit_value(struct world *w, const struct made_parameter *of, bool is_first,
			      uint64_t old)
{
	if (of->has_statistics)
		emit_statistics(w, of, of->name, &of->statistics, of->hash);
	begin_state(w, of->stream, of->owner, of->name, WT_VALUE_TYPE_HASH);
	set(w, WT_STATE_FIELD_FLAGS, is_first);
	set(w, WT_STATE_FIELD_OLD, is_first ? 0 : old);
	set(w, WT_STATE_FIELD_NEW, of->hash);
	emit(w);
}

static inline void flush_parameter(struct world *w, const struct made_parameter *now,
				   struct made_parameter *known)
{
	bool is_new = !known->name;
	bool is_changed = is_new || known->shape != now->shape || known->dtype != now->dtype ||
			  known->requires_grad != now->requires_grad;
	uint64_t hash = known->hash, grad_hash;
	enum wti_grad grad;
	char name[32];

	if (!now->is_loose && (is_changed || known->is_buffer != now->is_buffer))
		emit_member(w, now, now->owner, now->name,
			    now->is_buffer ? WT_ROLE_BUFFER : WT_ROLE_PARAMETER);
	snprintf(name, sizeof(name), "group%u.%zu", now->group, (size_t)(now - w->parameters));
	if (now->optimizer &&
	    (is_changed || known->optimizer != now->optimizer || known->group != now->group))
		emit_member(w, now, now->optimizer->name, word(w, name), WT_ROLE_OPTIMIZED);
	if (is_new || (hash != now->hash && (!w->stepping || now->optimizer != w->stepping))) {
		emit_value(w, now, is_new, hash);
		hash = now->hash;
	} else if (now->has_statistics && !known->has_statistics) {
		emit_statistics(w, now, now->name, &now->statistics, hash);
	}
	grad = known->grad;
	grad_hash = known->grad_hash;
	*known = *now;
	known->hash = hash;
	known->grad = grad; /* a step finds the new one */
	known->grad_hash = grad_hash;
}

static inline void flush(struct world *w)
{
	for (size_t i = 0; i < w->object_count; i++)
		if (w->objects[i].stream == w->stream)
			flush_object(w, &w->objects[i], &w->known_objects[i]);
	for (size_t i = 0; i < w->parameter_count; i++)
		if (w->parameters[i].stream == w->stream)
			flush_parameter(w, &w->parameters[i], &w->known_parameters[i]);
	flush_scope(w);
}

#endif
