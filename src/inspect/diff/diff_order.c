/* SPDX-License-Identifier: Apache-2.0 */
/* The order of two runs, thread by thread and step by step, as the rows of a patch. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inspect/core/align.h"
#include "base/err.h"
#include "base/grow.h"
#include "inspect/core/cells.h"
#include "diff.h"

#define TEXTS_MAX (1u << 20)
#define ROWS_MAX 10000u /* of the whole patch; the rest is counted */
#define SIDE_MAX 200u   /* of one exchange and side; the rest is counted */

/* ---- Acts as tokens -------------------------------------------------------------------------- */

/* One thread's acts of one part of the run. */
struct part {
	const struct wti_effects *fx;
	uint32_t *tokens;
	uint32_t *stacks;
	size_t count;
};

struct patch {
	const struct wti_effects *runs[2];
	const struct wti_diff_options *options;
	struct wti_map texts;
	struct wt_table *table;
	uint64_t row_count, left_out_count;
	uint64_t difference_count;
	struct wti_buf text;
	int failed;
};

static bool is_shown(const struct wti_thing *thing)
{
	return thing->type == WTI_THING_FILE || thing->type == WTI_THING_PEER ||
	       thing->type == WTI_THING_PROGRAM;
}

static uint32_t token_of(struct patch *p, const struct wti_effects *fx,
			 const struct wti_world_act *act)
{
	const struct wti_thing *thing = &fx->things[act->thing];
	uint64_t *slot;

	wti_buf_clear(&p->text);
	wti_buf_printf(&p->text, "%s %s", wti_act_word(fx, act->effect),
		       p->options->raw ? thing->raw : thing->name);
	slot = wti_buf_status(&p->text)
		       ? NULL
		       : wti_map_text(&p->texts, wti_buf_cstr(&p->text), p->text.bytes);
	if (!slot) {
		p->failed = p->texts.failed || wti_buf_status(&p->text) == WT_E_NOMEM ? WT_E_NOMEM
										      : WT_E_LIMIT;
		return 0;
	}
	if (!*slot)
		*slot = p->texts.count;
	return (uint32_t)*slot - 1;
}

/* The acts of `actor` from `*at` on that belong to step `step`. */
static void take_part(struct patch *p, struct part *part, const struct wti_effects *fx,
		      const struct wti_actor *actor, size_t *at, uint32_t step)
{
	size_t end = *at;

	while (end < actor->act_count && actor->acts[end].step <= step)
		end++;
	*part = (struct part){.fx = fx};
	part->tokens = calloc(end - *at + 1, sizeof(*part->tokens));
	part->stacks = calloc(end - *at + 1, sizeof(*part->stacks));
	if (!part->tokens || !part->stacks) {
		p->failed = WT_E_NOMEM;
		return;
	}
	for (; *at < end; ++*at) {
		const struct wti_world_act *act = &actor->acts[*at];

		if (!is_shown(&fx->things[act->thing]))
			continue;
		part->tokens[part->count] = token_of(p, fx, act);
		part->stacks[part->count++] = act->stack;
	}
}

static void release_part(struct part *part)
{
	free(part->tokens);
	free(part->stacks);
	*part = (struct part){0};
}

/* ---- Hunks ----------------------------------------------------------------------------------- */

struct line {
	char sign; /* ' ', '-', '+'; '@' begins a hunk */
	uint32_t token;
	uint32_t times;
	uint32_t stack;
};

struct lines {
	struct line *all;
	size_t count, capacity;
};

/* The same again is the line before, once more. */
static void add_line(struct patch *p, struct lines *lines, struct line line)
{
	struct line *last = lines->count ? &lines->all[lines->count - 1] : NULL;

	if (last && last->sign == line.sign && last->token == line.token && line.sign != '@') {
		last->times += line.times;
		return;
	}
	if (wti_grow(&lines->all, lines->count + 1, &lines->capacity, WTI_NO_CEILING)) {
		p->failed = WT_E_NOMEM;
		return;
	}
	lines->all[lines->count++] = line;
}

static void add_lines(struct patch *p, struct lines *lines, const struct part *part, char sign,
		      size_t from, size_t count)
{
	size_t shown = sign == ' ' || count < SIDE_MAX ? count : SIDE_MAX;

	for (size_t i = from; i < from + shown; i++)
		add_line(p, lines, (struct line){sign, part->tokens[i], 1, part->stacks[i]});
	p->left_out_count += count - shown;
}

