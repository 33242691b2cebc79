/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What differs between the interpreters, 3.9 to 3.14: where a thread stands, notes on code objects,
 * and how a Python function is made to call us. The extension is built for each interpreter against
 * its own headers, so that layouts are the compiler's business.
 */
#ifndef WTI_PYTHON_COMPAT_H
#define WTI_PYTHON_COMPAT_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#if PY_VERSION_HEX < 0x03090000 || PY_VERSION_HEX >= 0x030f0000
#error "wheeltap's Python agent knows CPython 3.9 to 3.14"
#endif
#ifdef Py_GIL_DISABLED
#error "wheeltap's Python agent needs an interpreter with a global lock"
#endif

#include <frameobject.h>
#include <opcode.h>
#include <stdbool.h>
#include <structmember.h>

#if PY_VERSION_HEX >= 0x030b0000
#define Py_BUILD_CORE 1
#if PY_VERSION_HEX >= 0x030e0000
#include <internal/pycore_interpframe.h>
#else
#include <internal/pycore_frame.h>
#endif
#undef Py_BUILD_CORE
#endif

/* Tracers, profilers and tools of sys.monitoring are emitted nothing of this thread in between. */
#if PY_VERSION_HEX >= 0x030b0000
static inline void wti_tracing_off(PyThreadState *thread)
{
	PyThreadState_EnterTracing(thread);
}

static inline void wti_tracing_on(PyThreadState *thread)
{
	PyThreadState_LeaveTracing(thread);
}
#else
static inline void wti_tracing_off(PyThreadState *thread)
{
	thread->tracing++;
}

static inline void wti_tracing_on(PyThreadState *thread)
{
	thread->tracing--;
}
#endif

/* A place in the running program: a code object, borrowed, and a byte offset into it. */
struct wti_place {
	PyCodeObject *code; /* NULL: no Python frame below us */
	int offset;
};

#if PY_VERSION_HEX >= 0x030b0000
/* Frames of the interpreter's own between those of code: they have no place. */
static inline struct _PyInterpreterFrame *wti_frame_of_code(struct _PyInterpreterFrame *frame)
{
#if PY_VERSION_HEX >= 0x030e0000
	while (frame && frame->owner >= FRAME_OWNED_BY_INTERPRETER)
		frame = frame->previous;
#elif PY_VERSION_HEX >= 0x030c0000
	while (frame && frame->owner == FRAME_OWNED_BY_CSTACK)
		frame = frame->previous;
#endif
	return frame;
}

static inline struct _PyInterpreterFrame *wti_frame_here(PyThreadState *thread)
{
#if PY_VERSION_HEX >= 0x030d0000
	return wti_frame_of_code(thread->current_frame);
#else
	return wti_frame_of_code(thread->cframe->current_frame);
#endif
}

/* What a variable of a frame refers to, borrowed. From 3.14 on, a bit of the pointer says who owns
 * it. */
#if PY_VERSION_HEX >= 0x030e0000
static inline PyObject *wti_variable(_PyStackRef variable)
{
	return PyStackRef_IsNull(variable) ? NULL : PyStackRef_AsPyObjectBorrow(variable);
}
#else
static inline PyObject *wti_variable(PyObject *variable)
{
	return variable;
}
#endif

/* NULL: it runs no code. */
static inline PyCodeObject *wti_code_of(struct _PyInterpreterFrame *frame)
{
#if PY_VERSION_HEX >= 0x030e0000
	PyObject *code = wti_variable(frame->f_executable);
#elif PY_VERSION_HEX >= 0x030d0000
	PyObject *code = frame->f_executable;
#else
	PyObject *code = (PyObject *)frame->f_code;
#endif

	return code && PyCode_Check(code) ? (PyCodeObject *)code : NULL;
}

/*
 * Code of the interpreter's own that stands between a class and its __init__: in memory that is not
 * to be written, so that no note can be made on it. It has one word for all that it is called.
 */
static inline bool wti_code_is_step(PyCodeObject *code)
{
#if PY_VERSION_HEX >= 0x030c0000
	return code->co_filename == code->co_name && _Py_IsImmortal((PyObject *)code);
#else
	return false;
#endif
}

static inline struct wti_place wti_place_of(struct _PyInterpreterFrame *frame)
{
	struct wti_place place = {0};

	place.code = frame ? wti_code_of(frame) : NULL;
	if (!place.code)
		return place;
	if (wti_code_is_step(place.code))
		place.code = NULL;
	place.offset = _PyInterpreterFrame_LASTI(frame) * (int)sizeof(_Py_CODEUNIT);
	return place;
}
#else
static inline PyFrameObject *wti_frame_here(PyThreadState *thread)
{
	return thread->frame;
}

