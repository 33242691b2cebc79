/* SPDX-License-Identifier: Apache-2.0 */
/* The files of a synthetic data set: for people, for numpy, for programs without numpy. */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/bytes.h"
#include "base/err.h"
#include "base/file.h"
#include "base/sha.h"
#include "dataset/synthetic.h"

#define FILE_MAX_BYTES ((size_t)1 << 20)
#define NPY_HEADER_BYTES 128u

struct writing {
	const struct wti_synthetic *set;
	const uint64_t *seed;
	const char *folder;
	struct wti_buf out;
	char hashes[3][2 * WTI_SHA256_BYTES + 1]; /* of the files before the description */
	size_t hash_count;
	struct wt_err *err;
};

static int write_out(struct writing *writing, const char *suffix)
{
	char path[PATH_MAX];
	uint8_t sha_bytes[WTI_SHA256_BYTES];
	struct wti_sha sha;
	int r = wti_buf_status(&writing->out);

	if (r || snprintf(path, sizeof(path), "%s/%s%s", writing->folder, writing->set->files,
			  suffix) >= (int)sizeof(path))
		return wti_err(writing->err, r ? r : WT_E_ARG, "the path of '%s%s' is too long",
			       writing->set->files, suffix);
	wti_sha_init(&sha, true);
	wti_sha_add(&sha, writing->out.data, writing->out.bytes);
	wti_sha_end(&sha, sha_bytes);
	for (size_t i = 0; writing->hash_count < 3 && i < WTI_SHA256_BYTES; i++)
		snprintf(writing->hashes[writing->hash_count] + 2 * i, 3, "%02x", sha_bytes[i]);
	writing->hash_count++;
	r = wti_file_replace(path, writing->out.data, writing->out.bytes, writing->err);
	wti_buf_clear(&writing->out);
	/* Data are for everybody who may enter the folder. */
	if (!r && chmod(path, 0644))
		r = wti_err_errno(writing->err, "cannot make readable", path);
	return r;
}

static int write_csv(struct writing *writing)
{
	const struct wti_synthetic *set = writing->set;
	struct wti_buf *out = &writing->out;

	wti_buf_printf(out, "# Synthetic Dataset: %s\n# Samples: %u, Features: %u, Classes: %u\n",
		       set->files, set->rows, set->columns, set->classes);
	for (unsigned line = 0; line < 2; line++) {
		wti_buf_text(out, line ? "\n# " : "# Format: ");
		for (unsigned j = 0; j < set->columns; j++)
			wti_buf_printf(out, "feature%u,", j + 1);
		wti_buf_text(out, "class\n");
	}
	for (unsigned i = 0; i < set->rows; i++) {
		for (unsigned j = 0; j < set->columns; j++)
			wti_buf_printf(out, "%.6f,",
				       (double)wti_synthetic_value(set, writing->seed, i, j));
		wti_buf_printf(out, "%u\n", wti_synthetic_class(set, i));
	}
	return write_out(writing, ".csv");
}

/* Version 1.0: the header is padded to a multiple of 64 bytes in all. */
static void put_npy_header(struct wti_buf *out, const char *type, const char *shape)
{
	char header[NPY_HEADER_BYTES + 1];
	int bytes = snprintf(header, sizeof(header),
			     "{'descr': '%s', 'fortran_order': False, 'shape': (%s)}", type, shape);

	wti_buf_append(out, "\x93NUMPY\x01\x00\x76\x00", 10);
	wti_buf_append(out, header, (size_t)bytes);
	while (out->bytes < NPY_HEADER_BYTES - 1 && !wti_buf_status(out))
		wti_buf_byte(out, ' ');
	wti_buf_byte(out, '\n');
}

static int write_features(struct writing *writing)
{
	const struct wti_synthetic *set = writing->set;
	char shape[48];

	snprintf(shape, sizeof(shape), "%u, %u", set->rows, set->columns);
	put_npy_header(&writing->out, "<f4", shape);
	for (unsigned i = 0; i < set->rows; i++) {
		for (unsigned j = 0; j < set->columns; j++) {
			float value = wti_synthetic_value(set, writing->seed, i, j);

			wti_buf_append(&writing->out, &value, sizeof(value));
		}
	}
	return write_out(writing, "_features.npy");
}

static int write_labels(struct writing *writing)
{
	char shape[48];

	snprintf(shape, sizeof(shape), "%u,", writing->set->rows);
	put_npy_header(&writing->out, "|u1", shape);
	for (unsigned i = 0; i < writing->set->rows; i++)
		wti_buf_byte(&writing->out, (uint8_t)wti_synthetic_class(writing->set, i));
	return write_out(writing, "_labels.npy");
}

static void put_noise(struct writing *writing)
{
	struct wti_buf *out = &writing->out;

	if (writing->seed)
		wti_buf_printf(out,
			       "- seed: %llu; the noise is a function of seed, row and column\n",
			       (unsigned long long)*writing->seed);
	else
		wti_buf_printf(
			out,
			"- seed: none; these are the published values, which do not depend on "
			"the seed %llu\n  that their description states\n",
			(unsigned long long)writing->set->stated);
}

static int write_info(struct writing *writing)
{
	const struct wti_synthetic *set = writing->set;
	static const char *const suffixes[] = {".csv", "_features.npy", "_labels.npy"};
	struct wti_buf *out = &writing->out;

	wti_buf_printf(out, "# %s\n\nA synthetic data set, made by `wheeltap dataset make %s",
		       set->files, set->name);
	if (writing->seed)
		wti_buf_printf(out, " --seed %llu", (unsigned long long)*writing->seed);
	wti_buf_printf(
		out,
		"`.\n\n- rows: %u\n- features: %u, single precision\n- classes: %u; row i is "
		"of class i mod %u\n- distance of the clusters: %g; width of the noise: %g\n",
		set->rows, set->columns, set->classes, set->classes, (double)set->separation,
		(double)set->noise);
	put_noise(writing);
	wti_buf_text(out, "\nFeature j of row i, in single precision:\n\n"
			  "    class * distance + 0.3 j + (noise - 0.5) * width"
			  " + 0.2 (sin(0.1 i + 0.05 j) + cos(0.07 i + class))\n\n"
			  "| file | SHA-256 |\n|---|---|\n");
	for (size_t i = 0; i < 3; i++)
		wti_buf_printf(out, "| %s%s | %s |\n", set->files, suffixes[i], writing->hashes[i]);
	wti_buf_printf(out,
		       "\n    numpy.load(\"%s_features.npy\"), numpy.load(\"%s_labels.npy\")\n"
		       "    wheeltap dataset inspect %s.csv\n",
		       set->files, set->files, set->files);
	return write_out(writing, "_info.md");
}

int wti_synthetic_write(const struct wti_synthetic *set, const uint64_t *seed, const char *folder,
			struct wt_err *err)
{
	struct writing writing = {.set = set, .seed = seed, .folder = folder, .err = err};
	int r = wti_mkdirs(folder, 0755, err);

	if (r)
		return r;
	wti_buf_init(&writing.out, FILE_MAX_BYTES);
	r = write_csv(&writing);
	if (!r)
		r = write_features(&writing);
	if (!r)
		r = write_labels(&writing);
	if (!r)
		r = write_info(&writing);
	wti_buf_release(&writing.out);
	return r;
}
