/* SPDX-License-Identifier: Apache-2.0 */
/* Writing it in one piece or not at all; reading nothing that was not checked first. */
#include "model_file.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "checksum.h"

#define MAGIC "MLPFILE1"
#define FILE_BYTES_MAX (64u << 20)

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "numbers are written as they stand");

static bool complain(const char *what, const char *path)
{
	fprintf(stderr, "%s '%s'\n", what, path);
	return false;
}

static bool complain_errno(const char *what, const char *path)
{
	fprintf(stderr, "cannot %s '%s': %s\n", what, path, strerror(errno));
	return false;
}

/* ---- Saving ------------------------------------------------------------------------------- */

struct output {
	FILE *file;
	uint64_t hash;
};

static void put(struct output *out, const void *data, size_t bytes)
{
	out->hash = checksum(out->hash, data, bytes);
	fwrite(data, 1, bytes, out->file); /* an error sticks, see write_model() */
}

static void put_u32(struct output *out, size_t value)
{
	uint32_t number = (uint32_t)value;

	put(out, &number, sizeof(number));
}

static bool write_model(const struct mlp *mlp, FILE *file)
{
	struct output out = {file, CHECKSUM_START};
	uint64_t hash;

	put(&out, MAGIC, strlen(MAGIC));
	put_u32(&out, mlp->parameter_count);
	for (size_t i = 0; i < mlp->parameter_count; i++) {
		const struct parameter *p = &mlp->parameters[i];

		put_u32(&out, strlen(p->name));
		put_u32(&out, p->value.rows);
		put_u32(&out, p->value.columns);
		put(&out, p->name, strlen(p->name));
		put(&out, p->value.data, matrix_count(&p->value) * sizeof(float));
	}
	hash = out.hash;
	put(&out, &hash, sizeof(hash));
	return !fflush(file) && !ferror(file) && !fsync(fileno(file));
}

/* A rename is on the disk once its folder is. */
static bool sync_folder(const char *path)
{
	char copy[PATH_MAX];
	int fd;
	bool ok;

	snprintf(copy, sizeof(copy), "%s", path);
	fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ok = fd >= 0 && !fsync(fd);
	if (fd >= 0)
		close(fd);
	return ok;
}

bool model_save(const struct mlp *mlp, const char *path)
{
	char beside[PATH_MAX];
	FILE *file;
	bool ok;

	if (snprintf(beside, sizeof(beside), "%s.tmp", path) >= (int)sizeof(beside))
		return complain("path too long", path);
	file = fopen(beside, "wbe");
	if (!file)
		return complain_errno("create", beside);
	ok = write_model(mlp, file);
	ok = !fclose(file) && ok;
	if (!ok || rename(beside, path) || !sync_folder(path)) {
		complain_errno("save", path);
		unlink(beside);
		return false;
	}
	return true;
}

/* ---- Loading ------------------------------------------------------------------------------ */

struct input {
	const unsigned char *at;
	size_t left;
};

static bool take(struct input *in, void *ret_data, size_t bytes)
{
	if (bytes > in->left)
		return false;
	memcpy(ret_data, in->at, bytes);
	in->at += bytes;
	in->left -= bytes;
	return true;
}

/* The next parameter is this one, by name and shape; its values are left to be taken. */
static bool take_head(struct input *in, const struct parameter *p)
{
	uint32_t head[3];
	char name[sizeof(p->name)];

	return take(in, head, sizeof(head)) && head[0] == strlen(p->name) &&
	       head[1] == p->value.rows && head[2] == p->value.columns && take(in, name, head[0]) &&
	       !memcmp(name, p->name, head[0]);
}

/* Twice: first to see that all of it fits, then to take it. */
static bool parse(struct input in, struct mlp *mlp, bool apply)
{
	char magic[sizeof(MAGIC) - 1];
	uint32_t count;

	if (!take(&in, magic, sizeof(magic)) || memcmp(magic, MAGIC, sizeof(magic)) ||
	    !take(&in, &count, sizeof(count)) || count != mlp->parameter_count)
		return false;
	for (size_t i = 0; i < count; i++) {
		struct parameter *p = &mlp->parameters[i];
		size_t bytes = matrix_count(&p->value) * sizeof(float);

		if (!take_head(&in, p) || bytes > in.left)
			return false;
		if (apply)
			memcpy(p->value.data, in.at, bytes);
		in.at += bytes;
		in.left -= bytes;
	}
	return in.left == 0;
}

static unsigned char *read_file(const char *path, size_t *ret_bytes)
{
	FILE *file = fopen(path, "rbe");
	unsigned char *data = NULL;
	struct stat status;

	if (file && !fstat(fileno(file), &status)) {
		errno = EFBIG;
		if (status.st_size <= FILE_BYTES_MAX)
			data = malloc((size_t)status.st_size + 1);
	}
	if (data)
		*ret_bytes = fread(data, 1, (size_t)status.st_size, file);
	if (file)
		fclose(file);
	return data;
}

bool model_load(struct mlp *mlp, const char *path)
{
	size_t bytes = 0;
	unsigned char *data = read_file(path, &bytes);
	bool ok = false;
	uint64_t hash;

	if (!data)
		return complain_errno("read", path);
	if (bytes < sizeof(hash)) {
		complain("too short to be a model", path);
	} else {
		struct input in = {data, bytes - sizeof(hash)};

		memcpy(&hash, data + in.left, sizeof(hash));
		if (hash != checksum(CHECKSUM_START, data, in.left))
			complain("damaged: the checksum does not fit", path);
		else if (!parse(in, mlp, false))
			complain("not a model of this shape", path);
		else
			ok = parse(in, mlp, true);
	}
	free(data);
	return ok;
}
