/* SPDX-License-Identifier: Apache-2.0 */
/* What the source of a program says about the arguments of its kernels, and what is not believed.
 */
#include "opencl/signature.h"

#include <stdio.h>
#include <string.h>

#include <wheeltap/kinds.h>

#include "test.h"

enum { MAX = 8 };

/* "rwb" for read, write, both; "-" if the source is not believed. */
static const char *modes(const char *source, const char *kernel, uint32_t count)
{
	static char text[MAX + 1];
	uint32_t found[MAX] = {0};

	if (!wti_cl_signature(source, kernel, count, found))
		return "-";
	for (uint32_t i = 0; i < count; i++)
		text[i] = found[i] == WT_ACCESS_MODE_READ    ? 'r'
			  : found[i] == WT_ACCESS_MODE_WRITE ? 'w'
							     : 'b';
	text[count] = 0;
	return text;
}

static void test_plain(void)
{
	CHECK(!strcmp(modes("__kernel void f(__global const float *a, __global float *b, int n) {}",
			    "f", 3),
		      "rbb"));
	CHECK(!strcmp(modes("kernel void f(constant float *a, global float const *restrict b) {}",
			    "f", 2),
		      "rr"));
	CHECK(!strcmp(modes("__kernel __attribute__((reqd_work_group_size(8, 1, 1)))\nvoid f(\n"
			    "__read_only image2d_t a, write_only image2d_t b, read_write image2d_t "
			    "c) {}",
			    "f", 3),
		      "rwb"));
}

/* A const behind the star is the pointer's own; one of a value says nothing. */
static void test_const(void)
{
	CHECK(!strcmp(modes("kernel void f(global float *const a, const int n) {}", "f", 2), "bb"));
	CHECK(!strcmp(modes("kernel void f(global constants *a) {}", "f", 1), "b"));
}

static void test_comments(void)
{
	CHECK(!strcmp(
		modes("/* void f(int) */ kernel void f /* here */ (global const int *a, // , x\n"
		      " global int /* const */ *b) {}",
		      "f", 2),
		"-")); /* the comment looks like a declaration: not plain */
	CHECK(!strcmp(modes("kernel void f /* here */ (global const int *a, // , x\n"
			    " global int /* const */ *b) {}",
			    "f", 2),
		      "rb"));
}

static void test_names(void)
{
	const char *source = "float g(float x) { return x; }\n"
			     "kernel void fog(global const int *a) {}\n"
			     "kernel void f(global int *a, int b) { g(1); }\n";

	CHECK(!strcmp(modes(source, "f", 2), "bb"));
	CHECK(!strcmp(modes(source, "fog", 1), "r"));
	CHECK(!strcmp(modes(source, "g", 1), "-"));
	CHECK(!strcmp(modes(source, "none", 1), "-"));
}

static void test_not_plain(void)
{
	CHECK(!strcmp(modes("kernel void f(ARGUMENTS) {}", "f", 2), "-"));
	CHECK(!strcmp(modes("kernel void f(int a,\n#ifdef X\nint b\n#endif\n) {}", "f", 2), "-"));
	CHECK(!strcmp(modes("kernel void f(global const int *a", "f", 1), "-"));
	CHECK(!strcmp(modes("kernel void f(int a, int b) {}", "f", 1), "-"));
	CHECK(!strcmp(modes("kernel void f(int a);\nkernel void f(int a, int b) {}", "f", 1), "-"));
	CHECK(!strcmp(modes("", "f", 1), "-"));
	CHECK(!strcmp(modes("void", "", 0), "-"));
}

static const struct test tests[] = {
	{"plain", test_plain}, {"const", test_const},         {"comments", test_comments},
	{"names", test_names}, {"not_plain", test_not_plain}, {NULL, NULL},
};

int main(int argc, char **argv)
{
	return test_main(tests, argc, argv);
}
