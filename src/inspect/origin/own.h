/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of this room share: what a run saved and held, as far as it concerns the file. */
#ifndef WTI_INSPECT_ORIGIN_OWN_H
#define WTI_INSPECT_ORIGIN_OWN_H

#include <wheeltap/inspect.h>

#include "inspect/training/training.h"
#include "origin.h"

enum wti_origin_how {
	WTI_ORIGIN_LIVE, /* a parameter held it */
	WTI_ORIGIN_SAVED,
	WTI_ORIGIN_LOADED,
};

/* A tensor of the file was seen in the run. */
struct wti_origin_sighting {
	uint32_t tensor;
	uint32_t next; /* of the same tensor, plus one */
	enum wti_origin_how how;
	bool is_turned;  /* it is the transpose that was seen */
	bool is_average; /* of LIVE: by a copy of the model */
	uint32_t owner;  /* symbols; of LIVE */
	uint32_t name;
	int64_t step;
	uint32_t save;       /* of the others: which one */
	uint64_t step_count; /* of LIVE: steps of the process, by then */
	bool is_overwritten; /* of LIVE: by something else, and not in a step */
	int64_t overwritten_step;
};

/* How a value that is saved compares with the parameter of its name at that moment. */
enum wti_origin_live {
	WTI_LIVE_NONE, /* there is no such parameter */
	WTI_LIVE_EQUAL,
	WTI_LIVE_AVERAGE, /* a copy of the model holds it, the model does not */
	WTI_LIVE_OTHER,   /* the model holds something else */
};

struct wti_origin_value {
	uint32_t name;
	struct wti_digest_row digest;
	enum wti_origin_live live;
	uint32_t owner; /* of the parameter */
};

/* A call that saved or loaded. */
struct wti_origin_save {
	bool is_load;
	bool is_cut; /* the trace has not all of it */
	int64_t step;
	int32_t rank;
	uint32_t path;  /* symbol; none: not a file, or not recorded */
	uint32_t group; /* the first save of the same path in the same step, by another rank */
	size_t first;   /* of values */
	size_t count;
	uint64_t optimizer_steps; /* of its process, by then */
	int64_t claimed;          /* the step that it says it is of; -1: none */
	bool has_optimizer;       /* there is the state of one */
};

struct wti_origin {
	struct wti_origin_options options;
	struct wti_training training;
	struct wti_map wanted;  /* hash: tensor plus one; the rest by next_same */
	struct wti_map holding; /* parameter: its last sighting, plus one */
	uint32_t *next_same;    /* by tensor: another of the same hash, plus one */
	uint32_t *sighted;      /* by tensor: the last sighting, plus one */
	struct wti_origin_sighting *sightings;
	size_t sighting_count, sighting_capacity;
	struct wti_origin_save *saves;
	size_t save_count, save_capacity;
	struct wti_origin_value *values;
	size_t value_count, value_capacity;
	uint64_t dropped; /* values and sightings that found no room */
};

/* The basename; "" for none. */
const char *wti_origin_base(const char *path);
const char *wti_origin_text(const struct wti_origin *origin, uint32_t symbol);
/* A value of a group of saves, by its name; of several, the one with that hash. NULL: none. */
const struct wti_origin_value *wti_origin_find(const struct wti_origin *origin, uint32_t group,
					       const char *name, uint64_t hash);
/* The findings and the table. */
int wti_origin_judge(struct wti_origin *origin, struct wt_result *result);
/* "fc1.weight" is the end of "model.fc1.weight", at a dot. */
bool wti_origin_ends_with(const char *path, const char *name);
/* The same for a run that loaded the file; false: it did not. */
bool wti_origin_judge_loaded(struct wti_origin *origin, struct wt_result *result);
/* Adds a finding about the file. */
void wti_origin_finding(const struct wti_origin *origin, struct wt_result *result, const char *code,
			enum wt_severity severity, const char *evidence, int64_t step,
			uint64_t count);

#endif
