/* SPDX-License-Identifier: Apache-2.0 */
/* Goes back along the path. */
#include <stdlib.h>

#include "base/err.h"
#include "base/grow.h"
#include "path.h"

#define ROWS_MAX (1u << 20)

struct walk {
	const struct wti_ties *ties;
	struct wti_path *path;
	uint32_t task;
	int64_t now_ns; /* goes back */
};

/* ---- Looking up ------------------------------------------------------------------------------ */

static int by_task(const void *a, const void *b)
{
	const struct wti_wait *x = a, *y = b;

	if (x->task != y->task)
		return x->task < y->task ? -1 : 1;
	return (x->end_ns > y->end_ns) - (x->end_ns < y->end_ns);
}

static int by_token(const void *a, const void *b)
{
	const struct wti_release *x = a, *y = b;

	if (x->token != y->token)
		return x->token < y->token ? -1 : 1;
	return (x->begin_ns > y->begin_ns) - (x->begin_ns < y->begin_ns);
}

/* The last wait of the thread that was over by now; NULL: none. */
static const struct wti_wait *last_wait(const struct walk *walk)
{
	struct wti_wait wanted = {.task = walk->task, .end_ns = walk->now_ns};
	const struct wti_wait *waits = walk->ties->waits;
	size_t low = 0, high = walk->ties->wait_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (by_task(&waits[middle], &wanted) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low && waits[low - 1].task == walk->task ? &waits[low - 1] : NULL;
}

/* The last of that token, by another thread, that began before the wait ended; and went on when it
 * had begun. NULL: none. */
static const struct wti_release *release_of(const struct walk *walk, const struct wti_wait *wait,
					    uint64_t token)
{
	struct wti_release wanted = {.token = token, .begin_ns = wait->end_ns};
	const struct wti_release *releases = walk->ties->releases;
	size_t low = 0, high = walk->ties->release_count;

	if (!token)
		return NULL;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (by_token(&releases[middle], &wanted) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	while (low && releases[low - 1].token == token && releases[low - 1].task == wait->task)
		low--; /* its own */
	if (!low || releases[low - 1].token != token || releases[low - 1].end_ns < wait->begin_ns)
		return NULL;
	return &releases[low - 1];
}

/* ---- Going ----------------------------------------------------------------------------------- */

static struct wti_path_row *row_of(struct walk *walk, enum wti_piece_of_path piece,
				   const struct wti_wait *wait, struct wt_err *err)
{
	struct wti_path *path = walk->path;
	uint64_t call = wait ? (uint64_t)(wait->arch & 15) << 12 | (wait->nr & 4095) : 0;
	uint64_t *slot = wti_map_number(&path->row_of,
					(uint64_t)walk->task << 32 | (uint64_t)piece << 16 | call);

	if (!slot) {
		wti_map_failed(&path->row_of, err, "rows");
		return NULL;
	}
	if (!*slot && wti_grow(&path->rows, path->row_count + 1, &path->row_capacity, ROWS_MAX)) {
		wti_err(err, WT_E_NOMEM, "out of memory");
		return NULL;
	}
	if (!*slot) {
		path->rows[path->row_count] = (struct wti_path_row){
			.task = walk->task,
			.piece = piece,
			.arch = wait ? wait->arch : 0,
			.nr = wait ? wait->nr : 0,
		};
		*slot = ++path->row_count;
	}
	return &path->rows[*slot - 1];
}

/* From now back to `until_ns` it was this. */
static int go(struct walk *walk, int64_t until_ns, enum wti_piece_of_path piece,
	      const struct wti_wait *wait, struct wt_err *err)
{
	uint64_t time_ns;
	struct wti_path_row *row;

	if (until_ns >= walk->now_ns)
		return 0;
	time_ns = (uint64_t)walk->now_ns - (uint64_t)until_ns;
	walk->now_ns = until_ns;
	row = row_of(walk, piece, wait, err);
	if (!row)
		return err ? err->code : WT_E_NOMEM;
	row->time_ns += time_ns;
	row->count++;
	walk->path->times_ns[piece] += time_ns;
	return 0;
}

static void change_to(struct walk *walk, uint32_t task)
{
	walk->path->switch_count += walk->task != task;
	walk->task = task;
}

/* Back through one wait, and to whoever ended it. */
static int pass_wait(struct walk *walk, const struct wti_wait *wait, struct wt_err *err)
{
	const struct wti_release *release = release_of(walk, wait, wait->token);
	int r;

	if (!release)
		release = release_of(walk, wait, wait->other);
	if (!release)
		return go(walk, wait->begin_ns, wait->is_inside ? WTI_PATH_WORK : WTI_PATH_OUTSIDE,
			  wait->is_inside ? NULL : wait, err);
	r = go(walk, release->begin_ns, WTI_PATH_HANDOVER, NULL, err);
	change_to(walk, release->task);
	return r;
}

/* Back by a stretch of work and what came before it: a wait, or the birth of the thread. */
static int step_back(struct walk *walk, bool *ret_goes_on, struct wt_err *err)
{
	const struct wti_tied_task *task = &walk->ties->tasks[walk->task];
	const struct wti_wait *wait = last_wait(walk);
	int r;

	if (wait && wait->end_ns > task->born_ns) {
		r = go(walk, wait->end_ns, WTI_PATH_WORK, NULL, err);
		r = r ? r : pass_wait(walk, wait, err);
		*ret_goes_on = true;
		return r;
	}
	r = go(walk, task->born_ns, WTI_PATH_WORK, NULL, err);
	*ret_goes_on = task->parent && walk->now_ns <= task->born_ns;
	if (*ret_goes_on)
		change_to(walk, task->parent - 1);
	return r;
}

static int longest_first(const void *a, const void *b)
{
	const struct wti_path_row *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns > y->time_ns ? -1 : 1;
	return x->task != y->task ? (x->task > y->task) - (x->task < y->task)
				  : (x->piece > y->piece) - (x->piece < y->piece);
}

int wti_path_walk(struct wti_ties *ties, struct wti_path *ret_path, struct wt_err *err)
{
	struct walk walk = {.ties = ties, .path = ret_path};
	/* Each turn leaves a wait behind, or goes to a parent. */
	size_t turns = ties->wait_count + ties->task_count + 1;
	bool goes_on = ties->task_count > 0;
	int r = 0;

	*ret_path = (struct wti_path){0};
	wti_map_init(&ret_path->row_of, ROWS_MAX);
	if (!goes_on)
		return 0;
	if (ties->wait_count)
		qsort(ties->waits, ties->wait_count, sizeof(*ties->waits), by_task);
	if (ties->release_count)
		qsort(ties->releases, ties->release_count, sizeof(*ties->releases), by_token);
	walk.now_ns = ties->tasks[0].last_ns;
	while (goes_on && turns-- && !r)
		r = step_back(&walk, &goes_on, err);
	if (!r && ret_path->row_count)
		qsort(ret_path->rows, ret_path->row_count, sizeof(*ret_path->rows), longest_first);
	return r;
}

void wti_path_release(struct wti_path *path)
{
	free(path->rows);
	wti_map_release(&path->row_of);
}
