/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Knows how call frame information is written (DWARF 5, 6.4; Linux Standard Base, 10.6): CIEs with
 * what is common to functions, FDEs with a program each that fills a table row by row.
 */
#include <stdlib.h>
#include <string.h>

#include "cfi.h"
#include "leb.h"

#define STATES_MAX 16 /* remembered at a time */
#define AUGMENTATION_MAX 16

/* Of pointers. */
#define PE_OMIT 0xffu
#define PE_FORM 0x0fu
#define PE_RELATIVE 0x70u
#define PE_PCREL 0x10u
#define PE_INDIRECT 0x80u

struct cie {
	uint64_t code_align;
	int64_t data_align;
	uint64_t return_register;
	uint8_t encoding;
	bool is_signal;
	bool has_data;
	const uint8_t *program;
	const uint8_t *end;
};

/* ---- Numbers --------------------------------------------------------------------------------- */

static uint64_t plain(struct wti_bytes *in, uint8_t form)
{
	switch (form) {
	case 0x00: /* absptr */
	case 0x04:
	case 0x0c:
		return wti_bytes_u64(in);
	case 0x01:
		return wti_uleb(in);
	case 0x02:
		return wti_bytes_u16(in);
	case 0x03:
		return wti_bytes_u32(in);
	case 0x09:
		return (uint64_t)wti_sleb(in);
	case 0x0a:
		return (uint64_t)(int64_t)(int16_t)wti_bytes_u16(in);
	case 0x0b:
		return (uint64_t)(int64_t)(int32_t)wti_bytes_u32(in);
	default:
		in->bad = true;
		return 0;
	}
}

static uint64_t pointer(const struct wti_cfi *cfi, struct wti_bytes *in, uint8_t encoding)
{
	uint64_t here = cfi->frame_address + (uint64_t)(in->at - cfi->frames);
	uint64_t value = plain(in, encoding & PE_FORM);

	if (encoding & PE_INDIRECT)
		in->bad = true;
	else if ((encoding & PE_RELATIVE) == PE_PCREL)
		value += here;
	else if (encoding & PE_RELATIVE)
		in->bad = true;
	return value;
}

/* ---- Entries --------------------------------------------------------------------------------- */

/* The entry at `at`; false: there is none, or it is the last, which is empty. */
static bool entry_at(const struct wti_cfi *cfi, size_t at, struct wti_bytes *ret_body,
		     size_t *ret_next)
{
	struct wti_bytes in;
	uint64_t length;

	if (at >= cfi->frame_bytes)
		return false;
	in = (struct wti_bytes){.at = cfi->frames + at, .end = cfi->frames + cfi->frame_bytes};
	length = wti_bytes_u32(&in);
	if (length == UINT32_MAX)
		length = wti_bytes_u64(&in);
	if (in.bad || !length || length > wti_bytes_left(&in))
		return false;
	*ret_body = (struct wti_bytes){.at = in.at, .end = in.at + length};
	*ret_next = (size_t)(in.at - cfi->frames) + (size_t)length;
	return true;
}

static void augment(const struct wti_cfi *cfi, struct wti_bytes *in, const char *words,
		    struct cie *cie)
{
	for (; *words && !in->bad; words++) {
		if (*words == 'R') {
			cie->encoding = wti_bytes_u8(in);
		} else if (*words == 'P') {
			uint8_t encoding = wti_bytes_u8(in);

			plain(in, encoding & PE_FORM);
		} else if (*words == 'L') {
			wti_bytes_u8(in);
		} else if (*words == 'S') {
			cie->is_signal = true;
		} else if (*words != 'B') {
			return; /* the length says where to go on */
		}
	}
}

static bool read_cie(const struct wti_cfi *cfi, size_t at, struct cie *ret)
{
	char words[AUGMENTATION_MAX] = "";
	struct cie cie = {.encoding = 0};
	struct wti_bytes in;
	size_t next, count = 0;
	uint8_t version;

	if (!entry_at(cfi, at, &in, &next) || wti_bytes_u32(&in) != 0)
		return false;
	version = wti_bytes_u8(&in);
	while (count < sizeof(words) - 1 && (words[count] = (char)wti_bytes_u8(&in)))
		count++;
	if (in.bad || words[count] || (version != 1 && version != 3))
		return false;
	cie.code_align = wti_uleb(&in);
	cie.data_align = wti_sleb(&in);
	cie.return_register = version == 1 ? wti_bytes_u8(&in) : wti_uleb(&in);
	cie.has_data = words[0] == 'z';
	cie.program = in.at;
	if (cie.has_data) {
		uint64_t length = wti_uleb(&in);

		if (in.bad || length > wti_bytes_left(&in))
			return false;
		cie.program = in.at + length;
		augment(cfi, &in, words + 1, &cie);
	}
	cie.end = in.end;
	*ret = cie;
	return !in.bad && cie.return_register < WTI_RAW_REGS;
}

