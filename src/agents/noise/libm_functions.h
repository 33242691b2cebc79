/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions of libm that are perturbed: each row is three of them, for double, float (sinf) and
 * long double (sinl); the stem of the name, and what follows after that letter (lgammaf_r). Missing
 * on purpose: what only moves or selects numbers (floor, ceil, trunc, rint, round, modf, frexp,
 * ldexp, copysign, nextafter, fabs, fmin, fmax and their like).
 *
 * The shape of a function: what it returns, then what it takes. R real, C complex, I int, P pointer
 * to int. EXACT: the result is never rounded, only inputs can be perturbed.
 */
#ifndef WTI_AGENTS_NOISE_LIBM_FUNCTIONS_H
#define WTI_AGENTS_NOISE_LIBM_FUNCTIONS_H

#define WTI_LIBM(X)                                                                                \
	X(sin, , R_R, ROUNDED)                                                                     \
	X(cos, , R_R, ROUNDED)                                                                     \
	X(tan, , R_R, ROUNDED)                                                                     \
	X(asin, , R_R, ROUNDED)                                                                    \
	X(acos, , R_R, ROUNDED)                                                                    \
	X(atan, , R_R, ROUNDED)                                                                    \
	X(sinh, , R_R, ROUNDED)                                                                    \
	X(cosh, , R_R, ROUNDED)                                                                    \
	X(tanh, , R_R, ROUNDED)                                                                    \
	X(asinh, , R_R, ROUNDED)                                                                   \
	X(acosh, , R_R, ROUNDED)                                                                   \
	X(atanh, , R_R, ROUNDED)                                                                   \
	X(exp, , R_R, ROUNDED)                                                                     \
	X(exp2, , R_R, ROUNDED)                                                                    \
	X(exp10, , R_R, ROUNDED)                                                                   \
	X(expm1, , R_R, ROUNDED)                                                                   \
	X(log, , R_R, ROUNDED)                                                                     \
	X(log2, , R_R, ROUNDED)                                                                    \
	X(log10, , R_R, ROUNDED)                                                                   \
	X(log1p, , R_R, ROUNDED)                                                                   \
	X(sqrt, , R_R, ROUNDED)                                                                    \
	X(cbrt, , R_R, ROUNDED)                                                                    \
	X(erf, , R_R, ROUNDED)                                                                     \
	X(erfc, , R_R, ROUNDED)                                                                    \
	X(lgamma, , R_R, ROUNDED)                                                                  \
	X(tgamma, , R_R, ROUNDED)                                                                  \
	X(j0, , R_R, ROUNDED)                                                                      \
	X(j1, , R_R, ROUNDED)                                                                      \
	X(y0, , R_R, ROUNDED)                                                                      \
	X(y1, , R_R, ROUNDED)                                                                      \
	X(pow, , R_RR, ROUNDED)                                                                    \
	X(hypot, , R_RR, ROUNDED)                                                                  \
	X(atan2, , R_RR, ROUNDED)                                                                  \
	X(fmod, , R_RR, EXACT)                                                                     \
	X(remainder, , R_RR, EXACT)                                                                \
	X(fma, , R_RRR, ROUNDED)                                                                   \
	X(jn, , R_IR, ROUNDED)                                                                     \
	X(yn, , R_IR, ROUNDED)                                                                     \
	X(lgamma, _r, R_RP, ROUNDED)                                                               \
	X(sincos, , SINCOS, ROUNDED)                                                               \
	X(cabs, , R_C, ROUNDED)                                                                    \
	X(carg, , R_C, ROUNDED)                                                                    \
	X(cexp, , C_C, ROUNDED)                                                                    \
	X(clog, , C_C, ROUNDED)                                                                    \
	X(clog10, , C_C, ROUNDED)                                                                  \
	X(csqrt, , C_C, ROUNDED)                                                                   \
	X(csin, , C_C, ROUNDED)                                                                    \
	X(ccos, , C_C, ROUNDED)                                                                    \
	X(ctan, , C_C, ROUNDED)                                                                    \
	X(casin, , C_C, ROUNDED)                                                                   \
	X(cacos, , C_C, ROUNDED)                                                                   \
	X(catan, , C_C, ROUNDED)                                                                   \
	X(csinh, , C_C, ROUNDED)                                                                   \
	X(ccosh, , C_C, ROUNDED)                                                                   \
	X(ctanh, , C_C, ROUNDED)                                                                   \
	X(casinh, , C_C, ROUNDED)                                                                  \
	X(cacosh, , C_C, ROUNDED)                                                                  \
	X(catanh, , C_C, ROUNDED)                                                                  \
	X(cpow, , C_CC, ROUNDED)
#endif
