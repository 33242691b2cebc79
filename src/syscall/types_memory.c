/* SPDX-License-Identifier: Apache-2.0 */
/* Memory: maps and policies. */
#include "show.h"

#include <linux/membarrier.h>
#include <linux/mempolicy.h>
#include <linux/mman.h>

bool wti_type_mmap_flags(struct wti_show *show, unsigned i)
{
	uint64_t flags = wti_arg64(show, i);
	uint32_t huge = (uint32_t)(flags >> MAP_HUGE_SHIFT) & MAP_HUGE_MASK;

	wti_say_enum(show, &wti_flags_mmap_type, flags & MAP_TYPE);
	flags &= ~(uint64_t)MAP_TYPE;
	/* The size stands where other flags might: it is one only for huge pages. */
	if (flags & MAP_HUGETLB)
		flags &= ~((uint64_t)MAP_HUGE_MASK << MAP_HUGE_SHIFT);
	wti_say_more_flags(show, &wti_flags_mmap_flags, (uint32_t)flags);
	if (flags & MAP_HUGETLB && huge)
		WTI_SHOW(show, "|%u<<MAP_HUGE_SHIFT", huge);
	return true;
}

bool wti_type_mremap_address(struct wti_show *show, unsigned i)
{
	if (!(wti_arg64(show, i - 1) & MREMAP_FIXED))
		return false;
	return wti_type_addr(show, i);
}

bool wti_type_mempolicy_mode(struct wti_show *show, unsigned i)
{
	uint32_t value = wti_arg32(show, i);
	uint32_t mode = value & ~(uint32_t)MPOL_MODE_FLAGS;
	const char *name = wti_flag_name(&wti_flags_mempolicy, mode);

	if (!(value & MPOL_MODE_FLAGS)) {
		wti_say_enum(show, &wti_flags_mempolicy, mode);
		return true;
	}
	if (name)
		WTI_SHOW(show, "%s", name);
	if (name)
		wti_say_more_flags(show, &wti_flags_mempolicy_flags, value & MPOL_MODE_FLAGS);
	else
		wti_say_flags(show, &wti_flags_mempolicy_flags, value);
	return true;
}

bool wti_type_mempolicy_out(struct wti_show *show, unsigned i)
{
	const uint8_t *at = wti_pointed(show, i, 4, WTI_AT_EXIT);

	if (!at)
		return true;
	WTI_SHOW(show, "[");
	wti_say_enum(show, &wti_flags_mempolicy, wti_get32(at));
	WTI_SHOW(show, "]");
	return true;
}

/* Only with a flag does a processor count. */
bool wti_type_membarrier_cpu(struct wti_show *show, unsigned i)
{
	if (!(wti_arg32(show, i - 1) & MEMBARRIER_CMD_FLAG_CPU))
		return false;
	return wti_type_int(show, i);
}
