/* SPDX-License-Identifier: Apache-2.0 */
/* Streams of one process find each other by who they say they are. */
#include "segments.h"

#include <stdlib.h>
#include <string.h>

#define TRACKS_MAX ((size_t)1 << 20)

static bool same_process(const struct wt_identity *a, const struct wt_identity *b)
{
	return a->segment && b->segment && a->pid == b->pid && a->exec == b->exec &&
	       a->start_time == b->start_time && !memcmp(a->boot, b->boot, sizeof(a->boot));
}

int wti_segments_init(struct wti_segments *segments, const struct wt_trace *trace)
{
	size_t count = wt_trace_stream_count(trace);

	*segments = (struct wti_segments){0};
	wti_map_init(&segments->next_seq, TRACKS_MAX);
	segments->process = calloc(count ? count : 1, sizeof(*segments->process));
	if (!segments->process)
		return WT_E_NOMEM;
	for (size_t i = 0; i < count; i++) {
		const struct wt_identity *who = wt_reader_identity(wt_trace_stream(trace, i));

		segments->process[i] = i;
		segments->any |= who->segment != 0;
		/* Segments of a process follow one another, in the order of their names. */
		if (i && same_process(who, wt_reader_identity(wt_trace_stream(trace, i - 1))))
			segments->process[i] = segments->process[i - 1];
	}
	return 0;
}

void wti_segments_release(struct wti_segments *segments)
{
	free(segments->process);
	segments->process = NULL;
	wti_map_release(&segments->next_seq);
}

bool wti_segments_repeat(struct wti_segments *segments, size_t stream, uint32_t track, uint64_t seq)
{
	uint64_t *next;

	/* Track 0 is the recorder's, which repeats nothing. */
	if (!segments->any || !track)
		return false;
	next = wti_map_number(&segments->next_seq,
			      (uint64_t)segments->process[stream] << 32 | track);
	if (!next)
		return false; /* more tracks than we remember: better twice than never */
	if (seq < *next)
		return true;
	*next = seq + 1;
	return false;
}
