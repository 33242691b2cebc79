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
#define TRACKS_MAX 16

/* A call is known by two strings of its process, which come before it. */
static const struct call {
	const char *callee, *module;
	int32_t position; /* of the seed among the arguments */
	const char *name; /* in run.json */
} calls[] = {
	[WTI_SEEDING_TORCH] = {"manual_seed", "torch", 0, "torch.manual_seed"},
	[WTI_SEEDING_PYTHON] = {"Random.seed", "random", 1, "random.seed"},
	[WTI_SEEDING_NUMPY] = {"seed", "numpy.random", 0, "numpy.random.seed"},
};

enum { CALLS = sizeof(calls) / sizeof(calls[0]) };

struct pending { /* a call whose arguments are to come */
	uint32_t track;
	uint32_t seq; /* low 32 bits */
	enum wti_seeding_call call;
};

struct process_seeds {
	uint32_t number, pid;
	uint32_t ids[IDS_MAX]; /* names that have "seed" in them */
	char names[IDS_MAX][64];
	unsigned count;
	uint32_t callees[CALLS], modules[CALLS]; /* ids of the strings; 0: none yet */
	uint32_t worker;                         /* likewise, of the call that makes a worker */
	bool is_worker;
	/* Random(42) seeds a generator of its own, from a line of random.py. */
	uint32_t library_files[IDS_MAX], library_sites[IDS_MAX];
	unsigned library_file_count, library_site_count;
	struct pending pending[TRACKS_MAX];
	unsigned next_pending;
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

/* ---- What the program emits ----------------------------------------------------------------- */

static void *begin(void *self, const struct wti_recorded_source *source)
{
	struct process_seeds *known = calloc(1, sizeof(*known));

	if (known) {
		known->number = source->number;
		known->pid = source->identity.pid;
	}
	return known;
}

static bool is_text(const struct wti_definition_view *view, const char *text)
{
	return view->payload_bytes == strlen(text) && !memcmp(view->payload, text, strlen(text));
}

static void define_call(struct process_seeds *known, const struct wti_definition_view *view)
{
	static const char library[] = "/random.py";
	const size_t tail = sizeof(library) - 1;

	for (unsigned i = 0; i < CALLS; i++) {
		if (is_text(view, calls[i].callee))
			known->callees[i] = view->id;
		if (is_text(view, calls[i].module))
			known->modules[i] = view->id;
	}
	if (is_text(view, "DataLoader.worker"))
		known->worker = view->id;
	if (view->payload_bytes > tail && known->library_file_count < IDS_MAX &&
	    !memcmp(view->payload + view->payload_bytes - tail, library, tail))
		known->library_files[known->library_file_count++] = view->id;
}

static bool has_id(const uint32_t *ids, unsigned count, uint32_t id)
{
	for (unsigned i = 0; i < count; i++)
		if (ids[i] == id)
			return true;
	return false;
}

static void define_site(struct process_seeds *known, const struct wti_definition_view *view)
{
	const struct wti_site_definition *site = (const void *)view->payload;

	if (view->payload_bytes >= sizeof(*site) && known->library_site_count < IDS_MAX &&
	    has_id(known->library_files, known->library_file_count, site->file))
		known->library_sites[known->library_site_count++] = view->id;
}

static void define(void *self, void *stream, const struct wti_definition_view *view)
{
	struct process_seeds *known = stream;
	const char *text = (const char *)view->payload;

	if (known && view->type == WTI_DEF_SITE)
		define_site(known, view);
	if (!known || view->type != WTI_DEF_STRING)
		return;
	define_call(known, view);
	if (known->count == IDS_MAX || !names_a_seed(text, view->payload_bytes))
		return;
	known->ids[known->count] = view->id;
	snprintf(known->names[known->count], sizeof(known->names[0]), "%.*s",
		 (int)view->payload_bytes, text);
	known->count++;
}

/* ---- States ---------------------------------------------------------------------------------- */

static void look_at(struct wti_seeds *seeds, const struct process_seeds *known,
		    const struct wti_record_state *state)
{
	char value[32];

	for (unsigned i = 0; i < known->count && !known->is_worker; i++) {
		if (state->attribute != known->ids[i] && state->owner != known->ids[i])
			continue;
		if (state->type != WT_VALUE_TYPE_INT)
			continue;
		snprintf(value, sizeof(value), "%" PRId64, (int64_t)state->new_);
		set(seeds, known->names[i], strlen(known->names[i]), value);
	}
}

/* ---- Calls ----------------------------------------------------------------------------------- */

/* What the program had it do before was for the worker, as a spawned one runs all of its module. */
static void become_worker(struct wti_seeds *seeds, struct process_seeds *known)
{
	size_t kept = 0;

	known->is_worker = true;
	for (size_t i = 0; i < seeds->seeding_count; i++)
		if (seeds->seedings[i].process != known->number)
			seeds->seedings[kept++] = seeds->seedings[i];
	seeds->seeding_count = kept;
}

static void begin_call(struct wti_seeds *seeds, struct process_seeds *known,
		       const struct wti_record_call_begin *call, uint32_t track, uint32_t seq)
{
	if (known->worker && call->callee == known->worker)
		become_worker(seeds, known);
	for (unsigned i = 0; i < CALLS && !known->is_worker; i++) {
		if (!known->callees[i] || call->callee != known->callees[i] ||
		    call->module != known->modules[i] ||
		    (i == WTI_SEEDING_PYTHON &&
		     has_id(known->library_sites, known->library_site_count, call->site)))
			continue;
		known->pending[known->next_pending++ % TRACKS_MAX] =
			(struct pending){track, seq, (enum wti_seeding_call)i};
	}
}

static void note_seed(struct wti_seeds *seeds, const struct process_seeds *known,
		      enum wti_seeding_call call, int64_t value)
{
	size_t i = 0;

