/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The machine that pickles, protocols 0 to 5, are programs of, as a table of its opcodes. Every one
 * of them only moves inert values between stack and memo. Numbers and texts are in
 * pickle_literals.c, names and calls in pickle_call.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "model/torch/pickle_machine.h"

/* ---- The stack ------------------------------------------------------------------------------ */

static int op_mark(struct wti_pickle_machine *machine)
{
	return wti_pickle_push(machine, &machine->mark);
}

static int op_pop(struct wti_pickle_machine *machine)
{
	if (!machine->count)
		return wti_pickle_underflow(machine);
	machine->count--;
	return 0;
}

static int op_pop_mark(struct wti_pickle_machine *machine)
{
	int64_t place = wti_pickle_mark(machine);

	if (place < 0)
		return wti_pickle_underflow(machine);
	machine->count = (size_t)place - 1;
	return 0;
}

static int op_dup(struct wti_pickle_machine *machine)
{
	struct wti_pickle_value *top = wti_pickle_top(machine);

	return top ? wti_pickle_push(machine, top) : wti_pickle_underflow(machine);
}

/* ---- The memo ------------------------------------------------------------------------------- */

/* Python numbers them without gaps, so the number is below the bytes that were read. */
static int put(struct wti_pickle_machine *machine, uint64_t number)
{
	struct wti_pickle_value *top = wti_pickle_top(machine);
	int r;

	if (machine->in.bad)
		return wti_pickle_cut(machine);
	if (!top)
		return wti_pickle_underflow(machine);
	if (number > (uint64_t)(machine->in.at - machine->begin))
		return wti_pickle_bad(machine, WT_E_LIMIT, "numbers its values with gaps: refused");
	r = wti_grow_zeroed(&machine->memo, (size_t)number + 1, &machine->memo_capacity,
			    WTI_PICKLE_MEMO_MAX);
	if (r)
		return wti_pickle_full(machine, r);
	machine->memo[number] = top;
	if (number >= machine->memo_count)
		machine->memo_count = (size_t)number + 1;
	return 0;
}

static int get(struct wti_pickle_machine *machine, uint64_t number)
{
	if (machine->in.bad)
		return wti_pickle_cut(machine);
	if (number >= machine->memo_count || !machine->memo[number])
		return wti_pickle_bad(machine, WT_E_FORMAT,
				      "refers to a value that was not kept: it is damaged");
	return wti_pickle_push(machine, machine->memo[number]);
}

static int op_binput(struct wti_pickle_machine *machine)
{
	return put(machine, wti_pickle_take_number(machine, 1));
}

static int op_long_binput(struct wti_pickle_machine *machine)
{
	return put(machine, wti_pickle_take_number(machine, 4));
}

static int op_memoize(struct wti_pickle_machine *machine)
{
	return put(machine, machine->memo_count);
}

static int op_binget(struct wti_pickle_machine *machine)
{
	return get(machine, wti_pickle_take_number(machine, 1));
}

static int op_long_binget(struct wti_pickle_machine *machine)
{
	return get(machine, wti_pickle_take_number(machine, 4));
}

/* The number as a line. */
static int take_memo_line(struct wti_pickle_machine *machine, uint64_t *ret)
{
	int r = wti_pickle_int(machine);
	const struct wti_pickle_value *number = r ? NULL : wti_pickle_pop(machine);

	if (r)
		return r;
	if (!wti_pickle_u64(number, ret))
		return wti_pickle_bad(machine, WT_E_FORMAT, "has a malformed number");
	return 0;
}

static int op_put(struct wti_pickle_machine *machine)
{
	uint64_t number = 0;
	int r = take_memo_line(machine, &number);

	return r ? r : put(machine, number);
}

static int op_get(struct wti_pickle_machine *machine)
{
	uint64_t number = 0;
	int r = take_memo_line(machine, &number);

	return r ? r : get(machine, number);
}

/* ---- Containers ----------------------------------------------------------------------------- */

static int op_empty_tuple(struct wti_pickle_machine *machine)
{
	return wti_pickle_push_new(machine, WTI_PICKLE_TUPLE);
}

static int op_empty_list(struct wti_pickle_machine *machine)
{
	return wti_pickle_push_new(machine, WTI_PICKLE_LIST);
}

