/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the words of a command line to a verb's options struct and its arguments.
 *
 * Words may be `--name value`, `--name=value`, `-n value`, `-nvalue` and several flags in one
 * (`-ab`);
 * `--` ends the options; a flag may be taken back with `--name=no`. Texts are not copied: they
 * point into argv, or into the configuration.
 *
 * An option of type WTI_OPT_CONFIG names a file with options. It is read first, wherever it stands,
 * so that the words win over the file.
 */
#ifndef WTI_CLI_PARSE_H
#define WTI_CLI_PARSE_H

#include <wheeltap/err.h>

#include "config.h"
#include "verb.h"

struct wti_parsed {
	void *options;    /* of verb->options_bytes, starting from verb->defaults */
	char **arguments; /* ends with NULL */
	size_t argument_count;
	struct wti_config *config; /* or NULL */
	bool help;                 /* --help or -h was given: nothing else was checked */
};

/* WT_E_ARG and one line that says what is wrong and what was probably meant. */
int wti_parse(const struct wti_verb *verb, char **words, size_t count,
	      struct wti_parsed *ret_parsed, struct wt_err *err);
/* The value of one option into the verb's options struct; what a value of its type looks like is
 * said in the error. `value` has to stay. */
int wti_option_store(const struct wti_option *option, void *options, const char *value,
		     struct wt_err *err);
const struct wti_option *wti_option_by_name(const struct wti_verb *verb, const char *name,
					    size_t bytes);
void wti_parsed_release(const struct wti_verb *verb, struct wti_parsed *parsed);

#endif
