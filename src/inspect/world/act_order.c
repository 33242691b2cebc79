/* SPDX-License-Identifier: Apache-2.0 */
/* Knows which acts matter to the world, and folds repetitions. */
#include "act_order.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"

#define TEXTS_MAX (1u << 18)
#define WAYS_MAX (1u << 16)
#define MEMORY_MAX ((size_t)128 << 20)
#define FOLD_MAX 64 /* the longest block whose repetition is seen */

const char *wti_when_word(enum wti_when when)
{
	static const char *const words[] = {"start", "step", "end"};

	return when < WTI_WHENS ? words[when] : "?";
}

bool wti_act_text(const struct wti_effects *fx, const struct wti_world_act *act,
		  struct wti_buf *out)
{
	const struct wti_thing *thing = &fx->things[act->thing];

	if (act->effect >= WTI_EFFECT_COUNT || act->effect == WTI_EFFECT_OPENED ||
	    act->effect == WTI_EFFECT_READ_BYTES || act->effect == WTI_EFFECT_LOADED)
		return false;
	if (thing->type != WTI_THING_FILE && thing->type != WTI_THING_PEER &&
	    thing->type != WTI_THING_PROGRAM &&
	    (thing->type != WTI_THING_PROCESS || act->effect != WTI_EFFECT_STARTED))
		return false;
	wti_buf_printf(out, "%s %s", wti_act_word(fx, act->effect), thing->name);
	return true;
}

/* ---- Sequences ------------------------------------------------------------------------------- */

bool wti_sequence_add(struct wti_sequence *q, uint32_t token)
{
	if (wti_grow(&q->tokens, q->count + 1, &q->capacity, WTI_NO_CEILING))
		return false;
	q->tokens[q->count++] = token;
	for (size_t block = 1; block <= FOLD_MAX && 2 * block <= q->count; block++) {
		const uint32_t *last = q->tokens + q->count - block;

		if (*(last - 1) == token && !memcmp(last - block, last, block * sizeof(*last))) {
			q->count -= block;
			break;
		}
	}
	return true;
}

bool wti_sequence_equal(const struct wti_sequence *a, const struct wti_sequence *b)
{
	return a->count == b->count &&
	       (!a->count || !memcmp(a->tokens, b->tokens, a->count * sizeof(*a->tokens)));
}

/* ---- The order of a run ---------------------------------------------------------------------- */

void wti_order_init(struct wti_order *order)
{
	*order = (struct wti_order){0};
	wti_arena_init(&order->arena, MEMORY_MAX);
	wti_map_init(&order->texts, TEXTS_MAX);
	wti_map_init(&order->varying, WAYS_MAX);
}

void wti_order_release(struct wti_order *order)
{
	for (size_t i = 0; i < order->way_count; i++)
		free(order->ways[i].acts.tokens);
	free(order->ways);
	wti_map_release(&order->texts);
	wti_map_release(&order->varying);
	wti_arena_release(&order->arena);
	*order = (struct wti_order){0};
}

uint32_t wti_order_token(struct wti_order *order, const char *text)
{
	uint64_t *slot = wti_map_text(&order->texts, text, strlen(text));

	if (!slot) {
		order->failed = WT_E_LIMIT;
		return 0;
	}
	if (!*slot)
		*slot = order->texts.count;
	return (uint32_t)*slot - 1;
}

const char *wti_order_text(const struct wti_order *order, uint32_t token)
{
	return token < order->texts.count ? order->texts.entries[token].text : "?";
}

static size_t key_of(char key[512], const char *role, enum wti_when when)
{
	int bytes = snprintf(key, 512, "%u %s", when, role);

	return bytes < 512 ? (size_t)bytes : 511;
}

void wti_order_vary(struct wti_order *order, const char *role, enum wti_when when)
{
	char key[512];
	uint64_t *slot = wti_map_text(&order->varying, key, key_of(key, role, when));

	if (slot)
		*slot = 1;
}

bool wti_order_varies(const struct wti_order *order, const char *role, enum wti_when when)
{
	char key[512];

	return wti_map_find_text(&order->varying, key, key_of(key, role, when)) != NULL;
}