/* Exchanged parts with a little of what is equal around them. */
static void make_lines(struct patch *p, struct lines *lines, const struct part *a,
		       const struct part *b, const struct wti_edits *edits)
{
	size_t context = (size_t)p->options->context;

	for (size_t i = 0; i < edits->count; i++) {
		const struct wti_edit *edit = &edits->all[i];
		size_t count = edit->a_count < context ? edit->a_count : context;
		bool is_first = !i, is_last = i + 1 == edits->count;

		if (!edit->is_equal) {
			p->difference_count++;
			add_lines(p, lines, a, '-', edit->a, edit->a_count);
			add_lines(p, lines, b, '+', edit->b, edit->b_count);
			continue;
		}
		if (!is_first && !is_last && edit->a_count <= 2 * context) {
			add_lines(p, lines, b, ' ', edit->b, edit->b_count);
			continue;
		}
		if (!is_first)
			add_lines(p, lines, b, ' ', edit->b, count);
		if (!is_first && !is_last)
			add_line(p, lines, (struct line){.sign = '@'});
		if (!is_last)
			add_lines(p, lines, b, ' ', edit->b + edit->b_count - count, count);
	}
}

static bool same_lines(const struct lines *a, const struct lines *b)
{
	if (a->count != b->count)
		return false;
	for (size_t i = 0; i < a->count; i++)
		if (a->all[i].sign != b->all[i].sign || a->all[i].token != b->all[i].token ||
		    a->all[i].times != b->all[i].times)
			return false;
	return true;
}

/* ---- One thread ------------------------------------------------------------------------------ */

/* The lines of one part, or of several parts that have the same. */
struct held {
	struct lines lines;
	uint32_t first, last; /* steps, from 1; 0: before them */
	uint32_t count;
};

static void add_place(struct patch *p, const struct line *line)
{
	bool is_a = line->sign == '-';
	const struct wti_locator *locator = is_a ? p->options->a : p->options->b;
	char file[1024];
	uint32_t number;

	if (locator && line->stack &&
	    locator->locate(locator->opaque, line->stack, file, sizeof(file), &number)) {
		wti_table_word(p->table, file);
		wt_table_count(p->table, number);
	} else {
		wti_table_word(p->table, "");
		wt_table_empty(p->table);
	}
}

/* Steps are called what the program calls them: in the first run, if the second differs. */
static void name_part(char out[64], const struct patch *p, const struct held *held)
{
	long long first = wti_effects_step_number(p->runs[0], held->first);
	long long last = wti_effects_step_number(p->runs[0], held->last);

	if (!held->last)
		snprintf(out, 64, "before the steps");
	else if (held->count == 1)
		snprintf(out, 64, "step %lld", first);
	else
		snprintf(out, 64, "%u steps, %lld to %lld", held->count, first, last);
}

static void flush(struct patch *p, struct held *held, const char *thread)
{
	char where[64];

	name_part(where, p, held);
	for (size_t i = 0; i < held->lines.count; i++) {
		const struct line *line = &held->lines.all[i];
		char sign[2] = {line->sign, 0};

		if (p->row_count++ >= ROWS_MAX) {
			p->left_out_count++;
			continue;
		}
		wt_table_row(p->table);
		wti_table_word(p->table, thread);
		wti_table_word(p->table, where);
		wti_table_word(p->table, sign);
		wti_table_word(p->table,
			       line->sign == '@' ? "..." : p->texts.entries[line->token].text);
		wt_table_count(p->table, line->times);
		add_place(p, line);
	}
	held->lines.count = 0;
	held->count = 0;
}

static void hold(struct patch *p, struct held *held, struct lines *lines, uint32_t step,
		 const char *thread)
{
	struct lines spare;

	if (held->count && held->first && step && same_lines(&held->lines, lines)) {
		held->last = step;
		held->count++;
		return;
	}
	flush(p, held, thread);
	spare = held->lines;
	held->lines = *lines;
	*lines = spare;
	held->first = held->last = step;
	held->count = 1;
}

static void compare_part(struct patch *p, struct held *held, const struct part *a,
			 const struct part *b, uint32_t step, const char *thread)
{
	struct wti_edits edits = {0};
	struct lines lines = {0};

	if (a->count == b->count &&
	    (!a->count || !memcmp(a->tokens, b->tokens, a->count * sizeof(*a->tokens))))
		return;
	if (wti_align(a->tokens, a->count, b->tokens, b->count, &edits)) {
		p->failed = WT_E_NOMEM;
		return;
	}
	make_lines(p, &lines, a, b, &edits);
	hold(p, held, &lines, step, thread);
	free(lines.all);
	wti_edits_release(&edits);
}