struct fde {
	struct cie cie;
	uint64_t begin;
	uint64_t bytes;
	struct wti_bytes program;
};

static bool read_fde(const struct wti_cfi *cfi, size_t at, struct fde *ret)
{
	struct wti_bytes in;
	size_t next, here;
	uint32_t back;

	if (!entry_at(cfi, at, &in, &next))
		return false;
	here = (size_t)(in.at - cfi->frames);
	back = wti_bytes_u32(&in);
	if (in.bad || !back || back > here || !read_cie(cfi, here - back, &ret->cie))
		return false;
	ret->begin = pointer(cfi, &in, ret->cie.encoding);
	ret->bytes = plain(&in, ret->cie.encoding & PE_FORM);
	if (ret->cie.has_data) {
		uint64_t length = wti_uleb(&in);

		if (in.bad || length > wti_bytes_left(&in))
			return false;
		in.at += length;
	}
	ret->program = in;
	return !in.bad;
}

size_t wti_cfi_next(const struct wti_cfi *cfi, size_t at, uint64_t *ret_begin)
{
	struct wti_bytes in;
	struct fde fde;
	size_t next;

	*ret_begin = 0;
	if (!entry_at(cfi, at, &in, &next))
		return 0;
	if (read_fde(cfi, at, &fde) && fde.bytes)
		*ret_begin = fde.begin;
	return next;
}

/* ---- Programs -------------------------------------------------------------------------------- */

struct machine {
	const struct wti_cfi *cfi;
	const struct cie *cie;
	struct wti_cfi_row row;
	struct wti_cfi_row first; /* as the CIE leaves it */
	struct wti_cfi_row states[STATES_MAX];
	unsigned state_count;
	uint64_t address;
	uint64_t wanted;
	bool bad;
};

static void set_rule(struct machine *m, uint64_t number, uint8_t how, int64_t value)
{
	if (value < INT32_MIN || value > INT32_MAX)
		m->bad = true;
	else if (number < WTI_RAW_REGS)
		m->row.registers[number] =
			(struct wti_cfi_rule){.how = how, .value = (int32_t)value};
}

static void set_cfa(struct machine *m, uint64_t number, int64_t offset)
{
	if (number >= WTI_RAW_REGS || offset < INT32_MIN || offset > INT32_MAX) {
		m->bad = true;
		return;
	}
	m->row.cfa_is_expression = false;
	m->row.cfa_register = (uint8_t)number;
	m->row.cfa_value = (int32_t)offset;
}

static void take_expression(struct machine *m, struct wti_bytes *in, int32_t *ret_at,
			    uint16_t *ret_bytes)
{
	uint64_t bytes = wti_uleb(in);

	if (in->bad || bytes > UINT16_MAX || bytes > wti_bytes_left(in)) {
		m->bad = true;
		return;
	}
	*ret_at = (int32_t)(in->at - m->cfi->frames);
	*ret_bytes = (uint16_t)bytes;
	in->at += bytes;
}

static void set_expression(struct machine *m, struct wti_bytes *in, uint64_t number, uint8_t how)
{
	struct wti_cfi_rule rule = {.how = how};

	take_expression(m, in, &rule.value, &rule.bytes);
	if (number < WTI_RAW_REGS)
		m->row.registers[number] = rule;
}

static int64_t scaled(const struct machine *m, int64_t factor)
{
	int64_t value;

	return __builtin_mul_overflow(factor, m->cie->data_align, &value) ? INT64_MAX : value;
}

static void push(struct machine *m)
{
	if (m->state_count == STATES_MAX)
		m->bad = true;
	else
		m->states[m->state_count++] = m->row;
}

static void pop(struct machine *m)
{
	if (!m->state_count)
		m->bad = true;
	else
		m->row = m->states[--m->state_count];
}

static void restore(struct machine *m, uint64_t number)
{
	if (number < WTI_RAW_REGS)
		m->row.registers[number] = m->first.registers[number];
}

static void define_cfa(struct machine *m, struct wti_bytes *in, uint8_t op)
{
	uint64_t number = m->row.cfa_register;

	switch (op) {
	case 0x0c: /* def_cfa */
		number = wti_uleb(in);
		set_cfa(m, number, (int64_t)wti_uleb(in));
		break;
	case 0x0d: /* def_cfa_register */
		set_cfa(m, wti_uleb(in), m->row.cfa_value);
		break;
	case 0x0e: /* def_cfa_offset */
		set_cfa(m, number, (int64_t)wti_uleb(in));
		break;
	case 0x0f: /* def_cfa_expression */
		m->row.cfa_is_expression = true;
		take_expression(m, in, &m->row.cfa_value, &m->row.cfa_bytes);
		break;
	case 0x12: /* def_cfa_sf */
		number = wti_uleb(in);
		set_cfa(m, number, scaled(m, wti_sleb(in)));
		break;
	default: /* def_cfa_offset_sf */
		set_cfa(m, number, scaled(m, wti_sleb(in)));
	}
}

