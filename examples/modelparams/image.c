/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes of a model: safetensors and Burn's .bin, made and taken apart. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "files.h"

static void put(struct image *image, const void *data, size_t bytes)
{
	if (bytes > sizeof(image->data) - image->bytes)
		bytes = sizeof(image->data) - image->bytes;
	memcpy(image->data + image->bytes, data, bytes);
	image->bytes += bytes;
}

/* Half of the bits of each weight are lost, as in a file of half precision. */
static void put_numbers(struct image *image, const float *numbers, size_t count, bool lossy)
{
	for (size_t i = 0; i < count; i++) {
		uint32_t bits;

		memcpy(&bits, &numbers[i], sizeof(bits));
		bits &= lossy ? 0xffff0000u : 0xffffffffu;
		put(image, &bits, sizeof(bits));
	}
}

/* ---- safetensors ----------------------------------------------------------------------------- */

static size_t entry(char *out, size_t room, const char *prefix, const struct tiny_parameter *p,
		    uint64_t begin)
{
	char shape[48];

	snprintf(shape, sizeof(shape), p->rank == 2 ? "%zu,%zu" : "%zu", p->shape[0], p->shape[1]);
	return (size_t)snprintf(
		out, room,
		"\"%s%s\":{\"dtype\":\"F32\",\"shape\":[%s],\"data_offsets\":[%" PRIu64 ",%" PRIu64
		"]}",
		prefix, p->name, shape, begin, begin + 4 * p->count);
}

static const char *const sections[] = {"", "adam.mean.", "adam.square."};

/* The header for the network alone, or for the three sections of a checkpoint and its state. */
static void put_header(struct image *image, const struct tiny *tiny, size_t section_count)
{
	char header[8192] = "{";
	size_t at = 1;
	uint64_t begin = 0, bytes;

	for (size_t s = 0; s < section_count; s++) {
		for (size_t i = 0; i < TINY_PARAMETERS; i++) {
			at += entry(header + at, sizeof(header) - at, sections[s],
				    &tiny->parameters[i], begin);
			begin += 4 * tiny->parameters[i].count;
			header[at++] = ',';
		}
	}
	at--;
	if (section_count > 1)
		at += (size_t)snprintf(
			header + at, sizeof(header) - at,
			",\"state\":{\"dtype\":\"U64\",\"shape\":[3],\"data_offsets\":[%" PRIu64
			",%" PRIu64 "]}",
			begin, begin + 24);
	header[at++] = '}';
	while (at % 8)
		header[at++] = ' ';
	bytes = at;
	put(image, &bytes, sizeof(bytes));
	put(image, header, at);
}

/* ---- Burn's .bin ----------------------------------------------------------------------------- */

static void put_count(struct image *image, size_t count)
{
	unsigned char bytes[3] = {(unsigned char)count};

	if (count >= 251) {
		bytes[0] = 0xfb;
		bytes[1] = (unsigned char)count;
		bytes[2] = (unsigned char)(count >> 8);
	}
	put(image, bytes, count >= 251 ? 3 : 1);
}

static void put_text(struct image *image, const char *text)
{
	put_count(image, strlen(text));
	put(image, text, strlen(text));
}

/* `ret_at`: where the numbers of each parameter are. */
static void put_bin(struct image *image, const struct tiny *tiny, bool lossy,
		    size_t ret_at[TINY_PARAMETERS])
{
	static const char *const meta[] = {
		"f32", "i32",
		"burn_core::record::file::BinFileRecorder<burn_core::record::"
		"settings::FullPrecisionSettings>",
		"0.17.1", "FullPrecisionSettings"};

	for (size_t i = 0; i < 5; i++)
		put_text(image, meta[i]);
	for (size_t i = 0; i < TINY_PARAMETERS; i++) {
		const struct tiny_parameter *p = &tiny->parameters[i];
		char id[16];

		if (i == 2)
			put_count(image, 0); /* the activation, which has no parameters */
		if (i % 2)
			put_count(image, 1); /* the bias is there */
		snprintf(id, sizeof(id), "tin%09zu0", i);
		put_text(image, id);
		put_count(image, 4 * p->count);
		ret_at[i] = image->bytes;
		put_numbers(image, tiny->numbers + p->first, p->count, lossy);
		put_count(image, p->rank);
		for (size_t d = 0; d < p->rank; d++)
			put_count(image, p->shape[d]);
		put_count(image, 1); /* F32 */
	}
}

