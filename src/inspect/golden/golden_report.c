/* SPDX-License-Identifier: Apache-2.0 */
/* Says what deviates from a golden: the fact first, then where, then the counts. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "golden_words.h"

#define TEXT_MAX 16384u
#define ALSO_SHOWN 6u
#define EDITED_MEANS "the source is not the one that the golden was made with"
#define EDITED_HINT                                                                                \
	"nothing, if you edited it: the other findings show what the program does differently; "   \
	"`wheeltap golden accept NAME RUN` takes the new length over"

/* ---- Which count is the cause ---------------------------------------------------------------- */

/* Effects in the order in which they explain others: who opens more often closes more often. */
static const enum wti_effect causes[] = {
	WTI_EFFECT_SYMLINKED, WTI_EFFECT_MADE,     WTI_EFFECT_REPLACED,      WTI_EFFECT_REMOVED,
	WTI_EFFECT_CHANGED,   WTI_EFFECT_MOVED,    WTI_EFFECT_LINKED,        WTI_EFFECT_EXECUTED,
	WTI_EFFECT_CONNECTED, WTI_EFFECT_LISTENED, WTI_EFFECT_ACCEPTED,      WTI_EFFECT_STARTED,
	WTI_EFFECT_THREADS,   WTI_EFFECT_SYNCED,   WTI_EFFECT_PERMISSIONS,   WTI_EFFECT_LEFT_OPEN,
	WTI_EFFECT_OPENED,    WTI_EFFECT_LOADED,   WTI_EFFECT_WRITTEN_BYTES, WTI_EFFECT_READ_BYTES,
	WTI_EFFECT_UNSYNCED,  WTI_EFFECT_AT_ONCE,
};

const struct wti_off *wti_deviation_off(const struct wti_deviation *d, const char *word)
{
	for (size_t i = 0; i < d->off_count; i++)
		if (!strcmp(d->offs[i].word, word))
			return &d->offs[i];
	return NULL;
}

const struct wti_off *wti_deviation_cause(const struct wti_checking *c,
					  const struct wti_deviation *d)
{
	for (size_t i = 0; i < sizeof(causes) / sizeof(*causes); i++) {
		const struct wti_off *off =
			wti_deviation_off(d, wti_effect_word(c->run, causes[i]));

		if (off)
			return off;
	}
	for (size_t i = 0; i < d->off_count; i++) /* a failure says more than a success */
		if (strchr(d->offs[i].word, ' '))
			return &d->offs[i];
	return d->off_count ? &d->offs[0] : NULL;
}

/* ---- Where ----------------------------------------------------------------------------------- */

/* Calls that have an effect: the beginnings of their names. */
static const char *calls_for(int effect)
{
	switch (effect) {
	case WTI_EFFECT_MADE:
		return "open creat mkdir mknod symlink";
	case WTI_EFFECT_SYMLINKED:
		return "symlink";
	case WTI_EFFECT_OPENED:
	case WTI_EFFECT_LEFT_OPEN:
		return "open creat connect accept";
	case WTI_EFFECT_REPLACED:
	case WTI_EFFECT_MOVED:
	case WTI_EFFECT_UNSYNCED:
		return "rename";
	case WTI_EFFECT_REMOVED:
		return "unlink rmdir";
	case WTI_EFFECT_CHANGED:
	case WTI_EFFECT_WRITTEN_BYTES:
		return "write pwrite send sendfile copy_file_range ftruncate truncate";
	case WTI_EFFECT_READ_BYTES:
		return "read pread recv";
	case WTI_EFFECT_SYNCED:
		return "fsync fdatasync sync_file_range";
	case WTI_EFFECT_PERMISSIONS:
		return "chmod fchmod chown fchown";
	case WTI_EFFECT_EXECUTED:
		return "execve";
	case WTI_EFFECT_CONNECTED:
		return "connect";
	case WTI_EFFECT_LISTENED:
		return "listen";
	case WTI_EFFECT_ACCEPTED:
		return "accept";
	case WTI_EFFECT_LOADED:
		return "mmap";
	case WTI_EFFECT_LINKED:
		return "link";
	default:
		return "";
	}
}

/* Only calls that can have done it: "opened" is none, nor is what failed; readlink reads no file.
 */
