/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Damaged files of every format: each file of a sample is cut at every byte, has each of its bits
 * flipped, and gets a byte more. With a manifest all of this is noticed. Without one it is seen as
 * far as the format allows (docs/model.md has the figures), and never does harm: the sanitizers see
 * every one of these files.
 */
#include "test.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "model/format.h"
#include "runs/model/actions.h"
#include "runs/model/verify.h"

enum { CEILING = 1 << 16, FILES_MAX = 3 };

/* `files`: of a folder; {NULL}: the sample is a file itself. `cuts` and `flips`: how many of them
 * are seen without a manifest, at least. */
struct sample {
	const char *name;
	const char *files[FILES_MAX + 1];
	unsigned cuts, flips;
};

static const struct sample samples[] = {
	{"samples/plain.safetensors", {NULL}, 200, 1193},
	{"samples/sharded",
	 {"model.safetensors.index.json", "part-0.safetensors", "part-1.safetensors"},
	 290,
	 1933},
	{"samples/array.npy", {NULL}, 152, 1020},
	{"samples/arrays.npz", {NULL}, 546, 4048},
	{"samples/deflated.npz", {NULL}, 425, 3069},
	{"samples/zip.pt", {NULL}, 1797, 9071},
	{"samples/legacy.pt", {NULL}, 499, 2954},
	{"samples/dcp", {".metadata", "__0_0.distcp"}, 2399, 12448},
	{"samples/plain.gguf", {NULL}, 200, 959},
	{"samples/plain.onnx", {NULL}, 171, 266},
	{"samples/burn.json", {NULL}, 893, 5970},
	{"burn/samples/tiny-half.bin", {NULL}, 481, 658},
	{"burn/samples/tiny-half.mpk", {NULL}, 723, 2153},
	{"burn/samples/tiny-full.bin.gz", {NULL}, 711, 5638},
	{"burn/samples/tiny-21.bpk", {NULL}, 1292, 1974},
};

static char folder[] = "/tmp/wheeltap-model-damage-XXXXXX";
static char model[128], manifest[128];
static const struct wti_front front = {0};

/* ---- Files ---------------------------------------------------------------------------------- */

static void write_bytes(const char *path, const uint8_t *data, size_t bytes)
{
	int fd;

	unlink(path); /* to truncate it would wait for the disk */
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, data, bytes) != (ssize_t)bytes)
		test_fail(__FILE__, __LINE__, "cannot write %s", path);
	close(fd);
}

/* The file `number` of a sample: where it is kept, and where its copy is. */
static void find_file(const struct sample *sample, size_t number, char kept[4096], char copy[512])
{
	const char *file = sample->files[number];

	snprintf(kept, 4096, "%s/%s%s%s", MODELS, sample->name, file ? "/" : "", file ? file : "");
	snprintf(copy, 512, "%s%s%s", model, file ? "/" : "", file ? file : "");
}

static size_t file_count(const struct sample *sample)
{
	size_t count = 0;

	while (sample->files[count])
		count++;
	return count ? count : 1;
}

static void read_kept(const struct sample *sample, size_t number, struct wti_buf *out,
		      char copy[512])
{
	char kept[4096];

	find_file(sample, number, kept, copy);
	wti_buf_init(out, CEILING);
	if (wti_file_read(kept, CEILING - 1, out, NULL))
		test_fail(__FILE__, __LINE__, "cannot read %s", kept);
	wti_buf_append(out, "", 1); /* room for a byte that does not belong there */
}

static void copy_sample(const struct sample *sample)
{
	char copy[512];

	if (sample->files[0])
		mkdir(model, 0700);
	for (size_t i = 0; i < file_count(sample); i++) {
		struct wti_buf bytes;

		read_kept(sample, i, &bytes, copy);
		write_bytes(copy, bytes.data, bytes.bytes - 1);
		wti_buf_release(&bytes);
	}
}

static void remove_sample(const struct sample *sample)
{
	char kept[4096], copy[512];

	for (size_t i = 0; i < file_count(sample); i++) {
		find_file(sample, i, kept, copy);
		unlink(copy);
	}
	rmdir(model);
	unlink(manifest);
}

