/* SPDX-License-Identifier: Apache-2.0 */
/* What deviates, in words that say it without knowing goldens. */
#include <string.h>

#include "base/text.h"
#include "golden_words.h"

static void add_count(struct wti_buf *out, const char *word, struct wti_range range)
{
	char low[32], high[32];
	bool is_bytes = strstr(word, "_bytes");

	if (range.low == range.high)
		wti_buf_printf(out, "%s%s", wti_format_count(low, range.low),
			       is_bytes ? " bytes" : "");
	else
		wti_buf_printf(out, "%s to %s%s", wti_format_count(low, range.low),
			       wti_format_count(high, range.high), is_bytes ? " bytes" : "");
}

static struct wti_range one(uint64_t value)
{
	return (struct wti_range){value, value};
}

/* "never", "once", "3 to 5 times", "520 bytes". */
static void add_times(struct wti_buf *out, const char *word, struct wti_range range)
{
	static const char *const few[] = {"never", "once", "twice"};

	if (!strstr(word, "_bytes") && range.low == range.high && range.low < 3) {
		wti_buf_text(out, few[range.low]);
		return;
	}
	add_count(out, word, range);
	wti_buf_text(out, strstr(word, "_bytes") ? "" : " times");
}

/* "101 times instead of once", or by step if that is what is off. */
void wti_say_instead(struct wti_buf *out, const struct wti_off *off)
{
	struct wti_range steps = {off->tally ? off->tally->step_min : 0,
				  off->tally ? off->tally->step_max : 0};

	add_times(out, off->word, one(off->tally ? off->tally->total : 0));
	wti_buf_text(out, " instead of ");
	add_times(out, off->word, off->total);
	if (!off->is_step)
		return;
	wti_buf_text(out, "; ");
	add_count(out, off->word, steps);
	wti_buf_text(out, " a step instead of ");
	add_count(out, off->word, off->step);
}

static const char *said(int effect)
{
	static const char *const words[WTI_EFFECT_COUNT] = {"made",
							    "replaced by a rename",
							    "written to in place",
							    "removed",
							    "renamed away",
							    "linked",
							    "given permissions",
							    "executed",
							    "connected to",
							    "listened at",
							    "accepted at",
							    "loaded",
							    "started",
							    "given threads",
							    "synced",
							    "replaced before it is synced",
							    "opened",
							    "left open",
							    "written",
							    "read",
							    "called",
							    "made of so many files:",
							    "made as a symbolic link",
							    "starting children at once:"};

	return effect >= 0 && effect < WTI_EFFECT_COUNT ? words[effect] : "";
}

/* What does not happen any more. */
static void say_gone(struct wti_buf *out, const char *name, const struct wti_off *off, int effect)
{
	wti_buf_printf(out,
		       effect == WTI_EFFECT_REMOVED ? "'%s' is left behind: it is not %s any more"
						    : "'%s' is not %s any more",
		       name, said(effect));
	wti_buf_text(out, " (");
	add_times(out, off->word, off->total);
	wti_buf_text(out, " before)");
}

/* "exit 1" or "signal 9": how processes end. */
static void say_end(struct wti_buf *out, const char *name, const struct wti_off *off)
{
	bool is_killed = !strncmp(off->word, "signal ", 7),
	     is_gone = !off->tally || !off->tally->total;
	const char *number = strchr(off->word, ' ');

	if (is_gone)
		wti_buf_printf(out, "process '%s' %s%s any more (", name,
			       is_killed ? "is not killed by signal" : "does not end with status",
			       number);
	else
		wti_buf_printf(out, "process '%s' %s%s ", name,
			       is_killed ? "is killed by signal" : "ends with status", number);
	if (is_gone) {
		add_times(out, off->word, off->total);
		wti_buf_text(out, " before)");
	} else {
		wti_say_instead(out, off);
	}
}

bool wti_off_is_end(const struct wti_off *off)
{
	return !strncmp(off->word, "exit ", 5) || !strncmp(off->word, "signal ", 7);
}

static void say_umask(struct wti_buf *out, const struct wti_deviation *d)
{
	uint32_t now = d->thing->permissions, before = d->golden->permissions;

	if (now && before)
		wti_buf_printf(out, "process '%s' has umask %04o instead of %04o", d->thing->name,
			       now & 0777, before & 0777);
	else if (now)
		wti_buf_printf(out, "process '%s' sets its umask to %04o, which it did not",
			       d->thing->name, now & 0777);
	else
		wti_buf_printf(out, "process '%s' does not set its umask any more (%04o before)",
			       d->thing->name, before & 0777);
}

static void say_off(struct wti_buf *out, const char *name, const struct wti_off *off)
{
	int effect = wti_effect_by_word(off->word);
	const char *failure = strchr(off->word, ' ');

	if (wti_off_is_end(off)) {
		say_end(out, name, off);
		return;
	}
	if (effect == WTI_EFFECT_AT_ONCE && off->tally->total == 1) {
		wti_buf_printf(out,
			       "process '%s' runs its children one after the other, not at once",
			       name);
		return;
	}
	if (effect == WTI_EFFECT_AT_ONCE) {
		wti_buf_printf(out,
			       "process '%s' runs %llu children at once, not one after the other",
			       name, (unsigned long long)off->tally->total);
		return;
	}
	if (effect >= 0 && (!off->tally || !off->tally->total)) {
		say_gone(out, name, off, effect);
		return;
	}
	if (effect == WTI_EFFECT_REMOVED && off->tally->total < off->total.low)
		wti_buf_printf(out, "'%s' is left behind: removed ", name);
	else if (effect >= 0)
		wti_buf_printf(out, "'%s' is %s ", name, said(effect));
	else if (failure)
		wti_buf_printf(out, "%.*s of '%s' fails with%s ", (int)(failure - off->word),
			       off->word, name, failure);
	else
		wti_buf_printf(out, "%s of '%s' is called ", off->word, name);
	wti_say_instead(out, off);
}

