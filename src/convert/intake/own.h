/* SPDX-License-Identifier: Apache-2.0 */
/* The intake from inside: what was taken in, for those who write it. */
#ifndef WTI_CONVERT_INTAKE_OWN_H
#define WTI_CONVERT_INTAKE_OWN_H

#include "base/map.h"
#include "intake.h"
#include "sorter.h"

#define WTI_INTAKE_NAMES_MAX ((size_t)1 << 20)
#define WTI_INTAKE_TRACKS_MAX ((size_t)1 << 16)
#define WTI_INTAKE_PROCESSES_MAX 1024u
#define WTI_INTAKE_REASONS_MAX 64u
#define WTI_INTAKE_NAME_BYTES 4096u /* of a text: longer ones are cut */

/* Types of records. */
enum wti_intake_record {
	WTI_TAKEN_SPAN,
	WTI_TAKEN_BEGIN,
	WTI_TAKEN_END,
	WTI_TAKEN_FLOW,
	WTI_TAKEN_EVENT
};

struct wti_taken_span {
	struct wti_sorted head;
	uint32_t track;
	uint32_t name;
	uint64_t correlation;
	uint32_t flags;
	uint32_t reserved;
};

struct wti_taken_flow {
	struct wti_sorted head;
	uint32_t track;
	uint16_t edge;
	uint16_t part;
	uint64_t id;
};

/* Values follow, then a length for each text, then the texts. */
struct wti_taken_event {
	struct wti_sorted head;
	uint32_t track;
	uint16_t value_count;
	uint16_t text_count;
	uint64_t values[];
};

struct wti_intake_process {
	uint64_t earliest; /* start of an operation, whose event stands at its end; 0: none */
	uint32_t pid;
	char command[16];
};

struct wti_taken_track {
	struct wt_track track; /* id: within all processes; name: allocated */
	uint32_t process;
	bool used;
};

struct wti_intake {
	char *folder;
	struct wti_sorter *sorter;
	struct wti_map names;    /* text: id */
	struct wti_map tracks;   /* process, type, key: number */
	struct wti_map pids;     /* key: number, plus one */
	struct wti_map op_pages; /* correlations of operations: pages of bits */
	struct wti_map shared;   /* correlations of more than one operation: how many more */
	struct wti_taken_track *track_items; /* from number 1 on */
	size_t track_count, track_capacity;
	struct wti_intake_process *processes;
	size_t process_count, process_capacity;
	uint64_t **pages;
	size_t page_count, page_capacity;
	struct wti_intake_reason reasons[WTI_INTAKE_REASONS_MAX];
	size_t reason_count;
	uint64_t lost;
	int failed; /* WT_E_NOMEM, or 0 */
};

/* How many operations have the correlation. */
uint64_t wti_intake_op_count(const struct wti_intake *intake, uint64_t correlation);
/* The k-th of several that have the same number in the file: the first one keeps it. */
uint64_t wti_intake_unique(uint64_t correlation, uint64_t k);

#endif
