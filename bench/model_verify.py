#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""`wheeltap model verify` of a large file beside sha256sum and memcpy, in turns; medians and the memory it takes.

usage: model_verify.py WHEELTAP [GIGABYTES [ROUNDS]]

The file is in the page cache: what is measured is the program, not the disk.
"""

from __future__ import annotations

import ctypes
import json
import os
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TENSORS = 64
BLOCK = 64 << 20


def make(path: Path, gigabytes: float) -> None:
    each = int(gigabytes * (1 << 30)) // TENSORS // 4 * 4
    header = {f"layers.{i}.weight": {"dtype": "F32", "shape": [each // 4096, 1024], "data_offsets": [0, 0]} for i in range(TENSORS)}
    each = each // 4096 * 4096
    for i, entry in enumerate(header.values()):
        entry["data_offsets"] = [i * each, (i + 1) * each]
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    # Floats of ordinary size: random bits with the exponent of numbers around 1.
    random = bytearray(os.urandom(min(BLOCK, each)))
    random[3::4] = bytes([0x3F]) * len(random[3::4])
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        left = each * TENSORS
        while left:
            left -= file.write(memoryview(random)[:min(left, len(random))])


def run(words: list[str]) -> tuple[float, int]:
    """Seconds, and the largest resident memory in bytes."""
    begin = time.monotonic()
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, (words, process.returncode)
    return time.monotonic() - begin, usage.ru_maxrss * 1024


def memcpy(bytes_wanted: int) -> float:
    """Seconds for that many bytes. In a process of its own: memory that we had would be counted as that of what we start."""
    return float(subprocess.run([sys.executable, __file__, "memcpy", str(bytes_wanted)], check=True, capture_output=True).stdout)


def copy(bytes_wanted: int) -> float:
    """The same here, out of a buffer that no cache holds."""
    source, target = ctypes.create_string_buffer(256 << 20), ctypes.create_string_buffer(256 << 20)
    ctypes.memmove(target, source, len(source))
    begin = time.monotonic()
    for _ in range(bytes_wanted // len(source)):
        ctypes.memmove(target, source, len(source))
    return (time.monotonic() - begin) * bytes_wanted / (bytes_wanted // len(source) * len(source))


def main() -> None:
    if sys.argv[1] == "make":
        make(Path(sys.argv[2]), float(sys.argv[3]))
        return
    if sys.argv[1] == "memcpy":
        print(copy(int(sys.argv[2])))
        return
    program = str(Path(sys.argv[1]).resolve())
    gigabytes, rounds = float((sys.argv[2:] or [4])[0]), int((sys.argv[3:] or [5])[0])
    with tempfile.TemporaryDirectory(prefix="wheeltap-bench-") as folder:
        path = Path(folder) / "model.safetensors"
        subprocess.run([sys.executable, __file__, "make", path, str(gigabytes)], check=True)  # as memcpy(): memory of its own
        size = path.stat().st_size
        run([program, "model", "manifest", str(path), "-o", f"{folder}/kept.json"])
        seconds: dict[str, list[float]] = {}
        memory = 0
        for _ in range(rounds):
            for name, words in {"sha256sum": ["sha256sum", str(path)], "verify with SHA-256": [program, "model", "verify", str(path), "--manifest", f"{folder}/kept.json"],
                                "verify with the fast hash": [program, "model", "verify", str(path)]}.items():  # fmt: skip
                took, resident = run(words)
                seconds.setdefault(name, []).append(took)
                memory = max(memory, resident) if "verify" in name else memory
            seconds.setdefault("memcpy", []).append(memcpy(size))
        speeds = {name: size / statistics.median(values) / 1e9 for name, values in seconds.items()}
        for name, speed in speeds.items():
            print(f"{name}: {speed:.2f} GB/s (median of {rounds})")
        print(f"verify with SHA-256 / sha256sum: {speeds['verify with SHA-256'] / speeds['sha256sum']:.2f}")
        print(f"verify with the fast hash / memcpy: {speeds['verify with the fast hash'] / speeds['memcpy']:.2f}")
        print(f"resident memory at most {memory / 1e6:.0f} MB")


if __name__ == "__main__":
    main()
