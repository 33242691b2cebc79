# SPDX-License-Identifier: Apache-2.0
"""Calls a function when a module has been imported, whoever imports it and however."""

from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING, Any, Callable, Sequence

if TYPE_CHECKING:  # it would load forty modules that the program may never want
    from importlib.abc import Loader


class _Loader:
    """The module's own loader, with our function after it. The module never sees it."""

    def __init__(self, loader: Loader, spec: ModuleSpec, watcher: Watcher) -> None:
        self._loader = loader
        self._spec = spec
        self._watcher = watcher

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self._spec.loader = self._loader
        module.__loader__ = self._loader
        self._watcher.depth += 1
        is_whole = False
        try:
            self._loader.exec_module(module)
            is_whole = True
        finally:
            self._watcher.depth -= 1
            self._watcher.imported(self._spec.name, is_whole)

    def __getattr__(self, name: str) -> object:
        return getattr(self._loader, name)


# In tracebacks of imports that fail the interpreter leaves its own frames out, by the name of their file: this one as well.
_Loader.exec_module.__code__ = _Loader.exec_module.__code__.replace(co_filename=ModuleSpec.__init__.__code__.co_filename)


class Watcher:
    """A finder that finds nothing itself: it asks the others and adds to their answer."""

    def __init__(self, actions: dict[str, Callable[[], None]], failed: Callable[[Exception], None]) -> None:
        self._waiting = dict(actions)
        self._failed = failed  # is given what an action raised
        self._followed: dict[str, Callable[[], None]] = {}
        self._grown: set[str] = set()  # libraries of which the import under way has brought more
        self.depth = 0  # of imports that we have a part in

    def begin(self) -> None:
        self.catch_up()
        self._come_or_go()

    def _come_or_go(self) -> None:
        is_needed, is_there = bool(self._waiting or self._followed), self in sys.meta_path
        if is_needed and not is_there:
            sys.meta_path.insert(0, self)  # type: ignore[arg-type]
        elif is_there and not is_needed:
            sys.meta_path.remove(self)  # type: ignore[arg-type]

    def follow(self, library: str, action: Callable[[], None]) -> None:
        """From now on acts whenever more of a library has been imported, and all that this import brought with it."""
        self._followed[library] = action
        self._come_or_go()

    def catch_up(self) -> None:
        """Acts on what has been imported completely already."""
        for name in list(self._waiting):
            module = sys.modules.get(name)
            spec = getattr(module, "__spec__", None)
            if module is not None and not getattr(spec, "_initializing", False):
                self._act(name)

    def imported(self, name: str, is_whole: bool) -> None:
        """What a module that failed has imported before stays."""
        self._grown.add(name.partition(".")[0])
        grown = set() if self.depth else self._grown & self._followed.keys()
        if name in self._waiting and is_whole:
            self._act(name)
        if not self.depth:
            self._grown.clear()
        for library in sorted(grown):
            self._try(name, self._followed[library])

    def _act(self, name: str) -> None:
        action = self._waiting.pop(name, None)
        self._come_or_go()
        self._try(name, action)

    def _try(self, name: str, action: Callable[[], None] | None) -> None:
        if action is None:
            return
        try:
            action()
        except Exception as error:  # a guest never fails its host
            from . import message

            self._failed(error)
            message(f"{name} could not be hooked", "error")

    def _others(self) -> list[Any]:
        """The finders behind us: those before us have been asked when we are."""
        place = next((index for index, finder in enumerate(sys.meta_path) if finder is self), -1)
        return sys.meta_path[place + 1:]

    def find_spec(self, name: str, path: Sequence[str] | None = None,
                  target: ModuleType | None = None) -> ModuleSpec | None:
        if name not in self._waiting and name.partition(".")[0] not in self._followed:
            return None
        for finder in self._others():
            find = getattr(finder, "find_spec", None)
            if find is None:
                continue
            spec = find(name, path, target)
            if spec is not None:
                if spec.loader is not None and hasattr(spec.loader, "exec_module"):
                    spec.loader = _Loader(spec.loader, spec, self)  # type: ignore[assignment]
                return spec
        return None
