/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples and sketches as events, behind the tensor event that they belong to, if the settings of
 * the recording have `elements`.
 */
#include "digest/sample.h"

#include <stdlib.h>
#include <string.h>

#include "agent.h"
#include "digest/digest.h"
#include "emit.h"

enum { SETTINGS_BYTES_MAX = 1 << 20 }; /* the recorder's own ceiling */

/* "elements=256" or "elements=all" among the lines; 0: neither. */
static uint32_t elements_of(const char *settings)
{
	const char *line = settings;

	while (line && strncmp(line, "elements=", 9) != 0) {
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
	}
	if (!line)
		return 0;
	if (strncmp(line + 9, "all", 3) == 0)
		return UINT32_MAX;
	return (uint32_t)strtoul(line + 9, NULL, 10);
}

void wti_sampled_init(void)
{
	char *room = wti_agent.control ? malloc(SETTINGS_BYTES_MAX + 1) : NULL;
	ssize_t bytes;

	if (!room)
		return;
	bytes = wti_meeting_read(&wti_agent.meeting, WTI_SETTINGS_FILE, room, SETTINGS_BYTES_MAX);
	room[bytes > 0 ? bytes : 0] = 0;
	wti_agent.elements = elements_of(room);
	free(room);
}

struct emitted {
	uint32_t tensor;
	uint32_t elements;
	bool is_complete; /* nothing is lost so far */
};

static void emit_sample(void *self, uint32_t first, const void *values, uint32_t bytes)
{
	struct emitted *emitted = self;
	const struct wti_here here = wti_here();
	struct wti_record_sample sample = {
		.tensor = emitted->tensor,
		.elements = emitted->elements,
		.first = first,
		.values_bytes = bytes,
	};

	emitted->is_complete &= here.ring && wti_emit_sample(here, &sample, values);
}

static bool emit_sketch(uint32_t tensor, const struct wti_sketched *sketch)
{
	const struct wti_here here = wti_here();
	struct wti_record_sketch record = {.tensor = tensor, .values_bytes = sizeof(sketch->sum)};

	return here.ring && wti_emit_sketch(here, &record, sketch->sum);
}

void wti_sampled_emit(const struct wti_sampled_value *value, wti_sampled_give *give, void *self)
{
	struct wti_sampler sampler;
	struct emitted emitted = {.tensor = value->tensor, .is_complete = true};

	if (!wti_agent.elements || !value->count || !wti_sample_wants(value->dtype))
		return;
	wti_sampler_begin(&sampler, value->dtype, value->count, wti_agent.elements);
	emitted.elements = sampler.elements;
	sampler.put = emit_sample;
	sampler.self = &emitted;
	if (!give(self, wti_sampler_take, &sampler))
		return;
	wti_sampler_end(&sampler);
	if (sampler.has_sketch)
		emitted.is_complete &= emit_sketch(value->tensor, &sampler.sketch);
	if (emitted.is_complete)
		wti_sampled_know(value);
}

struct packed {
	const void *data;
	size_t bytes;
};

static bool give_packed(void *self, bool (*take)(void *, const void *, size_t), void *with)
{
	const struct packed *packed = self;

	return take(with, packed->data, packed->bytes);
}

void wti_sampled_emit_packed(const struct wti_sampled_value *value, const void *data)
{
	struct packed packed = {data, (size_t)value->count * wti_dtype_bytes(value->dtype)};

	wti_sampled_emit(value, give_packed, &packed);
}
