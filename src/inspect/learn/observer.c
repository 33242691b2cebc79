/* SPDX-License-Identifier: Apache-2.0 */
/* Moments to relations. */
#include <stdlib.h>

#include "base/err.h"
#include "observer.h"

int wti_observer_init(struct wti_observer *observer, const struct wti_training *training,
		      struct wti_sink_of_occasions sink, uint32_t wanted, struct wt_err *err)
{
	*observer = (struct wti_observer){.wanted = wanted};
	wti_scene_init(&observer->scene, training, sink);
	for (size_t i = 0; wti_relations[i]; i++) {
		observer->states[i] = calloc(1, wti_relations[i]->state_bytes + 1);
		if (!observer->states[i])
			return wti_err(err, WT_E_NOMEM, "out of memory");
		for (size_t j = 0; j < WTI_MEMORIES_MAX; j++)
			if (wti_relations[i]->keeps[j].per)
				wti_keep_init(&observer->keeps[i][j], wti_relations[i]->keeps[j]);
	}
	return 0;
}

void wti_observer_release(struct wti_observer *observer)
{
	for (size_t i = 0; wti_relations[i]; i++) {
		if (observer->states[i] && wti_relations[i]->release)
			wti_relations[i]->release(observer->states[i]);
		free(observer->states[i]);
		for (size_t j = 0; j < WTI_MEMORIES_MAX; j++)
			if (observer->keeps[i][j].keeps.per)
				wti_keep_release(&observer->keeps[i][j]);
	}
	wti_scene_release(&observer->scene);
	*observer = (struct wti_observer){0};
}

/*
 * A layer calls the function of the same name: BatchNorm2d and F.batch_norm are one thing, and one
 * occasion, whether a recording has calls within libraries or not.
 */
static bool is_within_itself(struct wti_scene *scene, const struct wti_moment *moment)
{
	return moment->type == WTI_MOMENT_CALL && moment->parent && !moment->call->object &&
	       wti_scene_function(scene, moment->call) == wti_scene_function(scene, moment->parent);
}

/* By WTI_NEEDS_*, in the order of its bits. */
static const uint32_t lacks_of_needs[] = {
	WT_THINNED_PARAMETERS, WT_THINNED_GRADIENTS, WT_THINNED_BUFFERS,
	WT_THINNED_OPTIMIZER,  WT_THINNED_MODES,     WT_THINNED_LOSSES,
	WT_THINNED_DATA,       WT_THINNED_ARGUMENTS, WT_THINNED_DIGESTS,
};

/*
 * From where something was left out that it measures, a relation is not shown that process any
 * more: what was not looked at is not what did not happen. What no invariant needs
 * (WTI_LACKS_UNNEEDED) is missed by none.
 */
static bool is_blind(const struct wti_relation *relation, uint32_t omitted)
{
	uint32_t needs =
		relation->moments & WTI_MOMENT_CALL || relation->needs_all ? WT_THINNED_CALLS : 0;

	for (size_t i = 0; i < sizeof(lacks_of_needs) / sizeof(lacks_of_needs[0]); i++)
		if (relation->measures >> i & 1)
			needs |= lacks_of_needs[i];
	return needs & omitted;
}

void wti_observer_moment(struct wti_observer *observer, const struct wti_moment *moment)
{
	const uint32_t omitted = moment->process->omitted;

	observer->omitted |= omitted;
	if (is_within_itself(&observer->scene, moment))
		return;
	wti_scene_moment(&observer->scene, moment);
	for (size_t i = 0; wti_relations[i]; i++)
		if (wti_relations[i]->moments & moment->type && observer->wanted >> i & 1 &&
		    !(omitted && is_blind(wti_relations[i], omitted))) {
			observer->scene.keeps = observer->keeps[i];
			wti_relations[i]->see(&observer->scene, observer->states[i], moment);
		}
}

void wti_observer_finish(struct wti_observer *observer)
{
	for (size_t i = 0; wti_relations[i]; i++)
		if (wti_relations[i]->finish && observer->wanted >> i & 1 &&
		    !is_blind(wti_relations[i], observer->omitted)) {
			observer->scene.keeps = observer->keeps[i];
			wti_relations[i]->finish(&observer->scene, observer->states[i]);
		}
}
