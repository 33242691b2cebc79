# SPDX-License-Identifier: Apache-2.0
"""What handlers of signals raise while they interrupt our code, told from failures of ours."""

from __future__ import annotations

import _signal  # signal makes enumerations of its constants, and may be the program's own
from functools import partial
from types import CodeType, FunctionType, MethodType, TracebackType


def _code(handler: object) -> CodeType | None:
    """Without asking objects of the program's for anything."""
    if isinstance(handler, partial):
        handler = handler.func
    if type(handler) is MethodType:
        handler = handler.__func__
    elif not isinstance(handler, FunctionType):
        handler = next((vars(kind)["__call__"] for kind in type(handler).__mro__ if "__call__" in vars(kind)), None)
    return handler.__code__ if isinstance(handler, FunctionType) else None


def part(traceback: TracebackType | None) -> TracebackType | None:
    """The part of a traceback that begins in a handler of the program's; None: no handler is in it."""
    codes = {_code(_signal.getsignal(number)) for number in _signal.valid_signals()}
    while traceback is not None and traceback.tb_frame.f_code not in codes:
        traceback = traceback.tb_next
    return traceback