static int op_empty_dict(struct wti_pickle_machine *machine)
{
	return wti_pickle_push_new(machine, WTI_PICKLE_DICT);
}

static int op_empty_set(struct wti_pickle_machine *machine)
{
	return wti_pickle_push_new(machine, WTI_PICKLE_SET);
}

static int push_gathered(struct wti_pickle_machine *machine, size_t place, uint8_t type)
{
	struct wti_pickle_value *made = NULL;
	int r = wti_pickle_gather(machine, place, type, &made);

	return r ? r : wti_pickle_push(machine, made);
}

static int push_marked(struct wti_pickle_machine *machine, uint8_t type)
{
	int64_t place = wti_pickle_mark(machine);
	struct wti_pickle_value *made = NULL;
	int r;

	if (place < 0)
		return wti_pickle_underflow(machine);
	r = wti_pickle_gather(machine, (size_t)place, type, &made);
	if (r)
		return r;
	machine->count--; /* the mark */
	if (type == WTI_PICKLE_DICT && made->count % 2)
		return wti_pickle_underflow(machine);
	return wti_pickle_push(machine, made);
}

static int op_tuple(struct wti_pickle_machine *machine)
{
	return push_marked(machine, WTI_PICKLE_TUPLE);
}

static int op_list(struct wti_pickle_machine *machine)
{
	return push_marked(machine, WTI_PICKLE_LIST);
}

static int op_dict(struct wti_pickle_machine *machine)
{
	return push_marked(machine, WTI_PICKLE_DICT);
}

static int op_frozenset(struct wti_pickle_machine *machine)
{
	return push_marked(machine, WTI_PICKLE_SET);
}

/* TUPLE1 to TUPLE3 */
static int op_small_tuple(struct wti_pickle_machine *machine)
{
	size_t count = *machine->opcode - 0x84u;

	if (machine->count < count)
		return wti_pickle_underflow(machine);
	return push_gathered(machine, machine->count - count, WTI_PICKLE_TUPLE);
}

/* Adds what lies above `place` to the container below it. */
static int add(struct wti_pickle_machine *machine, size_t place, size_t above, uint8_t type)
{
	struct wti_pickle_value *to;

	if (place < above + 1 || machine->stack[place - above - 1]->type == WTI_PICKLE_MARK)
		return wti_pickle_underflow(machine);
	to = machine->stack[place - above - 1];
	if (to->type != type && to->type != WTI_PICKLE_INSTANCE)
		return wti_pickle_bad(machine, WT_E_FORMAT,
				      "adds items to what is not a container of them");
	if (type == WTI_PICKLE_DICT && (machine->count - place) % 2)
		return wti_pickle_underflow(machine);
	for (size_t i = place; i < machine->count; i++) {
		int r = machine->stack[i]->type == WTI_PICKLE_MARK
				? wti_pickle_underflow(machine)
				: wti_pickle_append(machine, to, machine->stack[i]);

		if (r)
			return r;
	}
	machine->count = place - above;
	return 0;
}

static int add_marked(struct wti_pickle_machine *machine, uint8_t type)
{
	int64_t place = wti_pickle_mark(machine);

	return place < 0 ? wti_pickle_underflow(machine) : add(machine, (size_t)place, 1, type);
}

static int op_append(struct wti_pickle_machine *machine)
{
	return machine->count < 2 ? wti_pickle_underflow(machine)
				  : add(machine, machine->count - 1, 0, WTI_PICKLE_LIST);
}

static int op_setitem(struct wti_pickle_machine *machine)
{
	return machine->count < 3 ? wti_pickle_underflow(machine)
				  : add(machine, machine->count - 2, 0, WTI_PICKLE_DICT);
}

static int op_appends(struct wti_pickle_machine *machine)
{
	return add_marked(machine, WTI_PICKLE_LIST);
}

static int op_setitems(struct wti_pickle_machine *machine)
{
	return add_marked(machine, WTI_PICKLE_DICT);
}

static int op_additems(struct wti_pickle_machine *machine)
{
	return add_marked(machine, WTI_PICKLE_SET);
}

/* ---- Names, calls, instances ---------------------------------------------------------------- */

