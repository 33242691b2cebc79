/* SPDX-License-Identifier: Apache-2.0 */
/* Canonical names, folding, alignment, and goldens as texts. */
#include <stdlib.h>
#include <string.h>

#include "inspect/core/align.h"
#include "inspect/golden/golden.h"
#include "test.h"

/* ---- Names ----------------------------------------------------------------------------------- */

static const struct wti_root roots[] = {{"/home/user/here", "$CWD"}, {"/srv/app/bin", "$PROGRAM"}};

static bool named(const char *path, const char *expected, enum wti_thing_type type)
{
	struct wti_names names;
	struct wti_buf out;
	bool ok;

	wti_buf_init(&out, 4096);
	if (wti_names_init(&names, roots, 2, NULL))
		return false;
	wti_names_pid(&names, 4242);
	wti_names_pid(&names, 77);
	ok = wti_names_path(&names, path, 4242, &out) == type &&
	     !strcmp(wti_buf_cstr(&out), expected);
	if (!ok)
		printf("# %s: %s\n", path, wti_buf_cstr(&out));
	wti_names_release(&names);
	wti_buf_release(&out);
	return ok;
}

static void test_roots(void)
{
	CHECK(named("/home/user/here/data/x.bin", "$CWD/data/x.bin", WTI_THING_FILE));
	CHECK(named("/home/user/hereby/x", "$HOME/hereby/x", WTI_THING_FILE));
	CHECK(named("/home/user/.cache/x", "$HOME/.cache/x", WTI_THING_FILE));
	CHECK(named("/srv/app/share/x", "$PROGRAM/../share/x", WTI_THING_FILE));
	CHECK(named("/data/set/x", "/data/set/x", WTI_THING_FILE));
	CHECK(named("/home/user/here", "$CWD", WTI_THING_SYSTEM));
	CHECK(named("/usr/lib/x86_64-linux-gnu/libm.so.6", "$LIB/libm.so.6", WTI_THING_LIBRARY));
	CHECK(named("/home/user/here/x.so", "$LIB/x.so", WTI_THING_LIBRARY));
	CHECK(named("/home/user/here/x.sock", "$CWD/x.sock", WTI_THING_FILE));
	CHECK(named("/proc/4242/task/77/fd/3", "/proc/self/task/<n>/fd/<n>", WTI_THING_SYSTEM));
	CHECK(named("/proc/1/stat", "/proc/<pid>/stat", WTI_THING_SYSTEM));
	CHECK(named("/usr/lib/python3.11/json/decoder.py", "$PYTHON/json", WTI_THING_CODE));
	CHECK(named("/usr/lib/python3.11/__pycache__/wave.cpython-311.pyc", "$PYTHON/wave.py",
		    WTI_THING_CODE));
	CHECK(named("/usr/lib/python3/dist-packages/numpy/x.py", "$PACKAGES/numpy",
		    WTI_THING_CODE));
	CHECK(named("/home/user/here/__pycache__/m.pyc", "$CWD/__pycache__/m.pyc",
		    WTI_THING_CACHE));
	CHECK(named("/etc/hosts", "/etc/hosts", WTI_THING_SYSTEM));
}

static void test_classes(void)
{
	CHECK(named("/tmp/run-aZ09bQ", "$TMP/run-<temp>", WTI_THING_FILE));
	CHECK(named("/tmp/run-abcdef/x", "$TMP/run-<temp>/x", WTI_THING_FILE));
	CHECK(named("/tmp/seeded/x", "$TMP/seeded/x", WTI_THING_FILE));
	CHECK(named("/tmp/tmpab12_x9z/step-1", "$TMP/<temp>/step-1", WTI_THING_FILE));
	CHECK(named("/tmp/UqZ_a7_k2B", "$TMP/<temp>", WTI_THING_FILE)); /* of Perl's File::Temp */
	CHECK(named("/tmp/data_of_me", "$TMP/data_of_me", WTI_THING_FILE));
	CHECK(named("/tmp/dxpq2fs_", "$TMP/<temp>", WTI_THING_FILE));
	CHECK(named("/home/user/here/tmpab12_x9z", "$CWD/<temp>", WTI_THING_FILE));
	CHECK(named("/home/user/here/log.4242", "$CWD/log.<pid>", WTI_THING_FILE));
	CHECK(named("/home/user/here/rank77.bin", "$CWD/rank77.bin", WTI_THING_FILE));
	CHECK(named("/home/user/here/step-77", "$CWD/step-77", WTI_THING_FILE));
	CHECK(named("/home/user/here/2026-11-16_06-23-31.log", "$CWD/<time>.log", WTI_THING_FILE));
	CHECK(named("/home/user/here/20261116T062331Z", "$CWD/<time>", WTI_THING_FILE));
	CHECK(named("/home/user/here/e.1794810452.host", "$CWD/e.<time>.host", WTI_THING_FILE));
	CHECK(named("/home/user/here/ckpt-10000", "$CWD/ckpt-10000", WTI_THING_FILE));
	CHECK(named("/home/user/here/0123456789abcdef", "$CWD/<hash>", WTI_THING_FILE));
	CHECK(named("/home/user/here/123e4567-e89b-12d3-a456-426614174000", "$CWD/<uuid>",
		    WTI_THING_FILE));
}

