/* SPDX-License-Identifier: Apache-2.0 */
/* What is expected of saved parameters, each with a fault that makes its check fail. */
#include "rows.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <signal.h>
#include <unistd.h>

#include <wheeltap/wheeltap.h>

#define PATH_BYTES 4096
#define CYCLES 5u
#define MARGIN 0.5 /* by which the accuracy has to be above that of one constant answer */
#define EPOCHS_MAX 1000u

static const struct faults no_faults;

/* ---- Evidence -------------------------------------------------------------------------------- */

/* So many of `n` cases went as they should, which has to be all. */
static bool check_all(const char *name, const char *detail, uint64_t right, uint64_t n)
{
	char expected[32], actual[32];

	snprintf(expected, sizeof(expected), "%llu", (unsigned long long)n);
	snprintf(actual, sizeof(actual), "%llu", (unsigned long long)right);
	wt_check_emit(&(struct wt_check){.size = sizeof(struct wt_check),
					 .name = wt_name_of(name),
					 .status = right == n && n ? WT_CHECK_STATUS_PASSED
								   : WT_CHECK_STATUS_FAILED,
					 .comparator = WT_COMPARATOR_EQUAL,
					 .expected = expected,
					 .actual = actual,
					 .detail = detail,
					 .n = n,
					 .duration_ns = -1});
	printf("  %s: %s of %s\n", detail, actual, expected);
	return right == n && n;
}

static bool check_numbers(const char *name, const float *actual, const float *expected,
			  size_t count)
{
	bool same = wt_check_bits(wt_name_of(name), actual, expected, count * sizeof(float));

	printf("  %zu numbers %s\n", count, same ? "are the same to the bit" : "DIFFER");
	return same;
}

static const char *path_in(const struct suite *suite, const char *name, char out[PATH_BYTES])
{
	snprintf(out, PATH_BYTES, "%s/%s", suite->folder, name);
	return out;
}

static struct tiny empty_like(const struct tiny *tiny)
{
	struct tiny empty;

	tiny_shape(&empty, tiny->inputs, tiny->hidden, tiny->outputs);
	return empty;
}

/* ---- Training -------------------------------------------------------------------------------- */

static void train(struct suite *suite, struct tiny *tiny, struct tiny_trainer *trainer,
		  uint64_t epochs, double *losses)
{
	wt_stage("train");
	tiny_train(tiny, trainer, &suite->data, epochs, suite->ancestor_loss, losses);
}

static bool row_learns(struct suite *suite)
{
	static double losses[EPOCHS_MAX];
	struct tiny_trainer trainer = {.seed = suite->seed};
	double accuracy, least = suite->data.majority + MARGIN;
	char expected[32], actual[32];

	train(suite, &suite->trained, &trainer, suite->no_training ? 0 : suite->epochs, losses);
	tiny_tell(&suite->trained);
	accuracy = tiny_accuracy(&suite->trained, &suite->data);
	snprintf(expected, sizeof(expected), "%.3f", least);
	snprintf(actual, sizeof(actual), "%.3f", accuracy);
	wt_check_emit(&(struct wt_check){.size = sizeof(struct wt_check),
					 .name = WT_NAME("beats the majority class by far"),
					 .status = accuracy >= least ? WT_CHECK_STATUS_PASSED
								     : WT_CHECK_STATUS_FAILED,
					 .comparator = WT_COMPARATOR_AT_LEAST,
					 .expected = expected,
					 .actual = actual,
					 .n = suite->data.count,
					 .duration_ns = -1});
	printf("  accuracy %s of %zu rows, the majority class has %.3f, at least %s is asked for\n",
	       actual, suite->data.count, suite->data.majority, expected);
	return accuracy >= least;
}

