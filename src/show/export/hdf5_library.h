/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libhdf5, loaded when it is needed: with it come 30 other libraries, for files in the network
 * among them, which would make every start of the program several times as long.
 */
#ifndef WTI_SHOW_EXPORT_HDF5_LIBRARY_H
#define WTI_SHOW_EXPORT_HDF5_LIBRARY_H

#include <hdf5.h>

#include <wheeltap/err.h>

/* clang-format off */
#define WTI_HDF5_FUNCTIONS(X) \
	X(dont_atexit) X(open) X(Dclose) X(Dcreate2) X(Dget_space) X(Dopen2) X(Dset_extent) \
	X(Dwrite) X(Eset_auto2) X(Fclose) X(Fcreate) X(Pclose) X(Pcreate) X(Pset_chunk) \
	X(Pset_create_intermediate_group) X(Pset_deflate) X(Pset_layout) X(Pset_libver_bounds) X(Pset_shuffle) X(Sclose) \
	X(Screate_simple) X(Sselect_hyperslab) X(Tclose) X(Tcopy) X(Tcreate) X(Tinsert) \
	X(Tset_size) X(Tset_strpad)
#define WTI_HDF5_VARIABLES(X) \
	X(T_C_S1) X(T_NATIVE_DOUBLE) X(T_NATIVE_INT32) X(T_NATIVE_UINT64) \
	X(P_CLS_DATASET_CREATE_ID) X(P_CLS_FILE_ACCESS_ID) X(P_CLS_LINK_CREATE_ID)

/* Names are those of hdf5.h, without H5. */
struct wti_hdf5_library {
#define X(name) typeof(&H5##name) name;
	WTI_HDF5_FUNCTIONS(X)
#undef X
#define X(name) const hid_t *name;
	WTI_HDF5_VARIABLES(X)
#undef X
};
/* clang-format on */

/* H5F_ACC_TRUNC, which as a macro would call the library. */
#define WTI_HDF5_TRUNC 0x0002u

/* It stays loaded, and prints nothing by itself. WT_E_MISSING: it is not installed. */
int wti_hdf5_load(struct wti_hdf5_library *h, struct wt_err *err);

#endif
