/* SPDX-License-Identifier: Apache-2.0 */
/* Checkpoints of PyTorch: what is written is read again, views stay inside of their storages. */
#include "test.h"

#include <stdlib.h>
#include <unistd.h>

#include <wheeltap/kinds.h>

#include "model/joined.h"
#include "model/torch/torch.h"
#include "model/torch/write.h"

static struct wt_err err;

static struct wti_model *new_model(const void *data, size_t bytes)
{
	struct wti_model *model = NULL;
	struct wti_buf buf;
	uint32_t source;

	CHECK_INT(wti_model_new("made", false, &model, &err), 0);
	wti_buf_init(&buf, 1 << 20);
	wti_buf_append(&buf, data, bytes);
	CHECK_INT(wti_model_add_memory(model, &buf, &source, &err), 0);
	return model;
}

struct gathered {
	uint8_t bytes[256];
	size_t count;
};

static int gather(void *cookie, const void *data, size_t bytes)
{
	struct gathered *to = cookie;

	memcpy(to->bytes + to->count, data, bytes);
	to->count += bytes;
	return 0;
}

/* ---- Written and read ----------------------------------------------------------------------- */

static void add(struct wti_model *model, const char *name, uint32_t dtype, uint64_t offset,
		uint32_t rank, const uint64_t *shape, const int64_t *strides)
{
	struct wti_model_tensor tensor = {.name = name,
					  .dtype = dtype,
					  .type = "T",
					  .rank = rank,
					  .shape = shape,
					  .strides = strides,
					  .offset = offset};

	CHECK_INT(wti_model_add(model, &tensor, &err), 0);
}

static void test_round_trip(void)
{
	static const float numbers[] = {1, 2, 3, 4, 5, 6};
	struct wti_model *model = new_model(numbers, sizeof(numbers)), *again = NULL;
	char path[] = "/tmp/wheeltap-torch-XXXXXX";
	int fd = mkstemp(path);
	struct gathered got = {0};

	REQUIRE(fd >= 0);
	add(model, "a", WT_DTYPE_F32, 0, 2, (uint64_t[]){2, 3}, NULL);
	add(model, "a.t", WT_DTYPE_F32, 0, 2, (uint64_t[]){3, 2}, (int64_t[]){1, 3});
	add(model, "tied", WT_DTYPE_F32, 0, 2, (uint64_t[]){2, 3}, NULL);
	add(model, "f8", WT_DTYPE_F8E4M3, 4, 1, (uint64_t[]){5}, NULL);
	add(model, "scalar", WT_DTYPE_I64, 8, 0, NULL, NULL);
	add(model, "empty", WT_DTYPE_BF16, 0, 2, (uint64_t[]){0, 7}, NULL);
	CHECK_INT(wti_model_add_entry(model, "format", "pt", &err), 0);
	CHECK_INT(wti_torch_write(model, fd, &err), 0);
	close(fd);
	REQUIRE(wti_model_open(path, &again, &err) == 0);
	CHECK_TEXT(again->format->name, "pt");
	CHECK_INT(again->tensor_count, 6);
	CHECK_TEXT(wti_model_entry_value(again, "format"), "pt");
	CHECK_INT(wti_model_find(again, "a")->offset, wti_model_find(again, "tied")->offset);
	CHECK(wti_model_find(again, "a")->offset % 64 == 0);
	CHECK_INT(wti_model_find(again, "f8")->dtype, WT_DTYPE_F8E4M3);
	CHECK_INT(wti_model_find(again, "empty")->shape[1], 7);
	CHECK_INT(wti_model_walk(again, wti_model_find(again, "a.t"), gather, &got, &err), 0);
	CHECK_INT(got.count, 24);
	CHECK(((float *)got.bytes)[1] == 4);
	wti_model_free(again);
	wti_model_free(model);
	unlink(path);
}

/* ---- Views ---------------------------------------------------------------------------------- */

static int find(void *cookie, const struct wti_torch_id *id, struct wti_torch_storage *ret,
		struct wt_err *ignored)
{
	*ret = (struct wti_torch_storage){0, 8, 24}; /* six floats, eight bytes from the begin */
	return 0;
}

