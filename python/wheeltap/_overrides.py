# SPDX-License-Identifier: Apache-2.0
"""Keeps what the agent does from the program's own TorchFunctionModes, which see even reads of attributes."""

from __future__ import annotations

from types import ModuleType
from typing import Any


def _all_off(torch: ModuleType) -> Any:
    """A context in which function modes are left out. torch 1 keeps them apart from what DisableTorchFunction knows."""
    put = getattr(torch._C, "_set_torch_function_mode", None)
    if put is None:
        return torch._C.DisableTorchFunction

    class Off:
        def __enter__(self) -> None:
            self.was = torch._C._is_torch_function_mode_enabled()
            if self.was:
                put(None)

        def __exit__(self, *nothing: object) -> None:
            if self.was:
                put(torch.overrides._TorchFunctionStackMode())

    return Off


def hook(torch: ModuleType, core: ModuleType) -> None:
    count = getattr(torch._C, "_len_torch_function_stack", None)
    changes = [getattr(torch._C, f"_{change}_torch_function_stack", None) for change in ("push_on", "pop")]
    if count is None or not all(changes):
        core.own_line(2, "function modes of the program may see what is read of tensors, as this torch is not known")
        return
    core.set_overrides(count, _all_off(torch))
    for function in changes:
        core.hook(function, "torch", function.__name__, core.ALWAYS | core.QUIET, core.OVERRIDES)
