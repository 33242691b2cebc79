# SPDX-License-Identifier: Apache-2.0
"""What the program holds at its end, under the names that it has there: `model.coef_`, `result.x`.

A value that a library computed inside, and that the program only reads as an attribute, is handed over by no call. The variables of
the program and the attributes of its objects are therefore emitted once, at the end. Attributes are taken from where they are stored:
no property and no other code of the program runs.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any, Iterator

PREFIX = "__main__."  # what the inspector of digits knows them by
VALUES_MAX = 256
ATTRIBUTES_MAX = 64


def _is_number(value: Any) -> bool:
    """An array, a tensor, a scalar of numpy, or a float."""
    return type(value) is float or (type(value).__module__.partition(".")[0] in ("numpy", "torch") and hasattr(type(value), "dtype"))


def _stored(value: Any) -> dict[Any, Any]:
    """Items of a dictionary, or attributes of an object that are stored in it."""
    if isinstance(value, dict):
        return value
    # Models and optimizers of torch are followed as such.
    if any(base.__module__.startswith("torch.") for base in type(value).__mro__):
        return {}
    try:
        found = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return {}
    return found if type(found) is dict else {}


def _named(variables: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in list(variables.items()):
        if name.startswith("_") or isinstance(value, (ModuleType, type)) or callable(value):
            continue
        if _is_number(value):
            yield name, value
            continue
        for attribute, inner in list(dict.items(_stored(value)))[:ATTRIBUTES_MAX]:
            if isinstance(attribute, str) and attribute.isidentifier() and not attribute.startswith("_") and _is_number(inner):
                yield f"{name}.{attribute}", inner


def emit(core: ModuleType) -> None:
    """To be called before the recording ends."""
    program = sys.modules.get("__main__")
    if program is None:
        return
    for count, (name, value) in enumerate(_named(vars(program))):
        if count == VALUES_MAX:
            break
        core.value(0, -1, PREFIX + name, value)