static inline struct wti_place wti_place_of(PyFrameObject *frame)
{
	struct wti_place place = {0};

	if (!frame)
		return place;
	place.code = frame->f_code;
	place.offset = frame->f_lasti;
#if PY_VERSION_HEX >= 0x030a0000
	place.offset *= (int)sizeof(_Py_CODEUNIT);
#endif
	return place;
}
#endif

/* The frame that called this one; its first argument, borrowed, or NULL. */
#if PY_VERSION_HEX >= 0x030b0000
typedef struct _PyInterpreterFrame wti_frame;

static inline wti_frame *wti_frame_back(wti_frame *frame)
{
	return wti_frame_of_code(frame->previous);
}

static inline PyObject *wti_frame_first(wti_frame *frame)
{
	struct wti_place place = wti_place_of(frame);

	return place.code && place.code->co_argcount > 0 ? wti_variable(frame->localsplus[0])
							 : NULL;
}

#if PY_VERSION_HEX < 0x030c0000
static inline PyObject *const *wti_frame_locals(wti_frame *frame)
{
	return frame->localsplus;
}

static inline PyObject *wti_frame_globals(wti_frame *frame)
{
	return frame->f_globals;
}

static inline PyCodeObject *wti_frame_code(wti_frame *frame)
{
	return frame->f_code;
}

/* It goes on where it stopped. */
static inline bool wti_frame_is_generator(wti_frame *frame)
{
	return frame->owner == FRAME_OWNED_BY_GENERATOR;
}
#endif
#else
typedef PyFrameObject wti_frame;

static inline wti_frame *wti_frame_back(wti_frame *frame)
{
	return frame->f_back;
}

static inline PyObject *wti_frame_first(wti_frame *frame)
{
	return frame->f_code->co_argcount > 0 ? frame->f_localsplus[0] : NULL;
}

static inline PyObject *const *wti_frame_locals(wti_frame *frame)
{
	return frame->f_localsplus;
}

static inline PyObject *wti_frame_globals(wti_frame *frame)
{
	return frame->f_globals;
}

static inline PyCodeObject *wti_frame_code(wti_frame *frame)
{
	return frame->f_code;
}

static inline bool wti_frame_is_generator(wti_frame *frame)
{
	return frame->f_gen != NULL;
}
#endif

static inline struct wti_place wti_place_here(void)
{
	return wti_place_of(wti_frame_here(PyThreadState_Get()));
}

/* Bytes of instructions. */
static inline size_t wti_code_bytes(PyCodeObject *code)
{
#if PY_VERSION_HEX >= 0x030b0000
	return (size_t)Py_SIZE(code) * sizeof(_Py_CODEUNIT);
#else
	return (size_t)PyBytes_GET_SIZE(code->co_code);
#endif
}

static inline const unsigned char *wti_code_instructions(PyCodeObject *code)
{
#if PY_VERSION_HEX >= 0x030b0000
	return (const unsigned char *)code->co_code_adaptive;
#else
	return (const unsigned char *)PyBytes_AS_STRING(code->co_code);
#endif
}

/* True if what runs at this place is f(..., **names), whether or not there is a name in it. */
static inline bool wti_place_gives_dict(struct wti_place place)
{
	const unsigned char *at =
		place.code && place.offset >= 0 ? wti_code_instructions(place.code) : NULL;

#if PY_VERSION_HEX >= 0x030e0000
	/* There always is a place for it; nothing is put there where the source has no **names. */
	if (!at || place.offset < 2 || at[place.offset - 2] == PUSH_NULL)
		return false;
#else
	if (!at || !(at[place.offset + 1] & 1))
		return false;
#endif
#ifdef INSTRUMENTED_CALL_FUNCTION_EX
	if (at[place.offset] == INSTRUMENTED_CALL_FUNCTION_EX)
		return true;
#endif
	return at[place.offset] == CALL_FUNCTION_EX;
}

#if PY_VERSION_HEX >= 0x030c0000
#define wti_code_extra_get(code, index, ret)                                                       \
	PyUnstable_Code_GetExtra((PyObject *)(code), index, ret)
#define wti_code_extra_set(code, index, extra)                                                     \
	PyUnstable_Code_SetExtra((PyObject *)(code), index, extra)
#define wti_code_extra_index(release) PyUnstable_Eval_RequestCodeExtraIndex(release)
#else
#define wti_code_extra_get(code, index, ret) _PyCode_GetExtra((PyObject *)(code), index, ret)
#define wti_code_extra_set(code, index, extra) _PyCode_SetExtra((PyObject *)(code), index, extra)
#define wti_code_extra_index(release) _PyEval_RequestCodeExtraIndex(release)
#endif

/* The names of parameters; borrowed. NULL: there are none. */
static inline PyObject *wti_code_parameters(PyCodeObject *code)
{
#if PY_VERSION_HEX >= 0x030b0000
	return code->co_localsplusnames;
#else
	return code->co_varnames;
#endif
}

#endif
