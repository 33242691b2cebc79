/* SPDX-License-Identifier: Apache-2.0 */
/* A thread a core, a run a thread. */
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "inspect/learn/infer.h"
#include "inspect/learn/partial.h"
#include "learn.h"
#include "open.h"

#define PARTIAL_MAX ((size_t)1 << 30)
#define THREADS_MAX 64
#define STEPS_WANTED 5

struct learning {
	const struct wti_front *front;
	const char *const *words;
	size_t count;
	bool are_partial;
	pthread_mutex_t lock; /* of what follows */
	size_t next;
	size_t done;
	struct wti_tables *tables;
	int failed;
	struct wt_err err;
	struct wt_result *result;
};

/* ---- One run -------------------------------------------------------------------------------- */

/* Simulated and imported runs have no status. */
static bool is_good(const struct wti_run *run)
{
	return !strcmp(run->status, "finished") || !strcmp(run->status, "unknown");
}

static int learn_run(struct learning *all, const char *word, struct wt_err *err)
{
	struct wti_learned learned = {0};
	struct wti_infer_options options = {.ret_learned = &learned};
	struct wti_opened_run opened;
	struct wt_result notes;
	int r = wti_open(all->front, word, &opened, err);

	if (r)
		return r;
	wt_result_init(&notes, "infer");
	r = wt_inspect(wt_inspector_by_name("infer"), opened.trace, NULL, &options, &notes, NULL,
		       NULL, err);
	pthread_mutex_lock(&all->lock);
	if (!r)
		r = wti_tables_merge(all->tables, &learned.tables, err);
	for (size_t i = 0; i < notes.note_count; i++)
		wt_result_note(all->result, "'%s': %s", word, notes.notes[i]);
	if (!is_good(&opened.run) && !r)
		wt_result_note(all->result,
			       "'%s': the run %s: what is learned from it is not what a good run "
			       "does",
			       word,
			       !strcmp(opened.run.status, "running")  ? "has not ended"
			       : !strcmp(opened.run.status, "failed") ? "failed"
								      : "was cut short");
	if (wti_note_damage(&opened, all->result) && !r)
		wt_result_note(all->result, "'%s' is damaged: learned from the undamaged part",
			       word);
	pthread_mutex_unlock(&all->lock);
	wti_learned_release(&learned);
	wt_result_release(&notes);
	wti_close(&opened);
	return r;
}

static int merge_file(struct learning *all, const char *path, struct wt_err *err)
{
	struct wti_buf text;
	int r;

	wti_buf_init(&text, PARTIAL_MAX);
	r = wti_file_read(path, PARTIAL_MAX, &text, err);
	if (!r) {
		pthread_mutex_lock(&all->lock);
		r = wti_partial_read(path, (const char *)text.data, text.bytes, all->tables, err);
		pthread_mutex_unlock(&all->lock);
	}
	wti_buf_release(&text);
	return r;
}

static void *work(void *opaque)
{
	struct learning *all = opaque;

	for (;;) {
		struct wt_err err = {.offset = -1};
		size_t mine;
		int r;

		pthread_mutex_lock(&all->lock);
		mine = all->failed ? all->count : all->next++;
		pthread_mutex_unlock(&all->lock);
		if (mine >= all->count)
			return NULL;
		r = all->are_partial ? merge_file(all, all->words[mine], &err)
				     : learn_run(all, all->words[mine], &err);
		pthread_mutex_lock(&all->lock);
		if (r && !all->failed) {
			all->failed = r;
			all->err = err;
		}
		wti_front_progress(all->front, (double)++all->done / (double)all->count);
		pthread_mutex_unlock(&all->lock);
	}
}

static void work_all(struct learning *all)
{
	pthread_t threads[THREADS_MAX];
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	size_t wanted = cores > 1 ? (size_t)cores : 1, started = 0;

	wanted = wanted < all->count ? wanted : all->count;
	while (started + 1 < wanted && started < THREADS_MAX &&
	       !pthread_create(&threads[started], NULL, work, all))
		started++;
	work(all);
	for (size_t i = 0; i < started; i++)
		pthread_join(threads[i], NULL);
}

int wti_learn(const struct wti_front *front, const char *const *words, size_t count,
	      bool are_partial, struct wti_tables *tables, struct wt_result *result,
	      struct wt_err *err)
{
	struct learning all = {.front = front,
			       .words = words,
			       .count = count,
			       .are_partial = are_partial,
			       .lock = PTHREAD_MUTEX_INITIALIZER,
			       .tables = tables,
			       .result = result};

	wti_front_progress(front, 0);
	work_all(&all);
	wti_front_progress(front, WTI_PROGRESS_OVER);
	if (all.failed)
		*err = all.err;
	return all.failed;
}

/* ---- A pack of it --------------------------------------------------------------------------- */

/*
 * What happens in a short run happens in a few of its steps: from less than twice the steps that
 * are wanted, half of them are enough. What is learned from so little may be chance, so that is
 * said.
 */
static uint64_t steps_needed(const struct wti_tables *tables, struct wt_result *result)
{
	uint64_t longest = wti_tables_steps(tables);

	if (!longest || longest >= 2 * STEPS_WANTED || tables->run_count > 1)
		return STEPS_WANTED;
	wt_result_note(result,
		       "a run of %llu steps is short: what held in %llu of them is learned, but "
		       "may be chance; more or longer runs give more certainty",
		       (unsigned long long)longest, (unsigned long long)(longest + 1) / 2);
	return (longest + 1) / 2;
}

int wti_learn_pack(struct wti_tables *tables, const struct wti_demand *demand,
		   struct wti_pack **ret_pack, struct wt_result *result, struct wt_err *err)
{
	struct wti_demand wanted = *demand;
	struct wti_pack *pack;
	int r = wti_pack_new(&pack, err);

	if (r)
		return r;
	if (!wanted.steps)
		wanted.steps = steps_needed(tables, result);
	r = wti_pack_learn(pack, tables, &wanted, err);
	if (r)
		wti_pack_free(pack);
	else
		*ret_pack = pack;
	return r;
}
