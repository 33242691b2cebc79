/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An invariant of TrainCheck's as it was published: a relation, what it relates, and a condition
 * that is an or of ands of clauses. It is kept whole in a pack, as the JSON that it came as, and
 * read from that to be judged, described or written back.
 */
#ifndef WTI_TRAINCHECK_ENTRY_H
#define WTI_TRAINCHECK_ENTRY_H

#include "value.h"

/* What a pack says of all of them. */
#define WTI_TC_HOLDS "holds as TrainCheck has it"

enum wti_tc_relation {
	WTI_TC_CONTAIN, /* a call contains another, or a change of a variable */
	WTI_TC_CONSISTENCY,
	WTI_TC_OUTPUT,
	WTI_TC_INPUT_OUTPUT,
	WTI_TC_THRESHOLD,
	WTI_TC_COVER,
	WTI_TC_LEAD,
	WTI_TC_DISTINCT,
	WTI_TC_RELATIONS,
};

enum wti_tc_param_type {
	WTI_TC_API,
	WTI_TC_VARIABLE,
	WTI_TC_FIELD, /* of an input or an output tensor, or an argument by its name */
};

struct wti_tc_param {
	enum wti_tc_param_type type;
	const char *function;            /* "module.callee", as our events name it */
	const char *exception;           /* NULL: none is asked for */
	const struct wti_doc *arguments; /* the first; NULL: none is asked for */
	const char *variable_type, *variable_name, *attribute; /* a name of NULL: any */
	const struct wti_doc *before, *after, *constant;       /* NULL: any */
	const char *name;
	int64_t index;              /* -1: by name */
	const struct wti_doc *path; /* the first step of it */
	bool is_input;
};

enum wti_tc_clause_type {
	WTI_TC_CLAUSE_CONSTANT,
	WTI_TC_CLAUSE_CONSISTENT,
	WTI_TC_CLAUSE_UNEQUAL,
	WTI_TC_CLAUSE_EXIST,
	WTI_TC_CLAUSE_TYPES,
};

struct wti_tc_clause {
	enum wti_tc_clause_type type;
	const char *property;
	const struct wti_doc *path;
	struct wti_tc_value *values;
	uint32_t value_count;
	uint32_t place; /* of the property among those of variables */
};

struct wti_tc_conjunction {
	struct wti_tc_clause *clauses;
	uint32_t count;
};

struct wti_tc_condition {
	struct wti_tc_conjunction *any; /* one without clauses is always true */
	uint32_t count;
	bool is_inverted;
};

struct wti_tc_entry {
	enum wti_tc_relation relation;
	struct wti_tc_param *params;
	uint32_t param_count;
	struct wti_tc_condition condition;
	const char *subject; /* what it is about: a function, or a variable */
	struct wti_arena arena;
};

/*
 * Reads an entry from a document that has to outlive it. 0, or an error: WT_E_FORMAT says that it
 * cannot be judged here, and `ret_why` why, in words that are the same for all of the kind.
 */
int wti_tc_entry_read(struct wti_tc_entry *entry, struct wti_symbols *symbols,
		      const struct wti_doc *doc, const char **ret_why);
void wti_tc_entry_release(struct wti_tc_entry *entry);

/* What a pack keeps of it. */
void wti_tc_entry_text(struct wti_buf *out, const struct wti_doc *doc);
/* The sentence, from what a pack keeps. */
void wti_tc_describe(struct wti_buf *out, const char *text);
/* Calls each function that has to be recorded for it. */
void wti_tc_functions(const char *text, void (*take)(void *self, const char *function), void *self);

#endif
