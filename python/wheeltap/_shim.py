# SPDX-License-Identifier: Apache-2.0
"""The optional shim for what torch does below Python: which torch it is for, where it lies, and loading it.

Run as a program this says, as JSON, what a shim for the torch of this interpreter has to be built with.
"""

from __future__ import annotations

import json
import os
import re
import sys
from functools import partial
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._agent import Settings

OLDEST = (1, 13)  # before that, observers could not be added while other threads run


def identity(torch: Any) -> str:
    """A shim is used by exactly the torch that it was built for."""
    abi = int(torch._C._GLIBCXX_USE_CXX11_ABI)
    return f"{torch.__version__} {getattr(torch.version, 'git_version', None)} abi{abi}"


def file_name_of(version: str, git_version: str) -> str:
    return re.sub(r"[^A-Za-z0-9.+_-]", "_", f"shim-torch-{version}-{git_version[:8]}.so")


def file_name(torch: Any) -> str:
    return file_name_of(torch.__version__, str(getattr(torch.version, "git_version", None)))


def _refusal(torch: Any, include: str) -> str:
    numbers = tuple(int(number) for number in re.findall(r"\d+", torch.__version__)[:2])
    if numbers < OLDEST:
        return f"torch {torch.__version__} is too old; the shim is for 1.13 and later"
    if not os.path.exists(os.path.join(include, "ATen", "record_function.h")):
        return f"torch's headers are missing in '{include}' (Debian: libtorch-dev)"
    return ""


def about() -> dict[str, Any]:
    """What to build with; `refusal` says why not to."""
    try:
        import torch
    except Exception as problem:  # not installed, or broken
        return {"refusal": f"it has no torch that can be imported ({type(problem).__name__})"}
    folder = os.path.dirname(os.path.abspath(torch.__file__))
    include = os.path.join(folder, "include")
    return {"refusal": _refusal(torch, include), "version": torch.__version__, "identity": identity(torch),
            "abi": int(torch._C._GLIBCXX_USE_CXX11_ABI), "file": file_name(torch), "include": include,
            "lib": os.path.join(folder, "lib")}


def _find(torch: Any) -> str | None:
    package: Any = sys.modules[__name__.rpartition(".")[0]]
    for folder in package.__path__:
        path = os.path.join(folder, file_name(torch))
        if os.path.exists(path):
            return path
    return None


def _watched(core: ModuleType, settings: Settings) -> int:
    """What --operators asks for; nothing for invariants, none of which is about operators."""
    what = core.WATCH_NOISE if settings.noise.is_on else 0
    asked = settings.operators
    if asked == "off" or asked == "auto" and settings.detail != "full" or settings.needs.count:
        return what
    if settings.wants("torch.autograd", "Node"):
        what |= core.WATCH_BACKWARD | core.WATCH_REGIONS
    if settings.operators in ("all", "outputs") and settings.wants("torch.ops", "aten"):
        what |= core.WATCH_OPERATORS
        if settings.operators == "outputs" and settings.tensors != "off":
            what |= core.WATCH_OUTPUTS
    return what


def attach(torch: Any, core: ModuleType, settings: Settings, probes: list[tuple[Any, ...]]) -> None:
    """Loads the shim if there is one; the trace says what is watched, and why there is none."""
    path = _find(torch)
    what = _watched(core, settings)
    why = "there is none"
    if path is not None:
        try:
            core.load_shim(path, identity(torch), what)
            why = ""
            core.check_shim(probes)
        except Exception as problem:
            why = str(problem)
    told = "backward" if settings.operators == "auto" else settings.operators
    core.settings({"torch_version": str(torch.__version__)})
    core.settings({"operators": told if what & ~core.WATCH_NOISE and not why else "off"})
    missing = settings.noise.missing(not why) if settings.noise.is_on else ""
    if missing:
        core.settings({"not_measured": missing})
    if why:
        core.own_line(1, f"no shim for torch {torch.__version__}: {why}; what torch does below Python (backward) is "
                         f"not measured; build it with: wheeltap python add {sys.executable}")
    if why and what & ~core.WATCH_NOISE:
        core.settings({"not_measured": f"what torch {torch.__version__} runs below Python (backward), as its shim "
                                       f"cannot be used: {why}; build it with: wheeltap python add {sys.executable}"})


def _modes_agree(torch: Any, core: ModuleType) -> bool:
    """Whether the shim says the same of this thread's modes as torch does, with each of them switched over in turn."""
    by_device = hasattr(torch, "get_autocast_dtype")  # torch 2.4 and later
    gradients: Any = torch._C._set_grad_enabled
    cast: Any = partial(torch.set_autocast_enabled, "cpu") if by_device else torch.set_autocast_cpu_enabled
    is_cast = torch.is_autocast_enabled("cpu") if by_device else torch.is_autocast_cpu_enabled()
    agree = [core.modes_agree()]
    for switch, was in ((gradients, torch.is_grad_enabled()), (cast, is_cast)):
        switch(not was)
        agree.append(core.modes_agree())
        switch(was)
    with torch.inference_mode():
        agree.append(core.modes_agree())
    return all(agree)


def check_modes(torch: Any, core: ModuleType) -> None:
    """Only where it is right about modes is the shim asked for them later."""
    try:
        core.trust_modes(_modes_agree(torch, core))
    except Exception:  # this torch has other names for them
        core.trust_modes(False)


if __name__ == "__main__":
    print(json.dumps(about()))
