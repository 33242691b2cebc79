/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names and lines of the addresses in a stack, from the files that the run went through, if these
 * are still what they were. All that is found is kept: a stack is looked up once.
 */
#ifndef WTI_SYMBOLS_NATIVE_H
#define WTI_SYMBOLS_NATIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <wheeltap/trace.h>

/* One function of a stack. Functions that were inlined are frames of their own, with the address of
 * the one that they are part of. */
struct wti_frame {
	const char *path;         /* of the file with the code; "": not known */
	uint64_t address;         /* in it: where execution goes on after the call */
	const char *function;     /* or NULL */
	uint64_t function_offset; /* from its symbol; 0 of inlined ones */
	const char *inlined_in;   /* the function that it is part of, or NULL */
	const char *file;         /* of the source, or NULL */
	uint32_t line;
	bool is_of_system; /* of a library or a header that came with the system */
};

struct wti_native;

struct wti_native *wti_native_new(void); /* NULL: out of memory */
void wti_native_free(struct wti_native *native);
/* The frames of a stack, innermost first; valid as long as `native`. 0: there is no such stack. */
size_t wti_native_stack(struct wti_native *native, const struct wt_reader *reader, uint32_t stack,
			const struct wti_frame **ret_frames);
/* The frame that a person is to look at: the innermost of the program's own that has a line, else
 * the innermost that has one. NULL: none has. */
const struct wti_frame *wti_native_place(struct wti_native *native, const struct wt_reader *reader,
					 uint32_t stack);

/* Files that were needed and whose names are not shown, one by one; NULL: no more. */
const char *wti_native_changed(const struct wti_native *native, size_t index);

#endif
