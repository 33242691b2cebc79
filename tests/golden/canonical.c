/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints a stream through the public reader in the form of reference_decoder.py --canonical:
 * numbers as the decimal of their 64 bits, texts as x and the hexadecimal of their bytes. The
 * golden tests compare the two line by line.
 *
 * It knows wheeltap/trace.h alone. The reader does not tell how many stacks and sites there are, so
 * the first PROBED_IDS numbers are asked for.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <wheeltap/trace.h>

#define PROBED_IDS 4096u

static void print_hex(const void *data, size_t bytes)
{
	static const char digits[] = "0123456789abcdef";
	const uint8_t *from = data;

	for (size_t i = 0; i < bytes; i++) {
		putchar(digits[from[i] >> 4]);
		putchar(digits[from[i] & 15]);
	}
}

static void print_text(const void *data, size_t bytes)
{
	fputs(" x", stdout);
	print_hex(data, bytes);
}

static void print_identity(const struct wt_identity *id)
{
	fputs("stream ", stdout);
	print_hex(id->boot, sizeof(id->boot));
	printf(" %" PRIu32 " %" PRIu32 " %" PRIu64 " %" PRIu32 " %" PRIu32, id->pid, id->exec,
	       id->start_time, id->segment, id->clock);
	print_text(id->command, sizeof(id->command));
	putchar('\n');
}

static void print_kind(const struct wt_kind *kind)
{
	printf("kind %u %u", kind->number, kind->field_count);
	print_text(kind->name, strlen(kind->name));
	print_text(kind->doc, strlen(kind->doc));
	putchar('\n');
	for (unsigned i = 0; i < kind->field_count; i++) {
		const struct wt_field *field = &kind->fields[i];

		printf("field %u %u %u", field->type, field->transform, field->relative_to);
		print_text(field->name, strlen(field->name));
		print_text(field->unit, strlen(field->unit));
		print_text(field->doc, strlen(field->doc));
		for (unsigned value = 0; value < field->enum_count; value++)
			print_text(field->enum_names[value], strlen(field->enum_names[value]));
		putchar('\n');
	}
}

static void print_kinds(const struct wt_reader *reader)
{
	for (uint32_t number = 0; number <= UINT16_MAX; number++) {
		const struct wt_kind *kind = wt_reader_kind(reader, (uint16_t)number);

		if (kind)
			print_kind(kind);
	}
}

static int by_track_id(const void *a, const void *b)
{
	const struct wt_track *const *left = a, *const *right = b;

	return ((*left)->id > (*right)->id) - ((*left)->id < (*right)->id);
}

static void print_tracks(const struct wt_reader *reader)
{
	size_t count = wt_reader_track_count(reader);
	const struct wt_track **tracks = calloc(count + 1, sizeof(*tracks));

	if (!tracks)
		abort();
	for (size_t i = 0; i < count; i++)
		tracks[i] = wt_reader_track_at(reader, i);
	qsort(tracks, count, sizeof(*tracks), by_track_id);
	for (size_t i = 0; i < count; i++) {
		const struct wt_track *track = tracks[i];

		printf("track %" PRIu32 " %" PRIu32 " %" PRIu32 " %" PRIu32, track->id, track->type,
		       track->tid, track->device);
		print_text(track->name, track->name_bytes);
		putchar('\n');
	}
	free(tracks);
}

static void print_stacks(const struct wt_reader *reader)
{
	for (uint32_t id = 1; id < PROBED_IDS; id++) {
		const uint64_t *frames;
		size_t count = wt_reader_stack(reader, id, &frames);

		if (!count)
			continue;
		printf("stack %" PRIu32, id);
		for (size_t i = 0; i < count; i++)
			printf(" %" PRIu64, frames[i]);
		putchar('\n');
	}
}

static int by_base(const void *a, const void *b)
{
	const struct wt_module *const *left = a, *const *right = b;

	return ((*left)->base > (*right)->base) - ((*left)->base < (*right)->base);
}