static int op_global(struct wti_pickle_machine *machine)
{
	size_t module_bytes = 0, name_bytes = 0;
	const char *module = wti_pickle_take_line(machine, &module_bytes);
	const char *name = module ? wti_pickle_take_line(machine, &name_bytes) : NULL;

	if (!name)
		return wti_pickle_cut(machine);
	return wti_pickle_push_name(machine, module, module_bytes, name, name_bytes);
}

static int op_stack_global(struct wti_pickle_machine *machine)
{
	const struct wti_pickle_value *name = wti_pickle_pop(machine);
	const struct wti_pickle_value *module = name ? wti_pickle_pop(machine) : NULL;

	if (!module)
		return wti_pickle_underflow(machine);
	if (name->type != WTI_PICKLE_TEXT || module->type != WTI_PICKLE_TEXT)
		return wti_pickle_bad(machine, WT_E_FORMAT,
				      "wants something by a name that it computes: refused; "
				      "nothing was executed");
	return wti_pickle_push_name(machine, module->text, module->bytes, name->text, name->bytes);
}

static int op_reduce(struct wti_pickle_machine *machine)
{
	struct wti_pickle_value *arguments = wti_pickle_pop(machine);
	struct wti_pickle_value *callee = arguments ? wti_pickle_pop(machine) : NULL;

	return wti_pickle_call(machine, callee, arguments);
}

static int op_newobj(struct wti_pickle_machine *machine)
{
	struct wti_pickle_value *arguments = wti_pickle_pop(machine);
	struct wti_pickle_value *class = arguments ? wti_pickle_pop(machine) : NULL;

	return wti_pickle_new_instance(machine, class, arguments);
}

/* With arguments by name, which only a call of the program's own code could make sense of. */
static int op_newobj_ex(struct wti_pickle_machine *machine)
{
	struct wti_pickle_value *names = wti_pickle_pop(machine);

	if (!names)
		return wti_pickle_underflow(machine);
	if (names->type != WTI_PICKLE_DICT || names->count) {
		struct wti_pickle_value *class;

		wti_pickle_pop(machine);
		class = wti_pickle_pop(machine);
		return wti_pickle_bad(machine, WT_E_FORMAT,
				      "wants to call '%s' with arguments by name: refused; "
				      "nothing was executed",
				      class && class->type == WTI_PICKLE_NAME ? class->text : "?");
	}
	return op_newobj(machine);
}

/* INST: the name is in the opcode, the arguments lie above the mark. */
static int op_inst(struct wti_pickle_machine *machine)
{
	struct wti_pickle_value *arguments, *class;
	int r = op_tuple(machine);

	arguments = r ? NULL : wti_pickle_pop(machine);
	r = r ? r : op_global(machine);
	if (r)
		return r;
	class = wti_pickle_pop(machine);
	return wti_pickle_call(machine, class, arguments);
}

/* OBJ: the class is the first above the mark. */
static int op_obj(struct wti_pickle_machine *machine)
{
	struct wti_pickle_value *arguments, *class;
	int r = op_tuple(machine);

	arguments = r ? NULL : wti_pickle_pop(machine);
	if (r)
		return r;
	if (!arguments->count)
		return wti_pickle_underflow(machine);
	class = arguments->items[0];
	arguments->items++;
	arguments->count--;
	arguments->capacity = arguments->count;
	return wti_pickle_call(machine, class, arguments);
}

static int op_build(struct wti_pickle_machine *machine)
{
	struct wti_pickle_value *state = wti_pickle_pop(machine);

	return wti_pickle_build(machine, wti_pickle_top(machine), state);
}

static int op_extension(struct wti_pickle_machine *machine)
{
	return wti_pickle_bad(machine, WT_E_FORMAT,
			      "wants a name out of the registry of extensions (copyreg): refused; "
			      "nothing was executed");
}

static int op_buffer(struct wti_pickle_machine *machine)
{
	return wti_pickle_bad(machine, WT_E_FORMAT,
			      "has bytes that are not in the file (out-of-band buffers): save it "
			      "without buffer_callback");
}

/* ---- Things outside of the pickle ----------------------------------------------------------- */

