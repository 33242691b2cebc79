/* SPDX-License-Identifier: Apache-2.0 */
/* What packs leave out because it follows from the rest, and violations that have one cause. */
#include <stdio.h>
#include <string.h>

#include "inspect/learn/checker.h"
#include "inspect/learn/reduce.h"
#include "test.h"

#define PACK_BYTES 16384

/* A row of a pack: "relation", ["subject"], ["holds", ...] and, if wanted, more keys. */
struct row {
	const char *relation, *subject, *holds, *more;
};

#define STEP "[\"Optimizer.step\"]"
#define WHEN "\"when\": [[{\"feature\": \"scaler\", \"exists\": true}]]"
#define LOSS "[\"nn.cross_entropy\"]"

static struct wti_pack *read_pack(const struct row *rows, size_t count, bool backwards,
				  const char *more)
{
	char text[PACK_BYTES];
	size_t bytes;
	struct wti_pack *pack = NULL;

	bytes = (size_t)snprintf(text, sizeof(text),
				 "{\"wheeltap\": \"pack\", \"version\": 2, %s\"invariants\": [",
				 more);
	for (size_t i = 0; i < count; i++) {
		const struct row *row = &rows[backwards ? count - 1 - i : i];

		bytes += (size_t)snprintf(
			text + bytes, sizeof(text) - bytes,
			"%s{\"relation\": \"%s\", \"subject\": %s, \"holds\": %s%s%s}",
			i ? ", " : "", row->relation, row->subject, row->holds,
			row->more ? ", " : "", row->more ? row->more : "");
	}
	bytes += (size_t)snprintf(text + bytes, sizeof(text) - bytes, "]}");
	CHECK_INT(wti_pack_read("p", text, bytes, &pack, NULL), 0);
	return pack;
}

static void pack_text(struct wti_buf *out, const struct wti_pack *pack)
{
	wti_buf_init(out, 1u << 20);
	wti_pack_write(out, pack);
}

/* How many stay; whichever way round they came, the same do. */
static size_t reduced(const struct row *rows, size_t count)
{
	struct wti_pack *packs[2];
	struct wti_buf texts[2];
	size_t kept;

	for (int i = 0; i < 2; i++) {
		packs[i] = read_pack(rows, count, i, "");
		CHECK_INT(wti_pack_reduce(packs[i], NULL), 0);
		pack_text(&texts[i], packs[i]);
	}
	CHECK_TEXT(wti_buf_cstr(&texts[1]), wti_buf_cstr(&texts[0]));
	kept = packs[0]->count;
	CHECK_INT(wti_pack_reduce(packs[0], NULL), 0);
	wti_buf_release(&texts[1]);
	pack_text(&texts[1], packs[0]);
	CHECK_TEXT(wti_buf_cstr(&texts[1]), wti_buf_cstr(&texts[0])); /* again changes nothing */
	for (int i = 0; i < 2; i++) {
		wti_buf_release(&texts[i]);
		wti_pack_free(packs[i]);
	}
	return kept;
}

#define REDUCED(...)                                                                               \
	reduced((const struct row[]){__VA_ARGS__},                                                 \
		sizeof((const struct row[]){__VA_ARGS__}) / sizeof(struct row))

static const struct row order[] = {
	{"order", STEP, "[\"since\", \"a\"]", NULL},
	{"order", STEP, "[\"since\", \"b\"]", NULL},
	{"order", STEP, "[\"since\", \"c\"]", NULL},
	{"order", STEP, "[\"before\", \"a\", \"b\"]", NULL},
	{"order", STEP, "[\"before\", \"b\", \"c\"]", NULL},
	{"order", STEP, "[\"before\", \"a\", \"c\"]", NULL},
	{"order", STEP, "[\"before\", \"a\", \"d\"]", NULL},
	{"order", STEP, "[\"before\", \"b\", \"d\"]", NULL},
	{"order", STEP, "[\"before\", \"c\", \"d\"]", NULL},
};

enum { ORDER = sizeof(order) / sizeof(order[0]) };

