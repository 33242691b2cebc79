/* SPDX-License-Identifier: Apache-2.0 */
/* What the files that read pickles share: the machine while it runs. */
#ifndef WTI_MODEL_TORCH_PICKLE_MACHINE_H
#define WTI_MODEL_TORCH_PICKLE_MACHINE_H

#include "base/bytes.h"
#include "model/torch/pickle.h"

#define WTI_PICKLE_STACK_MAX ((size_t)1 << 22)
#define WTI_PICKLE_MEMO_MAX ((size_t)1 << 24)
#define WTI_PICKLE_ARENA_MAX ((size_t)256 << 20)

struct wti_pickle_machine {
	struct wti_pickle *pickle;
	struct wti_bytes in;
	const uint8_t *begin;
	const uint8_t *opcode; /* the one that is executed */
	struct wti_pickle_value **stack;
	size_t count;
	size_t capacity;
	struct wti_pickle_value **memo;
	size_t memo_count; /* one more than the highest that was ever set */
	size_t memo_capacity;
	struct wti_pickle_value mark;
	struct wt_err *err;
};

typedef int wti_pickle_operation(struct wti_pickle_machine *machine);

/* Puts down what is wrong at this opcode. */
int wti_pickle_bad(const struct wti_pickle_machine *machine, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
int wti_pickle_full(const struct wti_pickle_machine *machine, int code);

/* ---- The stack ------------------------------------------------------------------------------ */

int wti_pickle_push(struct wti_pickle_machine *machine, struct wti_pickle_value *value);
/* NULL: there is none, or it is a mark. */
struct wti_pickle_value *wti_pickle_pop(struct wti_pickle_machine *machine);
struct wti_pickle_value *wti_pickle_top(const struct wti_pickle_machine *machine);
int wti_pickle_underflow(const struct wti_pickle_machine *machine);
/* Place of the item behind the last mark; negative: there is no mark. */
int64_t wti_pickle_mark(const struct wti_pickle_machine *machine);

/* ---- Values --------------------------------------------------------------------------------- */

/* NULL: out of memory, or too many; the arena knows which. */
struct wti_pickle_value *wti_pickle_new(struct wti_pickle_machine *machine, uint8_t type);
int wti_pickle_push_new(struct wti_pickle_machine *machine, uint8_t type);
int wti_pickle_push_text(struct wti_pickle_machine *machine, uint8_t type, const void *text,
			 size_t bytes);
int wti_pickle_push_int(struct wti_pickle_machine *machine, uint8_t type, int64_t integer);
int wti_pickle_append(struct wti_pickle_machine *machine, struct wti_pickle_value *to,
		      struct wti_pickle_value *item);
/* A container of what lies above `place`, which is taken from the stack. */
int wti_pickle_gather(struct wti_pickle_machine *machine, size_t place, uint8_t type,
		      struct wti_pickle_value **ret);

/* ---- Arguments of opcodes, numbers and texts (pickle_literals.c) ---------------------------- */

extern wti_pickle_operation *const wti_pickle_literals[256];
int wti_pickle_cut(const struct wti_pickle_machine *machine);
/* A number of so many bytes. */
uint64_t wti_pickle_take_number(struct wti_pickle_machine *machine, size_t bytes);
/* Up to the end of the line, which is left out; NULL: there is none. */
const char *wti_pickle_take_line(struct wti_pickle_machine *machine, size_t *ret_bytes);
int wti_pickle_int(struct wti_pickle_machine *machine);  /* a line with a number */
int wti_pickle_line(struct wti_pickle_machine *machine); /* a line as a text */

/* ---- Names and calls (pickle_call.c) -------------------------------------------------------- */

int wti_pickle_push_name(struct wti_pickle_machine *machine, const char *module,
			 size_t module_bytes, const char *name, size_t name_bytes);
int wti_pickle_call(struct wti_pickle_machine *machine, struct wti_pickle_value *callee,
		    struct wti_pickle_value *arguments);
int wti_pickle_new_instance(struct wti_pickle_machine *machine, struct wti_pickle_value *class,
			    struct wti_pickle_value *arguments);
int wti_pickle_build(struct wti_pickle_machine *machine, struct wti_pickle_value *value,
		     struct wti_pickle_value *state);

#endif
