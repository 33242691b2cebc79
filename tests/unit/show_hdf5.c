/* SPDX-License-Identifier: Apache-2.0 */
/* An HDF5 file of digits, read back by the library itself. */
#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <hdf5.h>

#include "show/export/hdf5.h"
#include "test.h"
#include <wheeltap/trace.h>

static const struct wti_digits_how how = {.probability = .95, .confidence = .95};
static const double first[] = {1, 2, 3}, second[] = {1, 2 + 0x1p-10, 3};

static void write_file(const char *path)
{
	const double *const runs[] = {first, second};
	struct wti_seen_value value = {.step = -1,
				       .callee = "torch.nn/x.linear",
				       .file = "train.py",
				       .name = "",
				       .shape = "3",
				       .line = 7,
				       .dtype = WT_DTYPE_F64,
				       .is_call = true,
				       .count = 3,
				       .mantissa = 52,
				       .runs = runs,
				       .run_count = 2,
				       .reals = 3,
				       .how = &how};
	struct wt_err err = {.offset = -1};
	struct wti_digits_watcher watcher;
	struct wti_hdf5 *file;

	REQUIRE(!wti_hdf5_open(path, false, &file, &err));
	watcher = wti_hdf5_watcher(file);
	for (uint64_t call = 1; call <= 100; call++) {
		value.order = call;
		value.position = 0;
		CHECK_INT(watcher.value(watcher.cookie, &value), 0);
		value.position = -1; /* two results without names */
		CHECK_INT(watcher.value(watcher.cookie, &value), 0);
		CHECK_INT(watcher.value(watcher.cookie, &value), 0);
		CHECK_INT(watcher.call(watcher.cookie,
				       &(struct wti_seen_call){.order = call,
							       .path = "main > torch.nn/x.linear",
							       .callee = "torch.nn/x.linear"}),
			  0);
	}
	CHECK_INT(access(path, F_OK), -1); /* not before it is whole */
	CHECK_INT(wti_hdf5_finish(file, &err), 0);
	CHECK_INT(wti_hdf5_values(file), 300);
	CHECK_INT(wti_hdf5_left_out(file), 0);
	wti_hdf5_free(file);
	CHECK_INT(wti_hdf5_open(path, false, &file, &err), WT_E_EXISTS);
}

static hsize_t rows_of(hid_t set)
{
	hid_t space = H5Dget_space(set);
	hsize_t count = (hsize_t)H5Sget_simple_extent_npoints(space);

	H5Sclose(space);
	return count;
}

/* One member of all rows, as memory of that type. */
static hsize_t read_member(hid_t file, const char *path, const char *member, hid_t type,
			   void **ret_all)
{
	hid_t set = H5Dopen2(file, path, H5P_DEFAULT), one;
	hsize_t count = set < 0 ? 0 : rows_of(set);

	*ret_all = calloc(count + 1, H5Tget_size(type));
	one = H5Tcreate(H5T_COMPOUND, H5Tget_size(type));
	H5Tinsert(one, member, 0, type);
	if (count)
		CHECK(H5Dread(set, one, H5S_ALL, H5S_ALL, H5P_DEFAULT, *ret_all) >= 0);
	H5Tclose(one);
	H5Dclose(set);
	return count;
}

static void check_rows(hid_t file)
{
	uint64_t *times;
	double *means;

	CHECK_INT(read_member(file, "torch.nn_x/linear/values", "time", H5T_NATIVE_UINT64,
			      (void **)&times),
		  300);
	CHECK_INT(times[0], 1);
	CHECK_INT(times[299], 100);
	CHECK_INT(read_member(file, "torch.nn_x/linear/values", "mean", H5T_NATIVE_DOUBLE,
			      (void **)&means),
		  300);
	CHECK(fabs(means[123] - (2 + 0x1p-11 / 3)) < 1e-12);
	free(times);
	free(means);
}

static void check_arrays(hid_t file)
{
	static const char *const paths[] = {"torch.nn_x/linear/inputs/Arg0;0/1/std",
					    "torch.nn_x/linear/outputs/Ret;0/100/std",
					    "torch.nn_x/linear/outputs/Ret;1/100/std"};

	for (unsigned i = 0; i < 3; i++) {
		hid_t set = H5Dopen2(file, paths[i], H5P_DEFAULT);
		double numbers[3] = {0};

		REQUIRE(set >= 0);
		CHECK_INT(rows_of(set), 3);
		CHECK(H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers) >= 0);
		CHECK(numbers[0] == 0 && fabs(numbers[1] - 0x1p-10 / sqrt(2)) < 1e-12);
		H5Dclose(set);
	}
}

static void check_graph(hid_t file)
{
	hid_t text = H5Tcopy(H5T_C_S1);
	uint64_t *calls;
	char(*kinds)[16];

	H5Tset_size(text, 16);
	CHECK_INT(read_member(file, "callgraph", "kind", text, (void **)&kinds), 2);
	CHECK_INT(read_member(file, "callgraph", "calls", H5T_NATIVE_UINT64, (void **)&calls), 2);
	CHECK(!strcmp(kinds[0], "hierarchical") && calls[0] == 100);
	CHECK(!strcmp(kinds[1], "causal") && calls[1] == 99);
	free(kinds);
	free(calls);
	H5Tclose(text);
}

static void test_read_back(void)
{
	char folder[] = "/tmp/wheeltap_hdf5_XXXXXX", path[64];
	struct stat about;
	hid_t file;

	REQUIRE(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/digits.h5", folder);
	write_file(path);
	CHECK(!stat(path, &about) && (about.st_mode & 0777) == 0600);
	file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
	CHECK(file >= 0);
	if (file >= 0) {
		check_rows(file);
		check_arrays(file);
		check_graph(file);
		H5Fclose(file);
	}
	unlink(path);
	CHECK_INT(rmdir(folder), 0); /* nothing else is left there */
}

static const struct test tests[] = {{"read_back", test_read_back}, {NULL, NULL}};

int main(int argc, char **argv)
{
	return test_main(tests, argc, argv);
}