static void pairs_become_a_chain(void)
{
	struct wti_pack *pack = read_pack(order, ORDER, false, "");
	const struct wti_invariant *chain;

	CHECK_INT(reduced(order, ORDER), 1);
	CHECK_INT(wti_pack_reduce(pack, NULL), 0);
	chain = &pack->invariants[0];
	CHECK_INT(pack->count, 1);
	CHECK_INT(chain->then_count, 2);
	CHECK_TEXT(wti_symbol_text(&pack->symbols, chain->fact.a), "a");
	CHECK_TEXT(wti_symbol_text(&pack->symbols, chain->fact.b), "b");
	CHECK_TEXT(wti_symbol_text(&pack->symbols, chain->then[0]), "c");
	CHECK_TEXT(wti_symbol_text(&pack->symbols, chain->then[1]), "d");
	wti_pack_free(pack);
}

static void partial_orders_stay_partial(void)
{
	/* a before b and before c, which have no order among them. */
	CHECK_INT(REDUCED({"order", STEP, "[\"before\", \"a\", \"b\"]", NULL},
			  {"order", STEP, "[\"before\", \"a\", \"c\"]", NULL}),
		  2);
	/* Of another subject, under another condition: two orders. */
	CHECK_INT(REDUCED({"order", STEP, "[\"before\", \"a\", \"b\"]", NULL},
			  {"order", "[\"x\"]", "[\"before\", \"b\", \"c\"]", NULL}),
		  2);
	CHECK_INT(REDUCED({"order", STEP, "[\"before\", \"a\", \"b\"]", NULL},
			  {"order", STEP, "[\"before\", \"b\", \"c\"]", WHEN}),
		  2);
	/* A circle has no end. */
	CHECK(REDUCED({"order", STEP, "[\"before\", \"a\", \"b\"]", NULL},
		      {"order", STEP, "[\"before\", \"b\", \"c\"]", NULL},
		      {"order", STEP, "[\"before\", \"c\", \"a\"]", NULL}) > 0);
}

static void a_chain_has_a_ceiling(void)
{
	struct row rows[WTI_CHAIN_MAX + 4];
	char holds[WTI_CHAIN_MAX + 4][40];
	size_t count = WTI_CHAIN_MAX + 4;

	for (size_t i = 0; i < count; i++) {
		snprintf(holds[i], sizeof(holds[i]), "[\"before\", \"a%02zu\", \"a%02zu\"]", i,
			 i + 1);
		rows[i] = (struct row){"order", STEP, holds[i], NULL};
	}
	CHECK_INT(reduced(rows, count), 2);
}

static void calls_within_calls(void)
{
	const struct row within = {"contain", "[\"a\"]", "[\"calls\", \"b\"]", NULL};

	CHECK_INT(REDUCED(within, {"every-step", "[\"step\", \"train\"]", "[\"calls\", \"a\"]"},
			  {"every-step", "[\"step\", \"train\"]", "[\"calls\", \"b\"]"}),
		  2);
	CHECK_INT(REDUCED(within, {"contain", "[\"b\"]", "[\"calls\", \"c\"]"},
			  {"contain", "[\"a\"]", "[\"calls\", \"c\"]"}),
		  2);
	/* Sometimes only: it does not follow. */
	CHECK_INT(REDUCED({"contain", "[\"a\"]", "[\"calls\", \"b\"]", WHEN},
			  {"every-step", "[\"step\", \"train\"]", "[\"calls\", \"a\"]"},
			  {"every-step", "[\"step\", \"train\"]", "[\"calls\", \"b\"]"}),
		  3);
	/* Each calls the other: one of the two ways round has to stay. */
	CHECK_INT(REDUCED(within, {"contain", "[\"b\"]", "[\"calls\", \"a\"]"},
			  {"every-step", "[\"step\"]", "[\"calls\", \"a\"]"},
			  {"every-step", "[\"step\"]", "[\"calls\", \"b\"]"}),
		  3);
}

