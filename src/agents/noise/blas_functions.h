/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions of BLAS and LAPACK whose results are perturbed, and where their results are.
 *
 * A row is a function for one type: symbol, type, how arguments are passed, the argument that asks
 * for the size of the workspace if it is -1 (0: none), and the results. Numbers are positions of
 * arguments, from 0. REFERENCE: Fortran, pointers all of them. VALUE, ORDERED: CBLAS; the numbers
 * count those arguments that are not floating-point numbers, and ORDERED begins with the order.
 *
 *	MATRIX, data, rows, columns, leading    TRIANGLE, data, uplo, n, leading
 *	VECTOR, data, n, increment              ROW, data, n      (packed)
 *	ELEMENT, data                           FEWER, data, m, n (packed, the smaller of the two)
 *	REALS and FEWER_REALS: as ROW and FEWER, of real numbers in complex functions, too
 *	PRODUCT, data, trans, m, n, increment   (n numbers if transposed, otherwise m)
 *	IF_V, data, job, rows, columns, leading (if job is V)
 *	LEFT, RIGHT, data, job, m, n, leading   (singular vectors, as job says)
 */
#ifndef WTI_AGENTS_NOISE_BLAS_FUNCTIONS_H
#define WTI_AGENTS_NOISE_BLAS_FUNCTIONS_H