void image_make(struct image *image, const struct tiny *tiny, enum file_format format,
		const struct faults *faults)
{
	size_t at[TINY_PARAMETERS];

	image->bytes = 0;
	if (format == FILE_BIN) {
		put_bin(image, tiny, faults->lossy_bin, at);
		return;
	}
	put_header(image, tiny, 1);
	put_numbers(image, tiny->numbers, tiny->count, faults->lossy_safetensors);
}

/* ---- Loading --------------------------------------------------------------------------------- */

/* A .bin of this network is fixed but for its numbers: everything else has to be as we write it. */
static const char *load_bin(const struct image *image, struct tiny *tiny,
			    const struct faults *faults)
{
	static struct image mine;
	struct tiny loaded = *tiny;
	size_t at[TINY_PARAMETERS], before = 0;

	mine.bytes = 0;
	put_bin(&mine, tiny, false, at);
	if (image->bytes != mine.bytes && !faults->no_length_check && !faults->no_shape_check)
		return "it has not the length that this network needs";
	for (size_t p = 0; p < TINY_PARAMETERS; p++) {
		size_t bytes = 4 * tiny->parameters[p].count;

		if (!faults->no_shape_check &&
		    memcmp(image->data + before, mine.data + before, at[p] - before))
			return "it is not of this network";
		memcpy(loaded.numbers + tiny->parameters[p].first, image->data + at[p], bytes);
		before = at[p] + bytes;
	}
	if (!faults->no_shape_check &&
	    memcmp(image->data + before, mine.data + before, mine.bytes - before))
		return "it is not of this network";
	*tiny = loaded;
	return NULL;
}

/* Where the elements of this parameter are; NULL and why. */
static const unsigned char *find(const struct image *image, const char *header, const char *section,
				 const struct tiny_parameter *p, const struct faults *faults,
				 const char **why)
{
	uint64_t header_bytes, begin = 0, end = 0;
	char wanted[256], name[96];
	const char *at;
	size_t used;

	entry(wanted, sizeof(wanted), section, p, 0);
	memcpy(&header_bytes, image->data, sizeof(header_bytes));
	used = (size_t)(strstr(wanted, "[0,") - wanted); /* up to the offsets */
	wanted[used] = '\0';
	snprintf(name, sizeof(name), "\"%s%s\":", section, p->name);
	at = strstr(header, wanted);
	if (!at && faults->no_shape_check)
		at = strstr(header, name);
	*why = strstr(header, name) ? "a parameter has another shape" : "a parameter is missing";
	at = at ? strstr(at, "\"data_offsets\":[") : NULL;
	if (!at || sscanf(at + 16, "%" SCNu64 ",%" SCNu64, &begin, &end) != 2)
		return NULL;
	*why = "a parameter is outside of the file";
	if (faults->no_length_check || faults->no_shape_check)
		return begin < sizeof(image->data) - 8 - header_bytes - 4 * p->count
			       ? image->data + 8 + header_bytes + begin
			       : NULL;
	if (begin > end || end - begin != 4 * p->count || end > image->bytes - 8 - header_bytes)
		return NULL;
	return image->data + 8 + header_bytes + begin;
}

