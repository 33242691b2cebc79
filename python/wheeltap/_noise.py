# SPDX-License-Identifier: Apache-2.0
"""Noise on results of operations: what the recording asks for, and which types of numpy and scipy it needs besides functions."""

from __future__ import annotations

import builtins
import sys
from types import ModuleType
from typing import Any, Iterable

MODULES = ["torch", "numpy", "scipy"]  # unless others are named
SCALARS = ("float16", "float32", "float64", "complex64", "complex128")


def _split(patterns: Iterable[str]) -> tuple[tuple[bytes, ...], tuple[tuple[bytes, int], ...]]:
    """Patterns over names, and places: "file.py:12"."""
    names, places = [], []
    for pattern in patterns:
        file, _, line = pattern.rpartition(":")
        if file and line.isdigit():
            places.append((file.encode(), int(line)))
        elif pattern:
            names.append(pattern.encode())
    return tuple(names), tuple(places)


class Noise:
    """Lines of the settings: noise, noise_seed, noise_only, noise_skip."""

    def __init__(self) -> None:
        self.mode = "off"
        self.seed = 0
        self.only: list[str] = []
        self.skip: list[str] = []

    def set(self, key: str, value: str) -> bool:
        """A line of the settings; False if it is about something else."""
        if key == "noise":
            self.mode = value
        elif key == "noise_seed":
            self.seed = int(value) & (1 << 64) - 1
        elif key == "noise_only":
            self.only += value.split(",")
        elif key == "noise_skip":
            self.skip += value.split(",")
        else:
            return False
        return True

    @property
    def is_on(self) -> bool:
        return self.mode != "off"

    def set_up(self, core: Any) -> None:
        """Before anything is hooked."""
        if self.is_on:
            core.noise(self.mode, self.seed, *_split(self.only), *_split(self.skip))
            core.noise_floats()
            core.hook(builtins.sum, "builtins", "sum", 0)

    def told(self) -> dict[str, int | float | str]:
        """What the trace says about it."""
        if not self.is_on:
            return {}
        told: dict[str, int | float | str] = {"noise": self.mode, "noise_seed": str(self.seed)}
        if self.only:
            told["noise_only"] = ",".join(self.only)
        if self.skip:
            told["noise_skip"] = ",".join(self.skip)
        return told

    def missing(self, has_shim: bool) -> str:
        """What of torch is not perturbed; empty if all is."""
        if not has_shim:
            return "noise in backward: gradients are computed below Python, which only the shim sees"
        if self.mode.startswith(("pb", "mca")):
            return "noise on inputs of operators within backward, of lists and of fused optimizers: their outputs are perturbed"
        if self.mode.startswith("cancellation"):
            return "cancellation within backward"
        return ""


def hook_types(core: Any, modules: Iterable[ModuleType]) -> None:
    """Operators of numpy's scalars, indexing of arrays, and functions that f2py made: they are called through their type."""
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        core.noise_scalars(tuple(getattr(numpy, name) for name in SCALARS if hasattr(numpy, name)))
        core.noise_index(numpy.ndarray)
    for module in modules:
        for value in list(vars(module).values()):
            if type(value).__name__ == "fortran":
                core.noise_type(type(value))
