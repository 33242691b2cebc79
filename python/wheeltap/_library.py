# SPDX-License-Identifier: Apache-2.0
"""Hooks a library that nothing special is known about: its C callables and its Python functions.

Walks the modules of the library that are imported by then, and their classes, and again when more are. What a module only borrows from
elsewhere is left, as are special methods, generators' machinery and everything that is not a plain callable.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any, Iterator

from ._kinds import is_function, is_method
from ._noise import hook_types

if TYPE_CHECKING:
    from ._agent import Settings

# Only passes on to others that are hooked themselves.
PASSES_ON = {"implement_array_function", "_implement_array_function"}
# Libraries whose objects are called: a kernel of pyopencl is launched so.
CALLED = {"pyopencl"}
STANDARD = getattr(sys, "stdlib_module_names", frozenset(sys.builtin_module_names))  # the former since 3.10
# Test helpers and machinery that looks at frames, at exact types, or at itself.
LEFT_ALONE = ("numpy.testing", "numpy.f2py", "numpy.distutils", "numpy.core.overrides", "numpy.core._internal",
              "numpy.core._methods", "numpy._core.overrides", "numpy._core._internal", "numpy._core._methods",
              "numpy.conftest", "numpy._pytesttester", "numpy.ma.testutils")


def _modules(name: str, walked: set[str]) -> Iterator[tuple[str, ModuleType]]:
    """Those that are new."""
    for path, module in list(sys.modules.items()):
        if path in walked or not (path == name or path.startswith(name + ".")) or not isinstance(module, ModuleType):
            continue
        walked.add(path)
        if not path.startswith(LEFT_ALONE) and ".tests" not in path:
            yield path, module


def _owned(value: Any, name: str) -> bool:
    """Extensions of a library have names of their own, and begin with an underscore; so do Python's, of which it borrows."""
    home = getattr(value, "__module__", None)
    if name.partition(".")[0] not in STANDARD and isinstance(home, str) and home.partition(".")[0] in STANDARD:
        return False
    return home is None or (isinstance(home, str) and (home == name or home.startswith(name + ".")
                                                       or home.startswith("_")))


def _is_special(value: Any, name: str) -> bool:
    """A callable of a type that the library made for it, or that numpy lends it: ufuncs, dispatchers. The extension knows
    which of these can be hooked."""
    home = getattr(type(value), "__module__", None)
    return callable(value) and isinstance(home, str) and home.partition(".")[0] in (name.partition(".")[0], "numpy")


def _callables(name: str, walked: set[str]) -> Iterator[tuple[Any, str, str]]:
    """(callable, module, qualified name), each once."""
    seen: set[int] = set()
    for path, module in _modules(name, walked):
        for key, value in list(vars(module).items()):
            if id(value) in seen:
                continue
            seen.add(id(value))
            if isinstance(value, type):
                if _owned(value, name):
                    yield from _members(value, path, seen)
            elif is_function(value) or _is_special(value, name):
                if _owned(value, name) and key not in PASSES_ON:
                    yield value, path, key


def _is_inner(key: str, path: str) -> bool:
    """Of names with two underscores only the call of an object is the user's, where the library is used by calling its objects."""
    return key.startswith("__") and not (key == "__call__" and path.partition(".")[0] in CALLED)


def _members(kind: type, path: str, seen: set[int]) -> Iterator[tuple[Any, str, str]]:
    for key, value in list(vars(kind).items()):
        if _is_inner(key, path) or id(value) in seen:
            continue
        seen.add(id(value))
        if is_method(value):
            yield value, path, f"{kind.__name__}.{key}"


def instrument(name: str, core: ModuleType, settings: Settings, walked: set[str]) -> None:
    """Hooks what has been imported of a library, but for the modules that were walked before."""
    noise = settings.noise.is_on
    if settings.detail == "lean" and not noise:
        return
    before = set(walked)
    for value, module, path in _callables(name, walked):
        wanted = settings.wants(module, path)
        if wanted or noise:  # what is not wanted is perturbed, and not emitted
            try:
                core.hook(value, module, path, 0 if wanted else core.QUIET)
            except (TypeError, MemoryError):
                pass
    if noise:
        hook_types(core, [sys.modules[path] for path in walked - before if path in sys.modules])
