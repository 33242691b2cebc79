/* SPDX-License-Identifier: Apache-2.0 */
/* Knows how seeds are usually called. Numbers only: a seed is not a secret, other texts may be. */
#include <ctype.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/protocol.h"

#include "records.h"

#include "seeds.h"

#define IDS_MAX 16

struct process_seeds { /* names of a process that have "seed" in them */
	uint32_t ids[IDS_MAX];
	char names[IDS_MAX][64];
	unsigned count;
};

static bool is_number(const char *text)
{
	const char *at = *text == '-' ? text + 1 : text;

	if (!strncmp(at, "0x", 2))
		return at[2] && at[2 + strspn(at + 2, "0123456789abcdefABCDEF")] == 0;
	return *at && at[strspn(at, "0123456789")] == 0 && strlen(at) < 24;
}

static void set(struct wti_seeds *seeds, const char *name, size_t name_bytes, const char *value)
{
	struct wti_seed seed;
	size_t i;

	snprintf(seed.name, sizeof(seed.name), "%.*s", (int)name_bytes, name);
	snprintf(seed.value, sizeof(seed.value), "%.63s", value);
	for (i = 0; i < seeds->count; i++)
		if (!strcmp(seeds->all[i].name, seed.name))
			break;
	if (i == WTI_SEEDS_MAX)
		return;
	seeds->all[i] = seed;
	seeds->count += i == seeds->count;
}

static bool names_a_seed(const char *name, size_t bytes)
{
	return bytes >= 4 && bytes < 64 && !strncasecmp(name + bytes - 4, "seed", 4);
}

void wti_seeds_arguments(struct wti_seeds *seeds, char *const *argv)
{
	for (size_t i = 1; argv[0] && argv[i]; i++) {
		const char *word = argv[i] + strspn(argv[i], "-");
		const char *equals = strchr(word, '=');
		size_t bytes = equals ? (size_t)(equals - word) : strlen(word);
		const char *value = equals ? equals + 1 : argv[i + 1];

		if (names_a_seed(word, bytes) && value && is_number(value))
			set(seeds, word, bytes, value);
	}
}

void wti_seeds_environment(struct wti_seeds *seeds, char *const *environment)
{
	for (size_t i = 0; environment[i]; i++) {
		const char *equals = strchr(environment[i], '=');
		size_t bytes = equals ? (size_t)(equals - environment[i]) : 0;

		if (bytes && names_a_seed(environment[i], bytes) &&
		    (is_number(equals + 1) || !strcmp(equals + 1, "random")))
			set(seeds, environment[i], bytes, equals + 1);
	}
}

/* ---- What the program tells ----------------------------------------------------------------- */

static void *begin(void *self, const struct wti_source *source)
{
	return calloc(1, sizeof(struct process_seeds));
}

static void define(void *self, void *stream, const struct wti_definition_view *view)
{
	struct process_seeds *known = stream;
	const char *text = (const char *)view->payload;

	if (!known || view->type != WTI_DEF_STRING || known->count == IDS_MAX ||
	    !names_a_seed(text, view->payload_bytes))
		return;
	known->ids[known->count] = view->id;
	snprintf(known->names[known->count], sizeof(known->names[0]), "%.*s",
		 (int)view->payload_bytes, text);
	known->count++;
}

static void look_at(struct wti_seeds *seeds, const struct process_seeds *known,
		    const struct wti_record_state *state)
{
	char value[32];

	for (unsigned i = 0; i < known->count; i++) {
		if (state->attribute != known->ids[i] && state->owner != known->ids[i])
			continue;
		if (state->type != WT_VALUE_TYPE_INT)
			continue;
		snprintf(value, sizeof(value), "%" PRId64, (int64_t)state->new_);
		set(seeds, known->names[i], strlen(known->names[i]), value);
	}
}

static void records(void *self, void *stream, const struct wti_run_of_records *run)
{
	const struct process_seeds *known = stream;
	const uint8_t *at = run->data;

	if (!known || !known->count)
		return;
	for (uint32_t i = 0; i < run->count; i++) {
		const struct wti_record *record = (const void *)at;

		at += record->units * 8u;
		if (record->kind == WT_KIND_STATE &&
		    record->units * 8u >= sizeof(struct wti_record_state))
			look_at(self, known, (const void *)record);
	}
}

static void lost(void *self, void *stream, const struct wti_loss *loss)
{
}

static void end(void *self, void *stream)
{
	free(stream);
}

static void watermark(void *self, uint64_t below)
{
}

void wti_seeds_init(struct wti_seeds *seeds)
{
	*seeds = (struct wti_seeds){.sink = {seeds, begin, define, records, lost, end, watermark}};
}
