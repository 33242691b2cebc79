/* SPDX-License-Identifier: Apache-2.0 */
/* Which processes are only a way to start what is recorded. */
#include "test.h"

#include <time.h>
#include <unistd.h>

#include "collect/clock.h"
#include "collect/tree.h"

/* A shell that lived for that long, worked for that long, and whose child has joined. */
static struct wti_tree_node shell(uint64_t lived_s, uint64_t cpu_ms)
{
	uint64_t per_second = (uint64_t)sysconf(_SC_CLK_TCK);
	uint64_t boot_s = wti_clock_ns(CLOCK_BOOTTIME) / 1000000000u;

	return (struct wti_tree_node){.start_time = (boot_s > lived_s ? boot_s - lived_s : 0) *
						    per_second,
				      .cpu_ticks = cpu_ms * per_second / 1000,
				      .launched = true};
}

static void test_launcher(void)
{
	struct wti_tree_node node = shell(2, 20);

	CHECK(wti_tree_is_launcher(&node));
	node.launched = false;
	CHECK(!wti_tree_is_launcher(&node));
}

static void test_one_that_works(void)
{
	struct wti_tree_node node = shell(2, 1500);

	CHECK(!wti_tree_is_launcher(&node));
	node = shell(0, 90); /* a short life is no reason */
	CHECK(wti_tree_is_launcher(&node));
}

static void test_one_that_should_have_joined(void)
{
	struct wti_tree_node python = shell(2, 20), refused = python, linked = python;

	python.is_python = true;
	CHECK(!wti_tree_is_launcher(&python));
	refused.refused = true;
	CHECK(!wti_tree_is_launcher(&refused));
	linked.has_agent = true;
	CHECK(!wti_tree_is_launcher(&linked));
}

static const struct test tests[] = {
	{"launcher", test_launcher},
	{"one_that_works", test_one_that_works},
	{"one_that_should_have_joined", test_one_that_should_have_joined},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return test_main(tests, argc, argv);
}
