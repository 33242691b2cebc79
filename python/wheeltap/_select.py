# SPDX-License-Identifier: Apache-2.0
"""Hooks only what invariants need: `record --invariants`. docs/python.md tells what a pack says about it."""

from __future__ import annotations

import re
from fnmatch import translate
from types import ModuleType
from typing import Any

# The bits of the kind `thinned`, by the words of a pack.
STATES = {"parameters": 8, "gradients": 16, "buffers": 32, "optimizer": 64, "modes": 128, "rng": 256, "losses": 512,
          "data": 1024}
DIGESTS, ARGUMENTS, STATISTICS, UNNEEDED = 1, 2, 2048, 4096

# By the extension's names of actions: which states come of them. What is not here may come of any.
OF_ACTION = {"MODULE": {"parameters", "gradients", "buffers", "optimizer", "modes", "data"}, "SETTER": {"modes"},
             "BACKWARD": {"losses", "gradients"}}
# Step, epoch, stage and rank, which every precondition may ask for: a few calls a step.
CONTEXT = {"OPTIMIZER_MADE", "MADE", "STEP", "SAVE", "LOAD", "EPOCH", "GROUP"}


class Needs:
    """What all invariants of a pack together need, from the lines of the settings."""

    def __init__(self) -> None:
        self.count = 0  # of invariants; 0: everything is wanted
        self.patterns: list[str] = []
        self.states: set[str] = set()
        self.arguments = False
        self.tensors = False

    def set(self, key: str, value: str) -> bool:
        """A line of the settings; False if it is about something else."""
        if key == "needs":
            self.patterns.append(value)
        elif key == "needs_states":
            self.states = {state for state in value.split(",") if state in STATES}
        elif key == "needs_arguments":
            self.arguments = value == "1"
        elif key == "needs_tensors":
            self.tensors = value == "1"
        elif key == "invariants":
            self.count = int(value)
        else:
            return False
        return True

    def omitted(self) -> int:
        """What is never measured because no invariant needs it."""
        if not self.count:
            return 0
        missing = sum(bit for state, bit in STATES.items() if state not in self.states)
        if not self.arguments:
            missing |= ARGUMENTS
        return missing | UNNEEDED | (0 if self.tensors else DIGESTS | STATISTICS)


class Selective:
    """The extension, but for hooks: those that nothing needs are not put in at all."""

    def __init__(self, core: ModuleType, needs: Needs, detail: str) -> None:
        self._core = core
        self._of_level: int = getattr(core, "ALWAYS") if detail == "lean" else 0  # lean itself tells none of them
        self._states = needs.states
        self._call = re.compile("|".join(map(translate, sorted(set(needs.patterns)))) or r"(?!)")
        self._forward = any(pattern.endswith(("forward", "*")) for pattern in needs.patterns)
        names = {*OF_ACTION, *CONTEXT}
        self._action = {getattr(core, name): name for name in names if hasattr(core, name)}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._core, name)

    def _is_needed(self, action: int) -> bool:
        name = self._action.get(action, "")
        if not action or name in CONTEXT:
            return bool(action)
        return bool(self._states & OF_ACTION.get(name, self._states))

    def hook(self, function: Any, module: str, name: str, flags: int = 0, action: int = 0) -> str:
        """As the extension's; modules are called by the name of their class, which is not known here."""
        core: Any = self._core
        is_told = self._call.match(f"{module}.{name}") is not None
        if self._action.get(action) == "MODULE":
            is_told = is_told or self._forward
        if is_told:
            return str(core.hook(function, module, name, flags | self._of_level, action))
        if self._is_needed(action):
            return str(core.hook(function, module, name, flags | core.ALWAYS | core.QUIET, action))
        return "not needed"

    def hook_attribute(self, descriptor: Any, module: str, name: str) -> bool:
        """As the extension's."""
        core: Any = self._core
        return bool(self._call.match(f"{module}.{name}") and core.hook_attribute(descriptor, module, name))

    def hook_index(self, kind: type, module: str) -> None:
        """As the extension's; indexing is told as a method of torch.Tensor."""
        core: Any = self._core
        if any(self._call.match(f"{module}.Tensor.{method}") for method in ("__getitem__", "__setitem__")):
            core.hook_index(kind, module)
