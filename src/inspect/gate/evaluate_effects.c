/* SPDX-License-Identifier: Apache-2.0 */
/* Judges what a run did to the world: forbidden and required effects, counts and bytes of files. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "evaluate.h"

#define NAMED_MAX 5

/* ---- Things ---------------------------------------------------------------------------------- */

static bool is_file(const struct wti_thing *thing)
{
	if (!strncmp(thing->name, "unix:", 5))
		return false;
	return thing->type == WTI_THING_FILE || thing->type == WTI_THING_LIBRARY ||
	       thing->type == WTI_THING_CODE || thing->type == WTI_THING_SYSTEM ||
	       thing->type == WTI_THING_CACHE;
}

static uint64_t done(const struct wti_gate_run *run, size_t thing, enum wti_effect effect)
{
	const struct wti_tally *tally = wti_effects_tally(run->effects, (uint32_t)thing, effect);

	return tally ? tally->total : 0;
}

static bool is_written(const struct wti_gate_run *run, size_t thing)
{
	return done(run, thing, WTI_EFFECT_MADE) || done(run, thing, WTI_EFFECT_REPLACED) ||
	       done(run, thing, WTI_EFFECT_CHANGED) || done(run, thing, WTI_EFFECT_WRITTEN_BYTES);
}

/* "$CWD/../data" is not what "$CWD/?*" means. */
static bool is_named(const struct wti_thing *thing, const char *pattern)
{
	bool is_beside = strstr(thing->name, "/../") && !strstr(pattern, "..");

	return (!is_beside && wti_glob(pattern, thing->name, strlen(thing->name))) ||
	       wti_glob(pattern, thing->raw, strlen(thing->raw));
}

/* A list of names that may be long. */
struct named {
	struct wti_buf text;
	size_t count;
};

static void name_thing(struct named *named, const char *name)
{
	if (named->count < NAMED_MAX)
		wti_buf_printf(&named->text, "%s%.200s", named->count ? ", " : "", name);
	named->count++;
}

static void name_placed(struct named *named, const struct wti_thing *thing)
{
	char text[256];

	if (thing->place)
		snprintf(text, sizeof(text), "%.90s (really %.90s)", thing->name, thing->place);
	name_thing(named, thing->place ? text : thing->name);
}

static void report_named(struct named *named, struct wti_outcome *outcome)
{
	if (named->count > NAMED_MAX)
		wti_buf_printf(&named->text, " and %zu more", named->count - NAMED_MAX);
	snprintf(outcome->actual, sizeof(outcome->actual), "%s", wti_buf_cstr(&named->text));
	wti_buf_release(&named->text);
}

/* ---- Forbidden ------------------------------------------------------------------------------- */

static bool is_below(const char *name, const char *folder)
{
	size_t bytes = strlen(folder);

	while (bytes > 1 && folder[bytes - 1] == '/')
		bytes--;
	if (strncmp(name, folder, bytes) != 0 || (name[bytes] && name[bytes] != '/'))
		return false;
	/* "$CWD/../data" begins with $CWD and lies beside it. */
	return strncmp(name + bytes, "/../", 4) != 0 && strcmp(name + bytes, "/..") != 0;
}

/* Whether what was written to lies where it may, under any name that it had. */
static bool is_inside(const struct wti_thing *thing, const char *folder)
{
	if (!folder)
		return false;
	if (thing->place && !is_below(thing->place, folder) && !is_below(thing->place_raw, folder))
		return false;
	return (is_below(thing->name, folder) || is_below(thing->raw, folder)) &&
	       (!thing->via || *folder != '$' || is_below(thing->via, folder));
}

static bool is_device(const char *name)
{
	return !strncmp(name, "/dev/", 5);
}

static bool is_peer(const struct wti_thing *thing)
{
	return thing->type == WTI_THING_PEER && strncmp(thing->name, "unix:", 5) != 0 &&
	       strcmp(thing->name, "netlink") != 0 && (thing->first_tally || thing->is_tried);
}

