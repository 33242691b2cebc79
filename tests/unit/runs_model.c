/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Models that are verified against their manifest: every cut and every flipped bit of the file is
 * noticed, and each finding about elements with a tensor that has it.
 */
#include "test.h"

#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/bytes.h"
#include "model/format.h"
#include "runs/model/actions.h"
#include "runs/model/verify.h"

static char folder[] = "/tmp/wheeltap-runs-model-XXXXXX";
static char path[128], manifest[128];
static const struct wti_front front = {0};
static struct wt_err err;
static struct wt_result result;

static void write_bytes(const uint8_t *data, size_t bytes)
{
	int fd;

	unlink(path); /* to truncate it would wait for the disk */
	fd = open(path, O_WRONLY | O_CREAT, 0600);
	if (fd < 0 || write(fd, data, bytes) != (ssize_t)bytes)
		test_fail(__FILE__, __LINE__, "cannot write %s", path);
	close(fd);
}

/* One matrix of floats, of that shape. */
static size_t make(uint8_t *file, const float *values, unsigned rows, unsigned columns)
{
	int length =
		snprintf((char *)file + 8, 1000,
			 "{\"__metadata__\":{\"k\":\"value\"},\"w\":{\"dtype\":\"F32\",\"shape\":"
			 "[%u,%u],\"data_offsets\":[0,%u]}}",
			 rows, columns, rows * columns * 4);

	wti_put64(file, (uint64_t)length);
	memcpy(file + 8 + length, values, (size_t)rows * columns * 4);
	return 8 + (size_t)length + (size_t)rows * columns * 4;
}

static int verify(const char *with)
{
	const struct wti_model_verify_options options = {.manifest = with};

	wt_result_release(&result);
	wt_result_init(&result, "model");
	err = (struct wt_err){0};
	return wti_model_verify(&front, path, &options, &result, &err);
}

/* ---- Damage --------------------------------------------------------------------------------- */

static bool is_noticed(void)
{
	return verify(manifest) < 0 || !strcmp(result.status, "findings");
}

