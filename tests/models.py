# SPDX-License-Identifier: Apache-2.0
"""Model files for tests, made with the standard library alone."""

from __future__ import annotations

import json
import struct
from pathlib import Path

Tensor = tuple[str, list[int], bytes]  # dtype as safetensors has it, shape, elements


def floats(*values: float) -> bytes:
    return struct.pack(f"<{len(values)}f", *values)


def safetensors(tensors: dict[str, Tensor], metadata: dict[str, str] | None = None) -> bytes:
    header: dict[str, object] = {"__metadata__": metadata} if metadata else {}
    elements = b""
    for name, (dtype, shape, data) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(elements), len(elements) + len(data)]}
        elements += data
    text = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + elements


def small(name: str = "linear.weight", shift: float = 0) -> bytes:
    """A matrix of 3x4, its bias, and metadata."""
    matrix = floats(*(0.5 * i * i - i + shift for i in range(12)))
    return safetensors({name: ("F32", [3, 4], matrix), name + ".bias": ("F32", [3], floats(0.25, -1, 8))}, {"made_by": name})


def write(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path