static bool is_done(const struct wti_assertion *a, const struct wti_gate_run *run, size_t i,
		    const char *effect)
{
	const struct wti_thing *thing = &run->effects->things[i];

	if (!strcmp(effect, "network"))
		return is_peer(thing);
	if (!strcmp(effect, "exec"))
		return false; /* by name_programs() */
	if (!is_file(thing) || is_inside(thing, a->outside) || is_device(thing->name))
		return false;
	if (!strcmp(effect, "remove"))
		return done(run, i, WTI_EFFECT_REMOVED);
	return is_written(run, i) || done(run, i, WTI_EFFECT_LINKED) ||
	       done(run, i, WTI_EFFECT_MOVED);
}

/* By where it really is, should its name say otherwise. */
static bool is_allowed(const struct wti_assertion *a, const struct wti_thing *thing)
{
	struct wti_thing real = *thing;

	if (thing->place) {
		real.name = thing->place;
		real.raw = thing->place_raw;
	}
	for (size_t i = 0; i < a->allow.count; i++)
		if (is_named(&real, a->allow.items[i]))
			return true;
	return false;
}

static void name_programs(const struct wti_assertion *a, const struct wti_gate_run *run,
			  struct named *named)
{
	const struct wti_map *programs = &run->counts->programs;

	for (size_t i = 0; i < programs->count; i++) {
		const char *name = programs->entries[i].text;
		bool is_allowed = false;

		for (size_t j = 0; j < a->allow.count; j++)
			is_allowed |= wti_glob(a->allow.items[j], name, strlen(name));
		if (!is_allowed)
			name_thing(named, name);
	}
}

/* Calls without which an effect cannot be seen, on architectures that have them. */
static const char *calls_of(const char *effect)
{
	if (!strcmp(effect, "network"))
		return "%network";
	if (!strcmp(effect, "exec"))
		return "execve,execveat";
	return "%file,%desc";
}

static unsigned about_of(const struct wti_assertion *a, const char *effect)
{
	if (!strcmp(effect, "network"))
		return WTI_ABOUT_NETWORK;
	if (!strcmp(effect, "exec"))
		return WTI_ABOUT_PROGRAMS;
	/* Without a folder or a name any file will do. */
	return a->outside || a->allow.count ? WTI_ABOUT_FILES | WTI_ABOUT_PLACES : WTI_ABOUT_FILES;
}

void wti_judge_forbidden(const struct wti_assertion *a, const struct wti_gate_run *run,
			 struct wti_outcome *outcome)
{
	struct named named = {.count = 0};
	struct wti_buf expected;
	bool may_be_unseen = false;
	unsigned about = 0;

	wti_buf_init(&expected, sizeof(outcome->expected));
	wti_buf_text(&expected, "no");
	for (size_t i = 0; i < a->effects.count; i++) {
		if (!wti_was_recorded(run, calls_of(a->effects.items[i]), outcome)) {
			wti_buf_release(&expected);
			return;
		}
		wti_buf_printf(&expected, "%s %s", i ? "," : "", a->effects.items[i]);
	}
	if (a->outside)
		wti_buf_printf(&expected, " outside of %.100s", a->outside);
	snprintf(outcome->expected, sizeof(outcome->expected), "%s", wti_buf_cstr(&expected));
	wti_buf_release(&expected);
	wti_buf_init(&named.text, sizeof(outcome->actual));
	for (size_t i = 0; i < run->effects->thing_count; i++) {
		bool is_violation = false;

		for (size_t j = 0; j < a->effects.count; j++)
			is_violation |= is_done(a, run, i, a->effects.items[j]);
		if (is_violation && !is_allowed(a, &run->effects->things[i]))
			name_placed(&named, &run->effects->things[i]);
	}
	for (size_t j = 0; j < a->effects.count; j++) {
		about |= about_of(a, a->effects.items[j]);
		if (!strcmp(a->effects.items[j], "exec"))
			name_programs(a, run, &named);
		else
			may_be_unseen |= run->counts->unread_count;
	}
	outcome->verdict = named.count ? WTI_VIOLATED : WTI_HELD;
	if (!named.count)
		name_thing(&named, "none");
	report_named(&named, outcome);
	if (outcome->verdict == WTI_HELD && may_be_unseen)
		wti_not_evaluated(outcome,
				  "the arguments of %llu calls about files or peers could not be "
				  "read: record it again, with --backend ptrace",
				  (unsigned long long)run->counts->unread_count);
	wti_doubt(run, about, outcome->verdict == WTI_HELD, outcome);
}