/* One tensor of the storage: its offset, size and stride, each a digit. */
static int read_view(const char *view)
{
	struct wti_model *model = new_model("0123456789012345678901234567890123456789", 40);
	struct wti_torch torch = {.model = model, .find = find};
	struct wti_pickle pickle = {0};
	char data[256];
	size_t at = 0;
	int r;

#define PUT(text) memcpy(data + at, text, sizeof(text) - 1), at += sizeof(text) - 1
	PUT("\x80\x02"
	    "ctorch._utils\n_rebuild_tensor_v2\n((X\7\0\0\0storagectorch\nFloatStorage\n"
	    "X\1\0\0\0000X\3\0\0\0cpuK\6tQK");
	data[at++] = (char)(view[0] - '0');
	PUT("K");
	data[at++] = (char)(view[1] - '0');
	PUT("\x85K");
	data[at++] = (char)(view[2] - '0');
	PUT("\x85\x89}tR.");
	r = wti_pickle_open(&pickle, "made", 0, (const uint8_t *)data, at, &err);
	if (!CHECK_INT(r, 0))
		printf("# %s\n", err.message);
	if (!r) {
		r = wti_torch_add(&torch, "x", pickle.root, &err);
		wti_pickle_release(&pickle);
	}
	wti_model_free(model);
	return r;
}

static void test_views(void)
{
	CHECK_INT(read_view("061"), 0);
	CHECK_INT(read_view("132"), 0); /* elements 1, 3 and 5 */
	CHECK_INT(read_view("240"), 0); /* one element four times */
	CHECK_INT(read_view("601"), 0); /* nothing, at the end */
	CHECK_INT(read_view("161"), WT_E_FORMAT);
	CHECK_INT(read_view("071"), WT_E_FORMAT);
	CHECK_INT(read_view("233"), WT_E_FORMAT);
	CHECK_INT(read_view("701"), WT_E_FORMAT);
}

/* ---- Pieces --------------------------------------------------------------------------------- */

/* A matrix of 3 x 4 in three pieces: the left half, and the right one cut in two. */
static void test_joined(void)
{
	static const char bytes[] = "abefij--cdgh--kl";
	struct wti_model *model = new_model(bytes, sizeof(bytes) - 1);
	struct wti_model_tensor tensor = {.name = "m",
					  .dtype = WT_DTYPE_U8,
					  .type = "T",
					  .rank = 2,
					  .shape = (uint64_t[]){3, 4}};
	struct wti_model_piece pieces[] = {
		{(uint64_t[]){0, 0}, (uint64_t[]){3, 2}, (int64_t[]){2, 1}, 0, 0},
		{(uint64_t[]){0, 2}, (uint64_t[]){2, 2}, (int64_t[]){2, 1}, 0, 8},
		{(uint64_t[]){2, 2}, (uint64_t[]){1, 2}, (int64_t[]){2, 1}, 0, 14}};
	struct gathered got = {0};
	char part[4] = {0};

	REQUIRE(wti_model_add_joined(model, "m", &tensor, pieces, 3, &tensor.source, &err) == 0);
	CHECK_INT(wti_model_add(model, &tensor, &err), 0);
	CHECK_INT(wti_model_walk(model, &model->tensors[0], gather, &got, &err), 0);
	CHECK_INT(got.count, 12);
	CHECK_BYTES(got.bytes, "abcdefghijkl", 12);
	CHECK_INT(wti_model_read(model, tensor.source, 5, part, 3, &err), 0);
	CHECK_TEXT(part, "fgh");
	CHECK_INT(wti_model_add_joined(model, "m", &tensor, pieces, 2, &tensor.source, &err),
		  WT_E_FORMAT);
	pieces[2].begin = (uint64_t[]){1, 2};
	CHECK_INT(wti_model_add_joined(model, "m", &tensor, pieces, 3, &tensor.source, &err),
		  WT_E_FORMAT);
	wti_model_free(model);
}

static const struct test tests[] = {
	{"round_trip", test_round_trip},
	{"views", test_views},
	{"joined", test_joined},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return test_main(tests, argc, argv);
}
