/* SPDX-License-Identifier: Apache-2.0 */
/* Adds up the headers of blocks. */
#include "weights.h"

#include <stdlib.h>

#define KINDS 256u /* numbers beyond have no weight */

static void weigh(const struct wt_reader *reader, double bytes[KINDS])
{
	double rows[KINDS] = {0};

	for (size_t i = 0; i < wt_reader_block_count(reader); i++) {
		const struct wt_block *block = wt_reader_block(reader, i);

		if (block->kind >= KINDS)
			continue;
		bytes[block->kind] += block->bytes;
		rows[block->kind] += block->rows;
	}
	for (size_t kind = 0; kind < KINDS; kind++)
		bytes[kind] = rows[kind] > 0 ? bytes[kind] / rows[kind] : 0;
}

int wti_weights_init(struct wti_weights *weights, const struct wt_trace *trace)
{
	size_t count = wt_trace_stream_count(trace);

	*weights = (struct wti_weights){.bytes = calloc(count + 1, KINDS * sizeof(double)),
					.stream_count = count};
	if (!weights->bytes)
		return WT_E_NOMEM;
	for (size_t i = 0; i < count; i++)
		weigh(wt_trace_stream(trace, i), weights->bytes + i * KINDS);
	return 0;
}

void wti_weights_release(struct wti_weights *weights)
{
	free(weights->bytes);
	*weights = (struct wti_weights){0};
}

double wti_weights_of(const struct wti_weights *weights, const struct wt_event *event)
{
	if (event->stream >= weights->stream_count || event->kind->number >= KINDS)
		return 0;
	return weights->bytes[event->stream * KINDS + event->kind->number];
}
