/* SPDX-License-Identifier: Apache-2.0 */
/* Tables in any order, every type of clause, what is enough, packs there and back. */
#include <stdio.h>
#include <string.h>

#include "inspect/learn/pack.h"
#include "inspect/learn/partial.h"
#include "inspect/learn/relation.h"
#include "test.h"

#define PROGRAMS 24u

struct made {
	struct wti_symbols symbols;
	struct wti_tables tables;
};

static void make(struct made *made)
{
	*made = (struct made){0};
	wti_symbols_init(&made->symbols);
	CHECK_INT(wti_tables_init(&made->tables, &made->symbols, NULL), 0);
}

static void unmake(struct made *made)
{
	wti_tables_release(&made->tables);
	wti_symbols_release(&made->symbols);
}

/* An occasion with one feature, of which a fact is true or not. */
static void take(struct made *made, enum wti_feature feature, const char *value, bool is_true,
		 int64_t step)
{
	static struct wti_occasion occasion; /* large */
	struct wti_moment moment = {.scope = {.step = step}};

	memset(&occasion, 0, sizeof(occasion));
	occasion.relation = (uint32_t)wti_relation_by_name("changes");
	occasion.subject[0] = wti_symbol_word(&made->symbols, "thing");
	occasion.moment = &moment;
	if (value && wti_features[feature].is_number)
		occasion.vector.values[feature] = (uint32_t)(value[0] - '0') + 1;
	else if (value)
		occasion.vector.values[feature] = wti_symbol_word(&made->symbols, value);
	if (is_true)
		occasion.facts[occasion.fact_count++] = (struct wti_fact){
			WTI_FORM_TRUE, wti_symbol_word(&made->symbols, "moves"), 0};
	wti_tables_take(&made->tables, &occasion);
}

/* What many programs say, in which it holds with `good` and fails with `bad`; NULL: absent. */
static void learn(struct wti_pack **ret, enum wti_feature feature, const char *const *good,
		  const char *const *bad)
{
	struct wti_demand demand = {.examples = 10, .steps = 5, .programs = 1};
	struct made all;

	make(&all);
	for (uint32_t i = 0; i < PROGRAMS; i++) {
		struct made one;

		make(&one);
		for (int64_t step = 0; step < 4; step++)
			for (size_t j = 0; j < 2; j++) {
				take(&one, feature, good[j], true, step);
				take(&one, feature, bad[j], false, step);
			}
		wti_tables_source(&one.tables, i, i);
		CHECK_INT(wti_tables_merge(&all.tables, &one.tables, NULL), 0);
		unmake(&one);
	}
	CHECK_INT(wti_pack_new(ret, NULL), 0);
	CHECK_INT(wti_pack_learn(*ret, &all.tables, &demand, NULL), 0);
	unmake(&all);
}

static const struct wti_clause *only_clause(const struct wti_pack *pack)
{
	CHECK_INT(pack->count, 1);
	CHECK_INT(pack->count ? pack->invariants[0].when.count : 0, 1);
	CHECK_INT(pack->count ? pack->invariants[0].when.any[0].count : 0, 1);
	return pack->count ? &pack->invariants[0].when.any[0].clauses[0] : NULL;
}

static void find_clause(enum wti_feature feature, const char *const good[2],
			const char *const bad[2], enum wti_clause_type type)
{
	struct wti_pack *pack;
	const struct wti_clause *clause;

	learn(&pack, feature, good, bad);
	clause = only_clause(pack);
	if (clause)
		CHECK_INT(clause->type, type);
	wti_pack_free(pack);
}

static void every_type_is_found(void)
{
	find_clause(WTI_FEATURE_STAGE, (const char *const[]){"train", "train"},
		    (const char *const[]){"eval", "test"}, WTI_CLAUSE_CONSTANT);
	find_clause(WTI_FEATURE_STAGE, (const char *const[]){"train", "test"},
		    (const char *const[]){"eval", "eval"}, WTI_CLAUSE_NOT);
	find_clause(WTI_FEATURE_SCALER, (const char *const[]){"yes", "no"},
		    (const char *const[]){NULL, NULL}, WTI_CLAUSE_EXISTS);
	find_clause(WTI_FEATURE_SCALER, (const char *const[]){NULL, NULL},
		    (const char *const[]){"yes", "no"}, WTI_CLAUSE_ABSENT);
	find_clause(WTI_FEATURE_NDIM, (const char *const[]){"1", "2"},
		    (const char *const[]){"3", "4"}, WTI_CLAUSE_RANGE);
}

