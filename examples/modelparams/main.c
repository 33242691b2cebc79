/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Are saved parameters what was trained? Trains a small network, saves and loads it in every way
 *that can go wrong, and checks each with evidence. Ends with 1 if a check failed; a run of it that
 *is recorded has a row for each, whether it failed or not.
 *
 *	wheeltap dataset make iris-like -o data
 *	wheeltap record -- build/examples/modelparams --data data/iris_like.csv --dir models
 *
 * --fault NAME breaks one thing on purpose, to see that its check fails; --list shows the names.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <wheeltap/wheeltap.h>

#include "rows.h"

struct words {
	const char *resume;
	const char *output;
};

static void list_rows(void)
{
	for (const struct row *row = rows; row->name; row++)
		printf("%s\t%s\n", row->name, row->fault);
}

static void usage(const char *program)
{
	printf("usage: %s --data FILE.csv [--dir DIR] [--seed N] [--epochs N] [--fault NAME] "
	       "[ROW...]\n"
	       "       %s --list    rows, and the fault that makes each fail\n",
	       program, program);
}

static uint64_t number(const char *text, uint64_t most)
{
	char *end;
	unsigned long long value = strtoull(text, &end, 10);

	if (*end || end == text || value > most) {
		fprintf(stderr, "bad number '%s': give one up to %llu\n", text,
			(unsigned long long)most);
		exit(2);
	}
	return value;
}

static void parse(struct suite *suite, struct words *words, int argc, char **argv)
{
	static const struct option names[] = {
		{"data", required_argument, NULL, 'd'},   {"dir", required_argument, NULL, 'D'},
		{"seed", required_argument, NULL, 's'},   {"epochs", required_argument, NULL, 'e'},
		{"fault", required_argument, NULL, 'f'},  {"resume", required_argument, NULL, 'r'},
		{"output", required_argument, NULL, 'o'}, {"list", no_argument, NULL, 'l'},
		{"help", no_argument, NULL, 'h'},         {NULL, 0, NULL, 0}};
	int c;

	while ((c = getopt_long(argc, argv, "h", names, NULL)) != -1) {
		if (c == 'd') {
			suite->data_path = optarg;
		} else if (c == 'D') {
			suite->folder = optarg;
		} else if (c == 's') {
			suite->seed = number(optarg, INT64_MAX);
		} else if (c == 'e') {
			suite->epochs = number(optarg, 1000);
		} else if (c == 'f' && !fault_set(suite, optarg)) {
			fprintf(stderr, "there is no fault '%s': --list shows them\n", optarg);
			exit(2);
		} else if (c == 'r') {
			words->resume = optarg;
		} else if (c == 'o') {
			words->output = optarg;
		} else if (c == 'l' || c == 'h') {
			if (c == 'l')
				list_rows();
			else
				usage(argv[0]);
			exit(0);
		} else if (c == '?') {
			exit(2);
		}
	}
}

static bool is_wanted(const struct row *row, int argc, char **argv)
{
	for (int i = optind; i < argc; i++) {
		if (!strcmp(argv[i], row->name))
			return true;
	}
	return optind >= argc;
}

/* A row is listed once for each of its faults; it runs once. The first one trains for all. */
static int run_rows(struct suite *suite, int argc, char **argv)
{
	unsigned passed = 0, failed = 0;
	const char *before = "";

	for (const struct row *row = rows; row->name; row++) {
		bool good;

		if (!strcmp(row->name, before) || (!is_wanted(row, argc, argv) && row != &rows[0]))
			continue;
		before = row->name;
		printf("%s\n", row->name);
		good = row->run(suite);
		if (!is_wanted(row, argc, argv))
			continue;
		printf("  %s\n", good ? "passed" : "FAILED");
		passed += good;
		failed += !good;
	}
	printf("%u passed, %u failed\n", passed, failed);
	return failed || !passed;
}

int main(int argc, char **argv)
{
	static struct suite suite = {.folder = "modelparams", .seed = 1, .epochs = 60};
	struct words words = {0};

	suite.program = argv[0];
	parse(&suite, &words, argc, argv);
	if (!suite.data_path) {
		usage(argv[0]);
		return 2;
	}
	if (!csv_read(&suite.data, suite.data_path))
		return 2;
	wt_stage("init");
	wt_state_int(WT_NAME("rng"), WT_NAME("seed"), 0, (int64_t)suite.seed);
	tiny_shape(&suite.trained, suite.data.columns, TINY_HIDDEN, suite.data.classes);
	tiny_init(&suite.trained, suite.seed);
	if (words.resume)
		return suite_resume(&suite, words.resume, words.output ? words.output : "resumed");
	mkdir(suite.folder, 0777);
	return run_rows(&suite, argc, argv);
}
