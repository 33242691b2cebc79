# SPDX-License-Identifier: Apache-2.0
"""Imported first by traincheck_program.py: lets TrainCheck walk through a torch built for CUDA on a machine without.

It reads every attribute of every module. One of torch's answers by asking the driver, and the error that follows is not among
those that TrainCheck expects. Nothing that is measured is touched.
"""

import torch.backends.cuda


def absent(_self: object, name: str) -> None:
    raise AttributeError(name)


torch.backends.cuda.cuFFTPlanCacheManager.__getattr__ = absent  # type: ignore[method-assign, assignment]