static int push_persistent(struct wti_pickle_machine *machine, struct wti_pickle_value *id)
{
	int r;

	if (!id)
		return wti_pickle_underflow(machine);
	/* ('module', class, file, source) of torch.save() before 1.6: the class. */
	if (id->type == WTI_PICKLE_TUPLE && wti_pickle_item(id, 1, WTI_PICKLE_NAME) &&
	    wti_pickle_is_text(id->items[0], "module"))
		return wti_pickle_push(machine, id->items[1]);
	r = wti_pickle_push_new(machine, WTI_PICKLE_PERSISTENT);
	if (r)
		return r;
	wti_pickle_top(machine)->arguments = id;
	wti_pickle_top(machine)->state = machine->pickle->persistent;
	machine->pickle->persistent = wti_pickle_top(machine);
	return 0;
}

static int op_binpersid(struct wti_pickle_machine *machine)
{
	return push_persistent(machine, wti_pickle_pop(machine));
}

static int op_persid(struct wti_pickle_machine *machine)
{
	int r = wti_pickle_line(machine);

	return r ? r : push_persistent(machine, wti_pickle_pop(machine));
}

/* ---- The machine ---------------------------------------------------------------------------- */

/* clang-format off */
static wti_pickle_operation *const operations[256] = {
	['('] = op_mark,
	['0'] = op_pop,
	['1'] = op_pop_mark,
	['2'] = op_dup,
	['Q'] = op_binpersid,
	['R'] = op_reduce,
	['a'] = op_append,
	['b'] = op_build,
	['c'] = op_global,
	['d'] = op_dict,
	['}'] = op_empty_dict,
	['e'] = op_appends,
	['g'] = op_get,
	['h'] = op_binget,
	['i'] = op_inst,
	['j'] = op_long_binget,
	['l'] = op_list,
	[']'] = op_empty_list,
	['o'] = op_obj,
	['p'] = op_put,
	['q'] = op_binput,
	['r'] = op_long_binput,
	['s'] = op_setitem,
	['t'] = op_tuple,
	[')'] = op_empty_tuple,
	['u'] = op_setitems,
	[0x81] = op_newobj,
	[0x82] = op_extension,
	[0x83] = op_extension,
	[0x84] = op_extension,
	[0x85] = op_small_tuple,
	[0x86] = op_small_tuple,
	[0x87] = op_small_tuple,
	[0x90] = op_additems,
	[0x91] = op_frozenset,
	[0x92] = op_newobj_ex,
	[0x93] = op_stack_global,
	[0x94] = op_memoize,
	[0x97] = op_buffer,
	[0x98] = op_buffer,
	['P'] = op_persid,
	[0x8f] = op_empty_set,
};
/* clang-format on */

static int run(struct wti_pickle_machine *machine)
{
	for (;;) {
		wti_pickle_operation *operate;
		int r;

		machine->opcode = machine->in.at;
		if (machine->in.at == machine->in.end)
			return wti_pickle_cut(machine);
		machine->in.at++;
		if (*machine->opcode == '.')
			break;
		operate = wti_pickle_literals[*machine->opcode];
		if (!operate)
			operate = operations[*machine->opcode];
		if (!operate)
			return wti_pickle_bad(machine, WT_E_FORMAT,
					      "0x%02x is not an opcode of pickle: this is not a "
					      "pickle, or it is damaged",
					      *machine->opcode);
		r = operate(machine);
		if (r)
			return r;
	}
	if (machine->count != 1 || !wti_pickle_top(machine))
		return wti_pickle_underflow(machine);
	machine->pickle->root = wti_pickle_top(machine);
	machine->pickle->used = (size_t)(machine->in.at - machine->begin);
	return 0;
}

int wti_pickle_open(struct wti_pickle *pickle, const char *path, uint64_t offset,
		    const uint8_t *data, size_t bytes, struct wt_err *err)
{
	struct wti_pickle_machine machine = {.pickle = pickle,
					     .in = {data, data + bytes, false},
					     .begin = data,
					     .mark = {.type = WTI_PICKLE_MARK},
					     .err = err};
	int r;

	*pickle = (struct wti_pickle){.path = path, .offset = offset};
	wti_arena_init(&pickle->arena, WTI_PICKLE_ARENA_MAX);
	r = run(&machine);
	free(machine.stack);
	free(machine.memo);
	if (r)
		wti_pickle_release(pickle);
	return r;
}

void wti_pickle_release(struct wti_pickle *pickle)
{
	wti_arena_release(&pickle->arena);
	*pickle = (struct wti_pickle){0};
}
