/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private by default: a text that a program hands us (a log line, a context value, a state) may be
 * a prompt, a sample of the data or a password. It is kept only when it looks like what a recording
 * is for; otherwise its length and a short hash stand for it, enough to see that it changed.
 *
 * The rule. A text may be kept if it is at most 256 bytes of printable ASCII, if nothing in it
 * looks like a secret, and if each of its words (separated by blanks, commas, = and brackets) is
 * one of a number        3  -0.5  1e-4  0x1f  nan  50%  3.2ms a name          train  torch.float32
 * q_proj  resnet50  lr  cuda:0  (dtypes and modes are names) a path          /data/run1/model.bin
 * ./out  a/b.txt where names and paths outnumber numbers by one at most. So "epoch 3 loss 0.25",
 * "lr=0.01" and "eval" are kept, and a sentence, which is a row of names, is not.
 */
#include "private.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

enum {
	KEEP_BYTES_MAX = 256,
	NAME_BYTES_MAX = 64,
};

size_t wti_text_cut(const char *text, size_t bytes, size_t bytes_max)
{
	if (bytes <= bytes_max)
		return bytes;
	bytes = bytes_max;
	/* Bytes 10xxxxxx continue a character; more than three of them are no UTF-8. */
	for (int back = 0; back < 3 && bytes && ((uint8_t)text[bytes] & 0xc0) == 0x80; back++)
		bytes--;
	return ((uint8_t)text[bytes] & 0xc0) == 0x80 ? bytes_max : bytes;
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_separator(char c)
{
	return c == ' ' || c == '\t' || c == ',' || c == '=' || c == '(' || c == ')' || c == '[' ||
	       c == ']' || c == ':' || c == ';' || c == '|';
}

/* Begins like a number, and at most a unit follows. */
static bool is_number(const char *word, size_t bytes)
{
	size_t at = 0;
	size_t digits = 0;
	size_t unit = 0;

	if (bytes == 3 && (memcmp(word, "nan", 3) == 0 || memcmp(word, "inf", 3) == 0))
		return true;
	while (at < bytes && (word[at] == '-' || word[at] == '+' || word[at] == '.'))
		at++;
	if (at > 2 || at == bytes || !is_digit(word[at]))
		return false;
	for (; at < bytes; at++) {
		if (is_digit(word[at]))
			digits++;
		else if (is_letter(word[at]) || word[at] == '%')
			unit++;
		else if (word[at] != '.' && word[at] != '-' && word[at] != '+' && word[at] != '/')
			return false;
	}
	return unit <= 4 && digits <= 32;
}

static bool is_name(const char *word, size_t bytes)
{
	if (bytes > NAME_BYTES_MAX || !(is_letter(word[0]) || word[0] == '_' || word[0] == '<'))
		return false;
	for (size_t i = 1; i < bytes; i++)
		if (!is_letter(word[i]) && !is_digit(word[i]) && !strchr("_.-+>*", word[i]))
			return false;
	return true;
}

static bool is_path(const char *word, size_t bytes)
{
	if (!memchr(word, '/', bytes))
		return false;
	for (size_t i = 0; i < bytes; i++)
		if (!is_letter(word[i]) && !is_digit(word[i]) && !strchr("/_.-+~@", word[i]))
			return false;
	return true;
}

static bool words_may_be_kept(const char *text, size_t bytes)
{
	int names = 0;
	int numbers = 0;
	size_t at = 0;

	while (at < bytes) {
		size_t end = at;

		while (end < bytes && !is_separator(text[end]))
			end++;
		if (end > at && is_number(text + at, end - at))
			numbers++;
		else if (end > at && (is_name(text + at, end - at) || is_path(text + at, end - at)))
			names++;
		else if (end > at)
			return false;
		at = end + 1;
	}
	return names <= numbers + 1;
}

bool wti_private_may_keep(const char *text, size_t bytes)
{
	char copy[KEEP_BYTES_MAX];

	if (bytes > sizeof(copy) || !words_may_be_kept(text, bytes))
		return false;
	memcpy(copy, text, bytes);
	return wti_secret_mask(copy, bytes) == bytes && memcmp(copy, text, bytes) == 0;
}

size_t wti_private_describe(const char *text, size_t bytes, char ret_text[WTI_PRIVATE_BYTES])
{
	uint32_t hash = (uint32_t)(XXH3_64bits(text, bytes) >> 32);

	return (size_t)snprintf(ret_text, WTI_PRIVATE_BYTES, "<%zu bytes, hash %08x>", bytes, hash);
}
