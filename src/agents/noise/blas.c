/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BLAS and LAPACK, taken over by preloading: the results are perturbed after the real function has
 * made them. What it was given belongs to the program and is not touched, so that modes that
 * perturb inputs alone do nothing here.
 *
 * All functions have one signature here. In the calling conventions of the machines that we run on
 * numbers and pointers on one side and floating-point numbers on the other are counted separately:
 * so WORDS of the one kind and two of the other are passed on as they came. What a function does
 * not have is whatever lies there, and the real function does not look at it.
 */
#include <ctype.h>
#include <string.h>

#include <wheeltap/kinds.h>

#include "blas_functions.h"
#include "preload.h"

enum { WORDS = 24, OUTPUTS = 4, SAMPLES = 8 };

enum passing { REFERENCE, VALUE, ORDERED };
enum shape {
	NONE,
	MATRIX,
	TRIANGLE,
	VECTOR,
	ROW,
	ELEMENT,
	FEWER,
	REALS,
	FEWER_REALS,
	PRODUCT,
	IF_V,
	LEFT,
	RIGHT,
};
enum { ROW_MAJOR = 101, NO_TRANSPOSE = 111, UPPER = 121 }; /* of CBLAS */

struct output {
	uint8_t shape;
	uint8_t data;
	uint8_t at[4]; /* further arguments */
};

struct function {
	struct wti_taken taken;
	uint8_t dtype;
	uint8_t passing;
	uint8_t query; /* 0: none */
	struct output outputs[OUTPUTS];
};

#define SLOT(symbol, dtype, ...) SLOT_##symbol,
enum { WTI_BLAS_FORTRAN(SLOT) WTI_LAPACK(SLOT) WTI_CBLAS(SLOT) WTI_BLAS_NUMBERS(SLOT) SLOT_COUNT };

