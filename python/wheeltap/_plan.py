# SPDX-License-Identifier: Apache-2.0
"""What `record` would hook: run by `record --dry-run` in the program's interpreter, without the program.

usage: python _plan.py FOLDER; or by runpy, with FOLDER as the first argument

FOLDER has the settings. Imports each library that would be hooked and lets the agent hook it, in this process that
is not being recorded and ends right after; prints what was done as one JSON object.
"""

from __future__ import annotations

import os
import sys
from types import FunctionType, ModuleType
from typing import Any, Callable


class Counting:
    """The extension, with its hooks counted."""

    def __init__(self, core: ModuleType) -> None:
        self._core = core
        self.modules: dict[str, dict[str, Any]] = {}
        self.left: dict[tuple[str, str], dict[str, Any]] = {}

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._core, name)
        if name.startswith("hook") and callable(value):
            return lambda *arguments: self._hook(value, *arguments)
        return value

    def _hook(self, hook: Callable[..., Any], function: Any, *arguments: Any) -> Any:
        """As it was called: the hooks take a module, most a name, some flags and an action."""
        module, name, _, action = (*map(str, arguments[:2]), *arguments[2:4], *("", "", 0, 0)[len(arguments):])
        try:
            result = hook(function, *arguments)
        except (TypeError, MemoryError, ValueError) as problem:
            self._leave(module, str(problem))
            raise
        row = self.modules.setdefault(module, {"c": 0, "python": 0, "actions": []})
        row["python" if isinstance(function, FunctionType) else "c"] += 1
        if action:
            row["actions"].append(name)
        return result

    def _leave(self, module: str, why: str) -> None:
        row = self.left.setdefault((module, why), {"module": module, "why": why, "count": 0})
        row["count"] += 1


def _package(home: str) -> None:
    import importlib.util

    spec = importlib.util.spec_from_file_location("wheeltap", os.path.join(home, "__init__.py"),
                                                  submodule_search_locations=[home])
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["wheeltap"] = module
    spec.loader.exec_module(module)


def _hook_library(name: str, act: Callable[[], None]) -> dict[str, Any]:
    import importlib

    try:
        module = importlib.import_module(name)
        act()
    except Exception as problem:  # a library that does not import would not in the program either
        missing = isinstance(problem, ModuleNotFoundError) and problem.name == name
        return {"name": name, "version": "", "problem": "not installed" if missing else
                f"{type(problem).__name__}: {str(problem)[:200]}"}
    return {"name": name, "version": str(getattr(module, "__version__", "")), "problem": ""}


def _plan(home: str, folder: str) -> dict[str, Any]:
    import platform

    answer: dict[str, Any] = {"version": f"{platform.python_implementation()} {platform.python_version()}",
                              "problem": ""}
    try:
        _package(home)
        from wheeltap import _agent
        from wheeltap import _wheeltap as core  # type: ignore[attr-defined]
    except (ImportError, SyntaxError):
        return {**answer, "problem": f"there is no agent for it; build it with: wheeltap python add {sys.executable}"}
    with open(os.path.join(folder, "settings"), encoding="utf-8") as file:
        settings = _agent.Settings(file.read())
    counting = Counting(core)
    actions = _agent.set_up(counting, settings)  # type: ignore[arg-type]
    libraries = [_hook_library(name, actions[name]) for name in settings.modules]
    return {**answer, "detail": settings.detail, "libraries": libraries,
            "modules": [{"name": name, **row} for name, row in sorted(counting.modules.items())],
            "left": list(counting.left.values())}


def main() -> int:
    home = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or ".") != home]
    # Whatever the libraries print while they are imported is not the answer.
    answer_to = os.dup(1)
    os.dup2(2, 1)
    answer = _plan(home, sys.argv[1])
    import json

    with os.fdopen(answer_to, "w", encoding="utf-8") as file:
        json.dump(answer, file)
    return 0


if __name__ == "__main__":
    status = main()
    sys.stdout.flush()
    os._exit(status)  # nothing of what was hooked is to be undone, and no library's end is waited for
