/* SPDX-License-Identifier: Apache-2.0 */
/* The inspector `doctor`: what holds for every correct training run, asked of this one. */
#include "rules/judge.h"
#include "table.h"

struct state {
	struct wti_training training;
	struct wti_judge judge;
};

static void tell(void *self, const struct wti_moment *moment)
{
	struct state *s = self;

	wti_judge_moment(&s->judge, moment);
}

static int begin(void *opaque, const struct wt_trace *trace, const void *options,
		 struct wt_err *err)
{
	struct state *s = opaque;
	int r = wti_training_init(&s->training, tell, s, err);

	return r ? r : wti_judge_init(&s->judge, &s->training, err);
}

static int event(void *opaque, const struct wt_event *event, struct wt_err *err)
{
	struct state *s = opaque;

	return wti_training_event(&s->training, event, err);
}

static int finish(void *opaque, struct wt_result *result, struct wt_err *err)
{
	struct state *s = opaque;

	wti_training_finish(&s->training);
	wti_judge_finish(&s->judge, result);
	return wt_result_status(result);
}

static size_t news(void *opaque, struct wt_result *result)
{
	struct state *s = opaque;

	return wti_judge_news(&s->judge, result);
}

static void release(void *opaque)
{
	struct state *s = opaque;

	wti_judge_release(&s->judge);
	wti_training_release(&s->training);
}

const struct wt_inspector wti_inspector_doctor = {
	.name = "doctor",
	.summary = "find silent errors by rules that hold for every training run",
	.state_bytes = sizeof(struct state),
	.begin = begin,
	.event = event,
	.finish = finish,
	.news = news,
	.release = release,
};