/* Of each output the braces of `at` are left away. */
#pragma GCC diagnostic ignored "-Wmissing-braces"
#define FUNCTION(symbol, dtype, how, query, ...)                                                   \
	[SLOT_##symbol] = {{#symbol, "blas", 0, 0, 0}, dtype, how, query, {__VA_ARGS__}},
#define NUMBER(symbol, dtype, type) [SLOT_##symbol] = {{#symbol, "blas", 0, 0, 0}, dtype, VALUE, 0},
static struct function functions[] = {WTI_BLAS_FORTRAN(FUNCTION) WTI_LAPACK(FUNCTION)
					      WTI_CBLAS(FUNCTION) WTI_BLAS_NUMBERS(NUMBER)};

/* ---- Results --------------------------------------------------------------------------------- */

/* Lines of elements: columns, or rows of a matrix that is stored by rows. */
struct block {
	uint8_t *data;
	uint32_t dtype;
	uint64_t lines;
	uint64_t length;
	int64_t line_bytes;
	int64_t stride_bytes;
	bool is_triangle;
	bool has_tail; /* line i begins with its element i, otherwise it ends there */
};

static int64_t number_at(const struct function *function, const uintptr_t *word, uint32_t i)
{
	int32_t number;

	if (function->passing != REFERENCE)
		return (int32_t)word[i];
	memcpy(&number, (const void *)word[i], sizeof(number));
	return number;
}

/* As Fortran has it, in upper case. */
static char letter_at(const struct function *function, const uintptr_t *word, uint32_t i)
{
	if (function->passing == REFERENCE)
		return (char)toupper(*(const unsigned char *)word[i]);
	switch ((int32_t)word[i]) {
	case NO_TRANSPOSE:
		return 'N';
	case UPPER:
		return 'U';
	default:
		return 'L'; /* lower, or transposed */
	}
}

static int64_t bytes_of(uint32_t dtype)
{
	return dtype == WT_DTYPE_F32 ? 4 : dtype == WT_DTYPE_C128 ? 16 : 8;
}

static uint32_t real_of(uint32_t dtype)
{
	return dtype == WT_DTYPE_C64 ? WT_DTYPE_F32 : dtype == WT_DTYPE_C128 ? WT_DTYPE_F64 : dtype;
}

static void set_matrix(struct block *block, const struct function *function, const uintptr_t *word,
		       int64_t rows, int64_t columns, int64_t leading)
{
	const bool by_rows = function->passing == ORDERED && (int32_t)word[0] == ROW_MAJOR;
	const int64_t lines = by_rows ? rows : columns, length = by_rows ? columns : rows;

	if (lines <= 0 || length <= 0 || leading < length)
		return;
	block->lines = (uint64_t)lines;
	block->length = (uint64_t)length;
	block->line_bytes = leading * bytes_of(block->dtype);
}

static void set_line(struct block *block, int64_t length, int64_t increment)
{
	if (length <= 0 || increment == 0)
		return;
	block->lines = 1;
	block->length = (uint64_t)length;
	/* With a negative increment the numbers lie in the same memory, the last one first. */
	block->stride_bytes *= increment < 0 ? -increment : increment;
}

static void set_triangle(struct block *block, const struct function *function,
			 const uintptr_t *word, const struct output *output)
{
	const int64_t n = number_at(function, word, output->at[1]);
	const bool by_rows = function->passing == ORDERED && (int32_t)word[0] == ROW_MAJOR;
	const bool is_upper = letter_at(function, word, output->at[0]) == 'U';

	set_matrix(block, function, word, n, n, number_at(function, word, output->at[2]));
	block->is_triangle = true;
	block->has_tail = by_rows == is_upper;
}

/* All of them, as many as there are singular values, or none. */
static void set_singular(struct block *block, const struct function *function,
			 const uintptr_t *word, const struct output *output)
{
	const int64_t m = number_at(function, word, output->at[1]);
	const int64_t n = number_at(function, word, output->at[2]);
	const int64_t leading = number_at(function, word, output->at[3]);
	const int64_t fewer = m < n ? m : n;
	const char job = letter_at(function, word, output->at[0]);
	const bool is_left = output->shape == LEFT;
	const int64_t all = is_left ? m : n;

	if (job != 'A' && job != 'S')
		return;
	if (is_left)
		set_matrix(block, function, word, m, job == 'A' ? all : fewer, leading);
	else
		set_matrix(block, function, word, job == 'A' ? all : fewer, n, leading);
}

static void set_block(struct block *block, const struct function *function, const uintptr_t *word,
		      const struct output *output)
{
	const uint8_t *at = output->at;

#define N(i) number_at(function, word, at[i])
	switch (output->shape) {
	case MATRIX:
		set_matrix(block, function, word, N(0), N(1), N(2));
		return;
	case TRIANGLE:
		set_triangle(block, function, word, output);
		return;
	case VECTOR:
		set_line(block, N(0), N(1));
		return;
	case ROW:
	case REALS:
		set_line(block, N(0), 1);
		return;
	case ELEMENT:
		set_line(block, 1, 1);
		return;
	case FEWER:
	case FEWER_REALS:
		set_line(block, N(0) < N(1) ? N(0) : N(1), 1);
		return;
	case PRODUCT:
		set_line(block, letter_at(function, word, at[0]) == 'N' ? N(1) : N(2), N(3));
		return;
	case IF_V:
		if (letter_at(function, word, at[0]) == 'V')
			set_matrix(block, function, word, N(1), N(2), N(3));
		return;
	default:
		set_singular(block, function, word, output);
	}
#undef N
}

static struct block block_of(const struct function *function, const uintptr_t *word,
			     const struct output *output)
{
	const bool is_real = output->shape == REALS || output->shape == FEWER_REALS;
	const uint32_t dtype = is_real ? real_of(function->dtype) : function->dtype;
	struct block block = {.data = (uint8_t *)word[output->data],
			      .dtype = dtype,
			      .stride_bytes = bytes_of(dtype)};

	if (block.data)
		set_block(&block, function, word, output);
	return block;
}

/* ---- Noise ----------------------------------------------------------------------------------- */

static uint64_t bits_mixed(uint64_t hash, const uint8_t *data, int64_t bytes)
{
	uint64_t word[2] = {0};

	memcpy(word, data, (size_t)bytes);
	return wti_preload_mix(wti_preload_mix(hash, word[0]), word[1]);
}

/* A few elements of it and its size: enough to tell calls apart. */
static uint64_t block_mixed(uint64_t hash, const struct block *block)
{
	const uint64_t line_step = block->lines / SAMPLES + 1;
	const uint64_t step = block->length / SAMPLES + 1;

	hash = wti_preload_mix(wti_preload_mix(hash, block->lines), block->length);
	for (uint64_t line = 0; line < block->lines; line += line_step)
		for (uint64_t i = 0; i < block->length; i += step)
			hash = bits_mixed(hash,
					  block->data + (int64_t)line * block->line_bytes +
						  (int64_t)i * block->stride_bytes,
					  bytes_of(block->dtype));
	return hash;
}

static void perturb(const struct wti_noise_key *key, const struct block *block)
{
	for (uint64_t line = 0; line < block->lines; line++) {
		uint64_t first = 0, count = block->length;

		if (block->is_triangle && block->has_tail) {
			first = line;
			count = block->length - line;
		} else if (block->is_triangle) {
			count = line + 1;
		}
		wti_noise_apply(&wti_preload.settings.noise, key, block->dtype,
				block->data + (int64_t)line * block->line_bytes +
					(int64_t)first * block->stride_bytes,
				line * block->length + first, count, block->stride_bytes);
	}
}

static void perturb_results(struct function *function, const uintptr_t *word, const void *place)
{
	struct wti_noise_key key = {.site = wti_preload_site(place, &function->taken)};

	if (function->query && number_at(function, word, function->query) == -1)
		return;
	for (; key.value < OUTPUTS && function->outputs[key.value].shape; key.value++) {
		const struct block block = block_of(function, word, &function->outputs[key.value]);

		key.call = block_mixed(0, &block);
		perturb(&key, &block);
	}
}

static bool is_perturbed(struct function *function)
{
	return wti_taken_is_perturbed(&function->taken) &&
	       wti_noise_of_outputs(&wti_preload.settings.noise);
}

static void perturb_number(struct function *function, void *number, const void *place)
{
	const struct wti_noise_key key = {.site = wti_preload_site(place, &function->taken),
					  .call = bits_mixed(0, number, bytes_of(function->dtype))};

	wti_noise_apply(&wti_preload.settings.noise, &key, function->dtype, number, 0, 1, 0);
}

/* ---- Functions ------------------------------------------------------------------------------- */

#define DECLARED                                                                                   \
	uintptr_t w0, uintptr_t w1, uintptr_t w2, uintptr_t w3, uintptr_t w4, uintptr_t w5,        \
		uintptr_t w6, uintptr_t w7, uintptr_t w8, uintptr_t w9, uintptr_t w10,             \
		uintptr_t w11, uintptr_t w12, uintptr_t w13, uintptr_t w14, uintptr_t w15,         \
		uintptr_t w16, uintptr_t w17, uintptr_t w18, uintptr_t w19, uintptr_t w20,         \
		uintptr_t w21, uintptr_t w22, uintptr_t w23, double d0, double d1
#define WORDS_PASSED                                                                               \
	w0, w1, w2, w3, w4, w5, w6, w7, w8, w9, w10, w11, w12, w13, w14, w15, w16, w17, w18, w19,  \
		w20, w21, w22, w23
#define PUBLIC __attribute__((visibility("default")))

#define DEFINE(symbol, ...)                                                                        \
	PUBLIC void symbol(DECLARED);                                                              \
	void symbol(DECLARED)                                                                      \
	{                                                                                          \
		struct function *function = &functions[SLOT_##symbol];                             \
		const void *place = __builtin_return_address(0);                                   \
		void (*real)(DECLARED) = (typeof(real))wti_taken_real(&function->taken, place);    \
		const bool with_noise = is_perturbed(function);                                    \
                                                                                                   \
		wti_preload_depth++;                                                               \
		real(WORDS_PASSED, d0, d1);                                                        \
		wti_preload_depth--;                                                               \
		if (with_noise)                                                                    \
			perturb_results(function, (uintptr_t[WORDS]){WORDS_PASSED}, place);        \
	}
WTI_BLAS_FORTRAN(DEFINE)
WTI_LAPACK(DEFINE)
WTI_CBLAS(DEFINE)

#define DEFINE_NUMBER(symbol, dtype, type)                                                         \
	PUBLIC type symbol(DECLARED);                                                              \
	type symbol(DECLARED)                                                                      \
	{                                                                                          \
		struct function *function = &functions[SLOT_##symbol];                             \
		const void *place = __builtin_return_address(0);                                   \
		type (*real)(DECLARED) = (typeof(real))wti_taken_real(&function->taken, place);    \
		type number = real(WORDS_PASSED, d0, d1);                                          \
                                                                                                   \
		if (is_perturbed(function))                                                        \
			perturb_number(function, &number, place);                                  \
		return number;                                                                     \
	}
WTI_BLAS_NUMBERS(DEFINE_NUMBER)
