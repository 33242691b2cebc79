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
	struct wti_record_outcome outcome = {
		.process_count = joined, .stranger_count = 2, .folder = "/runs/a"};

	outcome.strangers[0] = (struct wti_stranger){11, first, "ldconfig"};
	outcome.strangers[1] = (struct wti_stranger){12, second, "other"};
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

static const struct test tests[] = {
	{"short_children", test_short_children},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return test_main(tests, argc, argv);
}