static bool begins_with_one(const char *word, const char *list)
{
	while (*list && wti_effect_by_word(word) < 0 && !strchr(word, ' ')) {
		size_t bytes = strcspn(list, " ");

		if (!strncmp(word, list, bytes) && strncmp(word + bytes, "link", 4) != 0)
			return true;
		list += bytes + (list[bytes] == ' ');
	}
	return false;
}

/* The system call that had the effect, in the run or else in the golden. */
static const char *op_of(const struct wti_checking *c, const struct wti_deviation *d,
			 const char *word)
{
	int effect = wti_effect_by_word(word);
	const char *list = calls_for(effect);
	uint32_t index = d->thing ? wti_effects_index(c->run, d->thing) : 0;

	if (effect < 0)
		return word;
	for (size_t i = 0; i < d->off_count; i++)
		if (begins_with_one(d->offs[i].word, list))
			return d->offs[i].word;
	for (const struct wti_tally *t = d->thing ? wti_effects_first(c->run, index) : NULL; t;
	     t = wti_effects_next(c->run, t))
		if (t->effect >= WTI_EFFECT_CALL && t->total &&
		    begins_with_one(wti_effect_word(c->run, t->effect), list))
			return wti_effect_word(c->run, t->effect);
	for (size_t i = 0; d->golden && i < d->golden->fact_count; i++)
		if (begins_with_one(d->golden->facts[i].word, list))
			return d->golden->facts[i].word;
	return NULL;
}

/* Of the places that it came from, the one that accounts for the difference. */
static const struct wti_site *site_in(const struct wti_tally *tally, uint64_t expected)
{
	uint64_t more = tally->total > expected ? tally->total - expected : 0;
	const struct wti_site *best = NULL;
	uint64_t best_gap = UINT64_MAX;

	for (size_t i = 0; i < WTI_SITES_MAX && tally->sites[i].count; i++) {
		uint64_t count = tally->sites[i].count;
		uint64_t gap = count > more ? count - more : more - count;

		if (gap <= best_gap) {
			best = &tally->sites[i];
			best_gap = gap;
		}
	}
	return best;
}

/* If what is missing has no place, whatever else was done to the thing has one. */
static const struct wti_site *site_of(const struct wti_checking *c, const struct wti_thing *thing,
				      const struct wti_off *off)
{
	static const enum wti_effect near[] = {WTI_EFFECT_REPLACED, WTI_EFFECT_WRITTEN_BYTES,
					       WTI_EFFECT_MADE,     WTI_EFFECT_OPENED,
					       WTI_EFFECT_REMOVED,  WTI_EFFECT_EXECUTED,
					       WTI_EFFECT_CONNECTED};
	uint32_t index = thing ? wti_effects_index(c->run, thing) : 0;

	if (off && off->tally && site_in(off->tally, off->total.high))
		return site_in(off->tally, off->total.high);
	for (size_t i = 0; thing && i < sizeof(near) / sizeof(*near); i++) {
		const struct wti_tally *tally = wti_effects_tally(c->run, index, near[i]);

		if (tally && site_in(tally, 0))
			return site_in(tally, 0);
	}
	/* A call that failed is none of these. */
	for (const struct wti_tally *t = thing ? wti_effects_first(c->run, index) : NULL; t;
	     t = wti_effects_next(c->run, t))
		if (site_in(t, 0))
			return site_in(t, 0);
	return NULL;
}

struct place {
	char file[1024];
	uint32_t line;
};

static bool locate(const struct wti_checking *c, uint32_t stack, struct place *place)
{
	return c->locator && stack &&
	       c->locator->locate(c->locator->opaque, stack, place->file, sizeof(place->file),
				  &place->line);
}

