# SPDX-License-Identifier: Apache-2.0
"""What a train() of the program's own does besides switching the mode: read from its code, which is not run."""

from __future__ import annotations

import dis
from types import CodeType, FunctionType
from typing import Any, Iterator

FREEZING = {"requires_grad", "requires_grad_", "eval"}
CODES_MAX = 64  # that are looked through
CALLS_MAX = 3  # deep


def _function(thing: Any) -> FunctionType | None:
    """A function, or what a decorator of it has wrapped; nothing else is asked for anything."""
    for _ in range(8):
        inner = vars(thing).get("__wrapped__") if isinstance(thing, FunctionType) else None
        if not isinstance(inner, FunctionType):
            break
        thing = inner
    return thing if isinstance(thing, FunctionType) else None


def _is_of_torch(function: FunctionType) -> bool:
    return (function.__module__ or "").partition(".")[0] == "torch"


def _codes(function: FunctionType) -> Iterator[CodeType]:
    """The code of a function and of those inside of it."""
    waiting = [function.__code__]
    while waiting:
        code = waiting.pop()
        yield code
        waiting.extend(constant for constant in code.co_consts if isinstance(constant, CodeType))


def _called(kind: type, function: FunctionType) -> Iterator[FunctionType]:
    """Methods of the class, and functions of the same file, that it may call by their names."""
    for name in {name for code in _codes(function) for name in code.co_names}:
        for method in (_function(vars(base).get(name)) for base in kind.__mro__):
            if method is not None:
                yield method
        near = _function(function.__globals__.get(name))
        if near is not None and near.__module__ == function.__module__:
            yield near


def _gives_false(code: CodeType) -> bool:
    """x.train(False)"""
    if "train" not in code.co_names or False not in code.co_consts:
        return False
    steps = [(step.opname, step.argval) for step in dis.get_instructions(code)
             if step.opname not in ("CACHE", "PRECALL", "PUSH_NULL", "EXTENDED_ARG")]
    return any(value == "train" and after[0] == "LOAD_CONST" and after[1] is False
               for (_, value), after in zip(steps, steps[1:]))


def freezes(kind: type) -> bool:
    """Whether a class's train(), or what it calls, freezes parameters or puts parts of the module into evaluation mode."""
    first = _function(getattr(kind, "train", None))
    waiting = [(first, 0)] if first is not None else []
    seen: set[int] = set()
    while waiting and len(seen) < CODES_MAX:
        function, depth = waiting.pop(0)
        if id(function) in seen or _is_of_torch(function):
            continue
        seen.add(id(function))
        if any(FREEZING & set(code.co_names) or _gives_false(code) for code in _codes(function)):
            return True
        if depth < CALLS_MAX:
            waiting.extend((called, depth + 1) for called in _called(kind, function))
    return False
