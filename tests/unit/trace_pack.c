/* SPDX-License-Identifier: Apache-2.0 */
/* Every transform, over values that are likely to break one. */
#include "test.h"

#include <stdlib.h>

#include <wheeltap/trace.h>

#include "trace/pack.h"

#define ROWS 1000u

static uint64_t values[ROWS], ref[ROWS], tracks[ROWS], scratch[ROWS], back[ROWS];
static uint8_t planes[8][ROWS];

static uint64_t random64(void)
{
	static uint64_t state = 7;
	uint64_t z = (state += 0x9e3779b97f4a7c15u);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	return z ^ (z >> 27);
}

/* Packs and unpacks `values`; the width that was needed. */
static unsigned round_trip(uint8_t transform, uint32_t rows)
{
	struct wti_packing packing;
	struct wti_runs runs;
	struct wti_pack_input input = {transform, rows, values, ref, &runs};
	const uint64_t *residuals;
	const uint8_t *at[8];

	wti_runs_find(tracks, rows, &runs);
	residuals = wti_pack_plan(&input, scratch, &packing);
	for (unsigned i = 0; i < packing.width; i++) {
		wti_pack_plane(residuals, rows, packing.bias, i, planes[i]);
		at[i] = planes[i];
	}
	wti_unpack_planes(at, packing.width, rows, back);
	for (uint32_t i = 0; i < packing.patch_count; i++)
		back[packing.patches[i].row] = packing.patches[i].packed;
	wti_unpack_transform(&packing, ref, rows, back);
	CHECK(!memcmp(values, back, sizeof(*values) * rows));
	return packing.width;
}

static void test_all_transforms(void)
{
	static const uint64_t masks[] = {0, 1, 0xff, 0xffff, 0xffffff, UINT32_MAX, UINT64_MAX};

	for (uint8_t transform = WT_PLAIN; transform <= WT_REL_PREVIOUS; transform++) {
		for (size_t mask = 0; mask < sizeof(masks) / sizeof(*masks); mask++) {
			for (uint32_t i = 0; i < ROWS; i++) {
				ref[i] = random64();
				values[i] = random64() & masks[mask];
			}
			round_trip(transform, ROWS);
			round_trip(transform, 1);
			round_trip(transform, 2);
			round_trip(transform, 17);
		}
	}
}

static void test_extremes(void)
{
	for (uint8_t transform = WT_PLAIN; transform <= WT_REL_PREVIOUS; transform++) {
		for (uint32_t i = 0; i < ROWS; i++) {
			values[i] = i % 3 == 0 ? 0 : i % 3 == 1 ? UINT64_MAX : INT64_MAX;
			ref[i] = i % 2 ? UINT64_MAX : 1;
		}
		round_trip(transform, ROWS);
	}
}

static void test_widths(void)
{
	for (uint32_t i = 0; i < ROWS; i++)
		values[i] = 1000000 + i * 3;
	CHECK_INT(round_trip(WT_DELTA, ROWS), 0); /* counts up by a constant */
	CHECK_INT(round_trip(WT_PLAIN, ROWS), 2); /* a range of 3000 */
	for (uint32_t i = 0; i < ROWS; i++)
		values[i] = UINT64_MAX - 5;
	CHECK_INT(round_trip(WT_REL, ROWS), 0); /* a constant, whatever it is relative to */
	for (uint32_t i = 0; i < ROWS; i++) {
		ref[i] = random64();
		values[i] = ref[i] + 255 * (i & 1);
	}
	CHECK_INT(round_trip(WT_REL, ROWS), 1);
	for (uint32_t i = 1; i < ROWS; i++)
		values[i] = ref[i - 1] + 100;
	CHECK_INT(round_trip(WT_REL_PREVIOUS, ROWS), 0);
}

/* A row where another track begins does not cost the others their narrow planes. */
static void test_runs(void)
{
	for (uint32_t i = 0; i < ROWS; i++) {
		tracks[i] = i / 100;
		values[i] = tracks[i] * 0x123456789abcull % 1000003 * 1000000007 + i;
	}
	CHECK_INT(round_trip(WT_DELTA, ROWS), 0);
	CHECK_INT(round_trip(WT_XOR, ROWS), 2);
	for (uint32_t i = 0; i < ROWS; i++)
		tracks[i] = i; /* more runs than there can be patches */
	CHECK(round_trip(WT_DELTA, ROWS) > 4);
	CHECK_INT(round_trip(WT_DELTA, 3), 0);
	memset(tracks, 0, sizeof(tracks));
}

static const struct test tests[] = {
	{"runs", test_runs},
	{"all_transforms", test_all_transforms},
	{"extremes", test_extremes},
	{"widths", test_widths},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return test_main(tests, argc, argv);
}
