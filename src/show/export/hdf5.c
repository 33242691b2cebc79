/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of a function are collected and written a chunk at a time; datasets are not
 * kept open. Errors of the library are not printed: the first one fails the file.
 */
#include "hdf5.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <wheeltap/trace.h>
#include <xxhash.h>

#include "base/bytes.h"
#include "base/err.h"
#include "base/grow.h"
#include "base/map.h"
#include "hdf5_library.h"
#include "sink.h"

#define ROWS 32u /* of a chunk */
#define FUNCTIONS_MAX 4096u
#define ARRAYS_MAX 100000u /* a group each, of which HDF5 keeps an index in memory */
#define EDGES_MAX 65536u
#define NAME 256u
#define VALUES_MAX 64u /* of a call */
#define GRAPH "callgraph"
#define SMALL_BYTES 2048u /* of an array: about what an index takes */

/* As Pytracer's rows are: texts end with zeros. */
struct row {
	uint64_t id;
	char label[16], name[128];
	uint64_t time;
	double mean, std, sig;
	char info[256], dtype[256];
	struct {
		char filename[1024], line[1024];
		int32_t lineno;
		char name[128];
	} backtrace;
};

struct function {
	char *group; /* "module/function" */
	struct row *rows;
	size_t count;
	uint64_t written;
};

struct graph_row {
	char caller[NAME], callee[NAME], kind[16];
	uint64_t calls;
};

struct wti_hdf5 {
	char *path, *temporary;
	bool force, failed;
	struct wti_hdf5_library library;
	hid_t file, row_type, link;
	struct wti_map index; /* callee: its function plus one */
	struct function *functions;
	size_t function_count, function_capacity;
	struct wti_map edges; /* "kind\ncaller\ncallee": calls */
	struct wti_map last;  /* path of a caller: callee of its last call, as an entry of names */
	struct wti_map names;
	uint64_t values, arrays, left_out;
	uint64_t call; /* whose values come */
	uint64_t seen[VALUES_MAX];
	size_t seen_count;
};

/* ---- Types ----------------------------------------------------------------------------------- */

static hid_t text_type(const struct wti_hdf5_library *h, size_t bytes)
{
	hid_t type = h->Tcopy(*h->T_C_S1);

	h->Tset_size(type, bytes);
	h->Tset_strpad(type, H5T_STR_NULLPAD);
	return type;
}

static void add_text_member(const struct wti_hdf5_library *h, hid_t type, const char *name,
			    size_t offset, size_t bytes)
{
	hid_t text = text_type(h, bytes);

	h->Tinsert(type, name, offset, text);
	h->Tclose(text);
}

