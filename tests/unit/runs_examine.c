/* SPDX-License-Identifier: Apache-2.0 */
/* src/runs as another front end than the command line would use it: found, examined, suppressed. */
#include <ftw.h>
#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "inspect/check/check.h"
#include "runs/examine.h"
#include "runs/packs.h"
#include "test.h"

static char home[64], config[96];
static double shares[2]; /* of progress: the first and the last */
static size_t share_count;

static void put_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	REQUIRE(file);
	CHECK(fputs(text, file) >= 0);
	CHECK_INT(fclose(file), 0);
}

/* A run of one process that says its loss once. */
static void make_run(const char *name, const char *status, int start, double loss)
{
	uint64_t values[3] = {1, 0, 0};
	struct wt_writer_options options;
	struct wt_writer *writer = NULL;
	char path[192], json[256];

	snprintf(path, sizeof(path), "%s/%s", home, name);
	REQUIRE(!mkdir(path, 0700));
	snprintf(path, sizeof(path), "%s/%s/run.json", home, name);
	snprintf(json, sizeof(json),
		 "{\"schema\": 1, \"name\": \"%s\", \"status\": \"%s\", \"command\": [\"train\"], "
		 "\"start_ns\": %d}\n",
		 name, status, start);
	put_file(path, json);
	wt_writer_options_init(&options);
	options.identity.clock = WT_CLOCK_MONOTONIC;
	options.identity.pid = 100;
	snprintf(path, sizeof(path), "%s/%s/0001.wt", home, name);
	REQUIRE(!wt_writer_create(path, &options, &writer, NULL));
	CHECK(!wt_writer_track(writer, &(struct wt_track){1, WT_TRACK_THREAD, 100, 0, "t", 1}));
	CHECK(!wt_writer_string(writer, 1, "loss", 4));
	memcpy(&values[2], &loss, sizeof(loss));
	CHECK(!wt_writer_append(writer, WT_KIND_COUNTER, 1, 0, 1000, values, 3, NULL));
	CHECK(!wt_writer_finish(writer, NULL));
	wt_writer_free(writer);
}

static void take_share(void *cookie, double share)
{
	double *seen = cookie;

	seen[share_count++ ? 1 : 0] = share;
}

static struct wti_front begin(void)
{
	struct wti_front front = {
		.home = home, .config = config, .progress = take_share, .cookie = shares};

	snprintf(home, sizeof(home), "/tmp/wheeltap-unit-XXXXXX");
	CHECK(mkdtemp(home));
	snprintf(config, sizeof(config), "%s/wheeltap.toml", home);
	make_run("good", "finished", 3, 0.5);
	make_run("bad", "finished", 4, NAN);
	make_run("crashed", "failed", 2, 0.5);
	share_count = 0;
	return front;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	return remove(path);
}

