/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Knows how a row of call frame information is applied, its expressions included.
 *
 * An address of the result is where execution would go on, as a return address is; who looks for
 * the instruction that was under way takes one less. Of a frame that a signal interrupted one is
 * added, so that this holds for it as well.
 */
#include <string.h>

#include "leb.h"
#include "unwind.h"

#define ENTRY_BYTES 64u
#define WORDS_MAX 16 /* of an expression's stack */
#if defined(__aarch64__)
#define ADDRESS_BITS UINT64_C(0x0000ffffffffffff) /* above stands a signature */
#else
#define ADDRESS_BITS UINT64_MAX
#endif

struct walk {
	struct wti_spaces *spaces;
	const struct wti_space *space;
	const uint8_t *stack;
	uint64_t stack_address;
	uint64_t stack_bytes;
	uint64_t regs[WTI_RAW_REGS];
	uint64_t cfa;
	const struct wti_cfi *cfi; /* of the file that the frame is in; NULL: of none */
	uint64_t address;          /* in it */
};

static bool read_word(const struct walk *w, uint64_t address, uint64_t *ret)
{
	uint64_t at = address - w->stack_address;

	if (address < w->stack_address || at > w->stack_bytes || w->stack_bytes - at < 8)
		return false;
	*ret = wti_get64(w->stack + at);
	return true;
}

/* ---- Expressions ----------------------------------------------------------------------------- */

struct words {
	uint64_t at[WORDS_MAX];
	unsigned count;
	bool bad;
};

static void push(struct words *words, uint64_t value)
{
	if (words->count == WORDS_MAX)
		words->bad = true;
	else
		words->at[words->count++] = value;
}

static uint64_t pop(struct words *words)
{
	if (!words->count) {
		words->bad = true;
		return 0;
	}
	return words->at[--words->count];
}

static uint64_t constant(struct wti_bytes *in, uint8_t op)
{
	switch (op) {
	case 0x08: /* const1u and so on */
		return wti_bytes_u8(in);
	case 0x09:
		return (uint64_t)(int64_t)(int8_t)wti_bytes_u8(in);
	case 0x0a:
		return wti_bytes_u16(in);
	case 0x0b:
		return (uint64_t)(int64_t)(int16_t)wti_bytes_u16(in);
	case 0x0c:
		return wti_bytes_u32(in);
	case 0x0d:
		return (uint64_t)(int64_t)(int32_t)wti_bytes_u32(in);
	default:
		return wti_bytes_u64(in);
	}
}

static void binary(struct words *words, uint8_t op)
{
	uint64_t b = pop(words), a = pop(words);

	switch (op) {
	case 0x1a:
		push(words, a & b);
		break;
	case 0x1c:
		push(words, a - b);
		break;
	case 0x21:
		push(words, a | b);
		break;
	case 0x22:
		push(words, a + b);
		break;
	case 0x24:
		push(words, b < 64 ? a << b : 0);
		break;
	case 0x25:
		push(words, b < 64 ? a >> b : 0);
		break;
	case 0x2a:
		push(words, (int64_t)a >= (int64_t)b);
		break;
	default:
		words->bad = true;
	}
}

static void operate(const struct walk *w, struct words *words, struct wti_bytes *in, uint8_t op)
{
	uint64_t value = 0;

	if (op >= 0x30 && op <= 0x4f) { /* lit */
		push(words, op - 0x30u);
	} else if (op >= 0x70 && op <= 0x8f && op < 0x70 + WTI_RAW_REGS) { /* breg */
		push(words, w->regs[op - 0x70] + (uint64_t)wti_sleb(in));
	} else if (op >= 0x08 && op <= 0x0f) {
		push(words, constant(in, op));
	} else if (op == 0x06) { /* deref */
		words->bad |= !read_word(w, pop(words), &value);
		push(words, value);
	} else if (op == 0x12) { /* dup */
		value = pop(words);
		push(words, value);
		push(words, value);
	} else if (op == 0x23) { /* plus_uconst */
		value = pop(words);
		push(words, value + wti_uleb(in));
	} else {
		binary(words, op);
	}
}

static bool evaluate(const struct walk *w, int32_t at, uint16_t bytes, bool has_cfa, uint64_t *ret)
{
	struct wti_bytes in = {.at = w->cfi->frames + at, .end = w->cfi->frames + at + bytes};
	struct words words = {.count = 0};

	if (has_cfa)
		push(&words, w->cfa);
	while (wti_bytes_left(&in) && !in.bad && !words.bad)
		operate(w, &words, &in, wti_bytes_u8(&in));
	*ret = pop(&words);
	return !in.bad && !words.bad;
}

/* ---- Frames ---------------------------------------------------------------------------------- */

static bool find_cfa(struct walk *w, const struct wti_cfi_row *row)
{
	if (row->cfa_is_expression)
		return evaluate(w, row->cfa_value, row->cfa_bytes, false, &w->cfa);
	w->cfa = w->regs[row->cfa_register] + (uint64_t)(int64_t)row->cfa_value;
	return true;
}

