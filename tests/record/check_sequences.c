/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Proves that nothing is missing in silence: on every track of every stream of a run, each sequence
 * number from 0 to the last is there exactly once, as an event or in the range of a `lost` event.
 *
 *   check_sequences RUN [cut]
 *
 * Prints a line a track: stream pid command track events lost next, and for marks of one name whose
 * values count up, how far they go without a hole: "marks N". Exit status 1 if anything is wrong.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <wheeltap/trace.h>

#define TRACKS_MAX 4096

struct track {
	uint8_t *seen; /* times, by sequence number */
	size_t capacity;
	uint64_t next; /* greatest number + 1 */
	uint64_t events;
	uint64_t lost;
	uint64_t marks; /* values 0 .. marks - 1 came in order */
	bool marks_broken;
	uint64_t last_time;
	bool time_broken;
};

static int wrong;
static bool cut; /* the end of the stream is missing: blocks of some kinds go further than others */

static void see(struct track *track, uint64_t from, uint64_t to)
{
	if (to > track->capacity) {
		size_t capacity = track->capacity ? track->capacity : 1024;

		while (capacity < to)
			capacity *= 2;
		track->seen = realloc(track->seen, capacity);
		if (!track->seen)
			abort();
		memset(track->seen + track->capacity, 0, capacity - track->capacity);
		track->capacity = capacity;
	}
	for (uint64_t seq = from; seq < to; seq++)
		if (track->seen[seq] < 255)
			track->seen[seq]++;
	if (to > track->next)
		track->next = to;
}

/* Other losses are of events that never had a number, or of all that came after the end. */
static bool has_numbers(uint64_t reason)
{
	return reason == WT_LOST_RING_FULL || reason == WT_LOST_GAP || reason == WT_LOST_DAMAGED;
}

static void take_row(struct track *tracks, const struct wt_batch *batch, uint32_t row)
{
	uint64_t id = batch->track[row], seq = batch->seq[row];
	struct track *track = &tracks[id];

	if (id >= TRACKS_MAX || seq > 1u << 30) {
		printf("impossible track %" PRIu64 " or sequence %" PRIu64 "\n", id, seq);
		wrong = 1;
		return;
	}
	if (batch->kind->number == WT_KIND_LOST && has_numbers(batch->values[0][row])) {
		uint64_t last = batch->values[WT_LOST_FIELD_LAST][row];

		see(track, batch->values[WT_LOST_FIELD_FIRST][row], last + 1);
		track->lost += batch->values[WT_LOST_FIELD_COUNT][row];
		return;
	}
	see(track, seq, seq + 1);
	track->events++;
	if (batch->kind->number != WT_KIND_MARK)
		return;
	if (batch->values[WT_MARK_FIELD_VALUE][row] == track->marks)
		track->marks++;
	else
		track->marks_broken = true;
	if (batch->time[row] < track->last_time)
		track->time_broken = true;
	track->last_time = batch->time[row];
}

static void report(const struct wt_reader *reader, const struct track *tracks)
{
	const struct wt_identity *who = wt_reader_identity(reader);
	const char *slash = strrchr(wt_reader_path(reader), '/');

	for (uint32_t id = 0; id < TRACKS_MAX; id++) {
		const struct track *track = &tracks[id];
		uint64_t missing = 0, twice = 0;

		for (uint64_t seq = 0; seq < track->next; seq++) {
			missing += !track->seen[seq];
			twice += track->seen[seq] > 1;
		}
		if (!track->next)
			continue;
		printf("%s pid %u exec %u command %.16s track %u events %" PRIu64 " lost %" PRIu64
		       " next %" PRIu64 " marks %" PRIu64 "%s\n",
		       slash ? slash + 1 : "", who->pid, who->exec, who->command, id, track->events,
		       track->lost, track->next, track->marks,
		       track->marks_broken ? " broken" : "");
		if ((!missing || cut) && !twice && !track->time_broken)
			continue;
		printf("WRONG: %" PRIu64 " missing, %" PRIu64 " twice%s\n", missing, twice,
		       track->time_broken ? ", time goes backwards" : "");
		wrong = 1;
	}
}

static void check_stream(struct wt_reader *reader)
{
	struct track *tracks = calloc(TRACKS_MAX, sizeof(*tracks));
	struct wt_batch batch = {0};
	struct wt_err err;

	if (wt_reader_damage(reader)->code) {
		printf("WRONG: damage: %s\n", wt_reader_damage(reader)->message);
		wrong = 1;
	}
	for (size_t i = 0; tracks && i < wt_reader_block_count(reader); i++) {
		if (wt_reader_decode(reader, i, WT_ALL_FIELDS, &batch, &err)) {
			printf("WRONG: %s\n", err.message);
			wrong = 1;
			break;
		}
		for (uint32_t row = 0; row < batch.rows; row++)
			take_row(tracks, &batch, row);
	}
	if (tracks)
		report(reader, tracks);
	for (uint32_t id = 0; tracks && id < TRACKS_MAX; id++)
		free(tracks[id].seen);
	free(tracks);
	wt_batch_release(&batch);
}

int main(int argc, char **argv)
{
	struct wt_trace *trace;
	struct wt_err err;

	cut = argc == 3 && !strcmp(argv[2], "cut");
	if (argc < 2)
		return 2;
	if (wt_trace_open(argv[1], &trace, &err)) {
		printf("WRONG: %s\n", err.message);
		return 1;
	}
	for (size_t i = 0; i < wt_trace_stream_count(trace); i++)
		check_stream(wt_trace_stream(trace, i));
	for (size_t i = 0; i < wt_trace_failed_count(trace); i++) {
		printf("WRONG: %s\n", wt_trace_failed(trace, i)->message);
		wrong = 1;
	}
	wt_trace_free(trace);
	return wrong;
}
