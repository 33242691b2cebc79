/* SPDX-License-Identifier: Apache-2.0 */
/* One element of a tensor as a number. */
#ifndef WTI_MODEL_NUMBER_H
#define WTI_MODEL_NUMBER_H

#include <stdint.h>

/* 0: elements of that type are not numbers, or not one each. */
unsigned wti_model_number_bytes(uint32_t dtype);
double wti_model_number(const uint8_t *at, uint32_t dtype);

#endif
