/* SPDX-License-Identifier: Apache-2.0 */
/* wheeltap: finds the verb, reads its options, runs it. */
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <ucontext.h>

#include "base/err.h"
#include "cli/keep/help.h"
#include "parse.h"
#include "report.h"
#include "verb.h"

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
static void print_ignored(struct wti_config *config)
{
	if (config && config->ignored.bytes)
		wti_warn("'%s' is a configuration of %s; ignored: %s (docs/config.md)",
			 config->path, config->dialect->name, wti_buf_cstr(&config->ignored));
}

/* Each stream of a run is an open file: 1024 are not enough for the ranks of a large one. */
static void allow_many_files(void)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files))
		return;
	files.rlim_cur = files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &files); /* what cannot be opened is reported */
}

static int run_verb(const struct wti_verb *verb, char **words, size_t count)
{
	struct wti_parsed parsed;
	struct wt_err err = {0};
	int code;

	if (wti_parse(verb, words, count, &parsed, &err)) {
		code = wti_report_error(verb->name, wants_json(words, count), &err);
		return verb->rest_is_program ? WTI_EXIT_NOT_RUN : code;
	}
	if (!wants_json(words, count))
		print_ignored(parsed.config);
	if (!verb->starts_programs)
		allow_many_files();
	if (parsed.help)
		code = wti_help_verb(verb);
	else
		code = verb->run(parsed.options, parsed.arguments, parsed.argument_count);
	wti_parsed_release(verb, &parsed);
	return code;
}

static int run_words(int argc, char **argv)
{
	const struct wti_verb *verb;
	const char *word = argc > 1 ? argv[1] : "--help";

	if (!strcmp(word, "--help") || !strcmp(word, "-h"))
		return wti_help_all() ? WTI_EXIT_ENVIRONMENT : argc > 1 ? 0 : WTI_EXIT_USAGE;
	if (!strcmp(word, "--version") || !strcmp(word, "-V"))
		word = "version";
	verb = wti_verb_by_name(word);
	if (!verb)
		return wti_unknown_verb("wheeltap", word, false);
	return run_verb(verb, argv + 2, (size_t)argc - 2);
}

/* ---- A stack of our own --------------------------------------------------------------------- */

#define STACK_BYTES (4u << 20)

struct call {
	int argc;
	char **argv;
	int code;
	ucontext_t back, here;
};

/* makecontext() passes numbers only. */
static void enter(unsigned high, unsigned low)
{
	struct call *call = (struct call *)((uintptr_t)high << 32 | low);

	call->code = run_words(call->argc, call->argv);
}

static bool run_elsewhere(struct call *call)
{
	uintptr_t self = (uintptr_t)call;
	void *stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);

	if (stack == MAP_FAILED || getcontext(&call->here))
		return false;
	call->here.uc_stack.ss_sp = stack;
	call->here.uc_stack.ss_size = STACK_BYTES;
	call->here.uc_link = &call->back;
	makecontext(&call->here, (void (*)(void))enter, 2, (unsigned)((uint64_t)self >> 32),
		    (unsigned)self);
	return !swapcontext(&call->back, &call->here);
}

/* A limit that is enough for the stack of a small program that is recorded is not for ours. */
int main(int argc, char **argv)
{
	struct call call = {.argc = argc, .argv = argv};
	struct rlimit stack;

	if (getrlimit(RLIMIT_STACK, &stack) || stack.rlim_cur >= STACK_BYTES ||
	    !run_elsewhere(&call))
		return run_words(argc, argv);
	return call.code;
}