/* The header as a text; how many bytes it has. 0: it is not one. */
static size_t take_header(const struct image *image, char *header, size_t room)
{
	uint64_t bytes = 0;

	if (image->bytes > 8)
		memcpy(&bytes, image->data, sizeof(bytes));
	if (!bytes || bytes >= room || bytes > image->bytes - 8 || image->data[8] != '{')
		return 0;
	memcpy(header, image->data + 8, bytes);
	header[bytes] = '\0';
	return bytes;
}

/* The last byte of the elements has to be the last of the file. */
static bool is_whole(const struct image *image, const char *header, size_t header_bytes)
{
	uint64_t last = 0;

	for (const char *at = header; (at = strstr(at, "\"data_offsets\":["));) {
		uint64_t begin, end;

		at += 16;
		if (sscanf(at, "%" SCNu64 ",%" SCNu64, &begin, &end) == 2 && end > last)
			last = end;
	}
	return 8 + header_bytes + last == image->bytes;
}

static const char *load_sections(const struct image *image, const struct tiny *tiny,
				 float *const *numbers, size_t section_count,
				 const struct faults *faults)
{
	char header[8192];
	size_t bytes = take_header(image, header, sizeof(header));
	const char *why;

	if (!bytes)
		return "it is not a safetensors file";
	if (!is_whole(image, header, bytes) && !faults->no_length_check)
		return "it is truncated, or too long";
	for (size_t s = 0; s < section_count; s++) {
		for (size_t i = 0; i < TINY_PARAMETERS; i++) {
			const struct tiny_parameter *p = &tiny->parameters[i];
			const unsigned char *from =
				find(image, header, sections[s], p, faults, &why);

			if (!from)
				return why;
			memcpy(numbers[s] + p->first, from, 4 * p->count);
		}
	}
	return NULL;
}

const char *image_load(const struct image *image, struct tiny *tiny, const struct faults *faults)
{
	struct tiny loaded = *tiny;
	float *numbers[] = {loaded.numbers};
	const char *why;

	if (!image->bytes) {
		if (!faults->accept_missing && !faults->accept_unreadable)
			return "it is empty";
		memset(tiny->numbers, 0, sizeof(tiny->numbers));
		return NULL;
	}
	if (image->data[0] == 3)
		return load_bin(image, tiny, faults);
	why = load_sections(image, tiny, numbers, 1, faults);
	if (!why)
		*tiny = loaded;
	if (!why && faults->drift) {
		uint32_t bits;

		memcpy(&bits, &tiny->numbers[0], sizeof(bits));
		bits++;
		memcpy(&tiny->numbers[0], &bits, sizeof(bits));
	}
	return why;
}

/* ---- Checkpoints ----------------------------------------------------------------------------- */

void checkpoint_make(struct image *image, const struct tiny *tiny,
		     const struct tiny_trainer *trainer, const struct faults *faults)
{
	uint64_t state[3] = {trainer->seed, trainer->epoch, trainer->steps};

	(void)faults;
	image->bytes = 0;
	put_header(image, tiny, 3);
	put_numbers(image, tiny->numbers, tiny->count, false);
	put_numbers(image, trainer->mean, tiny->count, false);
	put_numbers(image, trainer->square, tiny->count, false);
	put(image, state, sizeof(state));
}

const char *checkpoint_load(const struct image *image, struct tiny *tiny,
			    struct tiny_trainer *trainer, const struct faults *faults)
{
	struct tiny loaded = *tiny;
	struct tiny_trainer state = {0};
	float *numbers[] = {loaded.numbers, state.mean, state.square};
	const char *why = load_sections(image, tiny, numbers, 3, faults);
	uint64_t words[3];

	if (why)
		return why;
	memcpy(words, image->data + image->bytes - sizeof(words), sizeof(words));
	state.seed = words[0];
	state.epoch = faults->drop_order ? 0 : words[1];
	state.steps = words[2];
	if (faults->drop_optimizer) {
		memset(state.mean, 0, sizeof(state.mean));
		memset(state.square, 0, sizeof(state.square));
		state.steps = 0;
	}
	*tiny = loaded;
	*trainer = state;
	return NULL;
}
