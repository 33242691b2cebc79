/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A first gate file, from a run that is good. Candidates are written as text, read back and judged
 * on that very run: only what holds there is kept, so that nothing in the file is vacuous.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "base/text.h"
#include "base/toml.h"
#include "gate.h"
#include "gate_init.h"

#define TEXT_MAX (1u << 20)
#define CANDIDATES_MAX 40u
#define METRICS_MAX 24u
#define TIME_MARGIN 1.0 /* as a share of what was observed */
#define MEMORY_MARGIN 0.25
/* Of how far the metric moved, or of its size where it did not. Runs that differ only in their seed
 * differ by less. */
#define METRIC_MARGIN 0.2

struct candidate {
	size_t from, to; /* in the text */
	char why[512];   /* it was left out; empty: it holds */
};

struct draft {
	struct wti_buf text;
	struct candidate items[CANDIDATES_MAX];
	size_t count;
};

/* ---- Candidates ------------------------------------------------------------------------------ */

static void begin(struct draft *draft)
{
	draft->items[draft->count] = (struct candidate){.from = draft->text.bytes};
	wti_buf_text(&draft->text, "[[gate]]\n");
}

static void end(struct draft *draft)
{
	draft->items[draft->count++].to = draft->text.bytes;
}

static void add_times(struct draft *draft, const struct wti_gate_run *run)
{
	int64_t step_ns = wti_effects_step_ns(run->effects, 0.5);
	char observed[32];

	if (run->duration_ns > 0) {
		begin(draft);
		wti_textf(&draft->text,
			  "name = \"the run takes no longer\"\ntype = \"duration\"\n"
			  "max = %.3f  # seconds; observed %s, margin %.0f %%\n",
			  (double)run->duration_ns * (1 + TIME_MARGIN) / 1e9,
			  wti_format_ns(observed, run->duration_ns), 100 * TIME_MARGIN);
		end(draft);
	}
	if (step_ns < 0) { /* which is then said, with the reason */
		begin(draft);
		wti_buf_text(&draft->text, "name = \"a step takes no longer\"\ntype = "
					   "\"duration\"\nof = \"step\"\nmax = 1\n");
		end(draft);
	}
	if (step_ns > 0) {
		begin(draft);
		wti_textf(&draft->text,
			  "name = \"a step takes no longer\"\ntype = \"duration\"\nof = \"step\"\n"
			  "max = %.9f  # seconds; the median observed was %s, margin %.0f %%\n",
			  (double)step_ns * (1 + TIME_MARGIN) / 1e9,
			  wti_format_ns(observed, step_ns), 100 * TIME_MARGIN);
		end(draft);
	}
}

static void add_memory(struct draft *draft, const struct wti_gate_run *run)
{
	char observed[32];

	if (run->peak_rss_bytes <= 0)
		return;
	begin(draft);
	wti_textf(&draft->text,
		  "name = \"no more memory\"\ntype = \"memory\"\n"
		  "max = %.0f  # bytes; observed %s, margin %.0f %%\n",
		  (double)run->peak_rss_bytes * (1 + MEMORY_MARGIN),
		  wti_format_bytes(observed, (uint64_t)run->peak_rss_bytes), 100 * MEMORY_MARGIN);
	end(draft);
}

/* Whether a name can stand in quotes as it is. */
static bool is_plain(const char *name)
{
	for (; *name; name++)
		if (*name < 0x20 || *name > 0x7e || *name == '"' || *name == '\\')
			return false;
	return true;
}

static bool has_word(const char *name, const char *const *words)
{
	for (; *words; words++)
		if (strcasestr(name, *words))
			return true;
	return false;
}

/* 1: more is better, -1: less is, 0: nobody can know by the name. */
static int direction(const char *name)
{
	static const char *const up[] = {"acc",       "f1",     "auc",  "bleu", "score",  "iou",
					 "precision", "recall", "psnr", "ssim", "reward", NULL};
	static const char *const down[] = {"loss", "error", "perplexity", "ppl", "rmse",
					   "mse",  "mae",   "wer",        "cer", NULL};

	return has_word(name, down) ? -1 : has_word(name, up) ? 1 : 0;
}

/* What should be small: its last value alone depends on the last batch, so that another seed is
 * enough to move it. */
static void add_end(struct draft *draft, const struct wti_value *value)
{
	if (!(value->last < value->first))
		return;
	begin(draft);
	wti_textf(&draft->text,
		  "name = \"%s ends below where it began\"\ntype = \"metric\"\nmetric = \"%s\"\n"
		  "of = \"last\"\nmax = %.9g  # where it began; observed %.9g\n",
		  value->name, value->name, value->first, value->last);
	end(draft);
}

static void add_metric(struct draft *draft, const struct wti_value *value)
{
	int way = direction(value->name);
	double mean = value->sum / (double)(value->finite_count ? value->finite_count : 1);
	double observed = way > 0 ? value->max : mean;
	double span = value->max - value->min;
	double margin = METRIC_MARGIN * (span > 0 ? span : fabs(observed));

	if (!way || !value->is_counter || !is_plain(value->name) || !isfinite(observed))
		return;
	begin(draft);
	wti_textf(&draft->text,
		  "name = \"%s is as good\"\ntype = \"metric\"\nmetric = \"%s\"\nof = \"%s\"\n"
		  "%s = %.9g  # observed %.9g, margin %.0f %% of %s%s\n",
		  value->name, value->name, way > 0 ? "max" : "mean", way > 0 ? "min" : "max",
		  observed - way * margin, observed, 100 * METRIC_MARGIN,
		  span > 0 ? "its range" : "it",
		  way > 0 ? "" : "; of all steps: a single one depends on its batch");
	end(draft);
	if (way < 0)
		add_end(draft, value);
}

