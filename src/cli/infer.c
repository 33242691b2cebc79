/* SPDX-License-Identifier: Apache-2.0 */
/* The verb `infer`: runs, or partial results, to a pack. A thread a core, a run a thread. */
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "inspect/learn/infer.h"
#include "inspect/learn/partial.h"
#include "inspect/learn/relation.h"
#include "open.h"
#include "packs.h"
#include "progress.h"
#include "report.h"

#define OUTPUT_MAX ((size_t)1 << 30)
#define PARTIAL_MAX ((size_t)1 << 30)
#define THREADS_MAX 64
#define STEPS_WANTED 5

struct infer_options {
	bool json;
	bool partial;
	bool merge;
	const char *output;
	uint64_t examples;
	uint64_t steps;
	uint64_t programs;
};

static const struct infer_options defaults = {.examples = 10, .programs = 1};

struct job {
	char **runs;
	size_t count;
	bool is_merge;
	pthread_mutex_t lock; /* of what follows */
	size_t next;
	size_t done;
	struct wti_symbols symbols;
	struct wti_tables tables;
	int failed;
	struct wt_err err;
	struct wt_result *result;
	struct wti_progress progress;
};

/* ---- One run -------------------------------------------------------------------------------- */

static int learn_run(struct job *job, const char *word, struct wt_err *err)
{
	struct wti_learned learned = {0};
	struct wti_infer_options options = {.ret_learned = &learned};
	struct wti_opened_run opened;
	struct wt_result notes;
	int r = wti_open(word, &opened, err);

	if (r)
		return r;
	wt_result_init(&notes, "infer");
	r = wt_inspect(wt_inspector_by_name("infer"), opened.trace, NULL, &options, &notes, NULL,
		       NULL, err);
	pthread_mutex_lock(&job->lock);
	if (!r)
		r = wti_tables_merge(&job->tables, &learned.tables, err);
	for (size_t i = 0; i < notes.note_count; i++)
		wt_result_note(job->result, "'%s': %s", word, notes.notes[i]);
	if (wti_note_damage(&opened, job->result) && !r)
		wt_result_note(job->result, "'%s' is damaged: learned from what is whole", word);
	pthread_mutex_unlock(&job->lock);
	wti_learned_release(&learned);
	wt_result_release(&notes);
	wti_close(&opened);
	return r;
}

static int merge_file(struct job *job, const char *path, struct wt_err *err)
{
	struct wti_buf text;
	int r;

	wti_buf_init(&text, PARTIAL_MAX);
	r = wti_file_read(path, PARTIAL_MAX, &text, err);
	if (!r) {
		pthread_mutex_lock(&job->lock);
		r = wti_partial_read(path, (const char *)text.data, text.bytes, &job->tables, err);
		pthread_mutex_unlock(&job->lock);
	}
	wti_buf_release(&text);
	return r;
}

static void *work(void *opaque)
{
	struct job *job = opaque;

	for (;;) {
		struct wt_err err = {.offset = -1};
		size_t mine;
		int r;

		pthread_mutex_lock(&job->lock);
		mine = job->failed ? job->count : job->next++;
		pthread_mutex_unlock(&job->lock);
		if (mine >= job->count)
			return NULL;
		r = job->is_merge ? merge_file(job, job->runs[mine], &err)
				  : learn_run(job, job->runs[mine], &err);
		pthread_mutex_lock(&job->lock);
		if (r && !job->failed) {
			job->failed = r;
			job->err = err;
		}
		wti_progress_share(&job->progress, (double)++job->done / (double)job->count);
		pthread_mutex_unlock(&job->lock);
	}
}

static void work_all(struct job *job)
{
	pthread_t threads[THREADS_MAX];
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	size_t wanted = cores > 1 ? (size_t)cores : 1, started = 0;

	wanted = wanted < job->count ? wanted : job->count;
	while (started + 1 < wanted && started < THREADS_MAX &&
	       !pthread_create(&threads[started], NULL, work, job))
		started++;
	work(job);
	for (size_t i = 0; i < started; i++)
		pthread_join(threads[i], NULL);
}

/* ---- The outcome ---------------------------------------------------------------------------- */

static void report_pack(const struct wti_pack *pack, struct wt_result *result)
{
	struct wt_table *table = wt_result_table(result, "relations", "");

	wt_table_column(table, "relation", "relation", WT_CELL_TEXT);
	wt_table_column(table, "invariants", "invariants", WT_CELL_COUNT);
	wt_table_column(table, "conditional", "conditional", WT_CELL_COUNT);
	for (uint32_t i = 0; wti_relations[i]; i++) {
		uint64_t all = 0, conditional = 0;

		for (size_t j = 0; j < pack->count; j++) {
			all += pack->invariants[j].relation == i;
			conditional +=
				pack->invariants[j].relation == i && pack->invariants[j].when.count;
		}
		wt_table_row(table);
		wt_table_text(table, wti_relations[i]->name, strlen(wti_relations[i]->name));
		wt_table_count(table, all);
		wt_table_count(table, conditional);
	}
	wt_result_fact_count(result, "runs", "runs", WT_CELL_COUNT, pack->run_count);
	wt_result_fact_count(result, "invariants", "invariants", WT_CELL_COUNT, pack->count);
}

/*
 * What happens in a short run happens in a few of its steps: from less than twice the steps that
 * are wanted, half of them are enough. What is learned from so little may be chance, so that is
 * said.
 */