static bool peer(const char *address, const char *expected)
{
	struct wti_names names;
	struct wti_buf out;
	bool ok;

	wti_buf_init(&out, 4096);
	if (wti_names_init(&names, roots, 2, NULL))
		return false;
	wti_names_peer(&names, address, 1, &out);
	ok = !strcmp(wti_buf_cstr(&out), expected);
	wti_names_release(&names);
	wti_buf_release(&out);
	return ok;
}

static void test_peers(void)
{
	CHECK(peer("10.0.0.1:443", "10.0.0.1:443"));
	CHECK(peer("127.0.0.1:45678", "127.0.0.1:<port>"));
	CHECK(peer("10.1.1.1:53", "$DNS"));
	CHECK(peer("[::1]:80", "[::1]:80"));
	CHECK(peer("unix:/home/user/here/s", "unix:$CWD/s"));
}

/* ---- Sequences ------------------------------------------------------------------------------- */

/* Letters as tokens. */
static bool folds(const char *text, const char *expected)
{
	struct wti_sequence q = {0};
	bool ok;

	for (; *text; text++)
		wti_sequence_add(&q, (uint32_t)*text);
	ok = q.count == strlen(expected);
	for (size_t i = 0; ok && i < q.count; i++)
		ok = q.tokens[i] == (uint32_t)expected[i];
	free(q.tokens);
	return ok;
}

static void test_folding(void)
{
	CHECK(folds("aaaa", "a"));
	CHECK(folds("abababc", "abc"));
	CHECK(folds("ababcababc", "abc"));
	CHECK(folds("abcabd", "abcabd"));
	CHECK(folds("", ""));
}

/* The edits as text: equal tokens as they are, (only in a|only in b). */
static bool aligns(const char *a, const char *b, const char *expected)
{
	size_t a_count = strlen(a), b_count = strlen(b);
	uint32_t *x = calloc(a_count + 1, sizeof(*x)), *y = calloc(b_count + 1, sizeof(*y));
	struct wti_edits edits;
	struct wti_buf out;
	bool ok;

	wti_buf_init(&out, 4096);
	for (size_t i = 0; i < a_count; i++)
		x[i] = (uint32_t)a[i];
	for (size_t i = 0; i < b_count; i++)
		y[i] = (uint32_t)b[i];
	if (wti_align(x, a_count, y, b_count, &edits))
		return false;
	for (size_t i = 0; i < edits.count; i++) {
		const struct wti_edit *e = &edits.all[i];

		if (e->is_equal)
			wti_buf_printf(&out, "%.*s", (int)e->a_count, a + e->a);
		else
			wti_buf_printf(&out, "(%.*s|%.*s)", (int)e->a_count, a + e->a,
				       (int)e->b_count, b + e->b);
	}
	ok = !strcmp(wti_buf_cstr(&out), expected);
	if (!ok)
		printf("# %s\n", wti_buf_cstr(&out));
	wti_edits_release(&edits);
	wti_buf_release(&out);
	free(x);
	free(y);
	return ok;
}

static void test_alignment(void)
{
	CHECK(aligns("abc", "abc", "abc"));
	CHECK(aligns("", "", ""));
	CHECK(aligns("", "ab", "(|ab)"));
	CHECK(aligns("abc", "abxc", "ab(|x)c"));
	CHECK(aligns("aabaac", "aabaaxc", "aabaa(|x)c"));
	CHECK(aligns("xaaay", "xaay", "xaa(a|)y") || aligns("xaaay", "xaay", "x(a|)aay"));
	CHECK(aligns("abcdef", "dabcef", "(|d)abc(d|)ef"));
	CHECK(aligns("aaaa", "bbbb", "(aaaa|bbbb)"));
}

/* Whatever comes, the edits cover both sequences, and what they call equal is equal. */
static void test_alignment_of_noise(void)
{
	uint32_t a[300], b[300], seed = 1;
	struct wti_edits edits;
	bool ok = true;

	for (int round = 0; round < 200 && ok; round++) {
		size_t a_count = 0, b_count = 0, x = 0, y = 0;

		for (int i = 0; i < 300; i++) {
			seed = seed * 1664525 + 1013904223;
			if (seed >> 30)
				a[a_count++] = seed >> 8 & 7;
			if (seed >> 28 & 3)
				b[b_count++] = seed >> 8 & 7;
		}
		ok = !wti_align(a, a_count, b, b_count, &edits);
		for (size_t i = 0; ok && i < edits.count; i++) {
			const struct wti_edit *e = &edits.all[i];

			ok = e->a == x && e->b == y;
			for (size_t j = 0; ok && e->is_equal && j < e->a_count; j++)
				ok = e->a_count == e->b_count && a[x + j] == b[y + j];
			x += e->a_count;
			y += e->b_count;
		}
		ok = ok && x == a_count && y == b_count;
		wti_edits_release(&edits);
	}
	CHECK(ok);
}

