# SPDX-License-Identifier: Apache-2.0
"""Calls a function when a module has been imported, whoever imports it and however."""

from __future__ import annotations

import sys
from importlib.abc import Loader
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Callable, Sequence


class _Loader(Loader):
    """The module's own loader, with our function after it. The module never sees it."""

    def __init__(self, loader: Loader, spec: ModuleSpec, done: Callable[[], None]) -> None:
        self._loader = loader
        self._spec = spec
        self._done = done

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self._spec.loader = self._loader
        module.__loader__ = self._loader
        self._loader.exec_module(module)
        self._done()

    def __getattr__(self, name: str) -> object:
        return getattr(self._loader, name)


class Watcher:
    """A finder that finds nothing itself: it asks the others and adds to their answer."""

    def __init__(self, actions: dict[str, Callable[[], None]]) -> None:
        self._waiting = dict(actions)

    def begin(self) -> None:
        self.catch_up()
        if self._waiting:
            sys.meta_path.insert(0, self)  # type: ignore[arg-type]

    def catch_up(self) -> None:
        """Acts on what has been imported completely already."""
        for name in list(self._waiting):
            module = sys.modules.get(name)
            spec = getattr(module, "__spec__", None)
            if module is not None and not getattr(spec, "_initializing", False):
                self._act(name)

    def _act(self, name: str) -> None:
        action = self._waiting.pop(name, None)
        if not self._waiting and self in sys.meta_path:
            sys.meta_path.remove(self)  # type: ignore[arg-type]
        if action is None:
            return
        try:
            action()
        except Exception:  # a guest never fails its host
            from . import message

            message(f"{name} could not be hooked", "error")

    def find_spec(self, name: str, path: Sequence[str] | None = None,
                  target: ModuleType | None = None) -> ModuleSpec | None:
        if name not in self._waiting:
            return None
        for finder in sys.meta_path:
            find = getattr(finder, "find_spec", None)
            if finder is self or find is None:
                continue
            spec = find(name, path, target)
            if spec is not None:
                if spec.loader is not None and hasattr(spec.loader, "exec_module"):
                    spec.loader = _Loader(spec.loader, spec, lambda: self._act(name))
                return spec
        return None
