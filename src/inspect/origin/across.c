/* SPDX-License-Identifier: Apache-2.0 */
/* Judges what was loaded by what another run saved: the same codes as for a file. */
#include "across.h"

#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "inspect/training/optimizer_state.h"
#include "own.h"

/* By contents alone, a save is that of the file if so many of its tensors are the same. */
#define SAME_SHARE 0.5

enum what { DIFFERENT, OTHER_STEP, MISSING, NO_OPTIMIZER, EXTRA, WHATS };

struct comparing {
	const struct wti_across *across;
	struct wti_map names;  /* of what was saved: its place plus one */
	struct wti_map hashes; /* of names and hashes together */
	struct wti_map loaded; /* names of what was loaded */
	size_t equal, unmeasured;
	size_t counts[WHATS];
	const char *first[WHATS];
	int64_t step; /* of the first of OTHER_STEP */
};

static uint64_t key_of(const struct wti_transfer_value *value)
{
	uint64_t key = value->hash;

	for (const char *at = value->name; *at; at++)
		key = (key ^ (uint8_t)*at) * UINT64_C(0x100000001b3);
	return key;
}

static void add(struct comparing *comparing, enum what what, const char *name)
{
	if (!comparing->counts[what]++)
		comparing->first[what] = name;
}

static void compare_loaded(struct comparing *comparing, const struct wti_transfer_value *value)
{
	const uint64_t *place =
		wti_map_find_text(&comparing->names, value->name, strlen(value->name));
	uint64_t step = wti_map_get(comparing->across->steps, value->hash);

	wti_map_text(&comparing->loaded, value->name, strlen(value->name));
	if (!place) {
		add(comparing, EXTRA, value->name);
	} else if (!value->has_hash || !comparing->across->saved[*place - 1]->has_hash) {
		comparing->unmeasured++;
	} else if (wti_map_find_number(&comparing->hashes, key_of(value))) {
		comparing->equal++;
	} else if (step) {
		if (!comparing->counts[OTHER_STEP])
			comparing->step = (int64_t)step - 2;
		add(comparing, OTHER_STEP, value->name);
	} else {
		add(comparing, DIFFERENT, value->name);
	}
}

static void compare(struct comparing *comparing)
{
	const struct wti_across *across = comparing->across;

	for (size_t i = 0; i < across->saved_count; i++) {
		const struct wti_transfer_value *value = across->saved[i];
		uint64_t *slot = wti_map_text(&comparing->names, value->name, strlen(value->name));

		if (slot && !*slot)
			*slot = i + 1;
		if (value->has_hash)
			wti_map_put(&comparing->hashes, key_of(value), 1);
	}
	for (size_t i = 0; i < across->load->value_count; i++)
		compare_loaded(comparing, &across->loaded[i]);
	for (size_t i = 0; i < across->saved_count && !across->load->is_partial; i++) {
		const char *name = across->saved[i]->name;

		if (!wti_map_find_text(&comparing->loaded, name, strlen(name)))
			add(comparing, wti_optimizer_keeps(name) ? NO_OPTIMIZER : MISSING, name);
	}
}

/* ---- Findings ------------------------------------------------------------------------------- */

static void put_step(struct wti_buf *out, int64_t step)
{
	if (step >= 0)
		wti_textf(out, " in step %" PRId64, step);
}

static void put_save(struct wti_buf *out, const struct wti_across *across, const char *what)
{
	wti_textf(out, "the run '%s' saved%s", across->run, what);
	if (strcmp(wti_origin_base(across->path), wti_origin_base(across->load->path)) != 0)
		wti_textf(out, " as '%s'", across->path);
	put_step(out, across->step);
}

static void put_evidence(struct wti_buf *out, const struct comparing *comparing, enum what what)
{
	const struct wti_across *across = comparing->across;

	wti_textf(out, "%s: '%s' ", wti_origin_base(across->load->path), comparing->first[what]);
	switch (what) {
	case DIFFERENT:
		wti_textf(out, "was loaded with another value than ");
		put_save(out, across, "");
		break;
	case OTHER_STEP:
		wti_textf(out, "was loaded with the value that was saved");
		put_step(out, comparing->step);
		wti_textf(out, ", not with what ");
		put_save(out, across, "");
		break;
	case EXTRA:
		wti_textf(out, "was loaded, and is not in what ");
		put_save(out, across, "");
		break;
	default:
		wti_textf(out, "is missing from what was loaded; ");
		put_save(out, across, " it");
	}
}

static void add_findings(const struct comparing *comparing, struct wt_result *result)
{
	static const char *const codes[WHATS] = {"WT-LIN-001", "WT-LIN-003", "WT-LIN-005",
						 "WT-LIN-010", "WT-LIN-006"};
	const struct wti_across *across = comparing->across;

	for (int i = 0; i < WHATS; i++) {
		/* With nothing in common, somebody else has written the file: that may be meant. */
		enum wt_severity severity = i == EXTRA || !comparing->equal ? WT_WARNING : WT_ERROR;
		struct wti_buf text;

		if (!comparing->counts[i])
			continue;
		wti_buf_init(&text, 8192);
		put_evidence(&text, comparing, (enum what)i);
		wti_lineage_finding(result, &(struct wti_lineage_finding){
						    .code = codes[i],
						    .severity = severity,
						    .evidence = wti_buf_cstr(&text),
						    .path = across->load->path,
						    .step = across->load->step,
						    .count = comparing->counts[i],
						    .case_count = across->load->value_count});
		wti_buf_release(&text);
	}
}

size_t wti_across_judge(const struct wti_across *across, struct wt_result *result)
{
	struct comparing comparing = {.across = across};

	wti_map_init(&comparing.names, across->saved_count + 1);
	wti_map_init(&comparing.hashes, across->saved_count + 1);
	wti_map_init(&comparing.loaded, across->load->value_count + 1);
	compare(&comparing);
	if (!across->is_by_contents ||
	    (double)comparing.equal >= SAME_SHARE * (double)across->load->value_count) {
		add_findings(&comparing, result);
		if (comparing.unmeasured)
			wt_result_note(result,
				       "not measured: %zu of %zu tensors that were loaded from "
				       "'%s' have no hash in the traces",
				       comparing.unmeasured, across->load->value_count,
				       across->load->path);
	}
	wti_map_release(&comparing.names);
	wti_map_release(&comparing.hashes);
	wti_map_release(&comparing.loaded);
	return comparing.equal;
}

void wti_across_other(const struct wti_across *across, const char *last_run, int64_t last_step,
		      struct wt_result *result)
{
	struct wti_buf text;

	wti_buf_init(&text, 8192);
	wti_textf(&text, "%s: ", wti_origin_base(across->load->path));
	if (across->load->value_count)
		wti_textf(&text, "'%s' and all other tensors are ", across->loaded[0].name);
	wti_textf(&text, "what the run '%s' saved as '%s'", across->run,
		  wti_origin_base(across->path));
	put_step(&text, across->step);
	wti_textf(&text, "; this name was last saved by '%s'", last_run);
	put_step(&text, last_step);
	wti_lineage_finding(result,
			    &(struct wti_lineage_finding){.code = "WT-LIN-007",
							  .severity = WT_ERROR,
							  .evidence = wti_buf_cstr(&text),
							  .path = across->load->path,
							  .step = across->load->step,
							  .count = across->load->value_count,
							  .case_count = across->load->value_count});
	wti_buf_release(&text);
}