/* Each type holds where it should and fails where it should not hold. */
static void every_type_can_fail(void)
{
	struct wti_vector vector = {0};
	struct wti_clause clause = {.feature = WTI_FEATURE_KIND, .other = WTI_FEATURE_OTHER};
	static const struct {
		enum wti_clause_type type;
		uint32_t value, other; /* of the vector */
		bool holds;
	} cases[] = {
		{WTI_CLAUSE_CONSTANT, 7, 0, true}, {WTI_CLAUSE_CONSTANT, 8, 0, false},
		{WTI_CLAUSE_NOT, 8, 0, true},      {WTI_CLAUSE_NOT, 7, 0, false},
		{WTI_CLAUSE_NOT, 0, 0, false},     {WTI_CLAUSE_EXISTS, 8, 0, true},
		{WTI_CLAUSE_EXISTS, 0, 0, false},  {WTI_CLAUSE_ABSENT, 0, 0, true},
		{WTI_CLAUSE_ABSENT, 7, 0, false},  {WTI_CLAUSE_RANGE, 4, 0, true},
		{WTI_CLAUSE_RANGE, 3, 0, true},    {WTI_CLAUSE_RANGE, 2, 0, false},
		{WTI_CLAUSE_RANGE, 5, 0, false},   {WTI_CLAUSE_RANGE, 0, 0, false},
		{WTI_CLAUSE_EQUAL, 7, 7, true},    {WTI_CLAUSE_EQUAL, 7, 8, false},
		{WTI_CLAUSE_EQUAL, 0, 0, false},   {WTI_CLAUSE_UNEQUAL, 7, 8, true},
		{WTI_CLAUSE_UNEQUAL, 7, 7, false}, {WTI_CLAUSE_UNEQUAL, 7, 0, false},
	};

	clause.value = 7;
	clause.low = 2;
	clause.high = 3;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		clause.type = cases[i].type;
		vector.values[WTI_FEATURE_KIND] = cases[i].value;
		vector.values[WTI_FEATURE_OTHER] = cases[i].other;
		if (wti_clause_holds(&clause, &vector) != cases[i].holds)
			test_fail(__FILE__, __LINE__, "%s, case %zu", wti_clauses[clause.type], i);
	}
}

static void chance_is_not_enough(void)
{
	struct wti_pack *pack;

	/* True and false in the same circumstances: nothing separates them. */
	learn(&pack, WTI_FEATURE_STAGE, (const char *const[]){"train", "eval"},
	      (const char *const[]){"train", "eval"});
	CHECK_INT(pack->count, 0);
	wti_pack_free(pack);
}

static void partial_text(struct wti_buf *out, struct made *const *runs, const size_t *order,
			 size_t count)
{
	struct made all;

	make(&all);
	for (size_t i = 0; i < count; i++)
		CHECK_INT(wti_tables_merge(&all.tables, &runs[order[i]]->tables, NULL), 0);
	wti_buf_init(out, 1u << 24);
	CHECK_INT(wti_partial_write(out, &all.tables, NULL), 0);
	unmake(&all);
}