static void what_is_said_of_tensors(void)
{
	CHECK_INT(REDUCED({"loss", LOSS, "[\"true\", \"argument 1.is_finite\"]"},
			  {"loss", LOSS, "[\"true\", \"argument 1.has_no_nan\"]"},
			  {"loss", LOSS, "[\"true\", \"argument 2.has_no_nan\"]"}),
		  2);
	CHECK_INT(REDUCED({"argument", LOSS, "[\"same\", \"a.shape\", \"b.shape\"]"},
			  {"argument", LOSS, "[\"same\", \"a.shape[0]\", \"b.shape[0]\"]"},
			  {"argument", LOSS, "[\"same\", \"a.shape[0]\", \"c.shape[0]\"]"}),
		  2);
	CHECK_INT(REDUCED({"argument", LOSS, "[\"is\", \"a.dtype\", \"i64\"]"},
			  {"argument", LOSS, "[\"true\", \"a.has_no_nan\"]"}),
		  1);
	CHECK_INT(REDUCED({"argument", LOSS, "[\"is\", \"a.dtype\", \"f32\"]"},
			  {"argument", LOSS, "[\"true\", \"a.has_no_nan\"]"}),
		  2);
	CHECK_INT(REDUCED({"argument", LOSS, "[\"is\", \"a.dtype\", \"f32\"]"},
			  {"argument", LOSS, "[\"is\", \"b.dtype\", \"f32\"]"},
			  {"argument", LOSS, "[\"same\", \"a.dtype\", \"b.dtype\"]"}),
		  2);
	CHECK_INT(REDUCED({"data", "[\"batch\"]", "[\"is\", \"argument 1.dtype\", \"f32\"]",
			   "\"when\": [[{\"feature\": \"dtype\", \"constant\": \"f32\"}]]"}),
		  0);
	CHECK_INT(REDUCED({"changes", "[\"gradient\"]", "[\"true\", \"is_not_zero\"]"},
			  {"changes", "[\"gradient\"]", "[\"true\", \"is_there\"]"}),
		  1);
}

static void what_is_surer_stays(void)
{
	const char *against = "\"support\": {\"for\": 90, \"against\": 3}";
	const char *none = "\"support\": {\"for\": 93, \"against\": 0}";

	CHECK_INT(REDUCED({"loss", LOSS, "[\"true\", \"argument 1.is_finite\"]", against},
			  {"loss", LOSS, "[\"true\", \"argument 1.has_no_nan\"]", none}),
		  2);
	/* Asked in fewer cases, it does not stand for what is asked always. */
	CHECK_INT(REDUCED({"loss", LOSS, "[\"true\", \"argument 1.is_finite\"]", WHEN},
			  {"loss", LOSS, "[\"true\", \"argument 1.has_no_nan\"]", NULL}),
		  2);
	CHECK_INT(REDUCED({"loss", LOSS, "[\"true\", \"argument 1.is_finite\"]", NULL},
			  {"loss", LOSS, "[\"true\", \"argument 1.has_no_nan\"]", WHEN}),
		  1);
}

/* What is suppressed is not asked: what follows from it has to be asked itself. */
static void nothing_rests_on_what_is_suppressed(void)
{
	static const struct row rows[] = {
		{"loss", LOSS, "[\"true\", \"argument 1.is_finite\"]", NULL},
		{"loss", LOSS, "[\"true\", \"argument 1.has_no_nan\"]", NULL},
	};
	struct wti_pack *pack = read_pack(
		rows, 2, false, "\"suppressed\": [{\"what\": \"loss-*\", \"reason\": \"x\"}], ");

	CHECK_INT(wti_pack_reduce(pack, NULL), 0);
	CHECK_INT(pack->count, 2);
	wti_pack_free(pack);
}

