# SPDX-License-Identifier: Apache-2.0
"""Saving and loading: what is hooked besides torch.save(), and what is in a checkpoint: its tensors and numbers, under their path
of keys such as `model.fc1.weight`.

Only containers of Python's own and modules are opened, by the types' own methods: nothing of the program's runs.
"""

from __future__ import annotations

import re
import sys
from functools import partial
from types import FunctionType
from typing import Any, Callable, Iterator

ENTRIES_MAX = 1 << 20  # tensors, numbers and containers: more than the largest models have
DEPTH_MAX = 32
CUT = "..."  # the path under which it is told that there is more
NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.\-]{0,200}\Z")  # keys that may be told


def _children(torch: Any, thing: Any) -> Iterator[tuple[str, Any]]:
    kind = type(thing)
    if issubclass(kind, dict):
        for number, (key, value) in enumerate(dict.items(thing)):
            text = str(key) if type(key) in (str, int) else ""
            yield text if NAME.match(text) else f"<{number}>", value
    elif issubclass(kind, (list, tuple)):
        base: Any = list if issubclass(kind, list) else tuple
        for number, value in enumerate(base.__iter__(thing)):
            yield str(number), value
    elif issubclass(kind, torch.nn.Module):
        own = object.__getattribute__(thing, "__dict__")
        for key in ("_parameters", "_buffers", "_modules"):
            yield from own.get(key, {}).items()


def _is_array(thing: Any) -> bool:
    numpy = sys.modules.get("numpy")
    return numpy is not None and type(thing) is numpy.ndarray


def contents(torch: Any, thing: Any) -> Iterator[tuple[str, Any]]:
    """(path, tensor or number), in order; (CUT, None) at the end if that is not all."""
    waiting: list[tuple[str, Any, int]] = [("", thing, 0)]
    is_cut = False
    for _ in range(ENTRIES_MAX):
        if not waiting:
            break
        path, at, depth = waiting.pop()
        if issubclass(type(at), torch.Tensor) or type(at) in (bool, int, float) or _is_array(at):
            yield path, at
        elif depth < DEPTH_MAX:
            waiting.extend((f"{path}.{key}" if path else key, value, depth + 1)
                           for key, value in reversed(list(_children(torch, at))))
        else:
            is_cut = is_cut or any(True for _ in _children(torch, at))
    if waiting or is_cut:
        yield CUT, None


# numpy's functions are in one module up to 1.26, and in another since.
ARRAYS = (("save", "ARRAY_SAVED", "save"), ("savez", "ARRAYS_SAVED", "savez"), ("savez_compressed", "ARRAYS_SAVED", "savez_compressed"),
          ("load", "ARRAY_LOADED", "load"), ("NpzFile.__getitem__", "ARRAY_TAKEN", "NpzFile.__getitem__"))

# By module: (function, what the extension calls its handling, the name under which it is told).
FILES = {
    "safetensors.torch": (("save_file", "SAVE", "save_file"), ("load_file", "LOAD", "load_file")),
    "torch.distributed.checkpoint.state_dict_saver": (("save", "SAVE", "checkpoint.save"),),
    "torch.distributed.checkpoint.state_dict_loader": (("load", "LOAD", "checkpoint.load"),),
    "numpy.lib.npyio": ARRAYS,
    "numpy.lib._npyio_impl": ARRAYS,
}


def _function(module: str, path: str) -> Any:
    """What is called in the end: numpy's functions for others' arrays stand in front of its own."""
    found: Any = sys.modules[module]
    for name in path.split("."):
        found = getattr(found, name, None)
    return getattr(found, "__wrapped__", found)


def _hook(hooker: Callable[[], Any], module: str) -> None:
    core = hooker()
    library = "torch.distributed" if module.startswith("torch.") else module.partition(".")[0]
    for name, handling, shown in FILES[module]:
        function = _function(module, name)
        if isinstance(function, FunctionType) and function.__module__ in (module, "numpy"):
            core.hook(function, library, shown, core.ALWAYS | core.ARGUMENTS, getattr(core, handling))


def actions(hooker: Callable[[], Any]) -> dict[str, Callable[[], None]]:
    """What is to be done when these modules are imported."""
    return {module: partial(_hook, hooker, module) for module in FILES}