static void end(void)
{
	nftw(home, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static int examine(const struct wti_front *front, const char *word, struct wti_examined *ret,
		   struct wt_err *err)
{
	struct wti_check_options how = {.with_rules = true, .today = "2026-03-01"};
	struct wti_examination doctor = {
		.inspector = "doctor", .options = &how, .judging = &how, .suppress = true};

	*err = (struct wt_err){.offset = -1};
	return wti_examine(front, &doctor, word, ret, err);
}

static void test_list(void)
{
	struct wti_front front = begin();
	struct wti_run *runs = NULL;
	size_t count = 0;

	REQUIRE(!wti_runs_list(&front, &runs, &count, NULL));
	REQUIRE(count == 3);
	CHECK_TEXT(runs[0].name, "bad");
	CHECK_TEXT(runs[1].name, "good");
	CHECK_TEXT(runs[2].name, "crashed");
	wti_runs_free(runs, count);
	end();
}

static void test_newest(void)
{
	struct wti_front front = begin();
	struct wti_examined examined;
	struct wt_err err;

	REQUIRE(!examine(&front, NULL, &examined, &err));
	CHECK_TEXT(examined.opened.run.name, "bad");
	CHECK_TEXT(examined.result.status, "findings");
	CHECK(examined.is_whole);
	CHECK_INT(examined.result.finding_count, 1);
	CHECK_TEXT(examined.result.findings[0].code, "WT-NUM-001");
	CHECK(share_count >= 2);
	CHECK(shares[0] == 0 && shares[1] == WTI_PROGRESS_OVER);
	wti_examined_release(&examined);
	end();
}

static void test_suppressed(void)
{
	struct wti_front front = begin();
	struct wti_examined examined;
	struct wt_err err;

	put_file(config, "[[suppress]]\ncode = \"WT-NUM-001\"\nreason = \"on purpose\"\n");
	REQUIRE(!examine(&front, "bad", &examined, &err));
	CHECK_TEXT(examined.result.status, "clean");
	CHECK_INT(examined.result.finding_count, 0);
	REQUIRE(examined.result.note_count == 1);
	CHECK(strstr(examined.result.notes[0], "on purpose"));
	wti_examined_release(&examined);
	front.config = NULL;
	REQUIRE(!examine(&front, "bad", &examined, &err));
	CHECK_INT(examined.result.finding_count, 1);
	wti_examined_release(&examined);
	end();
}

static void test_ending(void)
{
	struct wti_front front = begin();
	struct wti_examined examined;
	struct wt_err err;

	REQUIRE(!examine(&front, "good", &examined, &err));
	CHECK_TEXT(examined.result.status, "clean");
	CHECK(examined.is_whole);
	wti_examined_release(&examined);
	REQUIRE(!examine(&front, "crashed", &examined, &err));
	CHECK_TEXT(examined.result.status, "not_measured");
	CHECK(!examined.is_whole);
	wti_examined_release(&examined);
	make_run("crashed-bad", "interrupted", 1, NAN); /* a finding makes it no greener */
	REQUIRE(!examine(&front, "crashed-bad", &examined, &err));
	CHECK_TEXT(examined.result.status, "findings");
	CHECK(!examined.is_whole);
	wti_examined_release(&examined);
	end();
}

/* A run that its recorder, on a host that is not this one, may have stopped writing. */
static void make_far_run(size_t cut_bytes)
{
	char path[192];
	struct stat st;

	make_run("far", "running", 1, 0.5);
	snprintf(path, sizeof(path), "%s/far/run.json", home);
	put_file(path, "{\"schema\": 1, \"name\": \"far\", \"status\": \"running\", "
		       "\"command\": [\"train\"], \"host\": {\"name\": \"far-away\"}}\n");
	snprintf(path, sizeof(path), "%s/far/0001.wt", home);
	REQUIRE(!stat(path, &st));
	REQUIRE(!truncate(path, st.st_size - (off_t)cut_bytes));
}

static void test_elsewhere(void)
{
	for (int is_cut = 0; is_cut < 2; is_cut++) {
		struct wti_front front = begin();
		struct wti_examined examined;
		struct wt_err err;

		make_far_run(is_cut ? 7 : 0);
		REQUIRE(!examine(&front, "far", &examined, &err));
		CHECK_TEXT(examined.opened.run.elsewhere, "far-away");
		CHECK_TEXT(examined.result.status, is_cut ? "damaged" : "not_measured");
		CHECK(!examined.is_whole);
		CHECK_INT(examined.is_damaged, is_cut);
		wti_examined_release(&examined);
		end();
	}
}

static void test_errors(void)
{
	struct wti_front front = begin();
	struct wti_pack *pack = NULL;
	struct wti_examined examined;
	struct wt_err err;

	CHECK_INT(examine(&front, "other", &examined, &err), WT_E_MISSING);
	CHECK(strstr(err.message, home));
	put_file(config, "[[suppress]]\ncode = \"WT-NUM-001\"\n");
	CHECK_INT(examine(&front, "bad", &examined, &err), WT_E_ARG);
	CHECK(strstr(err.message, config));
	/* Nobody has said where it is installed. */
	CHECK_INT(wti_pack_open(&front, WTI_PACK_BUILTIN, &pack, &err), WT_E_IO);
	end();
}

static void test_shortened(void)
{
	struct wt_result result;

	wt_result_init(&result, "doctor");
	wt_result_finding(&result, &(struct wt_finding){.code = "A", .file = "/home/me/train.py"});
	wt_result_finding(&result, &(struct wt_finding){.code = "B", .file = "/home/me2/train.py"});
	wt_result_finding(&result, &(struct wt_finding){.code = "C"});
	wti_shorten_paths(&result, NULL);
	CHECK_TEXT(result.findings[0].file, "/home/me/train.py");
	wti_shorten_paths(&result, "/home/me");
	CHECK_TEXT(result.findings[0].file, "train.py");
	CHECK_TEXT(result.findings[1].file, "/home/me2/train.py");
	CHECK(!result.findings[2].file);
	wt_result_release(&result);
}

static const struct test tests[] = {
	{"list", test_list},
	{"newest", test_newest},
	{"suppressed", test_suppressed},
	{"ending", test_ending},
	{"elsewhere", test_elsewhere},
	{"errors", test_errors},
	{"shortened", test_shortened},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return test_main(tests, argc, argv);
}