	while (i < seeds->seeding_count &&
	       (seeds->seedings[i].process != known->number || seeds->seedings[i].call != call))
		i++;
	if (i == WTI_SEEDINGS_MAX)
		return;
	seeds->seedings[i] = (struct wti_seeding){call, known->number, known->pid, value};
	seeds->seeding_count += i == seeds->seeding_count;
}

static void take_argument(struct wti_seeds *seeds, const struct process_seeds *known,
			  const struct wti_record_argument *argument, uint32_t track)
{
	for (unsigned i = 0; i < TRACKS_MAX && !known->is_worker; i++) {
		const struct pending *pending = &known->pending[i];

		if (pending->track == track && pending->seq == argument->call &&
		    argument->position == calls[pending->call].position &&
		    argument->type == WT_VALUE_TYPE_INT)
			note_seed(seeds, known, pending->call, (int64_t)argument->value);
	}
}

static void records(void *self, void *stream, const struct wti_run_of_records *run)
{
	struct process_seeds *known = stream;
	const uint8_t *at = run->data;

	for (uint32_t i = 0; known && i < run->count; i++) {
		const struct wti_record *record = (const void *)at;
		size_t bytes = record->units * 8u;

		at += bytes;
		if (record->kind == WT_KIND_STATE && bytes >= sizeof(struct wti_record_state))
			look_at(self, known, (const void *)record);
		else if (record->kind == WT_KIND_CALL_BEGIN &&
			 bytes >= sizeof(struct wti_record_call_begin))
			begin_call(self, known, (const void *)record, run->track,
				   (uint32_t)(run->first_seq + i));
		else if (record->kind == WT_KIND_ARGUMENT &&
			 bytes >= sizeof(struct wti_record_argument))
			take_argument(self, known, (const void *)record, run->track);
	}
}

/* ---- What is known --------------------------------------------------------------------------- */

/* False if another process has emitted the same before. */
static bool name_seeding(const struct wti_seeds *seeds, const struct wti_seeding *seeding,
			 struct wti_seed *ret_seed)
{
	const struct wti_seeding *first = seeds->seedings;

	while (first->call != seeding->call)
		first++;
	if (first != seeding && first->value == seeding->value)
		return false;
	snprintf(ret_seed->value, sizeof(ret_seed->value), "%" PRId64, seeding->value);
	if (first == seeding)
		snprintf(ret_seed->name, sizeof(ret_seed->name), "%s", calls[seeding->call].name);
	else
		snprintf(ret_seed->name, sizeof(ret_seed->name), "%s of process %u",
			 calls[seeding->call].name, seeding->pid);
	return true;
}

bool wti_seeds_get(const struct wti_seeds *seeds, size_t index, struct wti_seed *ret_seed)
{
	if (index < seeds->count) {
		*ret_seed = seeds->all[index];
		return true;
	}
	index -= seeds->count;
	for (size_t i = 0; i < seeds->seeding_count; i++)
		if (name_seeding(seeds, &seeds->seedings[i], ret_seed) && !index--)
			return true;
	return false;
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
