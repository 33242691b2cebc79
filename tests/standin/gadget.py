# SPDX-License-Identifier: Apache-2.0
"""A library in Python that works on a device: the stand-in's. Each function launches what its name says."""

from __future__ import annotations

import ctypes
import os

_device = ctypes.CDLL(os.environ["STANDIN_LIBRARY"])
_device.standin_run.argtypes = [ctypes.c_int, ctypes.c_uint32, ctypes.c_uint32, ctypes.c_char_p]
_device.standin_run.restype = ctypes.c_uint32
_device.standin_graph.restype = ctypes.c_uint32
KERNEL, COPY = 0, 1
raw = _device.standin_run


def start() -> int:
    return int(_device.standin_init())


def multiply(device: int) -> int:
    return int(_device.standin_run(KERNEL, device, 7, b"multiply"))


def upload(device: int) -> int:
    return int(_device.standin_run(COPY, device, 8, None))


def layer(device: int) -> tuple[int, int]:
    return upload(device), multiply(device)


def replay(device: int) -> int:
    return int(_device.standin_graph(device, 7, 5, 4))