/* To be made or written, and neither was seen: whether it was there before is not known. */
static bool is_only_opened_to_write(const struct wti_effects *fx, uint32_t index)
{
	const struct wti_tally *read = wti_effects_tally(fx, index, WTI_EFFECT_READ_BYTES);

	return fx->things[index].is_opened_to_write && (!read || !read->total);
}

const char *wti_say_verb(const struct wti_effects *fx, const struct wti_thing *thing)
{
	static const struct {
		enum wti_effect effect;
		const char *words;
	} verbs[] = {{WTI_EFFECT_EXECUTED, "executes"},
		     {WTI_EFFECT_STARTED, "starts"},
		     {WTI_EFFECT_CONNECTED, "connects to"},
		     {WTI_EFFECT_LISTENED, "listens at"},
		     {WTI_EFFECT_LOADED, "loads"},
		     {WTI_EFFECT_REPLACED, "writes"},
		     {WTI_EFFECT_MADE, "makes"},
		     {WTI_EFFECT_CHANGED, "writes to"},
		     {WTI_EFFECT_REMOVED, "removes"},
		     {WTI_EFFECT_WRITTEN_BYTES, "writes to"},
		     {WTI_EFFECT_OPENED, "reads"},
		     {WTI_EFFECT_SYNCED, "syncs"}};
	uint32_t index = wti_effects_index(fx, thing);

	for (size_t i = 0; i < sizeof(verbs) / sizeof(*verbs); i++) {
		const struct wti_tally *tally = wti_effects_tally(fx, index, verbs[i].effect);

		if (!tally || !tally->total)
			continue;
		return verbs[i].effect == WTI_EFFECT_OPENED && is_only_opened_to_write(fx, index)
			       ? "opens for writing"
			       : verbs[i].words;
	}
	return thing->type == WTI_THING_PEER ? "tries to reach" : "looks at";
}

static const char *past_verb(const struct wti_golden_thing *thing)
{
	static const char *const verbs[][2] = {
		{"executed", "execute"},   {"started", "start"},    {"connected", "connect to"},
		{"listened", "listen at"}, {"loaded", "load"},      {"replaced", "write"},
		{"made", "make"},          {"changed", "write to"}, {"removed", "remove"},
		{"opened", "read"},        {"synced", "sync"}};

	for (size_t i = 0; i < sizeof(verbs) / sizeof(*verbs); i++)
		for (size_t j = 0; j < thing->fact_count; j++)
			if (!strcmp(thing->facts[j].word, verbs[i][0]))
				return verbs[i][1];
	return thing->type == WTI_THING_LIBRARY ? "load" : thing->fact_count ? "look at" : "use";
}

static bool is_in_place(const struct wti_deviation *d)
{
	const struct wti_off *replaced = wti_deviation_off(d, "replaced");

	if (wti_deviation_off(d, "symlinked"))
		return false;
	return replaced && (!replaced->tally || !replaced->tally->total) && replaced->total.low &&
	       (wti_deviation_off(d, "made") || wti_deviation_off(d, "changed"));
}

void wti_say_title(const struct wti_checking *c, const struct wti_deviation *d,
		   const struct wti_off *cause, struct wti_buf *out)
{
	if (!d->thing && d->instead)
		wti_buf_printf(out, "the program %s '%s' instead of '%s'",
			       wti_say_verb(c->run, d->instead), d->instead->name, d->golden->name);
	else if (!d->thing)
		wti_buf_printf(out, "the program does not %s %s'%s' any more", past_verb(d->golden),
			       d->golden->type == WTI_THING_PROCESS ? "process " : "",
			       d->golden->name);
	else if (!d->golden && d->thing->type != WTI_THING_KERNEL)
		wti_buf_printf(out, "the program %s %s'%s', which it did not",
			       wti_say_verb(c->run, d->thing),
			       d->thing->type == WTI_THING_PROCESS ? "process " : "",
			       d->thing->name);
	else if (is_in_place(d))
		wti_buf_printf(out, "'%s' is written in place, not replaced by a rename any more",
			       d->thing->name);
	else if (cause && (!d->is_mode || wti_effect_by_word(cause->word) < WTI_EFFECT_PERMISSIONS))
		say_off(out, d->thing->name, cause);
	else if (d->is_mode && d->thing->type == WTI_THING_PROCESS)
		say_umask(out, d);
	else if (d->is_mode)
		wti_buf_printf(out, "'%s' gets permissions %04o instead of %04o", d->thing->name,
			       d->thing->permissions, d->golden->permissions);
	else
		wti_buf_printf(out, "'%s' is renamed from '%s' instead of '%s'", d->thing->name,
			       d->thing->via ? d->thing->via : "nothing", d->golden->via);
}
