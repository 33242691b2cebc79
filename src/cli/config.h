/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Options from a file, by the same rows as those of the command line: a row is all that an option
 * needs to be known to both. Our own format is TOML with a table for each verb; a verb may know
 * those of other programs, whose keys a dialect translates into its own options.
 *
 * How a file is written (TOML, YAML, JSON) and whose it is are both seen from what is in it. docs/
 * config.md is the manual.
 */
#ifndef WTI_CLI_CONFIG_H
#define WTI_CLI_CONFIG_H

#include <wheeltap/err.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/doc.h"
#include "verb.h"

struct wti_config { /* what a file said; options point into it */
	const struct wti_verb *verb;
	const char *path;
	void *options;
	struct wti_doc *doc;
	struct wti_arena texts; /* put together from what is in the document */
	char **program;         /* that the file names, and its arguments */
	size_t program_count;
	const char *program_directory; /* to run it in, or NULL */
	struct wti_buf ignored;        /* keys that have no meaning here, in words */
	const struct wti_dialect *dialect;
	struct wt_err *err; /* while it is being read */
};

/* A key of another program's configuration. */
struct wti_dialect_key {
	const char *name;   /* with dots, as in "io.cache.root" */
	const char *option; /* of the verb; NULL: it has no meaning here, which is said once */
	/* Turns the value into the option's; NULL: as it is. */
	int (*take)(struct wti_config *config, const struct wti_dialect_key *key,
		    const struct wti_doc *value);
	const char *with; /* for `take` */
};

struct wti_dialect {
	const char *name;
	const struct wti_dialect_key *keys; /* ends with a name of NULL */
};

extern const struct wti_dialect wti_dialect_traincheck;
extern const struct wti_dialect wti_dialect_pytracer;

int wti_config_load(const struct wti_verb *verb, const char *path, void *options,
		    struct wti_config **ret_config, struct wt_err *err);
void wti_config_free(struct wti_config *config);

/* A file with every option of a verb that has defaults, as they are now, to be changed by hand. */
void wti_config_write(struct wti_buf *out, const struct wti_verb *verb, const void *options,
		      char *const *program, size_t count);

/*
 * The options of a verb that are not at their defaults, as words of a command line
 * ("--detail=full"), but those whose names are in `but`, which ends with NULL. To be freed by
 * wti_config_words_free().
 */
int wti_config_words(const struct wti_verb *verb, const void *options, const char *const *but,
		     char ***ret_words);
void wti_config_words_free(char **words);

/* For dialects. "path:line:column: ..."; returns WT_E_ARG. */
int wti_config_fail(const struct wti_config *config, const struct wti_doc *value,
		    const char *format, ...) __attribute__((format(printf, 3, 4)));
/* The value as a word of the command line; of a list, its elements with commas between. NULL if it
 * is none, which has been said. */
const char *wti_config_text(struct wti_config *config, const struct wti_doc *value);
/* A path in the file, from the folder that the file is in. */
const char *wti_config_path(struct wti_config *config, const char *path);
/* Sets an option of the verb. */
int wti_config_set(struct wti_config *config, const struct wti_doc *value, const char *option,
		   const char *text);
int wti_config_program(struct wti_config *config, const struct wti_doc *value,
		       const char *const *words, size_t count);

#endif
