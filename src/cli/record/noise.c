/* SPDX-License-Identifier: Apache-2.0 */
/* The options of the noise. The modes are those of the agents themselves (src/agents/noise). */
#include "noise.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agents/noise/noise.h"
#include "base/err.h"
#include "base/library.h"
#include "base/text.h"
#include "library.h"

#define ELEMENTS_MAX (1u << 20)
#define LIBRARY "libwheeltap-noise.so"

static int check_mode(const char *mode, struct wt_err *err)
{
	struct wti_noise noise;

	if (!strcmp(mode, "sr"))
		return wti_err(err, WT_E_ARG,
			       "'--noise sr' needs the number of bits to round to, such as "
			       "--noise sr:8");
	if (!wti_noise_parse(mode, &noise))
		return wti_err(err, WT_E_ARG,
			       "bad value '%.64s' for '--noise'; give rr, pb, mca or cancellation, "
			       "with a precision of 1 to %u bits if wanted, such as rr:24, or sr "
			       "with its bits, such as sr:8",
			       mode, WTI_NOISE_BITS_MAX);
	return 0;
}

static int check_elements(const char *text, struct wt_err *err)
{
	uint64_t count;

	if (!strcmp(text, "all") ||
	    (wti_parse_u64(text, &count) && count >= 1 && count <= ELEMENTS_MAX))
		return 0;
	return wti_err(err, WT_E_ARG,
		       "bad value '%.64s' for '--elements'; give a number from 1 to %u, or all",
		       text, ELEMENTS_MAX);
}

static int check_patterns(const char *name, const char *patterns, struct wt_err *err)
{
	if (patterns && (!*patterns || strpbrk(patterns, "\r\n")))
		return wti_err(err, WT_E_ARG,
			       "bad value for '--%s'; give names such as libm.sin or file.py:12, "
			       "separated by commas",
			       name);
	return 0;
}

int wti_record_noise_check(const struct wti_record_noise *noise, bool sampled, struct wt_err *err)
{
	int r = 0;

	if (!noise->mode &&
	    (noise->only || noise->skip || noise->seed || (noise->run != 1 && !sampled)))
		return wti_err(err, WT_E_ARG,
			       "'--seed', '--noise-run', '--noise-only' and '--noise-skip' need a "
			       "mode of noise: give --noise rr, too");
	if (noise->run == 0 || noise->run > UINT32_MAX)
		return wti_err(err, WT_E_ARG, "'--noise-run' counts from 1");
	if (noise->mode)
		r = check_mode(noise->mode, err);
	if (!r && noise->elements)
		r = check_elements(noise->elements, err);
	r = r ? r : check_patterns("noise-only", noise->only, err);
	return r ? r : check_patterns("noise-skip", noise->skip, err);
}

uint64_t wti_record_noise_seed(const struct wti_record_noise *noise)
{
	return wti_noise_seed(noise->seed, (uint32_t)noise->run);
}

int wti_record_noise_settings(const struct wti_record_noise *noise, char **settings,
			      struct wt_err *err)
{
	const char *elements = noise->elements ? noise->elements : WTI_ELEMENTS_DEFAULT;
	char *more;
	int n;

	if (noise->mode)
		n = asprintf(&more, "%snoise=%s\nnoise_seed=%llu\nelements=%s\n%s%s%s%s%s%s",
			     *settings, noise->mode,
			     (unsigned long long)wti_record_noise_seed(noise), elements,
			     noise->only ? "noise_only=" : "", noise->only ? noise->only : "",
			     noise->only ? "\n" : "", noise->skip ? "noise_skip=" : "",
			     noise->skip ? noise->skip : "", noise->skip ? "\n" : "");
	else
		n = asprintf(&more, "%selements=%s\n", *settings, elements);
	if (n < 0)
		return wti_err(err, WT_E_NOMEM, "out of memory");
	free(*settings);
	*settings = more;
	return 0;
}

int wti_record_noise_library(char ret_path[PATH_MAX], struct wt_err *err)
{
	if (!wti_record_library("noise", LIBRARY, ret_path))
		return wti_err(err, WT_E_MISSING,
			       "there is no " LIBRARY " beside this program; %s, or give "
			       "--noise-libm off",
			       wti_library_cure("install it"));
	if (strpbrk(ret_path, ": \t")) /* it would be taken for two of them */
		return wti_err(err, WT_E_ARG,
			       "'%s' cannot be preloaded because of a space or colon in its path; "
			       "install wheeltap elsewhere, or give --noise-libm off",
			       ret_path);
	return 0;
}