static uint64_t steps_needed(const struct job *job, const struct infer_options *options)
{
	uint64_t longest = wti_tables_steps(&job->tables);

	if (options->steps)
		return options->steps;
	if (!longest || longest >= 2 * STEPS_WANTED || job->tables.run_count > 1)
		return STEPS_WANTED;
	wt_result_note(job->result,
		       "a run of %llu steps is short: what held in %llu of them is learned, and "
		       "may be chance; "
		       "more runs, or longer ones, make it surer",
		       (unsigned long long)longest, (unsigned long long)(longest + 1) / 2);
	return (longest + 1) / 2;
}

static int make_pack(struct job *job, const struct infer_options *options, struct wti_buf *text,
		     struct wt_err *err)
{
	struct wti_demand demand = {options->examples, steps_needed(job, options),
				    (uint32_t)options->programs};
	struct wti_pack *pack;
	int r = wti_pack_new(&pack, err);

	if (r)
		return r;
	r = wti_pack_learn(pack, &job->tables, &demand, err);
	if (!r) {
		wti_pack_write(text, pack);
		report_pack(pack, job->result);
		wt_result_set_status(job->result, pack->count ? "learned" : "not_measured");
	}
	wti_pack_free(pack);
	return r;
}

static int finish(struct job *job, const struct infer_options *options, struct wt_err *err)
{
	struct wti_buf text;
	int r;

	if (job->tables.left_out_count)
		wt_result_note(job->result, "%llu hypotheses were left out: there are too many",
			       (unsigned long long)job->tables.left_out_count);
	wti_buf_init(&text, OUTPUT_MAX);
	if (options->partial)
		r = wti_partial_write(&text, &job->tables, err);
	else
		r = make_pack(job, options, &text, err);
	r = r ? r : wti_save_text(options->output, &text, err);
	wti_buf_release(&text);
	return r;
}

static int infer(const struct infer_options *options, char **arguments, size_t count,
		 struct wt_result *result, struct wt_err *err)
{
	struct job job = {.runs = arguments,
			  .count = count,
			  .is_merge = options->merge,
			  .lock = PTHREAD_MUTEX_INITIALIZER,
			  .result = result};
	int r;

	wti_symbols_init(&job.symbols);
	r = wti_tables_init(&job.tables, &job.symbols, err);
	if (!r) {
		wti_progress_begin(&job.progress, "learning");
		work_all(&job);
		wti_progress_end(&job.progress);
		r = job.failed;
		if (r)
			*err = job.err;
	}
	r = r ? r : finish(&job, options, err);
	wti_tables_release(&job.tables);
	wti_symbols_release(&job.symbols);
	return r;
}

static int run(const void *opaque, char **arguments, size_t count)
{
	const struct infer_options *options = opaque;
	struct wt_err err = {.offset = -1};
	struct wt_result result;
	int code;

	if (!options->output) {
		wti_err(&err, WT_E_ARG, "no file given: say where the pack goes with -o FILE");
		return wti_report_error("infer", options->json, &err);
	}
	wt_result_init(&result, "infer");
	if (infer(options, arguments, count, &result, &err))
		code = wti_report_error("infer", options->json, &err);
	else if (!strcmp(options->output, "-"))
		code = WTI_EXIT_CLEAN;
	else
		code = wti_report_result(&result, options->json,
					 result.status && !strcmp(result.status, "not_measured")
						 ? WTI_EXIT_TRACE
						 : WTI_EXIT_CLEAN);
	wt_result_release(&result);
	return code;
}

static const struct wti_option options[] = {
	{"output", 'o', WTI_OPT_TEXT, "FILE", NULL, "where the pack goes; - is standard output",
	 offsetof(struct infer_options, output)},
	{"partial", 0, WTI_OPT_FLAG, NULL, NULL,
	 "write what was counted instead of a pack, to be merged later",
	 offsetof(struct infer_options, partial)},
	{"merge", 0, WTI_OPT_FLAG, NULL, NULL, "the arguments are partial results, not runs",
	 offsetof(struct infer_options, merge)},
	{"programs", 0, WTI_OPT_COUNT, "N", NULL,
	 "keep only what held in at least so many different programs; default 1",
	 offsetof(struct infer_options, programs)},
	{"examples", 0, WTI_OPT_COUNT, "N", NULL,
	 "examples that an invariant of a single run needs; default 10",
	 offsetof(struct infer_options, examples)},
	{"steps", 0, WTI_OPT_COUNT, "N", NULL,
	 "different steps that they must come from; default 5, or half of the steps of a run that "
	 "has fewer than ten",
	 offsetof(struct infer_options, steps)},
	WTI_OPTION_JSON(struct infer_options),
	WTI_OPTIONS_END,
};

const struct wti_verb wti_verb_infer = {
	.name = "infer",
	.arguments = "RUN... -o FILE",
	.summary = "learn from good runs what holds in them",
	.description = "Looks at recorded runs that are known to be good, and writes a pack: what "
		       "held in all "
		       "of them, in which circumstances, how often. `wheeltap check -i PACK` then "
		       "holds other "
		       "runs against it.\n\n"
		       "What is kept of a run are counts, so that memory does not grow with its "
		       "length, and "
		       "runs can be given in any order: the pack is the same, byte for byte. "
		       "--partial writes "
		       "those counts, --merge adds them up: many runs can be learned piece by "
		       "piece, on many "
		       "machines.\n\n"
		       "docs/invariants.md says what each relation means.",
	.examples = "wheeltap infer runs/* -o pack.json\tlearn from all of them\n"
		    "wheeltap infer --partial a b -o ab.part\tcount, to be merged later\n"
		    "wheeltap infer --merge *.part -o pack.json\tmerge, and decide",
	.options = options,
	.options_bytes = sizeof(struct infer_options),
	.arguments_min = 1,
	.arguments_max = 100000,
	.group = "judge",
	.run = run,
	.defaults = &defaults,
};