static const char *code_of(const struct wti_deviation *d, const struct wti_off *cause)
{
	enum wti_thing_type type = wti_deviation_type(d);
	int effect = cause ? wti_effect_by_word(cause->word) : -1;

	switch (type) {
	case WTI_THING_PEER:
		return "WT-GOLD-007";
	case WTI_THING_PROGRAM:
	case WTI_THING_PROCESS:
		return "WT-GOLD-008";
	case WTI_THING_LIBRARY:
	case WTI_THING_CODE:
	case WTI_THING_SYSTEM:
		return "WT-GOLD-009";
	case WTI_THING_KERNEL:
		return "WT-GOLD-013";
	default:
		break;
	}
	if (!d->thing)
		return d->instead ? "WT-GOLD-001" : "WT-GOLD-002";
	if (!d->golden)
		return "WT-GOLD-001";
	if (effect < 0)
		return d->is_mode || d->is_via ? "WT-GOLD-003" : "WT-GOLD-005";
	if (effect == WTI_EFFECT_LEFT_OPEN)
		return "WT-GOLD-006";
	if (effect == WTI_EFFECT_OPENED)
		return "WT-GOLD-005";
	return effect == WTI_EFFECT_WRITTEN_BYTES || effect == WTI_EFFECT_READ_BYTES
		       ? "WT-GOLD-004"
		       : "WT-GOLD-003";
}

/* What programmers write and edit, and interpreters, compilers and make read. */
static bool is_source(const char *name)
{
	static const char *const ends[] = {
		".py",         ".sh",       ".bash",     ".pl",          ".pm",
		".rb",         ".js",       ".ts",       ".lua",         ".R",
		".jl",         ".c",        ".h",        ".cc",          ".cpp",
		".hpp",        ".cu",       ".rs",       ".go",          ".java",
		".mk",         ".in",       ".toml",     ".yaml",        ".yml",
		".cmake",      "/Makefile", "/makefile", "/GNUmakefile", "/CMakeLists.txt",
		"/meson.build"};
	size_t bytes = strlen(name);

	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		size_t end = strlen(ends[i]);

		if (bytes > end && !strcmp(name + bytes - end, ends[i]))
			return true;
	}
	return false;
}

/* How long a source is, is not what the program does: who edits it knows that. Nor is it how many
 * children of a shell close the script that it reads. */
static bool is_edited_source(const struct wti_deviation *d)
{
	static const char *const reading = "read_bytes read pread64 readv lseek mmap munmap close";

	if (!d->thing || !d->golden || d->is_mode || d->is_via || d->off_more || !d->off_count ||
	    !is_source(d->thing->name))
		return false;
	for (size_t i = 0; i < d->off_count; i++) {
		const char *at = strstr(reading, d->offs[i].word);
		size_t bytes = strlen(d->offs[i].word);

		if (!at || (at > reading && at[-1] != ' ') || (at[bytes] && at[bytes] != ' '))
			return false;
	}
	return true;
}

/* "'train.py' was edited: 370 bytes of it are read instead of 316" */
static void say_edited(const struct wti_deviation *d, struct wti_buf *out)
{
	const struct wti_off *read = wti_deviation_off(d, "read_bytes");
	char now[32], low[32], high[32];

	wti_buf_printf(out, "'%s' was edited", d->thing->name);
	if (!read)
		return;
	wti_buf_printf(out, ": %s bytes of it are read instead of %s",
		       wti_format_count(now, read->tally ? read->tally->total : 0),
		       wti_format_count(low, read->total.low));
	if (read->total.low != read->total.high)
		wti_buf_printf(out, " to %s", wti_format_count(high, read->total.high));
}

enum wt_severity wti_deviation_severity(const struct wti_deviation *d)
{
	if (is_edited_source(d))
		return WT_NOTE;
	switch (wti_deviation_type(d)) {
	case WTI_THING_CONSOLE:
	case WTI_THING_SYSTEM:
		return WT_NOTE;
	case WTI_THING_CODE:
	case WTI_THING_KERNEL:
		return WT_WARNING;
	case WTI_THING_LIBRARY:
		return d->thing ? WT_ERROR : WT_WARNING;
	case WTI_THING_PROCESS:
		return d->off_count && wti_deviation_off(d, "threads") &&
				       !wti_deviation_off(d, "started")
			       ? WT_WARNING
			       : WT_ERROR;
	default:
		return WT_ERROR;
	}
}

/* ---- Evidence -------------------------------------------------------------------------------- */

static void say_also(const struct wti_deviation *d, const struct wti_off *cause,
		     struct wti_buf *out)
{
	size_t shown = 0;