/* Two halves that are merged are what the whole would have been. */
static void packs_are_merged_by_pairs(void)
{
	struct wti_pack *whole = read_pack(order, ORDER, false, "");
	struct wti_pack *half = read_pack(order, ORDER / 2, false, "");
	struct wti_pack *other = read_pack(order + ORDER / 2, ORDER - ORDER / 2, false, "");
	struct wti_buf texts[2];

	CHECK_INT(wti_pack_reduce(whole, NULL), 0);
	CHECK_INT(wti_pack_reduce(half, NULL), 0);
	CHECK_INT(wti_pack_merge(half, other, NULL), 0);
	pack_text(&texts[0], whole);
	pack_text(&texts[1], half);
	CHECK_TEXT(wti_buf_cstr(&texts[1]), wti_buf_cstr(&texts[0]));
	for (int i = 0; i < 2; i++)
		wti_buf_release(&texts[i]);
	wti_pack_free(whole);
	wti_pack_free(half);
	wti_pack_free(other);
}

/* ---- Causes --------------------------------------------------------------------------------- */

struct checking {
	struct wti_training training;
	struct wti_checker checker;
	struct wti_pack *pack;
};

static void begin(struct checking *checking, const struct row *rows, size_t count)
{
	*checking = (struct checking){.pack = read_pack(rows, count, false, "")};
	CHECK_INT(wti_training_init(&checking->training, NULL, NULL, NULL), 0);
	CHECK_INT(wti_checker_init(&checking->checker, checking->pack, checking->training.symbols,
				   "", NULL),
		  0);
}

/* An occasion of a subject, with facts. */
static void happens(struct checking *checking, const char *relation, const char *subject,
		    int64_t step, const struct wti_fact *facts, uint32_t count)
{
	static struct wti_occasion occasion; /* large */
	struct wti_moment moment = {.training = &checking->training,
				    .scope = {.step = step, .rank = -1}};

	memset(&occasion, 0, sizeof(occasion));
	occasion.relation = (uint32_t)wti_relation_by_name(relation);
	occasion.subject[0] = wti_symbol_word(checking->training.symbols, subject);
	occasion.moment = &moment;
	for (uint32_t i = 0; i < count; i++)
		occasion.facts[i] = facts[i];
	occasion.fact_count = count;
	wti_checker_take(&checking->checker, &occasion);
}

/* The findings; how many. */
static size_t judge(struct checking *checking, char *evidence, size_t bytes)
{
	struct wt_result result;
	size_t count;

	wt_result_init(&result, "check");
	wti_checker_finish(&checking->checker, &result);
	count = result.finding_count;
	snprintf(evidence, bytes, "%s", count ? result.findings[0].evidence : "");
	wt_result_release(&result);
	wti_checker_release(&checking->checker);
	wti_training_release(&checking->training);
	wti_pack_free(checking->pack);
	return count;
}

static struct wti_fact fact(struct checking *checking, enum wti_form form, const char *a,
			    const char *b)
{
	return (struct wti_fact){form, wti_symbol_word(checking->training.symbols, a),
				 wti_symbol_word(checking->training.symbols, b)};
}

static const struct row chains[] = {
	{"order", "[\"step\"]", "[\"before\", \"a\", \"b\", \"c\"]", NULL},
	{"order", "[\"other\"]", "[\"since\", \"a\"]", NULL},
	{"every-step", "[\"step\"]", "[\"calls\", \"a\"]", NULL},
	{"loss", "[\"loss\"]", "[\"true\", \"is_finite\"]", NULL},
};

static const struct row consequences[] = {
	{"changes", "[\"parameter\"]", "[\"true\", \"has a small gradient\"]", NULL},
	{"order", "[\"step\"]",
	 "[\"before\", \"Optimizer.step\", \"Optimizer.zero_grad\", \"backward\"]", NULL},
	{"every-step", "[\"step\"]", "[\"calls\", \"Module.zero_grad\"]", NULL},
	{"loss", "[\"loss\"]", "[\"true\", \"is_finite\"]", NULL},
};

