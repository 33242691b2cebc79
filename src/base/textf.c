/* SPDX-License-Identifier: Apache-2.0 */
/*
 * printf for lines that people read: texts that are inserted are made printable. Hides how a format
 * is taken apart; numbers are left to the C library, a conversion at a time.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "text.h"

#define SPEC_MAX 16 /* "%-+ #0", a length and a letter; width and precision are passed on */

struct spec {
	char flags[8];
	int width;     /* 0: none */
	int precision; /* -1: none */
	char length[3];
	char letter;
};

static size_t take_set(const char **at, const char *set, char *out, size_t out_bytes)
{
	size_t bytes = strspn(*at, set);
	size_t kept = bytes < out_bytes ? bytes : out_bytes - 1;

	memcpy(out, *at, kept);
	out[kept] = 0;
	*at += bytes;
	return bytes;
}

static int take_number(const char **at)
{
	int number = 0;

	for (; **at >= '0' && **at <= '9'; ++*at)
		number = number * 10 + (**at - '0');
	return number;
}

/* The letters of the format in front of it are read; a negative width is a flag and a width. */
static void set_width(struct spec *spec, int width)
{
	size_t used = strlen(spec->flags);

	if (width < 0 && used + 1 < sizeof(spec->flags)) {
		spec->flags[used] = '-';
		spec->flags[used + 1] = 0;
	}
	spec->width = width < 0 ? -width : width;
}

static void pad(struct wti_buf *out, size_t count)
{
	while (count--)
		wti_buf_byte(out, ' ');
}

static void put_text(struct wti_buf *out, const struct spec *spec, const char *text)
{
	bool left = strchr(spec->flags, '-') != NULL;
	struct wti_buf printable;
	size_t bytes, space;

	text = text ? text : "(null)";
	bytes = spec->precision < 0 ? strlen(text) : strnlen(text, (size_t)spec->precision);
	if (!spec->width) {
		wti_printable(out, text, bytes);
		return;
	}
	wti_buf_init(&printable, 4 * bytes + 1);
	wti_printable(&printable, text, bytes);
	space = (size_t)spec->width > printable.bytes ? (size_t)spec->width - printable.bytes : 0;
	pad(out, left ? 0 : space);
	wti_buf_append(out, printable.data, printable.bytes);
	pad(out, left ? space : 0);
	wti_buf_inherit(out, &printable);
	wti_buf_release(&printable);
}

/* The formats are made of what wti_textf() was given, which the compiler has checked. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"

static void put_whole(struct wti_buf *out, const struct spec *spec, bool is_signed,
		      unsigned long long value)
{
	char format[SPEC_MAX + 8];

	snprintf(format, sizeof(format), "%%%s*.*ll%c", spec->flags, spec->letter);
	if (is_signed)
		wti_buf_printf(out, format, spec->width, spec->precision, (long long)value);
	else
		wti_buf_printf(out, format, spec->width, spec->precision, value);
}

static void put_real(struct wti_buf *out, const struct spec *spec, double value)
{
	char format[SPEC_MAX + 8];

	snprintf(format, sizeof(format), "%%%s*.*%c", spec->flags, spec->letter);
	wti_buf_printf(out, format, spec->width, spec->precision, value);
}

#pragma GCC diagnostic pop

/* ---- One conversion -------------------------------------------------------------------------- */

/* va_list may be an array, which a function cannot take by address as a parameter. */
struct arguments {
	va_list list;
};

static void take_spec(const char **at, struct arguments *args, struct spec *spec)
{
	*spec = (struct spec){.precision = -1};
	take_set(at, "-+ #0", spec->flags, sizeof(spec->flags) - 1);
	if (**at == '*') {
		set_width(spec, va_arg(args->list, int));
		++*at;
	} else {
		spec->width = take_number(at);
	}
	if (**at == '.') {
		++*at;
		if (**at == '*') {
			spec->precision = va_arg(args->list, int);
			++*at;
		} else {
			spec->precision = take_number(at);
		}
	}
	take_set(at, "hlzjt", spec->length, sizeof(spec->length));
	spec->letter = **at;
	*at += **at != 0;
}

static unsigned long long take_whole(const struct spec *spec, struct arguments *args,
				     bool is_signed)
{
	if (!strcmp(spec->length, "ll") || !strcmp(spec->length, "j"))
		return va_arg(args->list, unsigned long long);
	if (spec->length[0] == 'l' || spec->length[0] == 'z' || spec->length[0] == 't')
		return is_signed ? (unsigned long long)va_arg(args->list, long)
				 : va_arg(args->list, unsigned long);
	return is_signed ? (unsigned long long)va_arg(args->list, int)
			 : va_arg(args->list, unsigned int);
}

static void convert(struct wti_buf *out, const struct spec *spec, struct arguments *args)
{
	bool is_signed = spec->letter == 'd' || spec->letter == 'i';
	char letter[2] = {0};

	switch (spec->letter) {
	case 's':
		put_text(out, spec, va_arg(args->list, const char *));
		break;
	case 'c':
		letter[0] = (char)va_arg(args->list, int);
		put_text(out, spec, letter);
		break;
	case 'd':
	case 'i':
	case 'u':
	case 'x':
	case 'X':
		put_whole(out, spec, is_signed, take_whole(spec, args, is_signed));
		break;
	case 'f':
	case 'g':
	case 'e':
		put_real(out, spec, va_arg(args->list, double));
		break;
	default: /* %%; what else there is nobody writes here */
		wti_buf_byte(out, '%');
	}
}

void wti_vtextf(struct wti_buf *out, const char *format, va_list list)
{
	struct arguments args;
	struct spec spec;

	va_copy(args.list, list);
	while (*format) {
		size_t plain = strcspn(format, "%");

		wti_buf_append(out, format, plain);
		format += plain;
		if (!*format)
			break;
		format++;
		take_spec(&format, &args, &spec);
		convert(out, &spec, &args);
	}
	va_end(args.list);
}

void wti_textf(struct wti_buf *out, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	wti_vtextf(out, format, args);
	va_end(args);
}