static bool find_register(const struct walk *w, unsigned number, const struct wti_cfi_rule *rule,
			  uint64_t *ret)
{
	uint64_t address;

	switch (rule->how) {
	case WTI_CFI_SAME:
		*ret = number == WTI_RAW_SP ? w->cfa : w->regs[number];
		return true;
	case WTI_CFI_AT:
		return read_word(w, w->cfa + (uint64_t)(int64_t)rule->value, ret);
	case WTI_CFI_IS:
		*ret = w->cfa + (uint64_t)(int64_t)rule->value;
		return true;
	case WTI_CFI_MOVED:
		*ret = (uint32_t)rule->value < WTI_RAW_REGS ? w->regs[rule->value] : 0;
		return true;
	case WTI_CFI_EXPRESSION_AT:
		return evaluate(w, rule->value, rule->bytes, true, &address) &&
		       read_word(w, address, ret);
	case WTI_CFI_EXPRESSION_IS:
		return evaluate(w, rule->value, rule->bytes, true, ret);
	default:
		*ret = 0;
		return true;
	}
}

enum step { STEP_DONE, STEP_OUTERMOST, STEP_FAILED };

static enum step step_by_row(struct walk *w, const struct wti_cfi_row *row)
{
	const struct wti_cfi_rule *back = &row->registers[row->return_register];
	uint64_t regs[WTI_RAW_REGS], pc = 0;

	if (back->how == WTI_CFI_UNDEFINED)
		return STEP_OUTERMOST;
	if (!find_cfa(w, row) || !find_register(w, row->return_register, back, &pc))
		return STEP_FAILED;
	if (w->cfa <= w->regs[WTI_RAW_SP] && !row->is_signal && pc == w->regs[WTI_RAW_PC])
		return STEP_FAILED; /* it would go on for ever */
	for (unsigned i = 0; i < WTI_RAW_REGS; i++)
		if (i != WTI_RAW_PC && !find_register(w, i, &row->registers[i], &regs[i]))
			regs[i] = 0;
	regs[WTI_RAW_PC] = pc & ADDRESS_BITS;
	memcpy(w->regs, regs, sizeof(regs));
	return regs[WTI_RAW_PC] ? STEP_DONE : STEP_OUTERMOST;
}

/* The first instructions of a program or of the dynamic linker, which nobody has called and which
 * often have no row that says so. */
static bool is_entry(const struct walk *w)
{
	return w->cfi && w->cfi->entry && w->address >= w->cfi->entry &&
	       w->address - w->cfi->entry < ENTRY_BYTES;
}

/* Only to where there is code: without frame pointers the register holds anything. */
static enum step step_by_pointer(struct walk *w)
{
	uint64_t fp = w->regs[WTI_RAW_FP], next, pc, ignored;

	if (is_entry(w))
		return STEP_OUTERMOST;
	if (fp < w->regs[WTI_RAW_SP] || !read_word(w, fp, &next) || !read_word(w, fp + 8, &pc))
		return STEP_FAILED;
	pc &= ADDRESS_BITS;
	if (!wti_spaces_place(w->spaces, w->space, pc - 1, &ignored))
		return STEP_FAILED;
	w->regs[WTI_RAW_SP] = fp + 16;
	w->regs[WTI_RAW_FP] = next;
	w->regs[WTI_RAW_PC] = pc;
	return STEP_DONE;
}

/* The functions that begin threads have no unwind information around the call, as it would be wrong
 * in the child: they keep nothing on the stack but where they came from. */
static enum step step_by_return(struct walk *w)
{
	uint64_t sp = w->regs[WTI_RAW_SP], pc, ignored;

#if defined(__aarch64__)
	return step_by_pointer(w); /* it is in a register, which the call may have changed */
#endif
	if (is_entry(w))
		return STEP_OUTERMOST;
	if (!read_word(w, sp, &pc) || !wti_spaces_place(w->spaces, w->space, pc - 1, &ignored))
		return step_by_pointer(w);
	w->regs[WTI_RAW_SP] = sp + 8;
	w->regs[WTI_RAW_PC] = pc;
	return STEP_DONE;
}

static const struct wti_cfi_row *take_frame(struct walk *w, bool was_interrupted,
					    struct wti_unwound *out)
{
	uint64_t pc = w->regs[WTI_RAW_PC], address = 0;
	uint64_t sought = was_interrupted ? pc : pc - 1;
	uint32_t number = wti_spaces_place(w->spaces, w->space, sought, &address);
	struct wti_mapped_code *code = number ? wti_codes_at(&w->spaces->codes, number) : NULL;

	out->codes[out->count] = number;
	out->frames[out->count++] =
		code ? code->base + (address - code->cfi.begin_address) + 1 : sought + 1;
	w->cfi = code ? &code->cfi : NULL;
	w->address = address;
	return code ? wti_codes_row(&w->spaces->codes, number, address) : NULL;
}

void wti_unwind(struct wti_spaces *spaces, const struct wti_raw_stack *raw, const uint8_t *stack,
		struct wti_unwound *ret)
{
	struct walk w = {.spaces = spaces,
			 .space = wti_spaces_of(spaces, raw->pid),
			 .stack = stack,
			 .stack_address = raw->regs[WTI_RAW_SP],
			 .stack_bytes = raw->stack_bytes};
	bool was_interrupted = false;
	enum step step = STEP_FAILED;

	ret->count = 0;
	ret->is_cut = ret->is_lost = false;
	if (!w.space || !w.space->count)
		return;
	memcpy(w.regs, raw->regs, sizeof(w.regs));
	do {
		const struct wti_cfi_row *row;

		if (ret->count == WTI_STACK_MAX) {
			ret->is_cut = true;
			return;
		}
		row = take_frame(&w, was_interrupted, ret);
		step = row               ? step_by_row(&w, row)
		       : ret->count == 1 ? step_by_return(&w)
					 : step_by_pointer(&w);
		was_interrupted = row && row->is_signal;
	} while (step == STEP_DONE);
	ret->is_lost = step == STEP_FAILED;
}