static void a_chain_holds_or_not(void)
{
	struct checking checking;
	struct wti_fact facts[2];
	char evidence[256];

	begin(&checking, chains, 1);
	facts[0] = fact(&checking, WTI_FORM_BEFORE, "a", "b");
	facts[1] = fact(&checking, WTI_FORM_BEFORE, "b", "c");
	happens(&checking, "order", "step", 1, facts, 2);
	CHECK_INT(checking.checker.accounts[0].held_count, 1);
	happens(&checking, "order", "step", 2, facts, 1);
	happens(&checking, "order", "step", 3, facts + 1, 1);
	happens(&checking, "order", "step", 4, facts, 0);
	CHECK_INT(checking.checker.accounts[0].held_count, 1);
	CHECK_INT(checking.checker.accounts[0].violation_count, 3);
	CHECK_INT(judge(&checking, evidence, sizeof(evidence)), 1);
	CHECK(strstr(evidence, "c missing or not in its place"));
}

/* One act that is missing is missed by three invariants of two relations: that is one finding. */
static void one_cause_is_one_finding(void)
{
	struct checking checking;
	struct wti_fact right;
	char evidence[256];

	begin(&checking, chains, 3);
	right = fact(&checking, WTI_FORM_BEFORE, "b", "c");
	happens(&checking, "order", "step", 1, &right, 1);
	happens(&checking, "order", "other", 1, NULL, 0);
	happens(&checking, "every-step", "step", 1, NULL, 0);
	CHECK_INT(judge(&checking, evidence, sizeof(evidence)), 1);
	CHECK(strstr(evidence, "a missing or not in its place"));
}

/* Values are bad before an act is missing, and after it came back: they do not follow from it. */
static void two_causes_are_two_findings(void)
{
	struct wti_fact done, finite;
	struct checking checking;
	char evidence[256];

	begin(&checking, chains, 4);
	happens(&checking, "loss", "loss", 1, NULL, 0);
	happens(&checking, "every-step", "step", 2, NULL, 0);
	CHECK_INT(judge(&checking, evidence, sizeof(evidence)), 2);

	begin(&checking, chains, 4);
	done = fact(&checking, WTI_FORM_CALLS, "a", "");
	finite = fact(&checking, WTI_FORM_TRUE, "is_finite", "");
	happens(&checking, "every-step", "step", 1, NULL, 0);
	happens(&checking, "loss", "loss", 1, &finite, 1);
	happens(&checking, "every-step", "step", 2, &done, 1);
	happens(&checking, "every-step", "step", 3, &done, 1);
	happens(&checking, "loss", "loss", 3, NULL, 0);
	CHECK_INT(judge(&checking, evidence, sizeof(evidence)), 2);
}

/* The act is shown, whichever is noticed first in a step; and an order that it breaks is part of
 * it, even if another act of its name is in its place. */
static void values_follow_from_acts(void)
{
	struct checking checking;
	struct wti_fact right;
	char evidence[256];

	begin(&checking, consequences, 4);
	right = fact(&checking, WTI_FORM_BEFORE, "Optimizer.zero_grad", "backward");
	happens(&checking, "changes", "parameter", 1, NULL, 0);
	happens(&checking, "order", "step", 2, &right, 1);
	happens(&checking, "every-step", "step", 1, NULL, 0);
	happens(&checking, "every-step", "step", 9, NULL, 0);
	happens(&checking, "loss", "loss", 7, NULL, 0);
	CHECK_INT(judge(&checking, evidence, sizeof(evidence)), 1);
	CHECK(strstr(evidence, "every-step"));
}

static const struct test tests[] = {
	{"pairs_become_a_chain", pairs_become_a_chain},
	{"partial_orders_stay_partial", partial_orders_stay_partial},
	{"a_chain_has_a_ceiling", a_chain_has_a_ceiling},
	{"calls_within_calls", calls_within_calls},
	{"what_is_said_of_tensors", what_is_said_of_tensors},
	{"what_is_surer_stays", what_is_surer_stays},
	{"nothing_rests_on_what_is_suppressed", nothing_rests_on_what_is_suppressed},
	{"packs_are_merged_by_pairs", packs_are_merged_by_pairs},
	{"a_chain_holds_or_not", a_chain_holds_or_not},
	{"one_cause_is_one_finding", one_cause_is_one_finding},
	{"two_causes_are_two_findings", two_causes_are_two_findings},
	{"values_follow_from_acts", values_follow_from_acts},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return test_main(tests, argc, argv);
}