static void compare_threads(struct patch *p, const struct wti_actor *a, const struct wti_actor *b,
			    const char *thread)
{
	uint64_t steps = p->runs[0]->step_count < p->runs[1]->step_count ? p->runs[0]->step_count
									 : p->runs[1]->step_count;
	struct held held = {.count = 0};
	size_t at_a = 0, at_b = 0;

	for (uint32_t step = 0; step <= steps && !p->failed; step++) {
		/* The rest of the longer run goes with the last step that both have. */
		uint32_t until = step == steps ? UINT32_MAX : step;
		struct part mine = {0}, other = {0};

		take_part(p, &mine, p->runs[0], a, &at_a, until);
		if (!p->failed)
			take_part(p, &other, p->runs[1], b, &at_b, until);
		if (!p->failed)
			compare_part(p, &held, &mine, &other, step, thread);
		release_part(&mine);
		release_part(&other);
	}
	flush(p, &held, thread);
	free(held.lines.all);
}

/* ---- All threads ----------------------------------------------------------------------------- */

static void find_places(struct patch *p, const struct wti_effects *fx, struct wti_map *places)
{
	for (size_t i = 0; i < fx->actor_count; i++) {
		uint64_t *slot;

		wti_buf_clear(&p->text);
		wti_effects_place(fx, i, &p->text);
		slot = wti_map_text(places, wti_buf_cstr(&p->text), p->text.bytes);
		if (slot && !*slot)
			*slot = i + 1;
	}
}

static void name_thread(struct patch *p, size_t actor, const char *place, struct wti_buf *out)
{
	wti_buf_printf(out, "%s ", place);
	wti_effects_role(p->runs[0], actor, out);
}

static void compare_all(struct patch *p)
{
	struct wti_map places;
	struct wti_buf name;

	wti_map_init(&places, TEXTS_MAX);
	wti_buf_init(&name, 2048);
	find_places(p, p->runs[1], &places);
	for (size_t i = 0; i < p->runs[0]->actor_count && !p->failed; i++) {
		const uint64_t *other;

		wti_buf_clear(&p->text);
		wti_effects_place(p->runs[0], i, &p->text);
		wti_buf_clear(&name);
		name_thread(p, i, wti_buf_cstr(&p->text), &name);
		other = wti_map_find_text(&places, wti_buf_cstr(&p->text), p->text.bytes);
		if (other)
			compare_threads(p, &p->runs[0]->actors[i], &p->runs[1]->actors[*other - 1],
					wti_buf_cstr(&name));
	}
	wti_buf_release(&name);
	wti_map_release(&places);
}

int wti_diff_order(const struct wti_effects *a, const struct wti_effects *b,
		   const struct wti_diff_options *options, struct wt_result *result,
		   uint64_t *ret_count, struct wt_err *err)
{
	struct patch p = {.runs = {a, b}, .options = options};

	p.table = wt_result_table(result, "order", "order");
	wt_table_column(p.table, "thread", "thread", WT_CELL_TEXT);
	wt_table_column(p.table, "when", "when", WT_CELL_TEXT);
	wt_table_column(p.table, "sign", "", WT_CELL_TEXT);
	wt_table_column(p.table, "act", "act", WT_CELL_TEXT);
	wt_table_column(p.table, "times", "times", WT_CELL_COUNT);
	wt_table_column(p.table, "file", "file", WT_CELL_TEXT);
	wt_table_column(p.table, "line", "line", WT_CELL_COUNT);
	wti_map_init(&p.texts, TEXTS_MAX);
	wti_buf_init(&p.text, 16384);
	compare_all(&p);
	wti_map_release(&p.texts);
	wti_buf_release(&p.text);
	if (p.failed)
		return wti_err(err, p.failed,
			       p.failed == WT_E_NOMEM
				       ? "out of memory"
				       : "the runs do too many different things to compare "
					 "their order");
	if (p.left_out_count)
		wt_result_note(result, "%llu lines of the order are not shown",
			       (unsigned long long)p.left_out_count);
	*ret_count = p.difference_count;
	return 0;
}
