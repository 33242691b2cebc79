/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A verb is a file and a row: the file defines a struct wti_verb (name, arguments, options, help
 * and the function), table.c lists it. Help text, man page and shell completion all come from
 * there.
 */
#ifndef WTI_CLI_VERB_H
#define WTI_CLI_VERB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum wti_exit {
	WTI_EXIT_CLEAN = 0,
	WTI_EXIT_FINDINGS = 1,
	WTI_EXIT_USAGE = 2,
	WTI_EXIT_TRACE = 3, /* unreadable, or not measured */
	WTI_EXIT_ENVIRONMENT = 4,
	/* Of a verb whose status is that of a program: it failed itself, for whatever reason, as
	 * with timeout, env and nohup. */
	WTI_EXIT_NOT_RUN = 125,
	WTI_EXIT_RECORD = 125, /* record itself failed; otherwise it gives the program's status */
};

enum wti_option_type {
	WTI_OPT_FLAG,     /* bool */
	WTI_OPT_TEXT,     /* const char * */
	WTI_OPT_COUNT,    /* uint64_t */
	WTI_OPT_BYTES,    /* uint64_t, "64k" */
	WTI_OPT_DURATION, /* int64_t ns, "1.5s" */
	WTI_OPT_CHOICE,   /* const char *, one of `choices` ("a|b|c"); what follows '=' is free */
	WTI_OPT_LIST,     /* struct wti_list of const char *: may be given again and again */
	WTI_OPT_MAYBE,    /* const char *: "yes" if no value came with it (--check, --check=FILE) */
	WTI_OPT_CONFIG,   /* const char *: a file with options, read before the others (config.h) */
};

struct wti_list {
	const char **items;
	size_t count, capacity;
};

struct wti_option {
	const char *name; /* long, without dashes */
	char letter;      /* or 0 */
	enum wti_option_type type;
	const char *argument; /* as help shows it: "DIR"; NULL for flags */
	const char *choices;
	const char *help;
	size_t offset; /* into the verb's options struct */
};

/* What help and manual page show for the value: the words themselves, where only some are allowed.
 */
static inline const char *wti_option_value(const struct wti_option *option)
{
	return option->type == WTI_OPT_CHOICE ? option->choices : option->argument;
}

struct wti_verb {
	const char *name;
	const char *arguments;            /* as usage shows them: "[RUN]", "-- PROGRAM [ARGS...]" */
	const char *summary;              /* one line */
	const char *description;          /* paragraphs for the man page */
	const char *examples;             /* lines "command\texplanation" */
	const struct wti_option *options; /* ends with a name of NULL */
	size_t options_bytes;             /* of the verb's options struct */
	unsigned arguments_min;
	unsigned arguments_max;
	bool rest_is_program; /* options end at the first word that is not one */
	bool starts_programs; /* which must get the limits that they would have without us */
	const char *group;    /* in `wheeltap help`: "record", "look", "keep" */
	int (*run)(const void *options, char **arguments, size_t count);
	const void *defaults; /* of the options struct; NULL: all zero */
	/* Whose configurations it takes besides our own; ends with NULL, or NULL. */
	const struct wti_dialect *const *dialects;
};

/* In the order in which help shows them; ends with NULL. */
extern const struct wti_verb *const wti_verbs[];

const struct wti_verb *wti_verb_by_name(const char *name); /* or NULL */

/* The rows, one a file. */
extern const struct wti_verb wti_verb_check;
extern const struct wti_verb wti_verb_clean;
extern const struct wti_verb wti_verb_compare;
extern const struct wti_verb wti_verb_dataset;
extern const struct wti_verb wti_verb_diff;
extern const struct wti_verb wti_verb_digits;
extern const struct wti_verb wti_verb_doctor;
extern const struct wti_verb wti_verb_env;
extern const struct wti_verb wti_verb_explain;
extern const struct wti_verb wti_verb_export;
extern const struct wti_verb wti_verb_gate;
extern const struct wti_verb wti_verb_golden;
extern const struct wti_verb wti_verb_help;
extern const struct wti_verb wti_verb_import;
extern const struct wti_verb wti_verb_infer;
extern const struct wti_verb wti_verb_info;
extern const struct wti_verb wti_verb_ls;
extern const struct wti_verb wti_verb_model;
extern const struct wti_verb wti_verb_pack;
extern const struct wti_verb wti_verb_python;
extern const struct wti_verb wti_verb_record;
extern const struct wti_verb wti_verb_replay;
extern const struct wti_verb wti_verb_report;
extern const struct wti_verb wti_verb_rerun;
extern const struct wti_verb wti_verb_sim;
extern const struct wti_verb wti_verb_stat;
extern const struct wti_verb wti_verb_tag;
extern const struct wti_verb wti_verb_tests;
extern const struct wti_verb wti_verb_timeline;
extern const struct wti_verb wti_verb_trend;
extern const struct wti_verb wti_verb_try;
extern const struct wti_verb wti_verb_version;
extern const struct wti_verb wti_verb_view;

/* The options that every verb has. `type` is the verb's options struct, with a bool json. */
#define WTI_OPTION_JSON(type, member)                                                              \
	{                                                                                          \
		"json", 0, WTI_OPT_FLAG, NULL, NULL, "print one JSON object instead of text",      \
			offsetof(type, member)                                                     \
	}
#define WTI_OPTIONS_END                                                                            \
	{                                                                                          \
		NULL                                                                               \
	}

#endif
