/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The elementary functions, taken over by preloading. Each is the real one with its inputs, its
 * result, or both perturbed; without noise it is the real one alone. errno and the flags of the
 * processor are those of the real function: the noise is made with integers.
 */
#include <complex.h>
#include <math.h>
#include <string.h>

#include <wheeltap/kinds.h>

#include "libm_functions.h"
#include "preload.h"

/* Types of values, beside enum wt_dtype. */
enum { LONG_DOUBLE = 0x100, COMPLEX_LONG_DOUBLE = 0x101, LONG_DOUBLE_BYTES = 10 };

#define SLOTS(stem, tail, shape, rounding)                                                         \
	SLOT_##stem##tail, SLOT_##stem##f##tail, SLOT_##stem##l##tail,
enum { WTI_LIBM(SLOTS) SLOT_COUNT };

#define TAKEN(stem, tail, shape, rounding)                                                         \
	{#stem #tail, "libm", 0, 0, 0}, {#stem "f" #tail, "libm", 0, 0, 0},                        \
		{#stem "l" #tail, "libm", 0, 0, 0},
static struct wti_taken taken[] = {WTI_LIBM(TAKEN)};

/* A call that is perturbed. */
struct call {
	struct wti_noise_key key;
	bool is_rounded;
};

static inline uint64_t bytes_mixed(uint64_t hash, const void *data, size_t bytes)
{
	uint64_t word[2] = {0};

	memcpy(word, data, bytes);
	hash = wti_preload_mix(hash, word[0]);
	return bytes > 8 ? wti_preload_mix(hash, word[1]) : hash;
}

/* What the call is keyed by: the bits of a number, without those that mean nothing. */
static uint64_t mixed(uint64_t hash, uint32_t type, const void *data)
{
	const uint8_t *at = data;

	switch (type) {
	case WT_DTYPE_F32:
		return bytes_mixed(hash, at, sizeof(float));
	case WT_DTYPE_F64:
	case WT_DTYPE_C64:
		return bytes_mixed(hash, at, sizeof(double));
	case WT_DTYPE_C128:
		return bytes_mixed(hash, at, 2 * sizeof(double));
	case COMPLEX_LONG_DOUBLE:
		hash = bytes_mixed(hash, at + sizeof(long double), LONG_DOUBLE_BYTES);
		return bytes_mixed(hash, at, LONG_DOUBLE_BYTES);
	default:
		return bytes_mixed(hash, at, LONG_DOUBLE_BYTES);
	}
}

static void perturb(struct call *call, uint32_t type, void *data)
{
	if (type < LONG_DOUBLE)
		wti_noise_apply(&wti_preload.settings.noise, &call->key, type, data, 0, 1, 0);
	else
		wti_noise_long_double(&wti_preload.settings.noise, &call->key, data,
				      type == LONG_DOUBLE ? 1 : 2);
	call->key.value++;
}

static void input(struct call *call, uint32_t type, void *data)
{
	if (wti_noise_of_inputs(&wti_preload.settings.noise))
		perturb(call, type, data);
}

static void output(struct call *call, uint32_t type, void *data)
{
	if (wti_noise_of_outputs(&wti_preload.settings.noise) && call->is_rounded)
		perturb(call, type, data);
}

#define ROUNDED true
#define EXACT false
#define PUBLIC __attribute__((visibility("default")))

/* The real function, and the call itself if there is no noise on it. */
#define BEGIN(name, pointer, pass)                                                                 \
	const void *place = __builtin_return_address(0);                                           \
	pointer = (typeof(real))wti_taken_real(&taken[SLOT_##name], place);                        \
                                                                                                   \
	if (!wti_taken_is_perturbed(&taken[SLOT_##name]))                                          \
		return pass;

#define CALL(name, rounding, hash)                                                                 \
	struct call call = {                                                                       \
		.key = {.site = wti_preload_site(place, &taken[SLOT_##name]), .call = hash},       \
		.is_rounded = rounding,                                                            \
	};

#define RESULT(T, type, computed)                                                                  \
	T result = computed;                                                                       \
	output(&call, type, &result);                                                              \
	return result;

#define R_R_AS(name, T, type, rounding)                                                            \
	PUBLIC T name(T x)                                                                         \
	{                                                                                          \
		BEGIN(name, T (*real)(T), real(x))                                                 \
		CALL(name, rounding, mixed(0, type, &x))                                           \
		input(&call, type, &x);                                                            \
		RESULT(T, type, real(x))                                                           \
	}

#define R_RR_AS(name, T, type, rounding)                                                           \
	PUBLIC T name(T x, T y)                                                                    \
	{                                                                                          \
		BEGIN(name, T (*real)(T, T), real(x, y))                                           \
		CALL(name, rounding, mixed(mixed(0, type, &x), type, &y))                          \
		input(&call, type, &x);                                                            \
		input(&call, type, &y);                                                            \
		RESULT(T, type, real(x, y))                                                        \
	}

#define R_RRR_AS(name, T, type, rounding)                                                          \
	PUBLIC T name(T x, T y, T z)                                                               \
	{                                                                                          \
		BEGIN(name, T (*real)(T, T, T), real(x, y, z))                                     \
		CALL(name, rounding, mixed(mixed(mixed(0, type, &x), type, &y), type, &z))         \
		input(&call, type, &x);                                                            \
		input(&call, type, &y);                                                            \
		input(&call, type, &z);                                                            \
		RESULT(T, type, real(x, y, z))                                                     \
	}

#define R_IR_AS(name, T, type, rounding)                                                           \
	PUBLIC T name(int n, T x)                                                                  \
	{                                                                                          \
		BEGIN(name, T (*real)(int, T), real(n, x))                                         \
		CALL(name, rounding, mixed((uint64_t)n, type, &x))                                 \
		input(&call, type, &x);                                                            \
		RESULT(T, type, real(n, x))                                                        \
	}

#define R_RP_AS(name, T, type, rounding)                                                           \
	PUBLIC T name(T x, int *sign)                                                              \
	{                                                                                          \
		BEGIN(name, T (*real)(T, int *), real(x, sign))                                    \
		CALL(name, rounding, mixed(0, type, &x))                                           \
		input(&call, type, &x);                                                            \
		RESULT(T, type, real(x, sign))                                                     \
	}

#define SINCOS_AS(name, T, type, rounding)                                                         \
	PUBLIC void name(T x, T *sine, T *cosine)                                                  \
	{                                                                                          \
		BEGIN(name, void (*real)(T, T *, T *), real(x, sine, cosine))                      \
		CALL(name, rounding, mixed(0, type, &x))                                           \
		input(&call, type, &x);                                                            \
		real(x, sine, cosine);                                                             \
		output(&call, type, sine);                                                         \
		output(&call, type, cosine);                                                       \
	}

#define R_C_AS(name, T, type, C, complex_type, rounding)                                           \
	PUBLIC T name(C x)                                                                         \
	{                                                                                          \
		BEGIN(name, T (*real)(C), real(x))                                                 \
		CALL(name, rounding, mixed(0, complex_type, &x))                                   \
		input(&call, complex_type, &x);                                                    \
		RESULT(T, type, real(x))                                                           \
	}

#define DOUBLE double, WT_DTYPE_F64
#define FLOAT float, WT_DTYPE_F32
#define LONG long double, LONG_DOUBLE
#define COMPLEX_DOUBLE complex double, WT_DTYPE_C128
#define COMPLEX_FLOAT complex float, WT_DTYPE_C64
#define COMPLEX_LONG complex long double, COMPLEX_LONG_DOUBLE

/* Arguments that are lists are replaced before the macro sees them. */
#define MAKE(macro, ...) macro(__VA_ARGS__)
#define THREE(macro, stem, tail, rounding)                                                         \
	MAKE(macro, stem##tail, DOUBLE, rounding)                                                  \
	MAKE(macro, stem##f##tail, FLOAT, rounding)                                                \
	MAKE(macro, stem##l##tail, LONG, rounding)
#define THREE_COMPLEX(macro, stem, rounding)                                                       \
	MAKE(macro, stem, COMPLEX_DOUBLE, rounding)                                                \
	MAKE(macro, stem##f, COMPLEX_FLOAT, rounding)                                              \
	MAKE(macro, stem##l, COMPLEX_LONG, rounding)

#define R_R(stem, tail, rounding) THREE(R_R_AS, stem, tail, rounding)
#define R_RR(stem, tail, rounding) THREE(R_RR_AS, stem, tail, rounding)
#define R_RRR(stem, tail, rounding) THREE(R_RRR_AS, stem, tail, rounding)
#define R_IR(stem, tail, rounding) THREE(R_IR_AS, stem, tail, rounding)
#define R_RP(stem, tail, rounding) THREE(R_RP_AS, stem, tail, rounding)
#define SINCOS(stem, tail, rounding) THREE(SINCOS_AS, stem, tail, rounding)
#define C_C(stem, tail, rounding) THREE_COMPLEX(R_R_AS, stem, rounding)
#define C_CC(stem, tail, rounding) THREE_COMPLEX(R_RR_AS, stem, rounding)
#define R_C(stem, tail, rounding)                                                                  \
	MAKE(R_C_AS, stem, DOUBLE, COMPLEX_DOUBLE, rounding)                                       \
	MAKE(R_C_AS, stem##f, FLOAT, COMPLEX_FLOAT, rounding)                                      \
	MAKE(R_C_AS, stem##l, LONG, COMPLEX_LONG, rounding)

#define DEFINE(stem, tail, shape, rounding) shape(stem, tail, rounding)
WTI_LIBM(DEFINE)
