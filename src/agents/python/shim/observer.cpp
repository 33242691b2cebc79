/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Watches what torch runs, through its observers (RecordFunction). An observer sees operators, but
 * touches nothing: no hook of a tensor, a gradient or a communication, which would change order and
 * numerics. Inputs are never asked for: torch would hold them for it, and the engine decides by the
 * number of holders whether a gradient may be used in place.
 *
 * What stands between a begin and its end is kept in a stack of the thread, so that nothing is
 * allocated. Whatever is deeper than the stack is not emitted.
 */
#include "internal.h"

#include <ATen/SequenceNumber.h>
#include <ATen/core/function_schema.h>
#include <ATen/core/ivalue.h>
#include <ATen/record_function.h>

#include <exception>

namespace
{

constexpr uint32_t DEPTH_MAX = 512;
constexpr uint32_t KNOWN = 512; /* operators whose returns are known; a power of two */

struct frame {
	wti_shim_emitted emitted;
	uint64_t sequence; /* of the next node, when it began */
	int exceptions;    /* on their way when it began */
	bool is_backward;
	bool is_outer;     /* the outermost operator within a node */
	bool is_outermost; /* the same, or within no operator at all */
	bool is_region;
	const char *name; /* torch's own, while it runs */
};

struct stack {
	uint32_t depth; /* may exceed DEPTH_MAX */
	frame frames[DEPTH_MAX];
};

/* Whether an operator returns views, by the address of its name, which lives as long as it does. */
struct known_operator {
	const char *name;
	bool is_view;
};

struct observer {
	const wti_shim_host *host;
	uint32_t what;
	at::CallbackHandle handles[2]; /* without outputs; with them */
};

observer state;
/* Zero to begin with and without a destructor: nothing runs when a thread begins or ends. */
thread_local stack frames_of_thread;
thread_local known_operator known_of_thread[KNOWN];

uint32_t scope_of(at::RecordScope scope)
{
	switch (scope) {
	case at::RecordScope::BACKWARD_FUNCTION:
		return WT_OPERATOR_SCOPE_BACKWARD;
	case at::RecordScope::USER_SCOPE:
		return WT_OPERATOR_SCOPE_REGION;
	default:
		return WT_OPERATOR_SCOPE_FUNCTION;
	}
}

wti_shim_operator describe(const at::RecordFunction &fn)
{
	wti_shim_operator op = {};

	op.name = fn.name();
	op.scope = scope_of(fn.scope());
	op.thread = fn.forwardThreadId();
	op.sequence = fn.seqNr();
	return op;
}

/* What of it is emitted; noise alone needs no records. */
bool is_emitted(uint32_t scope)
{
	if (scope == WT_OPERATOR_SCOPE_BACKWARD)
		return state.what & WTI_SHIM_BACKWARD;
	if (scope == WT_OPERATOR_SCOPE_REGION)
		return state.what & WTI_SHIM_REGIONS;
	return state.what & WTI_SHIM_OPERATORS;
}

void push(stack &stack, const at::RecordFunction &fn)
{
	const wti_shim_operator op = describe(fn);
	const frame *outer = stack.depth ? &stack.frames[stack.depth - 1] : nullptr;
	frame &frame = stack.frames[stack.depth];

	frame.emitted.name = nullptr;
	if (is_emitted(op.scope))
		state.host->begin(&op, &frame.emitted);
	frame.sequence = at::sequence_number::peek();
	frame.exceptions = std::uncaught_exceptions();
	frame.is_backward = op.scope == WT_OPERATOR_SCOPE_BACKWARD;
	frame.is_outer = !frame.is_backward && outer && outer->is_backward;
	frame.is_outermost = op.scope == WT_OPERATOR_SCOPE_FUNCTION &&
			     (!outer || outer->is_backward || outer->is_region);
	frame.is_region = op.scope == WT_OPERATOR_SCOPE_REGION;
	frame.name = op.name;
}

std::unique_ptr<at::ObserverContext> on_start(const at::RecordFunction &fn) noexcept
{
	if (fn.isAsync()) {
		state.host->async(fn.name(), false, fn.handle());
		return nullptr;
	}
	stack &stack = frames_of_thread;

	if (stack.depth < DEPTH_MAX)
		push(stack, fn);
	stack.depth++;
	return nullptr;
}

void emit_output(const frame &frame, const at::Tensor &tensor, uint32_t position)
{
	wti_shim_tensor seen;

	if (tensor.defined() && wti::look(tensor.unsafeGetTensorImpl(), &seen))
		state.host->output(&frame.emitted, &seen, position);
}

void emit_outputs(const frame &frame, const std::vector<c10::IValue> &outputs)
{
	uint32_t position = 0;

	for (const c10::IValue &output : outputs) {
		if (output.isTensor()) {
			emit_output(frame, output.toTensor(), position++);
		} else if (output.isTensorList()) {
			for (const at::Tensor &tensor : output.toTensorVector())
				emit_output(frame, tensor, position++);
		}
	}
}

/* Torch copies its description for us: once for each operator of a thread, most often. */
bool returns_view(const at::RecordFunction &fn)
{
	const char *name = fn.name();
	known_operator &known = known_of_thread[(reinterpret_cast<uintptr_t>(name) >> 4) % KNOWN];

	if (known.name == name)
		return known.is_view;
	const auto schema = fn.operator_schema();

	known.name = name;
	known.is_view = false;
	if (schema.has_value())
		for (const c10::Argument &result : schema->returns())
			known.is_view |= result.alias_info() && !result.alias_info()->isWrite();
	return known.is_view;
}

void perturb_output(const char *node, const char *op, const at::Tensor &tensor, uint32_t position)
{
	wti_shim_tensor seen;

	if (tensor.defined() && wti::look(tensor.unsafeGetTensorImpl(), &seen))
		state.host->perturb(node, op, &seen, position);
}

void perturb_outputs(const frame *outer, const at::RecordFunction &fn)
{
	const char *node = outer ? outer->name : "";
	uint32_t position = 0;

	if (!state.host->perturb || returns_view(fn))
		return;
	for (const c10::IValue &output : fn.outputs()) {
		if (output.isTensor()) {
			perturb_output(node, fn.name(), output.toTensor(), position++);
		} else if (output.isTensorList()) {
			for (const at::Tensor &tensor : output.toTensorVector())
				perturb_output(node, fn.name(), tensor, position++);
		}
	}
}

void pop(const frame &frame, const struct frame *outer, const at::RecordFunction &fn,
	 bool has_outputs)
{
	const uint64_t sequence = at::sequence_number::peek();

	if (has_outputs && frame.is_outermost && state.what & WTI_SHIM_NOISE)
		perturb_outputs(outer, fn);
	if (!frame.emitted.name)
		return;
	if (sequence > frame.sequence)
		state.host->nodes(&frame.emitted, frame.sequence, sequence);
	if (has_outputs && frame.is_outer && state.what & WTI_SHIM_OUTPUTS)
		emit_outputs(frame, fn.outputs());
	state.host->end(&frame.emitted, std::uncaught_exceptions() > frame.exceptions);
}

void finish(const at::RecordFunction &fn, bool has_outputs)
{
	if (fn.isAsync()) {
		state.host->async(fn.name(), true, fn.handle());
		return;
	}
	stack &stack = frames_of_thread;

	if (stack.depth == 0) /* begun on another thread: there is nothing to end here */
		return;
	if (--stack.depth < DEPTH_MAX)
		pop(stack.frames[stack.depth],
		    stack.depth ? &stack.frames[stack.depth - 1] : nullptr, fn, has_outputs);
}

void on_end(const at::RecordFunction &fn, at::ObserverContext *) noexcept
{
	finish(fn, false);
}

void on_end_with_outputs(const at::RecordFunction &fn, at::ObserverContext *) noexcept
{
	finish(fn, true);
}

using scope_set = std::unordered_set<at::RecordScope, std::hash<at::RecordScope>>;

void add(at::CallbackHandle &handle, const scope_set &scopes, bool with_outputs)
{
	at::RecordFunctionCallback callback(on_start, with_outputs ? on_end_with_outputs : on_end);

	if (scopes.empty()) /* to torch that would mean: all */
		return;
	callback.scopes(scopes).needsOutputs(with_outputs).needsIds(true);
	handle = at::addGlobalCallback(callback);
}

void remove(at::CallbackHandle &handle)
{
	if (handle != at::INVALID_CALLBACK_HANDLE)
		at::removeCallback(handle);
	handle = at::INVALID_CALLBACK_HANDLE;
}

} // namespace

bool wti::watch(const wti_shim_host *host, uint32_t what) noexcept
{
	const bool with_outputs = what & (WTI_SHIM_OUTPUTS | WTI_SHIM_NOISE);
	scope_set plain;

	if (what == state.what)
		return true;
	try {
		remove(state.handles[0]);
		remove(state.handles[1]);
		state.host = host;
		state.what = what;
		if (what & (WTI_SHIM_BACKWARD | WTI_SHIM_NOISE))
			plain.insert(at::RecordScope::BACKWARD_FUNCTION);
		if (what & WTI_SHIM_REGIONS)
			plain.insert(at::RecordScope::USER_SCOPE);
		if (what & WTI_SHIM_OPERATORS && !with_outputs)
			plain.insert(at::RecordScope::FUNCTION);
		add(state.handles[0], plain, false);
		if (with_outputs && what & (WTI_SHIM_OPERATORS | WTI_SHIM_NOISE))
			add(state.handles[1], {at::RecordScope::FUNCTION}, true);
	} catch (...) {
		state.what = 0;
		return false;
	}
	return true;
}

uint64_t wti::sequence() noexcept
{
	return at::sequence_number::peek();
}

uint64_t wti::thread() noexcept
{
	return at::RecordFunction::currentThreadId();
}