#define TEXT_MEMBER(type, record, member)                                                          \
	add_text_member(h, type, #member, offsetof(record, member), sizeof(((record *)0)->member))

static hid_t make_row_type(const struct wti_hdf5_library *h)
{
	typedef typeof(((struct row *)0)->backtrace) backtrace;
	hid_t type = h->Tcreate(H5T_COMPOUND, sizeof(struct row));
	hid_t inner = h->Tcreate(H5T_COMPOUND, sizeof(backtrace));

	TEXT_MEMBER(inner, backtrace, filename);
	TEXT_MEMBER(inner, backtrace, line);
	h->Tinsert(inner, "lineno", offsetof(backtrace, lineno), *h->T_NATIVE_INT32);
	TEXT_MEMBER(inner, backtrace, name);
	h->Tinsert(type, "id", offsetof(struct row, id), *h->T_NATIVE_UINT64);
	TEXT_MEMBER(type, struct row, label);
	TEXT_MEMBER(type, struct row, name);
	h->Tinsert(type, "time", offsetof(struct row, time), *h->T_NATIVE_UINT64);
	h->Tinsert(type, "mean", offsetof(struct row, mean), *h->T_NATIVE_DOUBLE);
	h->Tinsert(type, "std", offsetof(struct row, std), *h->T_NATIVE_DOUBLE);
	h->Tinsert(type, "sig", offsetof(struct row, sig), *h->T_NATIVE_DOUBLE);
	TEXT_MEMBER(type, struct row, info);
	TEXT_MEMBER(type, struct row, dtype);
	h->Tinsert(type, "BacktraceDescription", offsetof(struct row, backtrace), inner);
	h->Tclose(inner);
	return type;
}

static hid_t make_graph_type(const struct wti_hdf5_library *h)
{
	hid_t type = h->Tcreate(H5T_COMPOUND, sizeof(struct graph_row));

	TEXT_MEMBER(type, struct graph_row, caller);
	TEXT_MEMBER(type, struct graph_row, callee);
	TEXT_MEMBER(type, struct graph_row, kind);
	h->Tinsert(type, "calls", offsetof(struct graph_row, calls), *h->T_NATIVE_UINT64);
	return type;
}

/* As much as there is room for; the rest is zero. */
static void put(char *to, size_t bytes, const char *text)
{
	size_t length = strlen(text);

	length = length < bytes ? length : bytes;
	memcpy(to, text, length);
	memset(to + length, 0, bytes - length);
}

/* ---- Life ------------------------------------------------------------------------------------ */

/* Like all exports for the user alone; the library would leave that to the umask. */
static int create(struct wti_hdf5 *file, struct wt_err *err)
{
	const struct wti_hdf5_library *h = &file->library;
	int fd = open(file->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	hid_t how;

	if (fd < 0)
		return wti_err_errno(err, "cannot create", file->path);
	close(fd);
	/* Groups of a few links are a fifth as large as those that libraries before 1.8 read. */
	how = h->Pcreate(*h->P_CLS_FILE_ACCESS_ID);
	h->Pset_libver_bounds(how, H5F_LIBVER_V18, H5F_LIBVER_V18);
	file->file = h->Fcreate(file->temporary, WTI_HDF5_TRUNC, H5P_DEFAULT, how);
	h->Pclose(how);
	if (file->file >= 0)
		return 0;
	unlink(file->temporary);
	return wti_err(err, WT_E_IO, "cannot create '%s'", file->path);
}

int wti_hdf5_open(const char *path, bool force, struct wti_hdf5 **ret_file, struct wt_err *err)
{
	struct wti_hdf5 *file = calloc(1, sizeof(*file));
	const struct wti_hdf5_library *h;
	int r;

	if (!file)
		return wti_err(err, WT_E_NOMEM, "out of memory");
	h = &file->library;
	r = wti_hdf5_load(&file->library, err);
	if (r) {
		free(file);
		return r;
	}
	file->path = strdup(path);
	file->temporary = wti_temporary_name(path);
	file->force = force;
	file->row_type = make_row_type(h);
	file->link = h->Pcreate(*h->P_CLS_LINK_CREATE_ID);
	h->Pset_create_intermediate_group(file->link, 1);
	wti_map_init(&file->index, FUNCTIONS_MAX);
	wti_map_init(&file->edges, EDGES_MAX);
	wti_map_init(&file->last, EDGES_MAX);
	wti_map_init(&file->names, EDGES_MAX);
	file->file = -1;
	r = file->path && file->temporary ? wti_check_absent(path, force, err)
					  : wti_err(err, WT_E_NOMEM, "out of memory");
	r = r ? r : create(file, err);
	if (r) {
		wti_hdf5_free(file);
		return r;
	}
	*ret_file = file;
	return 0;
}

static void close_file(struct wti_hdf5 *file)
{
	const struct wti_hdf5_library *h = &file->library;
	if (file->file >= 0 && h->Fclose(file->file) < 0)
		file->failed = true;
	file->file = -1;
}

void wti_hdf5_free(struct wti_hdf5 *file)
{
	if (!file)
		return;
	if (file->file >= 0) {
		close_file(file);
		unlink(file->temporary);
	}
	file->library.Pclose(file->link);
	file->library.Tclose(file->row_type);
	for (size_t i = 0; i < file->function_count; i++) {
		free(file->functions[i].group);
		free(file->functions[i].rows);
	}
	free(file->functions);
	wti_map_release(&file->index);
	wti_map_release(&file->edges);
	wti_map_release(&file->last);
	wti_map_release(&file->names);
	free(file->path);
	free(file->temporary);
	free(file);
}

/* ---- Tables ---------------------------------------------------------------------------------- */

/*
 * `extendable`: in chunks of ROWS, otherwise all at once. Compressed, unless it is so small that it
 * is kept beside its description: the index of a single chunk takes more than two thousand bytes.
 */
static hid_t make_dataset(struct wti_hdf5 *file, const char *name, hid_t type, hsize_t count,
			  bool extendable, bool is_small)
{
	const struct wti_hdf5_library *h = &file->library;
	const hsize_t most = extendable ? H5S_UNLIMITED : count, chunk = extendable ? ROWS : count;
	hid_t space = h->Screate_simple(1, &count, &most);
	hid_t how = h->Pcreate(*h->P_CLS_DATASET_CREATE_ID), set;

	if (is_small) {
		h->Pset_layout(how, H5D_COMPACT);
	} else if (count || extendable) {
		h->Pset_chunk(how, 1, &chunk);
		h->Pset_shuffle(how);
		h->Pset_deflate(how, 1);
	}
	set = h->Dcreate2(file->file, name, type, space, file->link, how, H5P_DEFAULT);
	h->Pclose(how);
	h->Sclose(space);
	file->failed |= set < 0;
	return set;
}

static void write_rows(struct wti_hdf5 *file, struct function *function)
{
	const struct wti_hdf5_library *h = &file->library;
	const hsize_t from = function->written, count = function->count, all = from + count;
	char name[2 * NAME + 16];
	hid_t set, space, rows;

	if (!count || file->failed)
		return;
	snprintf(name, sizeof(name), "%s/values", function->group);
	set = from ? h->Dopen2(file->file, name, H5P_DEFAULT)
		   : make_dataset(file, name, file->row_type, 0, true, false);
	if (set < 0 || h->Dset_extent(set, &all) < 0) {
		file->failed = true;
		return;
	}
	space = h->Dget_space(set);
	rows = h->Screate_simple(1, &count, NULL);
	if (h->Sselect_hyperslab(space, H5S_SELECT_SET, &from, NULL, &count, NULL) < 0 ||
	    h->Dwrite(set, file->row_type, rows, space, H5P_DEFAULT, function->rows) < 0)
		file->failed = true;
	h->Sclose(rows);
	h->Sclose(space);
	file->failed |= h->Dclose(set) < 0;
	function->written = all;
	function->count = 0;
}

/* A name is one part of a path: "." and "/" would be others. */
static void put_part(char *to, size_t room, const char *text, size_t bytes)
{
	size_t count = bytes < room - 1 ? bytes : room - 1;

	for (size_t i = 0; i < count; i++)
		to[i] = text[i] == '/' ? '_' : text[i];
	to[count] = 0;
	if (!*to || !strcmp(to, ".") || !strcmp(to, ".."))
		snprintf(to, room, "_");
}

/* "torch.nn.functional.linear" is "torch.nn.functional/linear". NULL: out of memory. */
static char *group_of(const char *callee)
{
	const char *dot = strrchr(callee, '.');
	char module[NAME], function[NAME], *group;

	if (dot && dot > callee && dot[1])
		put_part(module, sizeof(module), callee, (size_t)(dot - callee));
	else
		snprintf(module, sizeof(module), "_");
	if (!strcmp(module, GRAPH)) /* taken */
		snprintf(module, sizeof(module), GRAPH "_");
	dot = dot && dot > callee && dot[1] ? dot + 1 : callee;
	put_part(function, sizeof(function), dot, strlen(dot));
	return asprintf(&group, "%s/%s", module, function) < 0 ? NULL : group;
}

/* NULL: there are too many, or no memory. */
static struct function *function_of(struct wti_hdf5 *file, const char *callee)
{
	char *group = group_of(callee);
	uint64_t *slot = group ? wti_map_text(&file->index, group, strlen(group)) : NULL;
	struct function *function;

	if (!slot || *slot) {
		free(group);
		return slot ? &file->functions[*slot - 1] : NULL;
	}
	if (wti_grow(&file->functions, file->function_count + 1, &file->function_capacity,
		     FUNCTIONS_MAX + 1)) {
		free(group);
		return NULL;
	}
	function = &file->functions[file->function_count];
	*function = (struct function){.group = group, .rows = calloc(ROWS, sizeof(struct row))};
	*slot = ++file->function_count;
	return function;
}

/* ---- Values ---------------------------------------------------------------------------------- */

static void argument_name(const struct wti_seen_value *value, char ret_name[128])
{
	char name[128];

	put_part(name, sizeof(name), value->name, strlen(value->name));
	if (*value->name)
		snprintf(ret_name, 128, "%s", name);
	else if (value->position < 0)
		snprintf(ret_name, 128, "Ret");
	else
		snprintf(ret_name, 128, "Arg%d", value->position);
}

static void write_array(struct wti_hdf5 *file, const char *folder, const char *name,
			const double *numbers, hsize_t count)
{
	const struct wti_hdf5_library *h = &file->library;
	char path[2 * NAME + 256];
	hid_t set;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	set = make_dataset(file, path, *h->T_NATIVE_DOUBLE, count, false,
			   count * sizeof(double) <= SMALL_BYTES);
	if (set < 0)
		return;
	file->failed |=
		h->Dwrite(set, *h->T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers) < 0;
	file->failed |= h->Dclose(set) < 0;
}

/* Which of the values of this call that have the same name it is. */
static unsigned same_names(struct wti_hdf5 *file, const struct row *row)
{
	uint64_t hash = XXH3_64bits(row->name, strlen(row->name)) + (uint8_t)row->label[0];
	unsigned count = 0;

	if (file->call != row->time)
		file->seen_count = 0;
	file->call = row->time;
	for (size_t i = 0; i < file->seen_count; i++)
		count += file->seen[i] == hash;
	if (file->seen_count < VALUES_MAX)
		file->seen[file->seen_count++] = hash;
	return count;
}

static void write_arrays(struct wti_hdf5 *file, const struct function *function,
			 const struct row *row, const double *numbers, uint64_t count)
{
	unsigned number = same_names(file, row);
	char folder[2 * NAME + 200];

	if (file->arrays == ARRAYS_MAX) {
		file->left_out++;
		return;
	}
	file->arrays++;
	snprintf(folder, sizeof(folder), "%s/%s/%s;%u/%llu", function->group, row->label, row->name,
		 number, (unsigned long long)row->time);
	write_array(file, folder, "mean", numbers, count);
	write_array(file, folder, "std", numbers + count, count);
	write_array(file, folder, "sig", numbers + 2 * count, count);
}

/* Means over the elements, which are in `numbers`: means, deviations, digits. */
static void sum_up(struct row *row, const struct wti_seen_value *value, double *numbers)
{
	const uint64_t count = value->reals;

	for (uint64_t i = 0; i < count; i++) {
		const struct wti_seen_element element = wti_seen_element(value, i);

		numbers[i] = element.mean;
		numbers[count + i] = element.deviation;
		numbers[2 * count + i] = element.digits;
		row->mean += element.mean / (double)count;
		row->std += element.deviation / (double)count;
		row->sig += element.digits / (double)count;
	}
	if (!count)
		row->mean = row->std = row->sig = NAN;
}

/* What numpy calls the types that are measured. */
static const char *name_of(uint32_t dtype)
{
	static const char *const names[] = {
		[WT_DTYPE_F16] = "float16",          [WT_DTYPE_BF16] = "bfloat16",
		[WT_DTYPE_F32] = "float32",          [WT_DTYPE_F64] = "float64",
		[WT_DTYPE_C64] = "complex64",        [WT_DTYPE_C128] = "complex128",
		[WT_DTYPE_F8E4M3] = "float8_e4m3fn", [WT_DTYPE_F8E5M2] = "float8_e5m2",
	};

	return dtype < WTI_COUNT(names) && names[dtype] ? names[dtype] : "";
}

static void fill_row(struct row *row, const struct wti_seen_value *value)
{
	*row = (struct row){.id = XXH3_64bits(value->callee, strlen(value->callee)),
			    .time = value->order};
	put(row->label, sizeof(row->label), value->position >= 0 ? "inputs" : "outputs");
	argument_name(value, row->name);
	put(row->info, sizeof(row->info), value->shape);
	put(row->dtype, sizeof(row->dtype), name_of(value->dtype));
	put(row->backtrace.filename, sizeof(row->backtrace.filename), value->file);
	row->backtrace.lineno = (int32_t)value->line;
}

static int see_value(void *opaque, const struct wti_seen_value *value)
{
	struct wti_hdf5 *file = opaque;
	struct function *function = function_of(file, value->callee);
	double *numbers;
	struct row *row;

	if (!function || !function->rows) { /* too many functions */
		file->left_out++;
		return file->index.failed ? WT_E_NOMEM : 0;
	}
	numbers = calloc(3 * value->reals + 1, sizeof(*numbers));
	if (!numbers)
		return WT_E_NOMEM;
	row = &function->rows[function->count++];
	fill_row(row, value);
	sum_up(row, value, numbers);
	if (value->reals > 1)
		write_arrays(file, function, row, numbers, value->reals);
	free(numbers);
	if (function->count == ROWS)
		write_rows(file, function);
	file->values++;
	return file->failed ? WT_E_IO : 0;
}

/* ---- The call graph -------------------------------------------------------------------------- */

static void add_edge(struct wti_hdf5 *file, const char *kind, const char *caller, size_t bytes,
		     const char *callee)
{
	char key[2 * NAME + 32];
	int length =
		snprintf(key, sizeof(key), "%s\n%.*s\n%.*s", kind,
			 (int)(bytes < NAME ? bytes : NAME - 1), caller, (int)NAME - 1, callee);
	uint64_t *slot = wti_map_text(&file->edges, key, (size_t)length);

	if (slot)
		++*slot;
	else
		file->left_out++;
}

/* Calls that follow each other below the same caller; and who calls whom. */
static int see_call(void *opaque, const struct wti_seen_call *call)
{
	struct wti_hdf5 *file = opaque;
	size_t own = strlen(call->callee), path = strlen(call->path);
	const char *caller = "";
	size_t bytes = wti_seen_caller(call, &caller);
	uint64_t *name = wti_map_text(&file->names, call->callee, own);
	uint64_t *last = wti_map_text(&file->last, call->path, path > own ? path - own : 0);

	if (bytes)
		add_edge(file, "hierarchical", caller, bytes, call->callee);
	if (!name || !last)
		return file->names.failed || file->last.failed ? WT_E_NOMEM : 0;
	if (!*name)
		*name = file->names.count;
	if (*last) {
		const struct wti_map_entry *before = &file->names.entries[*last - 1];

		add_edge(file, "causal", before->text, before->bytes, call->callee);
	}
	*last = *name;
	return file->edges.failed ? WT_E_NOMEM : 0;
}

static void fill_edge(struct graph_row *row, const struct wti_map_entry *entry)
{
	const char *caller = strchr(entry->text, '\n') + 1, *callee = strchr(caller, '\n') + 1;

	memcpy(row->kind, entry->text, (size_t)(caller - entry->text - 1));
	memcpy(row->caller, caller, (size_t)(callee - caller - 1));
	put(row->callee, sizeof(row->callee), callee);
	row->calls = entry->value;
}

static void write_graph(struct wti_hdf5 *file)
{
	const struct wti_hdf5_library *h = &file->library;
	struct graph_row *rows = calloc(file->edges.count + 1, sizeof(*rows));
	hid_t type = make_graph_type(h), set;

	if (!rows) {
		file->failed = true;
		h->Tclose(type);
		return;
	}
	for (size_t i = 0; i < file->edges.count; i++)
		fill_edge(&rows[i], &file->edges.entries[i]);
	set = make_dataset(file, GRAPH, type, file->edges.count, false, false);
	if (set >= 0) {
		file->failed |= file->edges.count &&
				h->Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, rows) < 0;
		file->failed |= h->Dclose(set) < 0;
	}
	h->Tclose(type);
	free(rows);
}

/* ---- The file -------------------------------------------------------------------------------- */

struct wti_digits_watcher wti_hdf5_watcher(struct wti_hdf5 *file)
{
	return (struct wti_digits_watcher){file, see_value, see_call};
}

int wti_hdf5_finish(struct wti_hdf5 *file, struct wt_err *err)
{
	int r;

	for (size_t i = 0; i < file->function_count; i++)
		write_rows(file, &file->functions[i]);
	write_graph(file);
	close_file(file);
	r = file->failed ? wti_err(err, WT_E_IO, "cannot write '%s'", file->path)
			 : wti_put_in_place(file->temporary, file->path, file->force, err);
	if (r)
		unlink(file->temporary);
	return r;
}

bool wti_hdf5_failed(const struct wti_hdf5 *file)
{
	return file->failed;
}

uint64_t wti_hdf5_values(const struct wti_hdf5 *file)
{
	return file->values;
}

uint64_t wti_hdf5_left_out(const struct wti_hdf5 *file)
{
	return file->left_out;
}
