/* SPDX-License-Identifier: Apache-2.0 */
/* Knows which values of a call are the contents of a file, and which one is its path. */
#include "transfers.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "inspect/core/saved.h"

#define ARENA_MAX ((size_t)256 << 20)
#define TRANSFERS_MAX (1u << 16)
#define VALUES_MAX (1u << 20)

void wti_transfers_init(struct wti_transfers *transfers)
{
	*transfers = (struct wti_transfers){.count = 0};
	wti_arena_init(&transfers->arena, ARENA_MAX);
}

void wti_transfers_release(struct wti_transfers *transfers)
{
	wti_arena_release(&transfers->arena);
	free(transfers->items);
	free(transfers->values);
	transfers->items = NULL;
	transfers->values = NULL;
	transfers->count = transfers->value_count = 0;
}

/* ---- One value ------------------------------------------------------------------------------ */

static uint64_t mix(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ (hash >> 29);
}

static uint64_t mix_text(const char *text)
{
	uint64_t hash = 1;

	for (; *text; text++)
		hash = mix(hash, (uint8_t)*text);
	return hash;
}

static void keep_value(struct wti_transfers *transfers, struct wti_file_transfer *item,
		       const struct wti_value_row *row, const char *name)
{
	struct wti_transfer_value value = {.dtype = row->digest.dtype,
					   .has_hash = !(row->digest.flags & WT_TENSOR_NO_HASH),
					   .hash = row->digest.hash};

	value.name = wti_arena_text(&transfers->arena, name, strlen(name));
	if (!value.name || wti_grow(&transfers->values, transfers->value_count + 1,
				    &transfers->value_capacity, VALUES_MAX)) {
		item->is_cut = true;
		return;
	}
	transfers->values[transfers->value_count++] = value;
	item->value_count++;
}

static void note_wanted(struct wti_transfers *transfers, const struct wti_file_transfer *item,
			uint64_t hash)
{
	if (transfers->wanted && !item->is_load && wti_map_find_number(transfers->wanted, hash))
		wti_map_put(transfers->wanted, hash, (uint64_t)(item->step + 2));
}

/* ---- One call ------------------------------------------------------------------------------- */

static void take_values(struct wti_transfers *transfers, struct wti_file_transfer *item,
			const struct wti_moment *moment, bool is_kept)
{
	uint64_t largest = 0;

	for (uint32_t i = 0; i < moment->call->value_count; i++) {
		const struct wti_value_row *row = &moment->call->values[i];
		const char *name = wti_saved_name(wti_moment_text(moment, row->name));

		if (row->type != WTI_VALUE_TENSOR || (row->position < 0) != item->is_load || !name)
			continue;
		item->count++;
		if (is_kept)
			keep_value(transfers, item, row, name);
		if (row->digest.flags & WT_TENSOR_NO_HASH) {
			item->is_cut = true;
			continue;
		}
		item->digest += mix(mix_text(name), row->digest.hash) | 1;
		note_wanted(transfers, item, row->digest.hash);
		if (row->digest.count > largest) {
			largest = row->digest.count;
			item->anchor = row->digest.hash;
		}
	}
}

static const char *path_of(const struct wti_moment *moment)
{
	for (uint32_t i = 0; i < moment->call->value_count; i++) {
		const struct wti_value_row *row = &moment->call->values[i];
		const char *text = wti_moment_text(moment, row->text);

		if (row->position >= 0 && row->type == WT_VALUE_TYPE_TEXT && *text && *text != '<')
			return text;
	}
	return "";
}

/* numpy gives arrays one by one; torch.distributed.checkpoint fills what it is given. */
static bool is_partial(const struct wti_moment *moment)
{
	return wti_is_of_arrays(moment) ||
	       !strcmp(wti_moment_text(moment, moment->call->callee), "checkpoint.load");
}

/* An archive of which the program takes one array after the other is one load. */
static bool is_more_of(const struct wti_transfers *transfers, const struct wti_file_transfer *item)
{
	const struct wti_file_transfer *last =
		transfers->count ? &transfers->items[transfers->count - 1] : NULL;

	return last && item->is_partial && last->is_partial && *item->path &&
	       last->step == item->step && !strcmp(last->path, item->path);
}

void wti_transfers_take(struct wti_transfers *transfers, const struct wti_moment *moment)
{
	struct wti_file_transfer item = {.is_load = moment->type == WTI_MOMENT_LOAD,
					 .step = moment->scope.step,
					 .first = transfers->value_count};
	const char *path;

	if (!(moment->type & (WTI_MOMENT_SAVE | WTI_MOMENT_LOAD)) || !moment->call ||
	    moment->call->exception)
		return;
	path = path_of(moment);
	item.is_cut = moment->call->is_cut;
	item.is_partial = item.is_load && is_partial(moment);
	item.path = wti_arena_text(&transfers->arena, path, strlen(path));
	if (item.path && is_more_of(transfers, &item)) {
		take_values(transfers, &transfers->items[transfers->count - 1], moment, true);
		return;
	}
	if (!item.path || wti_grow(&transfers->items, transfers->count + 1, &transfers->capacity,
				   TRANSFERS_MAX)) {
		transfers->dropped++;
		return;
	}
	take_values(transfers, &item, moment,
		    item.is_load || (transfers->kept_path && !strcmp(transfers->kept_path, path)));
	transfers->load_count += item.is_load;
	transfers->items[transfers->count++] = item;
}