/* Any order gives the same bytes, and what is read back gives the same again. */
static void order_does_not_matter(void)
{
	static const size_t orders[][3] = {{0, 1, 2}, {2, 1, 0}, {1, 2, 0}};
	static const char *const stages[] = {"train", "eval", "test"};
	struct made runs[3], back;
	struct made *const pointers[] = {&runs[0], &runs[1], &runs[2]};
	struct wti_buf texts[3], again;

	for (uint32_t i = 0; i < 3; i++) {
		make(&runs[i]);
		for (int64_t step = 0; step < 5; step++)
			take(&runs[i], WTI_FEATURE_STAGE, stages[(i + (uint32_t)step) % 3],
			     step % 2 == 0, step);
		wti_tables_source(&runs[i].tables, i * 977, i * 31);
	}
	for (size_t i = 0; i < 3; i++)
		partial_text(&texts[i], pointers, orders[i], 3);
	for (size_t i = 1; i < 3; i++) {
		CHECK_INT(texts[i].bytes, texts[0].bytes);
		CHECK_INT(memcmp(texts[i].data, texts[0].data, texts[0].bytes), 0);
	}
	make(&back);
	CHECK_INT(wti_partial_read("p", (const char *)texts[0].data, texts[0].bytes, &back.tables,
				   NULL),
		  0);
	wti_buf_init(&again, 1u << 24);
	CHECK_INT(wti_partial_write(&again, &back.tables, NULL), 0);
	CHECK_INT(again.bytes, texts[0].bytes);
	CHECK_INT(memcmp(again.data, texts[0].data, again.bytes), 0);
	wti_buf_release(&again);
	unmake(&back);
	for (size_t i = 0; i < 3; i++) {
		wti_buf_release(&texts[i]);
		unmake(&runs[i]);
	}
}

/* A field with more values than a constant can have is constant nowhere, in whatever order. */
static void wild_fields_are_dropped(void)
{
	static struct wti_occasion occasion;
	struct wti_moment moment = {0};
	struct made made;
	char text[16];

	make(&made);
	for (int i = 0; i < 3 * WTI_VALUES_MAX; i++) {
		memset(&occasion, 0, sizeof(occasion));
		occasion.moment = &moment;
		snprintf(text, sizeof(text), "v%d", i);
		occasion.facts[occasion.fact_count++] =
			(struct wti_fact){WTI_FORM_IS, wti_symbol_word(&made.symbols, "field"),
					  wti_symbol_word(&made.symbols, text)};
		wti_tables_take(&made.tables, &occasion);
	}
	for (size_t i = 0; i < made.tables.entry_count; i++)
		if (made.tables.entries[i].key.form == WTI_FORM_IS)
			CHECK(made.tables.entries[i].is_dropped);
	CHECK(made.tables.entry_count <= WTI_VALUES_MAX + 2);
	unmake(&made);
}

static void packs_come_back(void)
{
	struct wti_pack *pack, *back;
	struct wti_buf first, second;

	learn(&pack, WTI_FEATURE_STAGE, (const char *const[]){"train", "train"},
	      (const char *const[]){"eval", "test"});
	CHECK_INT(wti_pack_suppress(pack, "changes-*", "because", "2030-01-01", NULL), 0);
	wti_buf_init(&first, 1u << 20);
	wti_buf_init(&second, 1u << 20);
	wti_pack_write(&first, pack);
	CHECK_INT(wti_pack_read("p", (const char *)first.data, first.bytes, &back, NULL), 0);
	wti_pack_write(&second, back);
	CHECK_INT(second.bytes, first.bytes);
	CHECK_INT(memcmp(first.data, second.data, first.bytes), 0);
	CHECK(wti_pack_suppressed(back, &back->invariants[0], "2029-12-31"));
	CHECK(!wti_pack_suppressed(back, &back->invariants[0], "2030-01-02"));
	wti_buf_release(&first);
	wti_buf_release(&second);
	wti_pack_free(pack);
	wti_pack_free(back);
}

static void sources_are_counted(void)
{
	struct wti_origins sources = {0}, none = {0}, rest;

	for (uint32_t i = 0; i < 10; i++)
		wti_sources_add(&sources, i * 13);
	CHECK(wti_sources_count(&sources) >= 10 && wti_sources_count(&sources) <= 11);
	CHECK_INT(wti_sources_count(&none), 0);
	rest = wti_sources_without(&sources, &sources);
	CHECK_INT(wti_sources_count(&rest), 0);
	CHECK(wti_wilson(100, 0) > 0.95);
	CHECK(wti_wilson(10, 10) < 0.5);
}

static const struct test tests[] = {
	{"every_type_is_found", every_type_is_found},
	{"every_type_can_fail", every_type_can_fail},
	{"chance_is_not_enough", chance_is_not_enough},
	{"order_does_not_matter", order_does_not_matter},
	{"wild_fields_are_dropped", wild_fields_are_dropped},
	{"packs_come_back", packs_come_back},
	{"sources_are_counted", sources_are_counted},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return test_main(tests, argc, argv);
}