	for (size_t i = 0; i < d->off_count && shown < ALSO_SHOWN; i++) {
		if (&d->offs[i] == cause)
			continue;
		wti_buf_printf(out, "%s%s ", shown++ ? "; " : "also: ", d->offs[i].word);
		wti_say_instead(out, &d->offs[i]);
	}
	if (d->off_count > shown + 1)
		wti_buf_printf(out, "; and %zu more", d->off_count - shown - 1 + d->off_more);
	if (d->is_via && d->golden->via)
		wti_buf_printf(out, "%srenamed from '%s' instead of '%s'", out->bytes ? "; " : "",
			       d->thing->via ? d->thing->via : "nothing", d->golden->via);
}

static void say_new(const struct wti_checking *c, const struct wti_thing *thing,
		    struct wti_buf *out)
{
	size_t shown = 0;
	char count[32];

	for (const struct wti_tally *t =
		     wti_effects_first(c->run, wti_effects_index(c->run, thing));
	     t && shown < ALSO_SHOWN; t = wti_effects_next(c->run, t))
		if (t->total)
			wti_buf_printf(out, "%s%s %s", shown++ ? ", " : "",
				       wti_effect_word(c->run, t->effect),
				       wti_format_count(count, t->total));
}

static void say_followers(const struct wti_checking *c, const struct wti_deviation *d,
			  struct wti_buf *out)
{
	size_t count = 0;

	for (size_t i = 0; i < c->count; i++) {
		const struct wti_deviation *other = &c->all[i];

		if (!wti_golden_leads(c, d, other) || count++ >= ALSO_SHOWN)
			continue;
		wti_buf_printf(out, "%s%s '%s'", count > 1 ? ", " : "",
			       !other->thing   ? "no longer"
			       : other->golden ? "also"
					       : wti_say_verb(c->run, other->thing),
			       wti_deviation_name(other));
	}
	if (count > ALSO_SHOWN)
		wti_buf_printf(out, " and %zu more", count - ALSO_SHOWN);
}

static const struct wti_tally *first_tally(const struct wti_checking *c,
					   const struct wti_thing *thing)
{
	const struct wti_tally *first = NULL;

	for (const struct wti_tally *t =
		     wti_effects_first(c->run, wti_effects_index(c->run, thing));
	     t; t = wti_effects_next(c->run, t))
		if (t->total && (!first || t->effect < first->effect))
			first = t;
	return first;
}

/* By what it is to be found in the source: the count that is off, or the first that there is. */
static const char *word_of(const struct wti_checking *c, const struct wti_deviation *d,
			   const struct wti_off *cause, const struct wti_tally *tally)
{
	if (cause)
		return cause->word;
	if (d->is_mode)
		return "made";
	if (tally)
		return wti_effect_word(c->run, tally->effect);
	return d->golden && d->golden->fact_count ? d->golden->facts[0].word : "";
}

void wti_golden_report(const struct wti_checking *c, const struct wti_deviation *d)
{
	const struct wti_off *cause = d->cause;
	const struct wti_thing *thing = d->thing ? d->thing : d->instead;
	const struct wti_tally *tally = cause ? cause->tally : thing ? first_tally(c, thing) : NULL;
	const struct wti_code *code = wti_golden_code(code_of(d, cause));
	bool is_edited = is_edited_source(d);
	const struct wti_site *site = is_edited ? NULL : site_of(c, thing, cause);
	const char *word = word_of(c, d, cause, tally);
	struct place place = {.line = 0};
	bool has_place = site && locate(c, site->stack, &place);
	struct wti_buf title, evidence, expected, actual, follows;

	wti_buf_init(&title, TEXT_MAX);
	wti_buf_init(&evidence, TEXT_MAX);
	wti_buf_init(&expected, TEXT_MAX);
	wti_buf_init(&actual, TEXT_MAX);
	wti_buf_init(&follows, TEXT_MAX);
	if (is_edited)
		say_edited(d, &title);
	else
		wti_say_title(c, d, cause, &title);
	say_followers(c, d, &follows);
	if (cause) {
		wti_range_text(&expected, cause->total);
		wti_buf_printf(&actual, "%llu", (unsigned long long)(tally ? tally->total : 0));
		say_also(d, cause, &evidence);
	} else if (thing && !d->is_mode) {
		say_new(c, thing, &evidence);
	}
	wt_result_finding(
		c->result,
		&(struct wt_finding){
			.code = code->code,
			.severity = wti_deviation_severity(d),
			.title = wti_buf_cstr(&title),
			.step = -1,
			.rank = -1,
			.op = is_edited ? NULL : op_of(c, d, word),
			.file = has_place ? place.file : NULL,
			.line = has_place ? (int64_t)place.line : -1,
			.expected = expected.bytes ? wti_buf_cstr(&expected) : NULL,
			.actual = actual.bytes ? wti_buf_cstr(&actual) : NULL,
			.evidence = evidence.bytes ? wti_buf_cstr(&evidence) : NULL,
			.first_step = tally && tally->first_step != WTI_NO_STEP && !d->golden
					      ? tally->first_step
					      : -1,
			.last_step = -1,
			.count = tally ? tally->total : 0,
			.means = is_edited ? EDITED_MEANS : code->means,
			.hint = is_edited ? EDITED_HINT : code->hint,
			.follows = follows.bytes ? wti_buf_cstr(&follows) : NULL,
		});
	wti_buf_release(&title);
	wti_buf_release(&evidence);
	wti_buf_release(&expected);
	wti_buf_release(&actual);
	wti_buf_release(&follows);
}

