/* SPDX-License-Identifier: Apache-2.0 */
/* wheeltap: finds the verb, reads its options, runs it. */
#include <string.h>

#include "base/err.h"
#include "base/text.h"
#include "help.h"
#include "parse.h"
#include "report.h"
#include "verb.h"

#define VERBS_MAX 64

static int unknown_verb(const char *word)
{
	const char *names[VERBS_MAX];
	size_t count = 0;
	const char *near;
	struct wt_err err = {0};

	while (wti_verbs[count] && count < VERBS_MAX) {
		names[count] = wti_verbs[count]->name;
		count++;
	}
	near = wti_suggest(word, names, count);
	if (near)
		wti_err(&err, WT_E_ARG, "unknown verb '%.64s'; did you mean '%s'?", word, near);
	else
		wti_err(&err, WT_E_ARG, "unknown verb '%.64s'; 'wheeltap help' lists them", word);
	return wti_report_error("wheeltap", false, &err);
}

/* An error before the options are known still answers in JSON if that was asked for. */
static bool wants_json(char **words, size_t count)
{
	for (size_t i = 0; i < count && strcmp(words[i], "--"); i++) {
		if (!strcmp(words[i], "--json"))
			return true;
	}
	return false;
}

/* Keys of a configuration that other programs know and that have no meaning here. */
static void tell_ignored(struct wti_config *config)
{
	if (config && config->ignored.bytes)
		wti_warn("'%s' is a configuration of %s; without meaning here: %s (docs/config.md)",
			 config->path, config->dialect->name, wti_buf_cstr(&config->ignored));
}

static int run_verb(const struct wti_verb *verb, char **words, size_t count)
{
	struct wti_parsed parsed;
	struct wt_err err = {0};
	int code;

	if (wti_parse(verb, words, count, &parsed, &err))
		return wti_report_error(verb->name, wants_json(words, count), &err);
	if (!wants_json(words, count))
		tell_ignored(parsed.config);
	if (parsed.help)
		code = wti_help_verb(verb);
	else
		code = verb->run(parsed.options, parsed.arguments, parsed.argument_count);
	wti_parsed_release(verb, &parsed);
	return code;
}

int main(int argc, char **argv)
{
	const struct wti_verb *verb;
	const char *word = argc > 1 ? argv[1] : "--help";

	if (!strcmp(word, "--help") || !strcmp(word, "-h"))
		return wti_help_all() ? WTI_EXIT_ENVIRONMENT : argc > 1 ? 0 : WTI_EXIT_USAGE;
	if (!strcmp(word, "--version") || !strcmp(word, "-V"))
		word = "version";
	verb = wti_verb_by_name(word);
	if (!verb)
		return unknown_verb(word);
	return run_verb(verb, argv + 2, (size_t)argc - 2);
}