#define WTI_REAL_TWO(X, before, after, how, query, ...)                                            \
	X(before##s##after, WT_DTYPE_F32, how, query, __VA_ARGS__)                                 \
	X(before##d##after, WT_DTYPE_F64, how, query, __VA_ARGS__)
#define WTI_COMPLEX_TWO(X, before, after, how, query, ...)                                         \
	X(before##c##after, WT_DTYPE_C64, how, query, __VA_ARGS__)                                 \
	X(before##z##after, WT_DTYPE_C128, how, query, __VA_ARGS__)
#define WTI_FOUR(X, before, after, how, query, ...)                                                \
	WTI_REAL_TWO(X, before, after, how, query, __VA_ARGS__)                                    \
	WTI_COMPLEX_TWO(X, before, after, how, query, __VA_ARGS__)

#define WTI_BLAS_FORTRAN(X)                                                                        \
	WTI_FOUR(X, , axpy_, REFERENCE, 0, {VECTOR, 4, 0, 5})                                      \
	WTI_FOUR(X, , scal_, REFERENCE, 0, {VECTOR, 2, 0, 3})                                      \
	WTI_FOUR(X, , gemv_, REFERENCE, 0, {PRODUCT, 9, 0, 1, 2, 10})                              \
	WTI_REAL_TWO(X, , symv_, REFERENCE, 0, {VECTOR, 8, 1, 9})                                  \
	WTI_COMPLEX_TWO(X, , hemv_, REFERENCE, 0, {VECTOR, 8, 1, 9})                               \
	WTI_FOUR(X, , trmv_, REFERENCE, 0, {VECTOR, 6, 3, 7})                                      \
	WTI_FOUR(X, , trsv_, REFERENCE, 0, {VECTOR, 6, 3, 7})                                      \
	WTI_REAL_TWO(X, , ger_, REFERENCE, 0, {MATRIX, 7, 0, 1, 8})                                \
	WTI_COMPLEX_TWO(X, , geru_, REFERENCE, 0, {MATRIX, 7, 0, 1, 8})                            \
	WTI_COMPLEX_TWO(X, , gerc_, REFERENCE, 0, {MATRIX, 7, 0, 1, 8})                            \
	WTI_FOUR(X, , gemm_, REFERENCE, 0, {MATRIX, 11, 2, 3, 12})                                 \
	WTI_FOUR(X, , symm_, REFERENCE, 0, {MATRIX, 10, 2, 3, 11})                                 \
	WTI_COMPLEX_TWO(X, , hemm_, REFERENCE, 0, {MATRIX, 10, 2, 3, 11})                          \
	WTI_FOUR(X, , trmm_, REFERENCE, 0, {MATRIX, 9, 4, 5, 10})                                  \
	WTI_FOUR(X, , trsm_, REFERENCE, 0, {MATRIX, 9, 4, 5, 10})                                  \
	WTI_FOUR(X, , syrk_, REFERENCE, 0, {TRIANGLE, 8, 0, 2, 9})                                 \
	WTI_COMPLEX_TWO(X, , herk_, REFERENCE, 0, {TRIANGLE, 8, 0, 2, 9})                          \
	WTI_FOUR(X, , syr2k_, REFERENCE, 0, {TRIANGLE, 10, 0, 2, 11})                              \
	WTI_COMPLEX_TWO(X, , her2k_, REFERENCE, 0, {TRIANGLE, 10, 0, 2, 11})

#define WTI_LAPACK(X)                                                                              \
	WTI_FOUR(X, , gesv_, REFERENCE, 0, {MATRIX, 5, 0, 1, 6}, {MATRIX, 2, 0, 0, 3})             \
	WTI_FOUR(X, , getrf_, REFERENCE, 0, {MATRIX, 2, 0, 1, 3})                                  \
	WTI_FOUR(X, , getrs_, REFERENCE, 0, {MATRIX, 6, 1, 2, 7})                                  \
	WTI_FOUR(X, , getri_, REFERENCE, 5, {MATRIX, 1, 0, 0, 2})                                  \
	WTI_FOUR(X, , potrf_, REFERENCE, 0, {TRIANGLE, 2, 0, 1, 3})                                \
	WTI_FOUR(X, , potrs_, REFERENCE, 0, {MATRIX, 5, 1, 2, 6})                                  \
	WTI_FOUR(X, , posv_, REFERENCE, 0, {MATRIX, 5, 1, 2, 6}, {TRIANGLE, 3, 0, 1, 4})           \
	WTI_FOUR(X, , geqrf_, REFERENCE, 6, {MATRIX, 2, 0, 1, 3}, {FEWER, 4, 0, 1})                \
	WTI_REAL_TWO(X, , orgqr_, REFERENCE, 7, {MATRIX, 3, 0, 1, 4})                              \
	WTI_COMPLEX_TWO(X, , ungqr_, REFERENCE, 7, {MATRIX, 3, 0, 1, 4})                           \
	WTI_REAL_TWO(X, , ormqr_, REFERENCE, 11, {MATRIX, 8, 2, 3, 9})                             \
	WTI_COMPLEX_TWO(X, , unmqr_, REFERENCE, 11, {MATRIX, 8, 2, 3, 9})                          \
	WTI_FOUR(X, , gesdd_, REFERENCE, 11, {FEWER_REALS, 5, 1, 2}, {LEFT, 6, 0, 1, 2, 7},        \
		 {RIGHT, 8, 0, 1, 2, 9})                                                           \
	WTI_FOUR(X, , gesvd_, REFERENCE, 12, {FEWER_REALS, 6, 2, 3}, {LEFT, 7, 0, 2, 3, 8},        \
		 {RIGHT, 9, 1, 2, 3, 10})                                                          \
	WTI_REAL_TWO(X, , syev_, REFERENCE, 7, {REALS, 5, 2}, {IF_V, 3, 0, 2, 2, 4})               \
	WTI_COMPLEX_TWO(X, , heev_, REFERENCE, 7, {REALS, 5, 2}, {IF_V, 3, 0, 2, 2, 4})            \
	WTI_REAL_TWO(X, , syevd_, REFERENCE, 7, {REALS, 5, 2}, {IF_V, 3, 0, 2, 2, 4})              \
	WTI_COMPLEX_TWO(X, , heevd_, REFERENCE, 7, {REALS, 5, 2}, {IF_V, 3, 0, 2, 2, 4})           \
	WTI_REAL_TWO(X, , syevr_, REFERENCE, 17, {REALS, 12, 11}, {IF_V, 13, 0, 3, 11, 14})        \
	WTI_COMPLEX_TWO(X, , heevr_, REFERENCE, 17, {REALS, 12, 11}, {IF_V, 13, 0, 3, 11, 14})     \
	WTI_REAL_TWO(X, , geev_, REFERENCE, 12, {ROW, 5, 2}, {ROW, 6, 2}, {IF_V, 7, 0, 2, 2, 8},   \
		     {IF_V, 9, 1, 2, 2, 10})                                                       \
	WTI_COMPLEX_TWO(X, , geev_, REFERENCE, 11, {ROW, 5, 2}, {IF_V, 6, 0, 2, 2, 7},             \
			{IF_V, 8, 1, 2, 2, 9})                                                     \
	WTI_FOUR(X, , gelsd_, REFERENCE, 11, {MATRIX, 5, 1, 2, 6}, {FEWER_REALS, 7, 0, 1})

#define WTI_CBLAS(X)                                                                               \
	WTI_REAL_TWO(X, cblas_, axpy, VALUE, 0, {VECTOR, 3, 0, 4})                                 \
	WTI_COMPLEX_TWO(X, cblas_, axpy, VALUE, 0, {VECTOR, 4, 0, 5})                              \
	WTI_REAL_TWO(X, cblas_, scal, VALUE, 0, {VECTOR, 1, 0, 2})                                 \
	WTI_COMPLEX_TWO(X, cblas_, scal, VALUE, 0, {VECTOR, 2, 0, 3})                              \
	WTI_COMPLEX_TWO(X, cblas_, dotu_sub, VALUE, 0, {ELEMENT, 5})                               \
	WTI_COMPLEX_TWO(X, cblas_, dotc_sub, VALUE, 0, {ELEMENT, 5})                               \
	WTI_REAL_TWO(X, cblas_, gemv, ORDERED, 0, {PRODUCT, 8, 1, 2, 3, 9})                        \
	WTI_COMPLEX_TWO(X, cblas_, gemv, ORDERED, 0, {PRODUCT, 10, 1, 2, 3, 11})                   \
	WTI_REAL_TWO(X, cblas_, symv, ORDERED, 0, {VECTOR, 7, 2, 8})                               \
	WTI_COMPLEX_TWO(X, cblas_, hemv, ORDERED, 0, {VECTOR, 9, 2, 10})                           \
	WTI_FOUR(X, cblas_, trmv, ORDERED, 0, {VECTOR, 7, 4, 8})                                   \
	WTI_FOUR(X, cblas_, trsv, ORDERED, 0, {VECTOR, 7, 4, 8})                                   \
	WTI_REAL_TWO(X, cblas_, ger, ORDERED, 0, {MATRIX, 7, 1, 2, 8})                             \
	WTI_COMPLEX_TWO(X, cblas_, geru, ORDERED, 0, {MATRIX, 8, 1, 2, 9})                         \
	WTI_COMPLEX_TWO(X, cblas_, gerc, ORDERED, 0, {MATRIX, 8, 1, 2, 9})                         \
	WTI_REAL_TWO(X, cblas_, gemm, ORDERED, 0, {MATRIX, 10, 3, 4, 11})                          \
	WTI_COMPLEX_TWO(X, cblas_, gemm, ORDERED, 0, {MATRIX, 12, 3, 4, 13})                       \
	WTI_REAL_TWO(X, cblas_, symm, ORDERED, 0, {MATRIX, 9, 3, 4, 10})                           \
	WTI_COMPLEX_TWO(X, cblas_, symm, ORDERED, 0, {MATRIX, 11, 3, 4, 12})                       \
	WTI_REAL_TWO(X, cblas_, trmm, ORDERED, 0, {MATRIX, 9, 5, 6, 10})                           \
	WTI_COMPLEX_TWO(X, cblas_, trmm, ORDERED, 0, {MATRIX, 10, 5, 6, 11})                       \
	WTI_REAL_TWO(X, cblas_, trsm, ORDERED, 0, {MATRIX, 9, 5, 6, 10})                           \
	WTI_COMPLEX_TWO(X, cblas_, trsm, ORDERED, 0, {MATRIX, 10, 5, 6, 11})                       \
	WTI_REAL_TWO(X, cblas_, syrk, ORDERED, 0, {TRIANGLE, 7, 1, 3, 8})                          \
	WTI_COMPLEX_TWO(X, cblas_, syrk, ORDERED, 0, {TRIANGLE, 9, 1, 3, 10})                      \
	WTI_COMPLEX_TWO(X, cblas_, herk, ORDERED, 0, {TRIANGLE, 7, 1, 3, 8})                       \
	WTI_REAL_TWO(X, cblas_, syr2k, ORDERED, 0, {TRIANGLE, 9, 1, 3, 10})                        \
	WTI_COMPLEX_TWO(X, cblas_, syr2k, ORDERED, 0, {TRIANGLE, 11, 1, 3, 12})

/* Those that return a number: symbol, type of it, its name. */
#define WTI_BLAS_NUMBERS(X)                                                                        \
	X(sdot_, WT_DTYPE_F32, float)                                                              \
	X(ddot_, WT_DTYPE_F64, double)                                                             \
	X(dsdot_, WT_DTYPE_F64, double)                                                            \
	X(snrm2_, WT_DTYPE_F32, float)                                                             \
	X(dnrm2_, WT_DTYPE_F64, double)                                                            \
	X(scnrm2_, WT_DTYPE_F32, float)                                                            \
	X(dznrm2_, WT_DTYPE_F64, double)                                                           \
	X(sasum_, WT_DTYPE_F32, float)                                                             \
	X(dasum_, WT_DTYPE_F64, double)                                                            \
	X(scasum_, WT_DTYPE_F32, float)                                                            \
	X(dzasum_, WT_DTYPE_F64, double)                                                           \
	X(cblas_sdot, WT_DTYPE_F32, float)                                                         \
	X(cblas_ddot, WT_DTYPE_F64, double)                                                        \
	X(cblas_dsdot, WT_DTYPE_F64, double)                                                       \
	X(cblas_snrm2, WT_DTYPE_F32, float)                                                        \
	X(cblas_dnrm2, WT_DTYPE_F64, double)                                                       \
	X(cblas_scnrm2, WT_DTYPE_F32, float)                                                       \
	X(cblas_dznrm2, WT_DTYPE_F64, double)                                                      \
	X(cblas_sasum, WT_DTYPE_F32, float)                                                        \
	X(cblas_dasum, WT_DTYPE_F64, double)                                                       \
	X(cblas_scasum, WT_DTYPE_F32, float)                                                       \
	X(cblas_dzasum, WT_DTYPE_F64, double)

#endif
