/* SPDX-License-Identifier: Apache-2.0 */
/* What rules call (rule.h): their kept memory and thresholds, and what they report, put down. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "judge.h"

static void *memory_of(struct wti_kept_memory *kept)
{
	return kept ? kept->memory : NULL;
}

void *wti_kept(struct wti_case *account, unsigned which, const struct wti_moment *moment)
{
	return memory_of(wti_keep_of(&account->keeps[which], moment));
}

void *wti_kept_of_object(struct wti_case *account, unsigned which, const struct wti_object *object)
{
	return memory_of(wti_keep_of_object(&account->keeps[which], object));
}

void *wti_kept_of_parameter(struct wti_case *account, unsigned which,
			    const struct wti_parameter *parameter)
{
	return memory_of(wti_keep_of_parameter(&account->keeps[which], parameter));
}

void *wti_kept_of_key(struct wti_case *account, unsigned which, size_t stream, uint64_t key)
{
	return memory_of(wti_keep_of_key(&account->keeps[which], stream, key));
}

const void *wti_kept_find_key(const struct wti_case *account, unsigned which, size_t stream,
			      uint64_t key)
{
	const struct wti_kept_memory *kept = wti_keep_find_key(&account->keeps[which], stream, key);

	return kept ? kept->memory : NULL;
}

void *wti_kept_next(struct wti_case *account, unsigned which, size_t stream, size_t *place)
{
	struct wti_keep *keep = &account->keeps[which];

	while (*place < keep->kept.count) {
		struct wti_kept_memory *kept = wti_keep_at(keep, (*place)++);

		if (kept->stream == stream)
			return kept->memory;
	}
	return NULL;
}

void wti_kept_forget(struct wti_case *account, unsigned which)
{
	wti_keep_forget(&account->keeps[which]);
}

void *wti_state(struct wti_case *account)
{
	return account->state;
}

void wti_held(struct wti_case *account)
{
	account->held_count++;
	if (account->asked)
		account->asked->streak = 0;
}

uint32_t wti_streak(const struct wti_case *account)
{
	return account->asked ? account->asked->streak + 1 : 1;
}

void wti_raise(struct wti_case *account, enum wt_severity severity)
{
	if (severity > account->severity)
		account->severity = severity;
}

void wti_not_measured(struct wti_case *account, const char *why)
{
	account->why_not = why;
}

static char *format_text(const char *format, va_list args)
{
	char *text = NULL;

	return vasprintf(&text, format, args) < 0 ? NULL : text;
}

/* A symbol; of a parameter with its owner above it, since two models may have one of a name. */
static uint64_t subject_key(const struct wti_moment *moment, uint32_t subject)
{
	const struct wti_parameter *parameter = moment->parameter;

	return parameter && parameter->name == subject ? (uint64_t)parameter->owner << 32 | subject
						       : subject;
}

void wti_since(struct wti_case *account, int64_t step)
{
	account->since = step;
	account->has_since = true;
}

static int32_t short_step(int64_t step)
{
	return step < INT32_MAX ? (int32_t)step : INT32_MAX;
}

bool wti_waited(struct wti_case *account, struct wti_patience *wait,
		const struct wti_moment *moment, unsigned threshold)
{
	if (!wait->count++)
		wait->since = short_step(moment->scope.step);
	if (wait->count < wti_threshold(account, threshold))
		return false;
	if (wait->count == wti_threshold(account, threshold))
		wti_since(account, wait->since);
	return true;
}

/* One more in a row. False: it is too early to report it; otherwise how many it makes, and since
 * when. */
static bool add_to_streak(struct wti_case *account, int64_t step, uint64_t *ret_count,
			  int64_t *ret_since)
{
	struct wti_kept_memory *asked = account->asked;

	*ret_count = 1;
	*ret_since = account->has_since ? account->since : step;
	account->has_since = false;
	if (!asked)
		return true;
	if (!asked->streak++)
		asked->streak_step = short_step(*ret_since);
	if (asked->streak < account->in_a_row)
		return false;
	if (asked->streak == account->in_a_row) {
		*ret_count = asked->streak;
		*ret_since = asked->streak_step;
	}
	return true;
}

enum wti_answer wti_violated(struct wti_case *account, const struct wti_moment *moment,
			     uint32_t subject, const char *evidence, ...)
{
	bool is_first = !account->violation_count;
	uint64_t *count, violation_count;
	int64_t since;
	va_list args;

	if (!add_to_streak(account, moment->scope.step, &violation_count, &since))
		return WTI_RULE_VIOLATED;
	count = subject ? wti_map_number(&account->subjects, subject_key(moment, subject)) : NULL;
	if (count)
		*count += violation_count;
	if (moment->scope.rank >= 0)
		wti_map_number(&account->ranks, (uint64_t)moment->scope.rank);
	wti_steps_widen(&account->first_step, &account->last_step, since, is_first);
	wti_steps_widen(&account->first_step, &account->last_step, moment->scope.step, false);
	account->violation_count += violation_count;
	if (!is_first)
		return WTI_RULE_VIOLATED;
	account->known_step = moment->scope.step;
	account->where = wti_moment_where(moment);
	va_start(args, evidence);
	account->evidence = format_text(evidence, args);
	va_end(args);
	return WTI_RULE_VIOLATED;
}

/* The innermost line that an agent emitted for the thread. */
static struct wti_where where_of_spot(const struct wti_case *account, const struct wti_spot *spot)
{
	struct wti_where where = {.line = -1, .op = spot->op};
	struct wti_symbols *symbols = account->training->symbols;
	const struct wt_reader *reader =
		spot->line.stream < account->training->processes.count
			? wti_process_at(account->training, spot->line.stream)->reader
			: NULL;
	const struct wt_site *site =
		reader && spot->line.site ? wt_reader_site(reader, spot->line.site) : NULL;
	struct wt_text file;

	if (!site)
		return where;
	file = wt_reader_string(reader, site->file);
	where.file = wti_symbol_text(symbols, wti_symbol(symbols, file.data, file.bytes));
	where.line = site->line;
	return where;
}

void wti_found(struct wti_case *account, const struct wti_spot *spot, const char *evidence, ...)
{
	struct wti_symbols *symbols = account->training->symbols;
	uint64_t *count = wti_map_number(&account->subjects,
					 wti_symbol(symbols, spot->subject, strlen(spot->subject)));
	va_list args;

	if (count)
		++*count;
	wti_steps_widen(&account->first_step, &account->last_step, spot->step,
			!account->violation_count);
	if (account->violation_count++)
		return;
	account->known_step = spot->step;
	account->where = where_of_spot(account, spot);
	va_start(args, evidence);
	account->evidence = format_text(evidence, args);
	va_end(args);
}

uint64_t wti_threshold(const struct wti_case *account, unsigned which)
{
	return (uint64_t)account->thresholds[which];
}

double wti_threshold_real(const struct wti_case *account, unsigned which)
{
	return account->thresholds[which];
}

void wti_not_this(struct wti_case *account, const char *format, ...)
{
	va_list args;

	if (account->not_this)
		return;
	va_start(args, format);
	account->not_this = format_text(format, args);
	va_end(args);
}
