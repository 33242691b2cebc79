# SPDX-License-Identifier: Apache-2.0
"""Where torch runs a program only to make a graph of it: torch.compile, fx, export, jit.trace.

While one of these is at work nothing is told or read: tensors are stand-ins then, calls are no part of the run, and to
look at a symbolic extent can change the graph. The call that makes the graph is told itself.
"""

from __future__ import annotations

import sys
from functools import partial
from types import FunctionType, ModuleType
from typing import Callable

# Module: (attribute, the name under which it is told). Not every torch has each.
TRACERS = {
    "torch._dynamo.convert_frame": (("_compile", "compile"),),
    "torch._functorch.aot_autograd": (("create_aot_dispatcher_function", "aot_autograd"), ("create_aot_state", "aot_autograd"),
                                      ("aot_module_simplified", "aot_autograd")),
    "torch._inductor.compile_fx": (("compile_fx", "inductor"),),
    "torch.export._trace": (("_export", "export"),),
    "torch.fx._symbolic_trace": (("Tracer.trace", "fx.Tracer.trace"),),
    "torch.fx.experimental.proxy_tensor": (("dispatch_trace", "make_fx"),),
    "torch.jit._trace": (("trace", "jit.trace"), ("trace_module", "jit.trace_module")),
}


def _hook(core: ModuleType, module: str) -> None:
    for path, name in TRACERS[module]:
        found: object = sys.modules[module]
        for part in path.split("."):
            found = getattr(found, part, None)
        if isinstance(found, FunctionType):
            core.hook(found, "torch", name, core.ALWAYS, core.TRACE)


def actions(core: ModuleType) -> dict[str, Callable[[], None]]:
    """What is to be done when these modules are imported."""
    return {module: partial(_hook, core, module) for module in TRACERS}