static void add_rest(struct draft *draft)
{
	begin(draft);
	wti_buf_text(&draft->text,
		     "name = \"the rules of doctor hold\"\ntype = \"rule\"\n"
		     "code = \"WT-*\"  # rules that were not measured do not count\n");
	end(draft);
	begin(draft);
	wti_buf_text(&draft->text,
		     "name = \"no network\"\ntype = \"forbidden\"\n"
		     "effect = \"network\"\nallow = [\"127.0.0.1:*\", \"[::1]:*\"]\n");
	end(draft);
}

static void propose(struct draft *draft, const struct wti_gate_run *run)
{
	add_times(draft, run);
	add_memory(draft, run);
	for (size_t i = 0; i < run->effects->value_count && draft->count < METRICS_MAX; i++)
		add_metric(draft, &run->effects->values[i]);
	add_rest(draft);
}

/* ---- What holds ------------------------------------------------------------------------------ */

static int judge_all(struct draft *draft, const struct wti_gate *gate,
		     const struct wti_measured *measured, struct wt_err *err)
{
	int r = 0;

	for (size_t i = 0; i < gate->count && i < draft->count && !r; i++) {
		struct wti_assertion a = wti_measured_assertion(measured, gate, i);
		struct wti_outcome outcome;

		r = wti_gate_judge(&a, &measured->run, &outcome, err);
		if (!r && outcome.verdict != WTI_HELD)
			snprintf(draft->items[i].why, sizeof(draft->items[i].why), "%s: %.400s",
				 a.name,
				 outcome.verdict == WTI_VIOLATED ? outcome.actual : outcome.why);
	}
	return r;
}

static int try_out(const struct wti_front *front, struct draft *draft, const char *word,
		   struct wt_result *result, struct wt_err *err)
{
	struct wti_gate gate = {.count = 0};
	struct wti_measured measured;
	struct wti_doc *doc = NULL;
	int r = wti_buf_status(&draft->text);

	if (r)
		return wti_err(err, r, "out of memory");
	r = wti_toml_parse("the new gate file", (const char *)draft->text.data, draft->text.bytes,
			   &doc, err);
	r = r ? r : wti_gate_read("the new gate file", doc, NULL, 0, NULL, &gate, err);
	r = r ? r : wti_gate_measure(front, word, &gate, &measured, result, err);
	if (!r) {
		r = judge_all(draft, &gate, &measured, err);
		wti_measured_release(&measured);
	}
	wti_gate_release(&gate);
	wti_doc_free(doc);
	return r;
}

/* ---- The file -------------------------------------------------------------------------------- */

static size_t write_text(struct wti_buf *out, const struct draft *draft, const char *run)
{
	size_t kept = 0;

	wti_textf(out,
		  "# A first gate file, made from the run '%s' by `wheeltap gate --init`.\n"
		  "# Each assertion held there. One run does not show how much runs vary: record\n"
		  "# a few more, and adapt the margins. docs/gate.md has all types and keys.\n",
		  run);
	for (size_t i = 0; i < draft->count; i++) {
		const struct candidate *it = &draft->items[i];

		if (*it->why)
			continue;
		kept++;
		wti_buf_byte(out, '\n');
		wti_buf_append(out, draft->text.data + it->from, it->to - it->from);
	}
	for (size_t i = 0; i < draft->count; i++)
		if (*draft->items[i].why)
			wti_textf(out,
				  "\n"
				  "# Left out, because it is not measured or violated in this run: "
				  "%s\n",
				  draft->items[i].why);
	return kept;
}

static int save(const struct draft *draft, const char *run, const char *path, size_t *ret_count,
		struct wt_err *err)
{
	struct wti_buf out;
	size_t kept;
	int r;

	wti_buf_init(&out, TEXT_MAX);
	kept = write_text(&out, draft, run);
	r = wti_buf_status(&out);
	if (r)
		wti_err(err, r, "out of memory");
	else if (!kept)
		r = wti_err(err, WT_E_FORMAT,
			    "nothing that could be asserted was measured in '%s': record a run "
			    "that completes",
			    run);
	else
		r = wti_file_replace(path, out.data, out.bytes, err);
	wti_buf_release(&out);
	if (!r)
		*ret_count = kept;
	return r;
}

int wti_gate_init(const struct wti_front *front, const char *word, const char *path,
		  size_t *ret_count, struct wt_result *result, struct wt_err *err)
{
	const struct wti_gate none = {.count = 0};
	struct wti_measured measured;
	struct draft *draft;
	char *name = NULL;
	int r;

	if (!access(path, F_OK) && strncmp(path, "/dev/", 5) != 0)
		return wti_err(err, WT_E_EXISTS,
			       "'%s' exists already; name another file with -c FILE", path);
	r = wti_gate_measure(front, word, &none, &measured, result, err);
	if (r)
		return r;
	draft = calloc(1, sizeof(*draft));
	name = strdup(measured.seen.opened.run.name);
	if (draft && name) {
		wti_buf_init(&draft->text, TEXT_MAX);
		propose(draft, &measured.run);
	}
	wti_measured_release(&measured);
	r = draft && name ? try_out(front, draft, word, result, err)
			  : wti_err(err, WT_E_NOMEM, "out of memory");
	r = r ? r : save(draft, name, path, ret_count, err);
	if (draft)
		wti_buf_release(&draft->text);
	free(draft);
	free(name);
	return r;
}