/* The process that goes on has nothing but the file. */
static bool run_again(const struct suite *suite, const char *checkpoint, const char *output)
{
	char seed[32], epochs[32];
	const char *words[] = {suite->program, "--data",   suite->data_path,
			       "--seed",       seed,       "--epochs",
			       epochs,         "--resume", checkpoint,
			       "--output",     output,     suite->fault ? "--fault" : NULL,
			       suite->fault,   NULL};
	int status = -1;
	pid_t child;

	snprintf(seed, sizeof(seed), "%llu", (unsigned long long)suite->seed);
	snprintf(epochs, sizeof(epochs), "%llu", (unsigned long long)suite->epochs);
	fflush(stdout);
	child = fork();
	if (!child) {
		execv(suite->program, (char *const *)words);
		_exit(127);
	}
	return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

int suite_resume(struct suite *suite, const char *checkpoint, const char *output)
{
	static double losses[EPOCHS_MAX];
	static struct image image;
	struct tiny tiny = suite->trained;
	struct tiny_trainer trainer;
	const char *why = file_load(&image, checkpoint, &no_faults);

	if (!why)
		why = checkpoint_load(&image, &tiny, &trainer, &suite->faults);
	if (!why && suite->epochs / 2 <= EPOCHS_MAX) {
		train(suite, &tiny, &trainer, suite->epochs - suite->epochs / 2, losses);
		checkpoint_make(&image, &tiny, &trainer, &no_faults);
		why = file_save(&image, output, &no_faults);
	}
	if (why)
		fprintf(stderr, "cannot resume from '%s': %s\n", checkpoint, why);
	return why ? 1 : 0;
}

/* Weights, both means of the optimizer, and the counters: all bits of the last checkpoint. */
static bool row_resume(struct suite *suite)
{
	static double losses[EPOCHS_MAX];
	static struct image straight, half, resumed;
	struct tiny tiny = empty_like(&suite->trained);
	struct tiny_trainer trainer = {.seed = suite->seed};
	char middle[PATH_BYTES], end[PATH_BYTES];
	bool same;

	tiny_init(&tiny, suite->seed);
	train(suite, &tiny, &trainer, suite->epochs / 2, losses);
	checkpoint_make(&half, &tiny, &trainer, &no_faults);
	train(suite, &tiny, &trainer, suite->epochs - suite->epochs / 2, losses);
	checkpoint_make(&straight, &tiny, &trainer, &no_faults);
	if (file_save(&half, path_in(suite, "half.safetensors", middle), &no_faults) ||
	    !run_again(suite, middle, path_in(suite, "resumed.safetensors", end)) ||
	    file_load(&resumed, end, &no_faults))
		return wt_check(WT_NAME("resumed training is the same to the bit"), false);
	same = resumed.bytes == straight.bytes;
	same = wt_check_bits(WT_NAME("resumed training is the same to the bit"), resumed.data,
			     straight.data, straight.bytes) &&
	       same;
	printf("  a checkpoint of %zu bytes after %llu epochs, of which the last %llu ran in a new "
	       "process, %s\n",
	       straight.bytes, (unsigned long long)suite->epochs,
	       (unsigned long long)(suite->epochs - suite->epochs / 2),
	       same ? "is the same to the bit" : "DIFFERS");
	return same;
}

/* ---- Saving and loading ---------------------------------------------------------------------- */

static bool save_and_load(struct suite *suite, enum file_format format, const char *file,
			  struct tiny *loaded)
{
	static struct image image;
	struct wt_transfer transfer;
	char path[PATH_BYTES];
	const char *why;

	wt_stage("save");
	image_make(&image, &suite->trained, format, &suite->faults);
	path_in(suite, file, path);
	transfer = wt_save_begin(path);
	why = file_save(&image, path, &suite->faults);
	tiny_transfer(&suite->trained, &transfer, !why);
	wt_stage("load");
	transfer = wt_load_begin(path);
	if (!why)
		why = file_load(&image, path, &suite->faults);
	if (!why)
		why = image_load(&image, loaded, &suite->faults);
	tiny_transfer(loaded, &transfer, !why);
	if (why)
		printf("  '%s': %s\n", path, why);
	return !why;
}

static bool row_safetensors(struct suite *suite)
{
	struct tiny loaded = empty_like(&suite->trained);

	save_and_load(suite, FILE_SAFETENSORS, "model.safetensors", &loaded);
	return check_numbers("save and load: safetensors", loaded.numbers, suite->trained.numbers,
			     suite->trained.count);
}

static bool row_bin(struct suite *suite)
{
	struct tiny loaded = empty_like(&suite->trained);

	save_and_load(suite, FILE_BIN, "model.bin", &loaded);
	return check_numbers("save and load: .bin", loaded.numbers, suite->trained.numbers,
			     suite->trained.count);
}

static bool row_cycles(struct suite *suite)
{
	static struct image image;
	struct tiny now = suite->trained;
	char path[PATH_BYTES];

	for (unsigned i = 0; i < CYCLES; i++) {
		image_make(&image, &now, FILE_SAFETENSORS, &no_faults);
		if (file_save(&image, path_in(suite, "cycles.safetensors", path), &no_faults) ||
		    file_load(&image, path, &no_faults) || image_load(&image, &now, &suite->faults))
			return wt_check(WT_NAME("several cycles of save and load"), false);
	}
	return check_numbers("several cycles of save and load", now.numbers, suite->trained.numbers,
			     suite->trained.count);
}

static bool row_folders(struct suite *suite)
{
	struct tiny loaded = empty_like(&suite->trained);
	bool saved =
		save_and_load(suite, FILE_SAFETENSORS, "nested/deep/model.safetensors", &loaded);

	return check_numbers("folders are made", loaded.numbers, suite->trained.numbers,
			     suite->trained.count) &&
	       saved;
}

/* ---- Files that must be refused -------------------------------------------------------------- */

/* True if loading fails and leaves the network as it was. */
static bool refuses(const struct suite *suite, const struct image *image)
{
	struct tiny tiny = suite->trained;

	return image_load(image, &tiny, &suite->faults) &&
	       !memcmp(tiny.numbers, suite->trained.numbers, sizeof(tiny.numbers));
}

static bool refuses_path(const struct suite *suite, const char *path)
{
	static struct image image;
	const char *why = file_load(&image, path, &suite->faults);

	if (why)
		printf("  '%s': %s\n", path, why);
	return why || refuses(suite, &image);
}

static bool row_missing(struct suite *suite)
{
	char path[PATH_BYTES];

	return check_all("a missing file is refused", "missing files refused",
			 refuses_path(suite, path_in(suite, "nowhere.safetensors", path)), 1);
}

/* A folder in the place of a file: also root cannot read that. */
static bool row_unreadable(struct suite *suite)
{
	char path[PATH_BYTES];

	mkdir(path_in(suite, "unreadable.safetensors", path), 0777);
	return check_all("an unreadable file is refused", "unreadable files refused",
			 refuses_path(suite, path), 1);
}

static bool row_truncated(struct suite *suite)
{
	static struct image image, part;
	uint64_t refused = 0, n = 0;

	for (unsigned format = FILE_SAFETENSORS; format <= FILE_BIN; format++) {
		image_make(&image, &suite->trained, format, &no_faults);
		for (part = image; part.bytes > 0; n++) {
			part.data[--part.bytes] = 0;
			refused += refuses(suite, &part);
		}
	}
	return check_all("truncated files are refused", "lengths refused", refused, n);
}

/* Through the file and the sum beside it: the format alone cannot see a bit of a weight. */
static bool row_flipped(struct suite *suite)
{
	static struct image image;
	uint64_t refused = 0, n = 0;

	for (unsigned format = FILE_SAFETENSORS; format <= FILE_BIN; format++) {
		uint64_t sum;

		image_make(&image, &suite->trained, format, &no_faults);
		sum = image_sum(&image);
		for (size_t bit = 0; bit < 8 * image.bytes; bit++, n++) {
			image.data[bit / 8] ^= (unsigned char)(1 << bit % 8);
			refused += !suite->faults.no_sum_check && image_sum(&image) != sum;
			image.data[bit / 8] ^= (unsigned char)(1 << bit % 8);
		}
	}
	return check_all("flipped bits are refused", "flipped bits refused", refused, n);
}

/* One flipped bit in a file on the disk, whose sum lies beside it. */
static bool row_flipped_file(struct suite *suite)
{
	static struct image image;
	char path[PATH_BYTES];
	FILE *file;

	image_make(&image, &suite->trained, FILE_SAFETENSORS, &no_faults);
	file_save(&image, path_in(suite, "flipped.safetensors", path), &no_faults);
	file = fopen(path, "r+");
	if (file) {
		fseek(file, (long)image.bytes - 1, SEEK_SET);
		fputc(image.data[image.bytes - 1] ^ 1, file);
		fclose(file);
	}
	return check_all("a flipped bit on the disk is refused", "files refused",
			 file && refuses_path(suite, path), 1);
}

static bool row_shape(struct suite *suite)
{
	static struct image image;
	static struct tiny other;
	uint64_t refused = 0;

	for (unsigned format = FILE_SAFETENSORS; format <= FILE_BIN; format++) {
		tiny_shape(&other, suite->trained.inputs, suite->trained.hidden / 2,
			   suite->trained.outputs);
		tiny_init(&other, suite->seed);
		image_make(&image, &other, format, &no_faults);
		refused += refuses(suite, &image);
	}
	return check_all("a network of another shape is refused", "other shapes refused", refused,
			 2);
}

/* Half of the file fits: the save has to fail, and the file that was there has to stay. */
static bool row_disk_full(struct suite *suite)
{
	static struct image image, kept;
	struct tiny other = suite->trained, loaded = empty_like(&suite->trained);
	struct rlimit old, small;
	char path[PATH_BYTES];
	const char *why;

	image_make(&image, &suite->trained, FILE_SAFETENSORS, &no_faults);
	file_save(&image, path_in(suite, "full.safetensors", path), &no_faults);
	other.numbers[0] += 1;
	image_make(&image, &other, FILE_SAFETENSORS, &no_faults);
	getrlimit(RLIMIT_FSIZE, &old);
	small = (struct rlimit){image.bytes / 2, old.rlim_max};
	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &small);
	why = file_save(&image, path, &suite->faults);
	setrlimit(RLIMIT_FSIZE, &old);
	if (!file_load(&kept, path, &no_faults))
		image_load(&kept, &loaded, &no_faults);
	printf("  saving says: %s\n", why ? why : "nothing");
	return check_numbers("a full disk keeps the old file", loaded.numbers,
			     suite->trained.numbers, suite->trained.count) &&
	       check_all("a full disk is reported", "failures reported", why != NULL, 1);
}