static void print_modules(const struct wt_reader *reader)
{
	size_t count = wt_reader_module_count(reader);
	const struct wt_module **modules = calloc(count + 1, sizeof(*modules));

	if (!modules)
		abort();
	for (size_t i = 0; i < count; i++)
		modules[i] = wt_reader_module_at(reader, i);
	qsort(modules, count, sizeof(*modules), by_base);
	for (size_t i = 0; i < count; i++) {
		printf("module %" PRIu64 " %" PRIu64, modules[i]->base, modules[i]->bytes);
		print_text(modules[i]->build_id, modules[i]->build_id_bytes);
		print_text(modules[i]->path, modules[i]->path_bytes);
		putchar('\n');
	}
	free(modules);
}

static void print_definitions(const struct wt_reader *reader)
{
	for (uint32_t id = 1; id < wt_reader_string_count(reader); id++) {
		struct wt_text text = wt_reader_string(reader, id);

		printf("string %" PRIu32, id);
		print_text(text.data, text.bytes);
		putchar('\n');
	}
	print_tracks(reader);
	print_stacks(reader);
	print_modules(reader);
	for (uint32_t id = 1; id < PROBED_IDS; id++) {
		const struct wt_site *site = wt_reader_site(reader, id);

		if (site)
			printf("site %" PRIu32 " %" PRIu32 " %" PRIu32 " %" PRIu32 "\n", id,
			       site->file, site->function, site->line);
	}
}

static void print_row(const struct wt_batch *batch, uint32_t row)
{
	printf("event %u %" PRIu64 " %" PRIu64 " %" PRIu64, batch->kind->number, batch->time[row],
	       batch->track[row], batch->seq[row]);
	for (unsigned i = 0; i < batch->kind->field_count; i++) {
		if (wt_type_is_inline(batch->kind->fields[i].type)) {
			const uint32_t *at = &batch->text_at[i][row];

			print_text(batch->text[i] + at[0], at[1] - at[0]);
		} else {
			printf(" %" PRIu64, batch->values[i][row]);
		}
	}
	putchar('\n');
}

/* False if the block is damaged. */
static bool print_block(const struct wt_reader *reader, size_t index, struct wt_batch *batch)
{
	const struct wt_block *b = wt_reader_block(reader, index);
	struct wt_err err;

	if (wt_reader_decode(reader, index, WT_ALL_FIELDS, batch, &err) < 0) {
		fprintf(stderr, "damaged at byte %" PRId64 ": %s\n", err.offset, err.message);
		return false;
	}
	printf("block %" PRIu64 " %" PRIu32 " %" PRIu32 " %u %" PRIu64 " %" PRIu64 " %" PRIu64
	       " %" PRIu64 "\n",
	       b->offset, b->bytes, b->rows, b->kind, b->time_min, b->time_max, b->track_filter,
	       b->name_filter);
	for (uint32_t row = 0; row < batch->rows; row++)
		print_row(batch, row);
	return true;
}

int main(int argc, char **argv)
{
	struct wt_batch batch = {0};
	struct wt_reader *reader;
	struct wt_err err;
	bool sound;

	if (argc != 2 || wt_reader_open(argv[1], &reader, &err) < 0) {
		fprintf(stderr, "canonical: %s\n", argc == 2 ? err.message : "FILE expected");
		return 3;
	}
	sound = !wt_reader_damage(reader)->code;
	print_identity(wt_reader_identity(reader));
	print_kinds(reader);
	print_definitions(reader);
	for (size_t i = 0; i < wt_reader_block_count(reader); i++)
		sound &= print_block(reader, i, &batch);
	printf("end %s %s\n", wt_reader_finished(reader) ? "finished" : "unfinished",
	       sound ? "sound" : "damaged");
	wt_batch_release(&batch);
	wt_reader_free(reader);
	return sound ? 0 : 1;
}