/* ---- Not about a thing ----------------------------------------------------------------------- */

static void report_plain(const struct wti_checking *c, const char *which, const char *title,
			 const char *expected, const char *actual, int64_t step,
			 const struct place *place, const char *follows)
{
	const struct wti_code *code = wti_golden_code(which);

	wt_result_finding(c->result, &(struct wt_finding){.code = code->code,
							  .severity = WT_ERROR,
							  .title = title,
							  .step = -1,
							  .rank = -1,
							  .file = place ? place->file : NULL,
							  .line = place ? (int64_t)place->line : -1,
							  .expected = expected,
							  .actual = actual,
							  .first_step = step,
							  .last_step = -1,
							  .count = 1,
							  .means = code->means,
							  .hint = code->hint,
							  .follows = follows});
}

void wti_golden_report_steps(const struct wti_checking *c)
{
	struct wti_buf expected;
	char title[128], actual[32], low[32];

	wti_buf_init(&expected, TEXT_MAX);
	wti_range_text(&expected, c->golden->steps);
	snprintf(actual, sizeof(actual), "%llu", (unsigned long long)c->run->step_count);
	snprintf(title, sizeof(title), "the run has %s step%s, the golden %s",
		 wti_format_count(low, c->run->step_count), c->run->step_count == 1 ? "" : "s",
		 wti_buf_cstr(&expected));
	report_plain(c, "WT-GOLD-012", title, wti_buf_cstr(&expected), actual, -1, NULL, NULL);
	wti_buf_release(&expected);
}

void wti_golden_report_times(const struct wti_checking *c, int64_t quiet_ns)
{
	double more = 100.0 * ((double)quiet_ns / (double)c->golden->step_ns.high - 1);
	char title[128], expected[64], actual[16], low[16], high[16];

	wti_format_ns(actual, quiet_ns);
	wti_format_ns(low, (int64_t)c->golden->step_ns.low);
	wti_format_ns(high, (int64_t)c->golden->step_ns.high);
	snprintf(title, sizeof(title), "steps take %.0f %% longer: %s instead of %s at most", more,
		 actual, high);
	snprintf(expected, sizeof(expected), "%s to %s", low, high);
	report_plain(c, "WT-GOLD-011", title, expected, actual, -1, NULL, NULL);
}

void wti_golden_report_order(const struct wti_checking *c, const struct wti_way *way,
			     const char *expected, const char *actual, const char *follows,
			     const struct wti_world_act *act)
{
	struct place place = {.line = 0};
	bool has_place = act && locate(c, act->stack, &place);
	struct wti_buf title;

	wti_buf_init(&title, TEXT_MAX);
	wti_buf_printf(&title, "another order%s: '%s' comes where '%s' was",
		       way->when == WTI_WHEN_STEP ? " in a step" : "", actual, expected);
	report_plain(c, "WT-GOLD-010", wti_buf_cstr(&title), expected, actual,
		     way->when == WTI_WHEN_STEP ? (int64_t)way->first_step - 1 : -1,
		     has_place ? &place : NULL, *follows ? follows : NULL);
	wti_buf_release(&title);
}
