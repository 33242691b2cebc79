/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files with any call frame information, and stacks that are unwound by it. The input is a file;
 * its last bytes are the stack. Whatever stands there, nothing outside of it is read, and it ends.
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "collect/syscalls/unwind.h"
#include "fuzz.h"

#define BASE UINT64_C(0x400000)
#define STACK UINT64_C(0x7ffc00000000)
#define STACK_BYTES 512u

/* The whole file stands in memory at one place, whatever it says of itself. */
static void map(struct wti_spaces *spaces, const char *path, size_t bytes)
{
	struct {
		struct wti_raw_map map;
		char path[64];
	} record = {.map = {.pid = 1,
			    .change = WTI_MAP_ADD,
			    .path_bytes = (uint32_t)strlen(path),
			    .address = BASE,
			    .bytes = bytes}};

	memcpy(record.path, path, record.map.path_bytes);
	wti_spaces_begin(spaces, 1);
	wti_spaces_change(spaces, &record.map);
}

static void unwind(struct wti_spaces *spaces, const uint8_t *data, size_t bytes)
{
	uint32_t stack_bytes = bytes < STACK_BYTES ? (uint32_t)bytes : STACK_BYTES;
	struct wti_raw_stack raw = {.pid = 1, .stack_bytes = stack_bytes};
	struct wti_unwound unwound;

	raw.regs[WTI_RAW_SP] = STACK;
	raw.regs[WTI_RAW_FP] = STACK + 32;
	for (size_t at = 0; at < bytes; at += bytes / 16 + 1) {
		raw.regs[WTI_RAW_PC] = BASE + at;
		wti_unwind(spaces, &raw, data + bytes - stack_bytes, &unwound);
		PROMISE(unwound.count <= WTI_STACK_MAX);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct wti_spaces spaces;
	char path[64];
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	if (fd < 0 || write(fd, data, bytes) != (ssize_t)bytes) {
		close(fd);
		return 0;
	}
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	wti_spaces_init(&spaces);
	map(&spaces, path, bytes);
	unwind(&spaces, data, bytes);
	wti_spaces_release(&spaces);
	close(fd);
	return 0;
}
