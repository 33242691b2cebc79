# SPDX-License-Identifier: Apache-2.0
"""What the callbacks of training libraries have in common: a recording for the time of a training, and what becomes of it."""

from __future__ import annotations

import sys
from typing import Any, Callable, Mapping, Optional

import wheeltap

from ._watch import Watch


# What the agent emits itself, of every step: a trainer's own may be a mean over several.
_TAKEN = {"loss": "logged_loss"}


def numbers(values: Mapping[str, Any]) -> dict[str, float]:
    """Those of the values that are numbers. A trainer logs what its user gives it: texts, tensors of several elements, objects."""
    found = {}
    for name, value in values.items():
        try:
            if not isinstance(value, str):
                found[str(name)] = float(value)
        except Exception:  # whatever an object does when it is converted: a guest never fails its host
            continue
    return found


def log(values: Mapping[str, Any]) -> None:
    """What a trainer logs: each number under its name. The epoch, which is a context, is left out."""
    for name, number in numbers(values).items():
        if name != "epoch":
            wheeltap.log(**{_TAKEN.get(name, name): number})


class Recording:
    """Begins when training does. `forward` is what forward() takes; what is active in the program is always served."""

    def __init__(self, forward: Optional[dict[str, Any]], options: dict[str, Any]) -> None:
        self.forward = forward or {}
        self.options = options
        self.watch: Optional[Watch] = None
        self.summary: Any = None

    def begin(self, model: object) -> None:
        if self.watch is None:
            self.watch = wheeltap.watch(model, **self.options)
            if self.watch.why:
                print(f"wheeltap: nothing is recorded: {self.watch.why}", file=sys.stderr)

    def end(self, more: Optional[Callable[[Any], None]] = None) -> None:
        """A guest never fails its host: what cannot be passed on is reported."""
        watch, self.watch = self.watch, None
        path = watch.finish() if watch is not None else None
        if path is None:  # `wheeltap record` goes on, and knows where
            return
        from . import forward

        try:
            self.summary = forward.summarize(path)
            forward.forward(self.summary, **{**forward.active(), **self.forward})
            if more is not None:
                more(self.summary)
            # A progress bar may have left the cursor behind it.
            print(f"\nwheeltap: recorded {path}\n{self.summary.plain()}", file=sys.stderr)
        except Exception as problem:
            print(f"wheeltap: the run '{path}' could not be passed on: {type(problem).__name__}: {problem}", file=sys.stderr)