static bool copy_sequence(struct wti_sequence *into, const struct wti_sequence *from)
{
	*into = (struct wti_sequence){0};
	if (!from->count)
		return true;
	into->tokens = malloc(from->count * sizeof(*into->tokens));
	if (!into->tokens)
		return false;
	memcpy(into->tokens, from->tokens, from->count * sizeof(*into->tokens));
	into->count = into->capacity = from->count;
	return true;
}

static struct wti_way *new_way(struct wti_order *order)
{
	if (wti_grow(&order->ways, order->way_count + 1, &order->way_capacity, WAYS_MAX)) {
		order->failed = WT_E_NOMEM;
		return NULL;
	}
	return &order->ways[order->way_count];
}

int wti_order_way(struct wti_order *order, const char *role, enum wti_when when,
		  const struct wti_sequence *acts, uint32_t step)
{
	struct wti_way *way;
	size_t same = 0;

	if (!acts->count || wti_order_varies(order, role, when))
		return 0;
	for (size_t i = 0; i < order->way_count; i++) {
		way = &order->ways[i];
		if (way->when != when || strcmp(way->role, role))
			continue;
		if (wti_sequence_equal(&way->acts, acts)) {
			way->count++;
			return 0;
		}
		same++;
	}
	if (same >= WTI_WAYS_MAX || acts->count > WTI_WAY_ACTS_MAX) {
		wti_order_vary(order, role, when);
		return 0;
	}
	way = new_way(order);
	if (!way)
		return WT_E_NOMEM;
	*way = (struct wti_way){.role = wti_arena_text(&order->arena, role, strlen(role)),
				.when = when,
				.first_step = step,
				.count = 1};
	if (!way->role || !copy_sequence(&way->acts, acts)) {
		order->failed = WT_E_NOMEM;
		return WT_E_NOMEM;
	}
	order->way_count++;
	return 0;
}

static enum wti_when when_of(const struct wti_effects *fx, uint32_t step)
{
	if (!step)
		return WTI_WHEN_START;
	return step > fx->whole_count ? WTI_WHEN_END : WTI_WHEN_STEP;
}

/* Threads of a process that are not its first are of one kind. */
static void name_role(const struct wti_effects *fx, size_t actor, struct wti_buf *out)
{
	wti_effects_role(fx, actor, out);
	if (fx->actors[actor].process)
		wti_buf_text(out, " (thread)");
}

static int add_actor(struct wti_order *order, const struct wti_effects *fx, size_t index)
{
	const struct wti_actor *actor = &fx->actors[index];
	struct wti_sequence acts = {0};
	struct wti_buf role, text;
	uint32_t step = 0;

	wti_buf_init(&role, 1024);
	wti_buf_init(&text, 16384);
	name_role(fx, index, &role);
	for (size_t i = 0; i < actor->act_count && !order->failed; i++) {
		const struct wti_world_act *act = &actor->acts[i];

		wti_buf_clear(&text);
		if (!wti_act_text(fx, act, &text))
			continue;
		if (act->step != step) {
			wti_order_way(order, wti_buf_cstr(&role), when_of(fx, step), &acts, step);
			acts.count = 0;
			step = act->step;
		}
		if (wti_buf_status(&text) == WT_E_NOMEM ||
		    (acts.count <= WTI_WAY_ACTS_MAX &&
		     !wti_sequence_add(&acts, wti_order_token(order, wti_buf_cstr(&text)))))
			order->failed = WT_E_NOMEM;
	}
	wti_order_way(order, wti_buf_cstr(&role), when_of(fx, step), &acts, step);
	if (wti_buf_status(&role) == WT_E_NOMEM)
		order->failed = WT_E_NOMEM;
	free(acts.tokens);
	wti_buf_release(&role);
	wti_buf_release(&text);
	return order->failed;
}

int wti_order_add(struct wti_order *order, const struct wti_effects *fx, struct wt_err *err)
{
	for (size_t i = 0; i < fx->actor_count; i++)
		if (add_actor(order, fx, i))
			return wti_err(err, order->failed, "too much to keep the order of it all");
	return 0;
}