/* ---- Required -------------------------------------------------------------------------------- */

static const char never_renamed[] = "never renamed into place";
static const char never_synced[] = "never synced";
static const char not_synced_again[] = "written to after it was synced";

/* What is missing may have been done unseen. */
static bool is_absence(const char *wrong)
{
	return wrong == never_renamed || wrong == never_synced || wrong == not_synced_again;
}

/* What is wrong with how the file was written; NULL: nothing. */
static const char *wrong_with(const struct wti_gate_run *run, size_t i, const char *effect)
{
	const struct wti_thing *thing = &run->effects->things[i];

	if (!strcmp(effect, "atomic_rename")) {
		if (done(run, i, WTI_EFFECT_MADE) || done(run, i, WTI_EFFECT_CHANGED))
			return "written in place";
		return done(run, i, WTI_EFFECT_REPLACED) ? NULL : never_renamed;
	}
	if (done(run, i, WTI_EFFECT_UNSYNCED))
		return "renamed before it was synced";
	if (!done(run, i, WTI_EFFECT_SYNCED))
		return never_synced;
	return thing->is_dirty ? not_synced_again : NULL;
}

void wti_judge_required(const struct wti_assertion *a, const struct wti_gate_run *run,
			struct wti_outcome *outcome)
{
	struct named named = {.count = 0};
	size_t file_count = 0;
	bool is_proved = false;

	if (!wti_was_recorded(run, "%file,%desc", outcome))
		return;
	snprintf(outcome->expected, sizeof(outcome->expected), "%s%s%s of '%.150s'",
		 a->effects.items[0], a->effects.count > 1 ? " and " : "",
		 a->effects.count > 1 ? a->effects.items[1] : "", a->file);
	wti_buf_init(&named.text, sizeof(outcome->actual));
	for (size_t i = 0; i < run->effects->thing_count; i++) {
		const struct wti_thing *thing = &run->effects->things[i];

		if (!is_file(thing) || !is_named(thing, a->file) || !is_written(run, i))
			continue;
		file_count++;
		for (size_t j = 0; j < a->effects.count; j++) {
			const char *wrong = wrong_with(run, i, a->effects.items[j]);
			char text[160];

			if (!wrong)
				continue;
			is_proved |= !is_absence(wrong);
			snprintf(text, sizeof(text), "%.100s %s", thing->name, wrong);
			name_thing(&named, text);
		}
	}
	if (!file_count) {
		wti_buf_release(&named.text);
		wti_absent(a, outcome, "written file", a->file);
		return;
	}
	outcome->verdict = named.count ? WTI_VIOLATED : WTI_HELD;
	if (!named.count)
		wti_buf_printf(&named.text, "of %zu file%s", file_count,
			       file_count == 1 ? "" : "s");
	report_named(&named, outcome);
	wti_doubt(run, WTI_ABOUT_FILES, !is_proved, outcome);
}

/* ---- Counts of files ------------------------------------------------------------------------- */

/* Whether a tally is meant by a `count` or `bytes` of a file. */
static bool is_counted(const struct wti_assertion *a, const struct wti_effects *effects,
		       const struct wti_tally *tally, const struct wti_call_set *calls,
		       enum wti_arch arch)
{
	const char *word = wti_effect_word(effects, tally->effect), *space = strchr(word, ' ');
	char name[64];
	int nr;

