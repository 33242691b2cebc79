/* SPDX-License-Identifier: Apache-2.0 */
/* What judging TrainCheck's invariants keeps. For the files of this folder only. */
#ifndef WTI_TRAINCHECK_STATE_H
#define WTI_TRAINCHECK_STATE_H

#include "entry.h"
#include "inspect/training/training.h"
#include "traincheck.h"

/* What a function is to an invariant. */
enum wti_tc_role_type {
	WTI_TC_ROLE_PARENT,
	WTI_TC_ROLE_CHILD,
	WTI_TC_ROLE_CALL,  /* whose arguments and results are judged */
	WTI_TC_ROLE_FIRST, /* of a pair in an order */
	WTI_TC_ROLE_SECOND,
	WTI_TC_ROLE_DISTINCT,
};

struct wti_tc_role {
	enum wti_tc_role_type type;
	uint32_t item;
	uint32_t pair;
	uint32_t next; /* of the same function, plus one */
};

struct wti_tc_function {
	uint32_t roles; /* the first, plus one */
	bool is_called;
};

struct wti_tc_item {
	struct wti_tc_entry entry;
	struct wti_doc *doc;
	uint32_t subject[2]; /* symbols of the run */
	struct wti_scope
		first; /* of our own recordings: where a call was missed that may not be recorded */
	size_t first_stream;
	uint64_t missed_count;
	uint32_t series[2]; /* of consistency */
};

/* Of an invariant on a track, or in a process. */
struct wti_tc_flow {
	uint64_t match, maybe; /* ordinal of the last call that is, or may be, what is looked for;
				  plus one */
	int64_t changed_ns;
	bool has_changed;
	/* of orders */
	bool is_ready;  /* the other one has come since */
	bool has_other; /* ever */
	bool is_open;   /* the one that waits for it runs */
	uint64_t count; /* of that */
	uint64_t open_ordinal;
	int64_t ended_ns; /* its last end */
	struct wti_scope scope;
	size_t stream;
};

/* The condition of an invariant at the begin of a call that is open. */
struct wti_tc_pending {
	uint32_t item;
	enum wti_tc_truth truth;
	uint32_t next; /* plus one */
};

/* An attribute of variables of a type. */
struct wti_tc_series {
	const char *type, *attribute;
};

/* A property of variables that a condition asks for. */
struct wti_tc_property {
	const char *name;
	const struct wti_doc *path;
};

/* How long a variable had a value, and what was said of it at the last. */
struct wti_tc_lasting {
	int64_t from_ns, to_ns;
	uint64_t value; /* hash */
	uint32_t variable;
	uint32_t series;
	uint32_t properties; /* place of the first hash */
	uint32_t next;       /* of the same variable and series: the one before, plus one */
	struct wti_scope scope;
};

struct wti_tc_variable {
	size_t stream;
	uint32_t name;
	uint32_t type;
	uint32_t attributes; /* symbol of a JSON object */
	const struct wti_parameter *parameter;
	struct wti_tc_value data, grad;
};

struct wti_tc_judge {
	const struct wti_training *training;
	struct wti_symbols *symbols; /* of the run */
	struct wti_sink_of_occasions sink;
	const uint32_t *levels;
	struct wti_calls calls;
	struct wti_tc_item *items;
	uint32_t item_count;
	struct wti_map names;     /* "module.callee": place in functions, plus one */
	struct wti_map functions; /* module and callee: the same, or 0 */
	struct wti_tc_function *of_functions;
	size_t function_count, function_capacity;
	struct wti_tc_role *roles;
	size_t role_count, role_capacity;
	struct wti_map flow_index; /* struct key: place plus one */
	struct wti_tc_flow *flows;
	size_t flow_count, flow_capacity;
	struct wti_tc_pending *pending;
	size_t pending_count, pending_capacity;
	uint32_t free_pending;   /* plus one */
	struct wti_map contexts; /* stream, track and key: place plus one */
	struct wti_tc_value *context_values;
	size_t context_count, context_capacity;
	struct wti_map documents;      /* symbol of a JSON object: address of the document */
	struct wti_map seen;           /* of distinct arguments: item, step and arguments */
	struct wti_map variable_index; /* stream and name: place plus one */
	struct wti_tc_variable *variables;
	size_t variable_count, variable_capacity;
	struct wti_tc_series *series;
	size_t series_count, series_capacity;
	struct wti_tc_property *properties;
	size_t property_count, property_capacity;
	uint32_t *changes; /* items about changes */
	size_t change_count, change_capacity;
	const char **changing; /* attributes whose changes calls contain */
	size_t changing_count, changing_capacity;
	struct wti_map said_index; /* variable and place in changing: place plus one */
	struct wti_tc_value *said; /* their last values */
	size_t said_count, said_capacity;
	struct wti_map last; /* variable and series: place in lasting, plus one */
	struct wti_tc_lasting *lasting;
	size_t lasting_count, lasting_capacity;
	uint64_t *hashes; /* of properties */
	size_t hash_count, hash_capacity;
	struct wti_map lost; /* streams in which calls were lost */
	int64_t now_ns;
	uint64_t holds; /* a word */
	uint32_t relation;
	bool has_variables; /* some invariant is about them */
	bool is_cut;        /* there was more than could be kept or compared */
	bool failed;        /* out of memory */
	struct wti_occasion occasion;
};

/* What is asked about: a call, or a variable. */
struct wti_tc_record {
	size_t stream;
	uint32_t track;
	struct wti_scope scope;
	const struct wti_call *call;
	const struct wti_tc_variable *variable;
};

bool wti_tc_is_native(const struct wti_tc_judge *judge);
/* Reports that an invariant applies here, and whether it holds. */
void wti_tc_report(struct wti_tc_judge *judge, uint32_t item, size_t stream,
		   const struct wti_scope *scope, const struct wti_call *call, uint32_t about,
		   bool holds);
/* NULL: no room. */
struct wti_tc_flow *wti_tc_flow(struct wti_tc_judge *judge, uint32_t item, uint32_t pair,
				size_t stream, uint32_t track);
/* A document behind a symbol, kept; NULL: it is none. */
const struct wti_doc *wti_tc_document(struct wti_tc_judge *judge, uint32_t symbol);

/* properties.c */
void wti_tc_take_context(struct wti_tc_judge *judge, const struct wt_event *event);
struct wti_tc_value wti_tc_property(struct wti_tc_judge *judge, const struct wti_tc_record *record,
				    const char *name, const struct wti_doc *path);
/* Of a tensor of a call. */
struct wti_tc_value wti_tc_tensor(struct wti_tc_judge *judge, const struct wti_value_row *row,
				  const struct wti_doc *path);
struct wti_tc_value wti_tc_attribute(struct wti_tc_judge *judge,
				     const struct wti_tc_variable *variable, const char *name,
				     const struct wti_doc *path);
enum wti_tc_truth wti_tc_condition(struct wti_tc_judge *judge, const struct wti_tc_item *item,
				   const struct wti_tc_record *record);

/* calls.c */
void wti_tc_begun(struct wti_tc_judge *judge, struct wti_call *call);
void wti_tc_ended(struct wti_tc_judge *judge, struct wti_call *call);
void wti_tc_finish_calls(struct wti_tc_judge *judge);

/* variables.c */
bool wti_tc_prepare_variables(struct wti_tc_judge *judge);
void wti_tc_take_attributes(struct wti_tc_judge *judge, const struct wt_event *event);
void wti_tc_take_state(struct wti_tc_judge *judge, const struct wt_event *event);
void wti_tc_finish_variables(struct wti_tc_judge *judge);

#endif
