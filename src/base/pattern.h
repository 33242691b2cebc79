/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Extended regular expressions that somebody else wrote. The C library unfolds repetitions, nested
 * ones into a product, and follows back-references by trying: a line of text can take gigabytes.
 * What would is refused before it is compiled.
 */
#ifndef WTI_BASE_PATTERN_H
#define WTI_BASE_PATTERN_H

#include <regex.h>

#define WTI_REGEX_BYTES_MAX 4096u
#define WTI_REGEX_SIZE_MAX 1000u /* characters, with all repetitions written out */
#define WTI_REGEX_DEPTH_MAX 32u  /* of parentheses */
#define WTI_REGEX_WHY_BYTES 128

/* As REG_EXTENDED | REG_NOSUB. 0, or WT_E_ARG and the reason; only after 0 there is to regfree().
 */
int wti_regex_compile(const char *pattern, regex_t *ret_regex, char ret_why[WTI_REGEX_WHY_BYTES]);

#endif
