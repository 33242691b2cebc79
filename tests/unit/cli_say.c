/* SPDX-License-Identifier: Apache-2.0 */
/* The last words of `record`: which processes that were not followed they name. */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/record/say.h"
#include "test.h"

/* What is printed on standard error of an outcome; to be freed. */
static char *said(const struct wti_record_outcome *outcome)
{
	int file = memfd_create("said", 0), kept = dup(STDERR_FILENO);
	char *text = calloc(1, 4096);

	if (!text || file < 0 || kept < 0 || dup2(file, STDERR_FILENO) < 0)
		abort();
	wti_record_say(outcome, false, NULL);
	dup2(kept, STDERR_FILENO);
	CHECK(pread(file, text, 4095, 0) > 0);
	close(kept);
	close(file);
	return text;
}

static struct wti_record_outcome outcome_of(uint32_t joined, uint32_t first, uint32_t second)
{
	struct wti_record_outcome outcome = {.process_count = joined,
					     .stranger_count = 2,
					     .folder = "/runs/a",
					     .duration_ns = 1000};

	outcome.strangers[0] = (struct wti_stranger){
		.pid = 11, .reason = first, .cpu_ns = 1000, .command = "ldconfig"};
	outcome.strangers[1] = (struct wti_stranger){
		.pid = 12, .reason = second, .cpu_ns = 1000, .command = "other"};
	return outcome;
}

static void check_said(uint32_t joined, uint32_t first, uint32_t second, const char *expected)
{
	struct wti_record_outcome outcome = outcome_of(joined, first, second);
	char *text = said(&outcome);

	if (expected)
		CHECK(strstr(text, expected));
	else
		CHECK(!strstr(text, "not followed"));
	free(text);
}

static void test_short_children(void)
{
	check_said(1, WT_NOT_FOLLOWED_UNKNOWN, WT_NOT_FOLLOWED_UNKNOWN, NULL);
	check_said(1, WT_NOT_FOLLOWED_UNKNOWN, WT_NOT_FOLLOWED_NO_AGENT,
		   "; not followed: other (no agent in it)\n");
	check_said(1, WT_NOT_FOLLOWED_NO_AGENT, WT_NOT_FOLLOWED_REFUSED,
		   "; not followed: other (refused");
	check_said(0, WT_NOT_FOLLOWED_UNKNOWN, WT_NOT_FOLLOWED_UNKNOWN,
		   "; not followed: ldconfig (it ended too soon to find out why) and 1 more\n");
}

/* A helper that did little is no news, unless it should have been recorded. */
static void check_helper(struct wti_stranger helper, uint32_t joined, const char *expected)
{
	struct wti_record_outcome outcome = {.process_count = joined,
					     .stranger_count = 1,
					     .folder = "/runs/a",
					     .duration_ns = 10000,
					     .strangers = {helper}};
	char *text = said(&outcome);

	if (expected)
		CHECK(strstr(text, expected));
	else
		CHECK(!strstr(text, "not followed"));
	free(text);
}

static void test_helpers(void)
{
	struct wti_stranger helper = {
		.reason = WT_NOT_FOLLOWED_NO_AGENT, .cpu_ns = 900, .command = "ldconfig -p"};

	check_helper(helper, 1, NULL);
	check_helper(helper, 0, "; not followed: ldconfig -p (no agent in it)\n");
	helper.cpu_ns = 1000;
	check_helper(helper, 1, "; not followed: ldconfig -p");
	helper.cpu_ns = 1;
	helper.is_python = true;
	check_helper(helper, 1, "; not followed: ldconfig -p");
	helper.is_python = false;
	helper.is_program = true;
	check_helper(helper, 1, "; not followed: ldconfig -p");
	helper.is_program = false;
	helper.reason = WT_NOT_FOLLOWED_ENVIRONMENT;
	check_helper(helper, 1, "; not followed: ldconfig -p (its environment was cleared)\n");
}

static const struct test tests[] = {
	{"short_children", test_short_children},
	{"helpers", test_helpers},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return test_main(tests, argc, argv);
}
