/* SPDX-License-Identifier: Apache-2.0 */
/* Elements of tensors as doubles, and what their types hold. */
#ifndef WTI_DIGITS_ELEMENT_H
#define WTI_DIGITS_ELEMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wti_element {
	uint8_t bytes;    /* of an element; 0: of that type nothing can be read */
	uint8_t parts;    /* reals of an element: 2 of a complex number */
	uint8_t mantissa; /* bits of a real that are stored */
	bool is_float;
};

struct wti_element wti_element_of(uint32_t dtype);
/* `reals`: how many to read, parts of complex numbers one by one. */
void wti_element_read(uint32_t dtype, const void *data, size_t reals, double *ret_reals);
/* The distance of x to the next number of its type, away from 0; of a type with that mantissa. */
double wti_element_ulp(double x, unsigned mantissa);

#endif