static void define_register(struct machine *m, struct wti_bytes *in, uint8_t op)
{
	uint64_t number = wti_uleb(in);

	switch (op) {
	case 0x05: /* offset_extended */
		set_rule(m, number, WTI_CFI_AT, scaled(m, (int64_t)wti_uleb(in)));
		break;
	case 0x06: /* restore_extended */
		restore(m, number);
		break;
	case 0x07: /* undefined */
		set_rule(m, number, WTI_CFI_UNDEFINED, 0);
		break;
	case 0x08: /* same_value */
		set_rule(m, number, WTI_CFI_SAME, 0);
		break;
	case 0x09: /* register */
		set_rule(m, number, WTI_CFI_MOVED, (int64_t)wti_uleb(in));
		break;
	case 0x10: /* expression */
		set_expression(m, in, number, WTI_CFI_EXPRESSION_AT);
		break;
	case 0x11: /* offset_extended_sf */
		set_rule(m, number, WTI_CFI_AT, scaled(m, wti_sleb(in)));
		break;
	case 0x14: /* val_offset */
		set_rule(m, number, WTI_CFI_IS, scaled(m, (int64_t)wti_uleb(in)));
		break;
	case 0x15: /* val_offset_sf */
		set_rule(m, number, WTI_CFI_IS, scaled(m, wti_sleb(in)));
		break;
	default: /* val_expression */
		set_expression(m, in, number, WTI_CFI_EXPRESSION_IS);
	}
}

/* Those that have no operand in the operation itself. */
static void extended(struct machine *m, struct wti_bytes *in, uint8_t op)
{
	switch (op) {
	case 0x00: /* nop */
	case 0x2d: /* of aarch64: the return address is signed; its upper bits are cut anyway */
		break;
	case 0x01: /* set_loc */
		m->address = pointer(m->cfi, in, m->cie->encoding);
		break;
	case 0x02: /* advance_loc1, 2, 4 */
		m->address += wti_bytes_u8(in) * m->cie->code_align;
		break;
	case 0x03:
		m->address += wti_bytes_u16(in) * m->cie->code_align;
		break;
	case 0x04:
		m->address += wti_bytes_u32(in) * m->cie->code_align;
		break;
	case 0x0a: /* remember_state */
		push(m);
		break;
	case 0x0b: /* restore_state */
		pop(m);
		break;
	case 0x2e: /* GNU_args_size */
		wti_uleb(in);
		break;
	default:
		if ((op >= 0x0c && op <= 0x0f) || op == 0x12 || op == 0x13)
			define_cfa(m, in, op);
		else if ((op >= 0x05 && op <= 0x11) || (op >= 0x14 && op <= 0x16))
			define_register(m, in, op);
		else
			m->bad = true;
	}
}

/* Up to the row that covers the wanted address. */
static bool run(struct machine *m, struct wti_bytes in)
{
	while (!m->bad && !in.bad && wti_bytes_left(&in)) {
		uint8_t op = wti_bytes_u8(&in), low = op & 0x3f;
		uint64_t before = m->address;

		if (op >> 6 == 1)
			m->address += low * m->cie->code_align;
		else if (op >> 6 == 2)
			set_rule(m, low, WTI_CFI_AT, scaled(m, (int64_t)wti_uleb(&in)));
		else if (op >> 6 == 3)
			restore(m, low);
		else
			extended(m, &in, op);
		if (m->address != before && m->address > m->wanted)
			return !m->bad && !in.bad;
	}
	return !m->bad && !in.bad;
}

static size_t index_of(const struct wti_cfi *cfi, uint64_t address)
{
	size_t low = 0, high = cfi->index_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (cfi->index[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool wti_cfi_find(const struct wti_cfi *cfi, uint64_t address, struct wti_cfi_row *ret_row)
{
	size_t place = index_of(cfi, address);
	struct machine m = {.cfi = cfi, .wanted = UINT64_MAX};
	struct fde fde;

	if (!place || !read_fde(cfi, cfi->index[place - 1].at, &fde) || address < fde.begin ||
	    address - fde.begin >= fde.bytes)
		return false;
	m.cie = &fde.cie;
	m.row.is_signal = fde.cie.is_signal;
	m.row.return_register = (uint8_t)fde.cie.return_register;
	if (!run(&m, (struct wti_bytes){.at = fde.cie.program, .end = fde.cie.end}))
		return false;
	m.first = m.row;
	m.address = fde.begin;
	m.wanted = address;
	if (!run(&m, fde.program))
		return false;
	*ret_row = m.row;
	return true;
}