static void test_damage(void)
{
	static const float values[6] = {1, -2, 0.5f, 3, 1e-3f, 7};
	uint8_t file[1024];
	size_t bytes = make(file, values, 2, 3), unnoticed = 0;

	write_bytes(file, bytes);
	wt_result_init(&result, "model");
	REQUIRE(!wti_model_manifest(&front, path, manifest, &result, &err));
	CHECK_INT(verify(manifest), 0);
	CHECK_TEXT(result.status, "clean");
	for (size_t cut = 0; cut < bytes; cut++) {
		write_bytes(file, cut);
		unnoticed += !is_noticed();
	}
	for (size_t bit = 0; bit < 8 * bytes; bit++) {
		file[bit / 8] ^= (uint8_t)(1 << bit % 8);
		write_bytes(file, bytes);
		unnoticed += !is_noticed();
		file[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	write_bytes(file, bytes + 1);
	unnoticed += !is_noticed();
	CHECK_INT(unnoticed, 0);
}

static void test_tensor_is_named(void)
{
	static const float values[6] = {1, -2, 0.5f, 3, 1e-3f, 7};
	uint8_t file[1024];
	size_t bytes = make(file, values, 2, 3);

	file[bytes - 1] ^= 0x40;
	write_bytes(file, bytes);
	REQUIRE(!verify(manifest));
	REQUIRE(result.finding_count == 1);
	CHECK_TEXT(result.findings[0].code, "WT-MODEL-002");
	CHECK_TEXT(result.findings[0].op, "w");
	CHECK_TEXT(result.findings[0].evidence, "w (elements)");
}

/* ---- Elements ------------------------------------------------------------------------------- */

static void finds(const float *values, unsigned rows, unsigned columns, const char *code,
		  const char *evidence)
{
	static uint8_t file[1 << 16];

	write_bytes(file, make(file, values, rows, columns));
	REQUIRE(!verify(NULL));
	if (!code) {
		CHECK_INT(result.finding_count, 0);
		return;
	}
	REQUIRE(result.finding_count == 1);
	CHECK_TEXT(result.findings[0].code, code);
	CHECK_TEXT(result.findings[0].evidence, evidence);
}

static void test_elements(void)
{
	finds((float[]){1, 2, 3, 4, 5, 6}, 2, 3, NULL, NULL);
	finds((float[]){1, 2, NAN, 4, 5, 6}, 2, 3, "WT-MODEL-005", "w (1 of 6)");
	finds((float[]){1, 2, -INFINITY, 4, 5, 6}, 2, 3, "WT-MODEL-006", "w (1 of 6)");
	finds((float[]){1, 2, 3, 0, -0.0f, 0}, 2, 3, "WT-MODEL-007",
	      "w (1 of 2 rows, the first is 1)");
	finds((float[]){1, 2, 3, 0, 0, 0}, 2, 3, "WT-MODEL-007", "w (1 of 2 rows, the first is 1)");
	finds((float[]){1, 2, 3, 5, 5, 5}, 2, 3, "WT-MODEL-007", "w (1 of 2 rows, the first is 1)");
	finds((float[]){1, 7, 3, 4, 7, 6}, 2, 3, "WT-MODEL-008",
	      "w (1 of 3 columns, the first is 1)");
	finds((float[]){1, 2, 3, 1, 2, 3}, 2, 3, "WT-MODEL-009", "w (2 rows)");
	finds((float[]){0, 0, 0, 0, 0, 0}, 2, 3, "WT-MODEL-010", "w (all 0)");
	finds((float[]){1, 1, 1, 1, 1, 1}, 2, 3, "WT-MODEL-010", "w (all 1)");
}

/* ---- Initial values ------------------------------------------------------------------------- */

enum { ROWS = 30, COLUMNS = 40 };

static uint64_t state = 7;

static double uniform(void)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (double)(state >> 11) * 0x1p-53;
}

static double normal(void)
{
	return sqrt(-2 * log(1 - uniform())) * cos(6.283185307179586 * uniform());
}

/* Bounds of nn.Linear(40, 30) by each family, and after something has moved one element beyond. */
static void test_initial(void)
{
	static const struct {
		double bound;
		const char *evidence;
	} families[] = {
		{0.15811388300841897, "w (the default of PyTorch)"},
		{0.3872983346207417, "w (kaiming uniform)"},
		{0.2738612787525831, "w (lecun uniform)"},
		{0.29277002188455997, "w (xavier uniform)"},
	};
	static float values[ROWS * COLUMNS];

	for (size_t family = 0; family < sizeof(families) / sizeof(families[0]); family++) {
		double bound = families[family].bound;

		for (size_t i = 0; i < ROWS * COLUMNS; i++)
			values[i] = (float)((uniform() * 2 - 1) * bound);
		finds(values, ROWS, COLUMNS, "WT-MODEL-011", families[family].evidence);
		values[100] = (float)(1.01 * bound);
		finds(values, ROWS, COLUMNS, NULL, NULL);
	}
	for (size_t i = 0; i < ROWS * COLUMNS;) {
		double value = normal();

		if (fabs(value) <= 2)
			values[i++] = (float)(0.02 * value);
	}
	finds(values, ROWS, COLUMNS, "WT-MODEL-011", "w (truncated normal 0.02)");
}

static const char *verdict_of_initial(void)
{
	const struct wt_table *table = result.tables[0];

	for (size_t row = 0; row < table->row_count; row++) {
		const struct wt_cell *cells = &table->cells[row * table->column_count];

		if (!strcmp(cells[0].text, "initial"))
			return cells[2].text;
	}
	return "no such layer";
}

/* A normal matrix and its bias: `bias` is the first of its elements, the others are 0. */
static void verify_with_bias(unsigned bias_count, float bias, const char *verdict)
{
	static uint8_t file[1 << 16];
	float values[64 * 40], biases[64] = {bias};
	int length = snprintf((char *)file + 8, 1000,
			      "{\"l.weight\":{\"dtype\":\"F32\",\"shape\":[64,40],\"data_offsets\":"
			      "[0,10240]},\"l.bias\":{\"dtype\":\"F32\",\"shape\":[%u],"
			      "\"data_offsets\":[10240,%u]}}",
			      bias_count, 10240 + 4 * bias_count);

	state = 11;
	for (size_t i = 0; i < 64 * 40; i++)
		values[i] = (float)(normal() * sqrt(2.0 / 40));
	wti_put64(file, (uint64_t)length);
	memcpy(file + 8 + length, values, sizeof(values));
	memcpy(file + 8 + length + sizeof(values), biases, 4 * bias_count);
	write_bytes(file, 8 + (size_t)length + sizeof(values) + 4 * bias_count);
	REQUIRE(!verify(NULL));
	CHECK_TEXT(verdict_of_initial(), verdict);
}

/* A normal matrix alone proves nothing; with 64 zeros that a step would have changed it does. */
static void test_initial_normal(void)
{
	verify_with_bias(64, 0, "VIOLATED");
	verify_with_bias(63, 0, "NOT MEASURED");
	verify_with_bias(64, 0.01f, "NOT MEASURED"); /* as a bias is drawn */
	verify_with_bias(64, 0.9f, "held");
}

static const struct test tests[] = {
	{"damage", test_damage},
	{"tensor_is_named", test_tensor_is_named},
	{"elements", test_elements},
	{"initial", test_initial},
	{"initial_normal", test_initial_normal},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	int r;

	if (!mkdtemp(folder))
		return 1;
	snprintf(path, sizeof(path), "%s/model", folder);
	snprintf(manifest, sizeof(manifest), "%s/kept.json", folder);
	r = test_main(tests, argc, argv);
	wt_result_release(&result);
	unlink(path);
	unlink(manifest);
	rmdir(folder);
	return r;
}
