/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the words of a command line to a verb's options struct and its arguments.
 *
 * Words may be `--name value`, `--name=value`, `-n value`, `-nvalue` and several flags in one
 * (`-ab`);
 * `--` ends the options. Texts are not copied: they point into argv.
 */
#ifndef WTI_CLI_PARSE_H
#define WTI_CLI_PARSE_H

#include <wheeltap/err.h>

#include "verb.h"

struct wti_parsed {
	void *options;    /* of verb->options_bytes, starting from verb->defaults */
	char **arguments; /* ends with NULL */
	size_t argument_count;
	bool help; /* --help or -h was given: nothing else was checked */
};

/* WT_E_ARG and one line that says what is wrong and what was probably meant. */
int wti_parse(const struct wti_verb *verb, char **words, size_t count,
	      struct wti_parsed *ret_parsed, struct wt_err *err);
void wti_parsed_release(const struct wti_verb *verb, struct wti_parsed *parsed);

#endif
