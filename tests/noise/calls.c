/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls functions of libm and prints what they return, bit by bit: one line a result. With
 * "threads N" it is a list of sines that N threads compute.
 */
#include <complex.h>
#include <errno.h>
#include <fenv.h>
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "noise/libm_functions.h"

static volatile double early_x = 0.7;
static double early;

/* Before libc knows its environment, and before other constructors: neither may spoil the rest. */
static void before_all(void)
{
	early = sin(early_x);
}
__attribute__((section(".preinit_array"), used)) static void (*const first)(void) = before_all;
static __attribute__((constructor(101))) void before_others(void)
{
	early = sin(early_x);
}

static void show(const char *name, const void *data, size_t bytes)
{
	const uint8_t *at = data;

	printf("%s ", name);
	for (size_t i = bytes; i-- > 0;)
		printf("%02x", at[i]);
	printf("\n");
}

/* Where all functions are defined and none is an integer. */
static volatile double x = 0.3, y = 0.45;

#define ONE(name, T, bytes, expression)                                                            \
	{                                                                                          \
		T result = (T)(expression);                                                        \
                                                                                                   \
		show(#name, &result, bytes);                                                       \
	}
#define REALS(stem, tail, ...)                                                                     \
	ONE(stem##tail, double, 8, stem##tail(__VA_ARGS__))                                        \
	ONE(stem##f##tail, float, 4, stem##f##tail(__VA_ARGS__))                                   \
	ONE(stem##l##tail, long double, 10, stem##l##tail(__VA_ARGS__))
#define COMPLEX(stem, ...)                                                                         \
	ONE(stem, complex double, 8, stem(__VA_ARGS__))                                            \
	ONE(stem##f, complex float, 4, stem##f(__VA_ARGS__))                                       \
	ONE(stem##l, complex long double, 10, stem##l(__VA_ARGS__))

#define R_R(stem, tail) REALS(stem, tail, x + (sizeof(#stem) == 6 && #stem[1] == 'c' ? 1 : 0))
#define R_RR(stem, tail) REALS(stem, tail, x, y)
#define R_RRR(stem, tail) REALS(stem, tail, x, y, x)
#define R_IR(stem, tail) REALS(stem, tail, 2, x)
#define R_RP(stem, tail) REALS(stem, tail, x, &sign)
#define R_C(stem, tail) REALS(stem, tail, x + y * I)
#define C_C(stem, tail) COMPLEX(stem, x + y * I)
#define C_CC(stem, tail) COMPLEX(stem, x + y * I, y)
#define SINCOS(stem, tail)                                                                         \
	{                                                                                          \
		double s, c;                                                                       \
                                                                                                   \
		sincos(x, &s, &c);                                                                 \
		show("sincos", &s, 8);                                                             \
		show("sincos", &c, 8);                                                             \
	}
#define CALL(stem, tail, shape, rounding) shape(stem, tail)

static void call_all(void)
{
	int sign;

	WTI_LIBM(CALL)
	show("early", &early, 8);
}

/* What must stay: integers, zeros, what is not finite, what is never rounded, errno, flags. */
static void call_exact(void)
{
	static volatile double zero = 0, one = 1, four = 4, two = 2, minus = -1, big = 1e300;
	const double exact[] = {sin(zero),          cos(zero),       exp(zero),       sqrt(four),
				pow(two, 10),       log(zero),       floor(x * 1000), log(one),
				fmod(7.3 * x, one), fabs(minus * x), ceil(x),         exp(-big),
				hypot(3, four),     cbrt(8 * one),   sqrt(minus),     atan(zero)};

	for (size_t i = 0; i < sizeof(exact) / sizeof(exact[0]); i++)
		show("exact", &exact[i], 8);
	errno = 0;
	feclearexcept(FE_ALL_EXCEPT);
	show("overflow", &(double){exp(big)}, 8);
	printf("errno %d flags %x\n", errno, fetestexcept(FE_ALL_EXCEPT));
	errno = 77;
	feclearexcept(FE_ALL_EXCEPT);
	show("exact", &(double){sqrt(four)}, 8);
	printf("errno %d flags %x\n", errno, fetestexcept(FE_ALL_EXCEPT));
}

enum { COUNT = 4096 };
static double results[COUNT];
static int thread_count;

static void *compute(void *opaque)
{
	for (size_t i = (size_t)opaque; i < COUNT; i += (size_t)thread_count)
		results[i] = sin(0.001 * (double)i + 0.1);
	return NULL;
}

static void call_threads(int count)
{
	pthread_t threads[64];

	thread_count = count;
	for (int i = 0; i < count; i++)
		pthread_create(&threads[i], NULL, compute, (void *)(intptr_t)i);
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < COUNT; i++)
		show("sin", &results[i], 8);
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "threads"))
		call_threads(atoi(argv[2]));
	else if (argc == 2 && !strcmp(argv[1], "exact"))
		call_exact();
	else
		call_all();
	return 0;
}
