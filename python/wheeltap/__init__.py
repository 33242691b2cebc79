# SPDX-License-Identifier: Apache-2.0
"""wheeltap for Python programs.

A program needs none of this to be recorded: `wheeltap record -- python train.py`. What is here lets a program say
itself what it does, and costs next to nothing when nobody records:

    import wheeltap
    wheeltap.step(n)                    # the step, instead of counting the optimizer's
    wheeltap.stage("eval")              # init, train, eval, test, save, load, or your own
    wheeltap.context(fold=3)            # any variable; holds for all that follows on this thread
    wheeltap.log(loss=0.25, lr=1e-3)    # numbers over time
    with wheeltap.range("augment"):     # a span of time with a name
        ...
    wheeltap.check("accuracy", 0.93, 0.9, comparator="at_least")    # a row of `wheeltap tests`; gives the verdict

And it reads what was recorded, in any interpreter, with or without numpy:

    run = wheeltap.open("latest")
    run.losses.to_pandas().plot(x="step", y="value")
"""

from __future__ import annotations

import os
from contextlib import ContextDecorator
from typing import TYPE_CHECKING, Any, Union

from ._places import own_folders

if TYPE_CHECKING:
    from types import ModuleType

    from ._reader import Column as Column, TraceError as TraceError
    from ._judge import Finding as Finding, Verdict as Verdict
    from .flags import (CallFlags as CallFlags, ConfigurationFlags as ConfigurationFlags, MemberFlags as MemberFlags, OperatorEndFlags as OperatorEndFlags,
                        SignalFlags as SignalFlags, SpanFlags as SpanFlags, StateFlags as StateFlags,
                        SyscallFlags as SyscallFlags, TaskEndFlags as TaskEndFlags, TensorFlags as TensorFlags,
                        ThinnedFlags as ThinnedFlags)
    from .run import Event as Event, Run as Run
    from .table import Table as Table
    from ._watch import Watch as Watch

# Not `open` and `range`: `from wheeltap import *` should leave the builtins alone.
__all__ = ["check", "context", "log", "message", "recording", "stage", "start", "step", "stop", "watch"]

__path__[:0] = own_folders(os.path.dirname(os.path.abspath(__file__)))

_core: ModuleType | None = None  # the extension, once the agent is attached


def _attach() -> bool:
    """Loads the extension and watches imports. True if this process is being recorded."""
    global _core
    if _core is None:
        from . import _agent

        _core = _agent.attach()
    return _core is not None


def start() -> bool:
    """Begins, or goes on, recording in this process; finds what is imported already. False if nobody records."""
    try:
        if not _attach():
            return False
    except ImportError:  # there is no agent for this interpreter: `record` says so
        return False
    from . import _agent

    return _agent.start()


def watch(model: object = None, *, output: str | None = None, **options: Any) -> Watch:
    """Records this program from here on, without `wheeltap record`; goes on where that records already.

    Models and optimizers are found, also those that exist already: `model` is for the reader. `options` are those of
    `record` that take a value: `watch(detail="lean", budget=5)`. The recording ends with the program, or with finish() of what is
    returned, whose `path` is the folder of the run; where nothing can be recorded, `why` says so and the program goes on.
    """
    from . import _watch

    return _watch.watch(model, output, options)


def stop() -> None:
    """Pauses recording in this process. Hooks stay in place and do nothing."""
    if _core is not None:
        _core.stop()


def recording() -> bool:
    """True while this process is being recorded."""
    return _core is not None and bool(_core.recording())


def step(number: int) -> None:
    """Says that this is step `number`; from now on it is not derived any more."""
    if _core is not None:
        _core.step(number)


def stage(name: str) -> None:
    """Says what the program does now; from now on it is not derived any more."""
    if _core is not None:
        _core.stage(name)


def context(**variables: Union[int, float, str]) -> None:
    """Variables that hold for all that follows on this thread."""
    if _core is not None:
        for key, value in variables.items():
            _core.context(key, value)


def log(**numbers: float) -> None:
    """Numbers over time: `log(loss=loss.item())`."""
    if _core is not None:
        for name, value in numbers.items():
            _core.counter(name, float(value))


