# SPDX-License-Identifier: Apache-2.0
"""Calls of the program's own functions: `--modules __main__`, `--only '__main__.*'`."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._agent import Settings

OWN = "__main__"
TOOLS = (3, 4)  # of sys.monitoring: numbers that it gives to nobody in particular


def is_asked_for(settings: Settings) -> bool:
    """Whether anything names the program itself."""
    return settings.detail != "lean" and (
        OWN in settings.modules or any(pattern.partition(".")[0] == OWN for pattern in settings.wants.only))


class Wanted:
    """Which functions of the program's own files: all, or those that --only names; never what --skip names."""

    def __init__(self, settings: Settings) -> None:
        self.wants = settings.wants
        self.all = not any(pattern != OWN for pattern in self.wants.only)

    def __call__(self, module: str, function: str) -> bool:
        if not self.all:
            return self.wants(module, function)
        only, self.wants.only = self.wants.only, []
        try:
            return self.wants(module, function)
        finally:
            self.wants.only = only


def _monitor(core: Any) -> bool:
    monitoring = getattr(sys, "monitoring")
    events = monitoring.events
    for tool in TOOLS:
        if monitoring.get_tool(tool) is None:
            monitoring.use_tool_id(tool, "wheeltap")
            core.set_disable(monitoring.DISABLE)
            monitoring.register_callback(tool, events.PY_START, core.function_began)
            monitoring.register_callback(tool, events.PY_RETURN, core.function_returned)
            monitoring.register_callback(tool, events.PY_UNWIND, core.function_unwound)
            monitoring.set_events(tool, events.PY_START | events.PY_RETURN | events.PY_UNWIND)
            return True
    return False


def watch(core: ModuleType, settings: Settings) -> None:
    """Emits them from now on; what cannot be done is noted in the trace."""
    done = core.watch_functions(Wanted(settings))
    if done and sys.version_info >= (3, 12):
        done = _monitor(core)
    if not done:
        core.line(2, "own_functions_not_told interpreter_is_watched_by_another")
