/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of rules and relations: which one belongs to a moment. */
#include "keep.h"

#define KEPT_MAX ((1u << 22) - 1) /* as many as there may be parameters */

static size_t aligned(size_t bytes)
{
	return (bytes + sizeof(max_align_t) - 1) / sizeof(max_align_t) * sizeof(max_align_t);
}

void wti_keep_init(struct wti_keep *keep, struct wti_keeps keeps)
{
	*keep = (struct wti_keep){.keeps = keeps};
	wti_pairs_init(&keep->keys, KEPT_MAX);
	wti_steady_init(&keep->kept, sizeof(struct wti_kept_memory) + aligned(keeps.bytes),
			KEPT_MAX);
}

void wti_keep_release(struct wti_keep *keep)
{
	wti_pairs_release(&keep->keys);
	wti_steady_release(&keep->kept);
}

void wti_keep_forget(struct wti_keep *keep)
{
	struct wti_keeps keeps = keep->keeps;

	wti_keep_release(keep);
	wti_keep_init(keep, keeps);
}

struct wti_kept_memory *wti_keep_at(const struct wti_keep *keep, size_t place)
{
	return wti_steady_at(&keep->kept, place, keep->kept.item_bytes);
}

static struct wti_kept_memory *keep_of(struct wti_keep *keep, size_t stream, uint64_t which)
{
	size_t number = wti_pairs_add(&keep->keys, (struct wti_pair){stream, which});
	struct wti_kept_memory *kept;

	if (!number || number > keep->kept.count + 1) /* one before it found no memory */
		return NULL;
	if (number <= keep->kept.count)
		return wti_keep_at(keep, number - 1);
	kept = wti_steady_add(&keep->kept);
	if (kept)
		kept->stream = stream;
	return kept;
}

struct wti_kept_memory *wti_keep_of_object(struct wti_keep *keep, const struct wti_object *object)
{
	struct wti_kept_memory *kept = object ? keep_of(keep, object->stream, object->place) : NULL;

	if (kept)
		kept->object = object;
	return kept;
}

struct wti_kept_memory *wti_keep_of_parameter(struct wti_keep *keep,
					      const struct wti_parameter *parameter)
{
	struct wti_kept_memory *kept =
		parameter ? keep_of(keep, parameter->stream, parameter->place) : NULL;

	if (kept)
		kept->parameter = parameter;
	return kept;
}

/* Ranks call their replicas alike. */
static struct wti_kept_memory *keep_of_replica(struct wti_keep *keep,
					       const struct wti_moment *moment)
{
	const struct wti_parameter *parameter = moment->parameter;
	struct wti_kept_memory *kept = parameter && moment->scope.world > 1
					       ? keep_of(keep, parameter->owner, parameter->name)
					       : NULL;

	if (kept)
		kept->stream = parameter->stream; /* the last of them */
	return kept;
}

struct wti_kept_memory *wti_keep_of_process(struct wti_keep *keep, size_t stream)
{
	return keep_of(keep, stream, 0);
}

struct wti_kept_memory *wti_keep_of_key(struct wti_keep *keep, size_t stream, uint64_t key)
{
	return keep_of(keep, stream, key);
}

struct wti_kept_memory *wti_keep_find_key(const struct wti_keep *keep, size_t stream, uint64_t key)
{
	size_t number = wti_pairs_find(&keep->keys, (struct wti_pair){stream, key});

	return number && number <= keep->kept.count ? wti_keep_at(keep, number - 1) : NULL;
}

static struct wti_kept_memory *keep_of_call(struct wti_keep *keep, const struct wti_call *call)
{
	if (!call)
		return NULL;
	if (keep->keeps.per == WTI_PER_LINE)
		return keep_of(keep, call->stream, (uint64_t)call->site << 32 | call->callee);
	if (keep->keeps.per == WTI_PER_MODULE)
		return call->object ? keep_of(keep, call->stream, call->object) : NULL;
	return keep_of(keep, call->stream, call->track);
}

struct wti_kept_memory *wti_keep_of(struct wti_keep *keep, const struct wti_moment *moment)
{
	switch (keep->keeps.per) {
	case WTI_PER_RUN:
		return keep->kept.count ? wti_keep_at(keep, 0) : keep_of(keep, 0, 0);
	case WTI_PER_PROCESS:
		return wti_keep_of_process(keep, moment->process->stream);
	case WTI_PER_OBJECT:
		return wti_keep_of_object(keep, moment->object);
	case WTI_PER_PARAMETER:
		return wti_keep_of_parameter(keep, moment->parameter);
	case WTI_PER_REPLICA:
		return keep_of_replica(keep, moment);
	case WTI_PER_TRACK:
	case WTI_PER_MODULE:
	case WTI_PER_LINE:
		return keep_of_call(keep, moment->call);
	case WTI_PER_NOTHING:
	case WTI_PER_KEY:
		break;
	}
	return NULL;
}