def config(*tables: dict[str, Any], **values: Any) -> None:
    """What the program runs with, once it has made up its mind: `config(lr=0.1)`, `config(vars(arguments))`. Nested tables and
    dataclasses become keys joined by a dot; the last value of a key counts."""
    if _core is None or not _core.recording():
        return
    from . import _configuration

    for table in (*tables, values):
        for value in _configuration.flatten(table):
            _core.configuration(value.key, "program", value.type, False, _configuration.printable(value.text))


_NOTHING: Any = object()


def check(name: str, actual: Any, expected: Any = _NOTHING, *, comparator: str = "", tolerance: float = 0.0,
          relative: float = 0.0, n: int | None = None, unit: str = "", detail: str = "",
          duration: float | None = None) -> bool | None:
    """Compares, gives the verdict, and records both if somebody records.

    comparator: equal, differs, bits, close, below, at_most, above, at_least, contains. Without one it is equal, or close
    if a tolerance (relative: times the expected value) is given. Only bits compares every bit. A bool without an
    expectation is a verdict that the program has reached itself. Any other value without an expectation is observed:
    the result is None, which is no pass.
    """
    from . import _check

    if comparator and comparator not in _check.COMPARATORS[1:-1]:
        raise ValueError(f"no comparator '{comparator}'; there are {', '.join(_check.COMPARATORS[1:-1])}")
    if expected is not _NOTHING:
        comparator = comparator or ("close" if tolerance or relative else "equal")
        verdict = _check.compare(actual, expected, comparator, tolerance, relative)
    elif comparator or tolerance or relative:
        raise ValueError(f"the check '{name}' has nothing to compare with: give what is expected")
    elif isinstance(actual, bool) or type(actual).__name__ == "bool_":  # numpy's
        status = _check.PASSED if actual else _check.FAILED
        verdict = _check.Verdict(status, "assertion", "True", str(bool(actual)))
    else:
        verdict = _check.Verdict(_check.OBSERVED, "none", "", _check.text_of(actual), "", 0.0, _check.count_of(actual))
    if _core is not None and _core.recording():
        verdict = verdict._replace(detail=detail or verdict.detail, n=verdict.n if n is None else n)
        duration_ns = -1 if duration is None else int(duration * 1e9)
        _check.emit(_core, name, verdict, unit, _check.caller(1), duration_ns)
    return None if verdict.status == _check.OBSERVED else verdict.status == _check.PASSED


def message(text: str, level: str = "info") -> None:
    """A line of text; level is debug, info, warning or error. Private texts are kept as length and hash."""
    if _core is not None:
        _core.line(("debug", "info", "warning", "error").index(level), text)


class range(ContextDecorator):
    """A span of time with a name: `with wheeltap.range("augment"):`, or `@wheeltap.range("augment")` over a function."""

    __slots__ = ("_name", "_begun")

    def __init__(self, name: str) -> None:
        self._name = name
        self._begun = 0

    def __enter__(self) -> None:
        if _core is not None:
            _core.span_begin(self._name)
            self._begun += 1

    def __exit__(self, *unused: object) -> None:
        if self._begun and _core is not None:
            self._begun -= 1
            _core.span_end(self._name)


def open(run: Union[str, os.PathLike[str]] = "latest") -> Run:
    """Opens a recorded run for reading: a folder, a stream (FILE.wt), a name below the home of runs, or "latest".

    Raises TraceError where there is nothing to be read. Of a damaged run all that is sound is read; run.warnings tells
    the rest.
    """
    from .run import open_run

    return open_run(run)


def __getattr__(name: str) -> Any:
    """The types of the reader, when somebody asks for them: programs that are recorded do not load it."""
    places = {"Column": "_reader", "TraceError": "_reader", "Event": "run", "Run": "run", "Table": "table",
              "Finding": "_judge", "Verdict": "_judge", "CallFlags": "flags", "ConfigurationFlags": "flags", "MemberFlags": "flags",
              "OperatorEndFlags": "flags", "SignalFlags": "flags", "SpanFlags": "flags", "StateFlags": "flags",
              "SyscallFlags": "flags", "TaskEndFlags": "flags", "TensorFlags": "flags", "ThinnedFlags": "flags", "Watch": "_watch"}
    if name not in places:
        raise AttributeError(f"module 'wheeltap' has no attribute '{name}'")
    from importlib import import_module

    return getattr(import_module("." + places[name], __name__), name)


def load_ipython_extension(shell: object) -> None:
    """%load_ext wheeltap"""
    start()
