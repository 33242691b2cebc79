# SPDX-License-Identifier: Apache-2.0
"""The random generators that programs share, torch's, Python's and numpy's: where their words lie, and who seeds them.

numpy makes its own when numpy.random is imported, which newer versions leave until somebody asks for it: before or after torch.
"""

from __future__ import annotations

import sys
from functools import partial
from types import ModuleType
from typing import Any, Callable

from ._kinds import is_function, is_method

NUMPY = "numpy.random"


def _torch_words(generator: Any) -> bytes:
    """The 624 words of a generator of torch's, from the state that it gives away: after three numbers of 8 bytes."""
    import struct  # not before torch has loaded it: a program without torch may have modules of these names

    state = bytes(generator.get_state().numpy().data)
    return struct.pack("<624I", *struct.unpack_from("<624Q", state, 24))


def learn(torch: Any, core: ModuleType) -> None:
    """Where those that exist keep their words. No generator of the program's is touched."""
    import random
    import struct

    probes = []
    for seed in (1, 2):
        generator = torch.Generator()
        generator.manual_seed(seed)
        torch.rand(3, generator=generator)
        probes.append((generator, generator._cdata, _torch_words(generator)))
    core.learn_torch_random(torch.default_generator._cdata, *(probe[1:] for probe in probes))
    words = struct.pack("<624I", *random.getstate()[1][:-1])
    instance: Any = random._inst  # type: ignore[attr-defined]
    core.learn_random("python", instance, id(instance) + object.__basicsize__ + 4, words, False)
    _learn_numpy(core)


def _learn_numpy(core: ModuleType) -> None:
    numpy_random: Any = sys.modules.get(NUMPY)
    if numpy_random is not None:
        core.settings({"numpy_version": str(sys.modules["numpy"].__version__)})
    if numpy_random is not None and numpy_random.get_state()[0] == "MT19937":
        shared = numpy_random.mtrand._rand._bit_generator
        words = numpy_random.get_state()[1].tobytes()
        core.learn_random("numpy", shared, core.capsule_state(shared.capsule), words, True)


def hook(torch: Any, core: Any) -> None:
    """Whatever seeds them."""
    import random

    for holder, name, module in ((torch, "manual_seed", "torch"), (torch, "seed", "torch"),
                                 (torch._C.Generator, "manual_seed", "torch"), (random.Random, "seed", "random"),
                                 (sys.modules.get(NUMPY), "seed", NUMPY)):
        function = vars(holder).get(name) if holder is not None else None
        if is_function(function) or is_method(function):
            callee = f"{holder.__name__}.{name}" if isinstance(holder, type) else name
            core.hook(function, module, callee, core.ALWAYS | core.ARGUMENTS)


def _numpy_imported(core: ModuleType, hooker: Callable[[], Any]) -> None:
    if core.callbacks() is not None:  # otherwise torch is yet to come, and finds it there
        _learn_numpy(core)
        hook(sys.modules["torch"], hooker())


def actions(core: ModuleType, hooker: Callable[[], Any]) -> dict[str, Callable[[], None]]:
    """What is to be done when numpy's generator is made."""
    return {NUMPY: partial(_numpy_imported, core, hooker)}