/* ---- Goldens as texts ------------------------------------------------------------------------ */

static const char golden_text[] =
	"format = 1\nname = \"n\"\narch = \"x86_64\"\nrecorded = \"all\"\nruns = 3\nsteps = 4\n"
	"[times]\nstep_ns = \"10..20\"\nslower = 0.30\n"
	"[file.\"$CWD/a \\\"b\\\"\"]\nvia = \"$CWD/t\"\nmode = \"0644\"\nmade = 2\n"
	"written_bytes = { total = \"3..5\", step = 1 }\n\"openat ENOENT\" = 1\n"
	"[process.p]\numask = \"0000\"\nstarted = 1\n\"exit 1\" = 1\nat_once = 2\n"
	"[library]\nalways = [\"$LIB/x.so\"]\nsometimes = [\"$LIB/y.so\"]\n"
	"[[order]]\nof = \"p\"\nwhen = \"step\"\nacts = [\"make $CWD/a\", \"sync $CWD/a\"]\n"
	"[[order]]\nof = \"p\"\nwhen = \"end\"\nvaries = true\n";

/* What is written reads back, and is written the same again. */
static void test_golden_comes_back(void)
{
	struct wti_golden golden, again;
	struct wti_buf first, second;
	const struct wti_golden_thing *thing;

	wti_buf_init(&first, 1 << 20);
	wti_buf_init(&second, 1 << 20);
	REQUIRE(!wti_golden_read("g", golden_text, sizeof(golden_text) - 1, &golden, NULL));
	thing = wti_golden_thing(&golden, WTI_THING_FILE, "$CWD/a \"b\"");
	CHECK(thing && thing->permissions == 0644 && !strcmp(thing->via, "$CWD/t"));
	CHECK(thing && thing->fact_count == 3 && thing->facts[1].total.high == 5);
	thing = wti_golden_thing(&golden, WTI_THING_PROCESS, "p");
	CHECK(thing && thing->permissions == WTI_UMASK && thing->fact_count == 3);
	CHECK(wti_golden_thing(&golden, WTI_THING_LIBRARY, "$LIB/y.so")->is_optional);
	CHECK(wti_order_varies(&golden.order, "p", WTI_WHEN_END));
	CHECK(golden.has_times && golden.step_ns.high == 20 && golden.slower > 0.29);
	wti_golden_write(&golden, &first);
	REQUIRE(!wti_golden_read("g", (const char *)first.data, first.bytes, &again, NULL));
	wti_golden_write(&again, &second);
	CHECK(first.bytes == second.bytes && !memcmp(first.data, second.data, first.bytes));
	wti_golden_release(&golden);
	wti_golden_release(&again);
	wti_buf_release(&first);
	wti_buf_release(&second);
}

static bool refused(const char *text, const char *why)
{
	struct wt_err err = {.offset = -1};
	struct wti_golden golden;
	bool ok =
		wti_golden_read("g", text, strlen(text), &golden, &err) && strstr(err.message, why);

	if (!ok)
		printf("# %s\n", err.message);
	return ok;
}

static void test_golden_is_checked(void)
{
	CHECK(refused("", "is no golden"));
	CHECK(refused("name = 1\n", "is no golden"));
	CHECK(refused("format = 4\n", "format 4"));
	CHECK(refused("format = 1\nfrom = 2\n", "g:2:1: unknown key 'from'"));
	CHECK(refused("format = 1\nsteps = \"5..3\"\n", "a range"));
	CHECK(refused("format = 1\nsteps = -1\n", "a count"));
	CHECK(refused("format = 1\n[file.a]\nmode = \"abc\"\n", "permissions"));
	CHECK(refused("format = 3\n[process.a]\numask = \"abc\"\n", "permissions"));
	CHECK(refused("format = 1\n[file.a]\nmade = true\n", "a count"));
	CHECK(refused("format = 1\n[file.a]\nmade = {sum = 1}\n", "unknown key 'sum'"));
	CHECK(refused("format = 1\n[library]\nnever = []\n", "unknown key 'never'"));
	CHECK(refused("format = 1\n[[order]]\nof = \"x\"\n", "`of` and `when`"));
	CHECK(refused("format = 1\n[[order]]\nof = \"x\"\nwhen = \"soon\"\n", "\"start\""));
	CHECK(refused("format = 1\n[times]\nslower = \"x\"\n", "a share"));
	CHECK(refused("format = 1\nformat = 1\n", "g:2"));
}

static const struct test tests[] = {
	{"roots", test_roots},
	{"classes", test_classes},
	{"peers", test_peers},
	{"folding", test_folding},
	{"alignment", test_alignment},
	{"alignment_of_noise", test_alignment_of_noise},
	{"golden_comes_back", test_golden_comes_back},
	{"golden_is_checked", test_golden_is_checked},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return test_main(tests, argc, argv);
}