	if (a->type == WTI_GATE_BYTES) {
		bool is_read = tally->effect == WTI_EFFECT_READ_BYTES;

		if (!is_read && tally->effect != WTI_EFFECT_WRITTEN_BYTES)
			return false;
		return !a->of || !strcmp(a->of, "all") || is_read == !strcmp(a->of, "read");
	}
	if (tally->effect < WTI_EFFECT_CALL || (a->errors_only && !space))
		return false;
	snprintf(name, sizeof(name), "%.*s", (int)(space ? space - word : (long)strlen(word)),
		 word);
	nr = wti_call_number(arch, name);
	return nr >= 0 && wti_call_set_has(calls, (uint32_t)nr);
}

struct sum {
	uint64_t total;
	uint64_t step_low;  /* at least so many in the fullest step: the fullest of any tally */
	uint64_t step_high; /* at most: all in the same step */
	uint64_t step_least;
	size_t tally_count;
	size_t file_count;
};

static void add_tallies(const struct wti_assertion *a, const struct wti_gate_run *run, size_t i,
			const struct wti_call_set *calls, enum wti_arch arch, struct sum *sum)
{
	const struct wti_tally *tally = wti_effects_first(run->effects, (uint32_t)i);

	for (; tally; tally = wti_effects_next(run->effects, tally)) {
		if (!is_counted(a, run->effects, tally, calls, arch))
			continue;
		sum->tally_count++;
		sum->total += tally->total;
		sum->step_high += tally->step_max;
		sum->step_least += tally->step_min;
		if (tally->step_max > sum->step_low)
			sum->step_low = tally->step_max;
	}
}

/* The model keeps extremes of each count, so sums of several lie between bounds. */
static void judge_steps(const struct wti_assertion *a, const struct wti_gate_run *run,
			const struct sum *sum, enum wti_gate_unit unit, struct wti_outcome *outcome)
{
	bool surely = !a->has_max || sum->step_high <= a->max;

	if (!run->effects->step_time_count) {
		wti_not_evaluated(outcome, "the program emits no steps, or only one");
		return;
	}
	if (a->has_min && sum->tally_count > 1) {
		wti_not_evaluated(outcome, "the least in a step is known for one call of one file "
					   "only: name it");
		return;
	}
	wti_judge_number(a, (double)(surely ? sum->step_high : sum->step_low), unit,
			 "in a step at most", outcome);
	if (outcome->verdict == WTI_HELD && !surely)
		wti_not_evaluated(outcome,
				  "in a step there are between %llu and %llu, which does not "
				  "decide it: name one call or one file",
				  (unsigned long long)sum->step_low,
				  (unsigned long long)sum->step_high);
	if (outcome->verdict == WTI_HELD && a->has_min)
		wti_judge_number(a, (double)sum->step_least, unit, "in a step at least", outcome);
}

void wti_judge_file(const struct wti_assertion *a, const struct wti_gate_run *run,
		    struct wti_outcome *outcome)
{
	enum wti_arch arch =
		strcmp(run->effects->arch, "aarch64") ? WTI_ARCH_X86_64 : WTI_ARCH_AARCH64;
	enum wti_gate_unit unit = a->type == WTI_GATE_BYTES ? WTI_UNIT_BYTES : WTI_UNIT_COUNT;
	struct sum sum = {0};
	struct wti_call_set calls;

	if (!wti_was_recorded(run, "%file,%desc", outcome))
		return;
	wti_call_set_all(&calls);
	if (a->call && wti_expr_compile(arch, a->call, &calls, NULL)) {
		wti_not_evaluated(outcome, "this architecture has no call '%s'", a->call);
		return;
	}
	for (size_t i = 0; i < run->effects->thing_count; i++) {
		const struct wti_thing *thing = &run->effects->things[i];

		if (!is_file(thing) || !thing->first_tally || !is_named(thing, a->file))
			continue;
		sum.file_count++;
		add_tallies(a, run, i, &calls, arch, &sum);
	}
	if (!sum.file_count && !a->may_be_absent)
		wti_absent(a, outcome, "file", a->file);
	else if (a->per && !strcmp(a->per, "step"))
		judge_steps(a, run, &sum, unit, outcome);
	else
		wti_judge_number(a, (double)sum.total, unit, "in all", outcome);
}
