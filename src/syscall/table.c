/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers to names and back. */
#include "table.h"

#include <string.h>

#include "described.h"

uint32_t wti_named_count(enum wti_arch arch)
{
	if (arch == WTI_ARCH_X86_64)
		return wti_named_x86_64_count;
	if (arch == WTI_ARCH_I386)
		return wti_named_i386_count;
	return arch == WTI_ARCH_AARCH64 ? wti_named_aarch64_count : 0;
}

const struct wti_named *wti_named(enum wti_arch arch, uint32_t nr)
{
	const struct wti_named *all = arch == WTI_ARCH_X86_64 ? wti_named_x86_64
				      : arch == WTI_ARCH_I386 ? wti_named_i386
							      : wti_named_aarch64;

	return nr < wti_named_count(arch) && all[nr].name ? &all[nr] : NULL;
}

const struct wti_described *wti_described(enum wti_arch arch, uint32_t nr)
{
	const struct wti_named *named = wti_named(arch, nr);

	return named && named->call >= 0 && arch != WTI_ARCH_I386 ? &wti_calls[named->call] : NULL;
}

const char *wti_call_name(enum wti_arch arch, uint32_t nr)
{
	const struct wti_named *named = wti_named(arch, nr);

	return named ? named->name : NULL;
}

int wti_call_number(enum wti_arch arch, const char *name)
{
	for (uint32_t nr = 0; nr < wti_named_count(arch); nr++) {
		const struct wti_named *named = wti_named(arch, nr);

		if (named && !strcmp(named->name, name))
			return (int)nr;
	}
	return -1;
}