/* ---- The tables ------------------------------------------------------------------------------ */

const struct row rows[] = {
	{"learns", "no-training", row_learns},
	{"learns", "ancestor-loss", row_learns},
	{"safetensors", "lossy-safetensors", row_safetensors},
	{"bin", "lossy-bin", row_bin},
	{"resume", "drop-optimizer", row_resume},
	{"resume", "drop-order", row_resume},
	{"cycles", "drift", row_cycles},
	{"folders", "no-folders", row_folders},
	{"missing", "accept-missing", row_missing},
	{"unreadable", "accept-unreadable", row_unreadable},
	{"truncated", "no-length-check", row_truncated},
	{"flipped", "no-sum-check", row_flipped},
	{"flipped-file", "no-sum-check", row_flipped_file},
	{"shape", "no-shape-check", row_shape},
	{"disk-full", "write-in-place", row_disk_full},
	{NULL, NULL, NULL},
};

static const struct {
	const char *name;
	size_t offset;
} faults[] = {
	{"no-training", offsetof(struct suite, no_training)},
	{"ancestor-loss", offsetof(struct suite, ancestor_loss)},
	{"lossy-safetensors", offsetof(struct suite, faults.lossy_safetensors)},
	{"lossy-bin", offsetof(struct suite, faults.lossy_bin)},
	{"drop-optimizer", offsetof(struct suite, faults.drop_optimizer)},
	{"drop-order", offsetof(struct suite, faults.drop_order)},
	{"drift", offsetof(struct suite, faults.drift)},
	{"no-folders", offsetof(struct suite, faults.no_folders)},
	{"accept-missing", offsetof(struct suite, faults.accept_missing)},
	{"accept-unreadable", offsetof(struct suite, faults.accept_unreadable)},
	{"no-length-check", offsetof(struct suite, faults.no_length_check)},
	{"no-sum-check", offsetof(struct suite, faults.no_sum_check)},
	{"no-shape-check", offsetof(struct suite, faults.no_shape_check)},
	{"write-in-place", offsetof(struct suite, faults.write_in_place)},
};

bool fault_set(struct suite *suite, const char *name)
{
	for (size_t i = 0; i < sizeof(faults) / sizeof(*faults); i++) {
		if (strcmp(faults[i].name, name))
			continue;
		*(bool *)((char *)suite + faults[i].offset) = true;
		suite->fault = faults[i].name;
		return true;
	}
	return false;
}