/* ---- Damage --------------------------------------------------------------------------------- */

struct tally {
	unsigned tried, unnoticed, seen;
};

/* Whether verify() reports anything; `ret_is_seen`: the reader alone does. */
static bool is_noticed(bool *ret_is_seen)
{
	const struct wti_model_verify_options options = {.manifest = manifest};
	struct wt_result result;
	struct wt_err err = {0};
	bool is_clean;

	wt_result_init(&result, "model");
	*ret_is_seen = wti_model_verify(&front, model, &options, &result, &err) < 0;
	is_clean = !strcmp(result.status, "clean");
	wt_result_release(&result);
	return *ret_is_seen || !is_clean;
}

static void try(const char *path, const char *what, size_t where, struct tally *tally)
{
	bool is_seen;

	tally->tried++;
	if (!is_noticed(&is_seen) && !tally->unnoticed++)
		test_fail(__FILE__, __LINE__, "%s: %s %zu is not noticed", path, what, where);
	tally->seen += is_seen;
}

/* In place: to write the whole file for each bit takes most of the time otherwise. */
static void flip_bits(const char *path, const uint8_t *data, size_t bytes, struct tally *flips)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	for (size_t bit = 0; bit < 8 * bytes; bit++) {
		uint8_t flipped = data[bit / 8] ^ (uint8_t)(1 << bit % 8);

		if (pwrite(fd, &flipped, 1, (off_t)(bit / 8)) != 1)
			test_fail(__FILE__, __LINE__, "cannot write %s", path);
		try(path, "the flip of bit", bit, flips);
		if (bit % 8 == 7 && pwrite(fd, &data[bit / 8], 1, (off_t)(bit / 8)) != 1)
			test_fail(__FILE__, __LINE__, "cannot write %s", path);
	}
	close(fd);
}

static void damage(const char *path, const struct wti_buf *bytes, struct tally *cuts,
		   struct tally *flips)
{
	size_t length = bytes->bytes - 1;
	struct tally more = {0};

	flip_bits(path, bytes->data, length, flips);
	for (size_t cut = 0; cut < length; cut++) {
		write_bytes(path, bytes->data, cut);
		try(path, "the cut at byte", cut, cuts);
	}
	write_bytes(path, bytes->data, length + 1);
	try(path, "a byte behind the end,", length, &more);
	write_bytes(path, bytes->data, length);
}

static void test_sample(const struct sample *sample)
{
	struct tally cuts = {0}, flips = {0};
	struct wt_result result;
	struct wt_err err = {0};
	bool is_seen;

	copy_sample(sample);
	wt_result_init(&result, "model");
	CHECK_INT(wti_model_manifest(&front, model, manifest, &result, &err), 0);
	wt_result_release(&result);
	if (is_noticed(&is_seen))
		test_fail(__FILE__, __LINE__, "%s is not clean: %s", sample->name, err.message);
	for (size_t i = 0; i < file_count(sample); i++) {
		struct wti_buf bytes;
		char copy[512];

		read_kept(sample, i, &bytes, copy);
		damage(copy, &bytes, &cuts, &flips);
		wti_buf_release(&bytes);
	}
	CHECK(!is_noticed(&is_seen)); /* the copy is whole again */
	remove_sample(sample);
	printf("# %s: without a manifest %u of %u cuts and %u of %u flips are seen\n", sample->name,
	       cuts.seen, cuts.tried, flips.seen, flips.tried);
	CHECK(cuts.seen >= sample->cuts);
	CHECK(flips.seen >= sample->flips);
}

static void test_damage(void)
{
	for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++)
		test_sample(&samples[i]);
}

static const struct test tests[] = {
	{"damage", test_damage},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	int r;

	if (!mkdtemp(folder))
		return 1;
	snprintf(model, sizeof(model), "%s/model", folder);
	snprintf(manifest, sizeof(manifest), "%s/kept.json", folder);
	r = test_main(tests, argc, argv);
	rmdir(folder);
	return r;
}
