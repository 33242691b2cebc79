# SPDX-License-Identifier: Apache-2.0
"""Which objects are plain callables: functions and methods, of Python, of C, and of Cython, which makes a type of its own for them."""

from __future__ import annotations

from types import BuiltinFunctionType, FunctionType, MethodDescriptorType
from typing import Any


def _is_cython(value: Any) -> bool:
    """Of a type that all libraries share which the same version compiled; its module says that, or nothing that can be relied on."""
    return type(value).__name__ == "cython_function_or_method"


def is_function(value: Any) -> bool:
    return isinstance(value, (FunctionType, BuiltinFunctionType)) or _is_cython(value)


def is_method(value: Any) -> bool:
    """As it stands in the dictionary of a class."""
    return isinstance(value, (FunctionType, MethodDescriptorType)) or _is_cython(value)
