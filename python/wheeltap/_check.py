# SPDX-License-Identifier: Apache-2.0
"""Comparing what came with what was expected, for wheeltap.check(): the verdict, and the evidence for it.

Knows numbers, texts, sequences of bytes, and arrays of numpy and torch without importing either.
"""

from __future__ import annotations

import math
import os
import sys
from typing import Any, Callable, NamedTuple

# As enum check_status and enum comparator of schema/events.toml have them.
PASSED, FAILED, ERROR, SKIPPED, OBSERVED = 0, 1, 2, 3, 4
COMPARATORS = ("none", "equal", "differs", "bits", "close", "below", "at_most", "above", "at_least", "contains", "assertion")
TEXT_MAX = 200  # of what is expected and what came


class Verdict(NamedTuple):
    status: int
    comparator: str
    expected: str = ""
    actual: str = ""
    detail: str = ""
    tolerance: float = 0.0
    n: int = 1


def text_of(value: Any) -> str:
    """A value for a table: numbers in full, everything else cut."""
    if isinstance(value, (bytes, bytearray, memoryview)):
        return f"{len(value)} bytes"
    if is_array(value):
        return f"{tuple(value.shape)} {value.dtype}" if count_of(value) > 1 else repr(value.item())
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= TEXT_MAX else text[:TEXT_MAX - 3] + "..."


def is_array(value: Any) -> bool:
    return all(hasattr(value, name) for name in ("shape", "dtype", "item", "tolist"))


def count_of(value: Any) -> int:
    return math.prod(value.shape) if is_array(value) else 1


def bytes_of(value: Any) -> bytes:
    """Every bit of a value. TypeError: it has none that could be compared."""
    if isinstance(value, str):
        return value.encode("utf-8", "surrogatepass")
    if isinstance(value, float):
        import struct

        return struct.pack("<d", value)
    if hasattr(value, "detach"):  # a tensor of torch: bf16 has no counterpart in numpy, bytes have
        tensor = value.detach().cpu().contiguous().reshape(-1)
        import torch

        return tensor.view(torch.uint8).numpy().tobytes() if tensor.numel() else b""
    return value.tobytes() if hasattr(value, "tobytes") else bytes(memoryview(value))


def compare_bits(actual: Any, expected: Any) -> Verdict:
    if is_array(actual) and is_array(expected):
        left, right = (f"{tuple(value.shape)} {value.dtype}" for value in (expected, actual))
        if left != right:
            return Verdict(FAILED, "bits", left, right, "shape", 0.0, 0)
    ours, theirs = bytes_of(actual), bytes_of(expected)
    if len(ours) != len(theirs):
        return Verdict(FAILED, "bits", f"{len(theirs)} bytes", f"{len(ours)} bytes", "", 0.0, min(len(ours), len(theirs)))
    if ours == theirs:
        return Verdict(PASSED, "bits", "", "", "", 0.0, len(ours))
    at = next(index for index, pair in enumerate(zip(ours, theirs)) if pair[0] != pair[1])
    return Verdict(FAILED, "bits", f"0x{theirs[at]:02x}", f"0x{ours[at]:02x}", f"byte {at} of {len(ours)}", 0.0,
                   len(ours))


def compare_close(actual: Any, expected: Any, tolerance: float, relative: float) -> Verdict:
    """The largest distance of all elements. NaN is close to nothing."""
    if is_array(actual) or is_array(expected):
        if tuple(getattr(actual, "shape", ())) != tuple(getattr(expected, "shape", ())):
            return Verdict(FAILED, "close", text_of(expected), text_of(actual), "shape", tolerance, 0)
        if count_of(actual) == 0:
            return Verdict(PASSED, "close", text_of(expected), text_of(actual), "", tolerance, 0)
        distance = abs(actual - expected)
        excess = distance - (tolerance + relative * abs(expected))
        bound = tolerance + relative * float(abs(expected).max())
        largest, passed = float(distance.max()), bool((excess <= 0).all())
        return Verdict(PASSED if passed else FAILED, "close", text_of(expected), text_of(actual),
                       f"largest distance {largest:.6g}", bound, count_of(actual))
    bound = tolerance + relative * abs(float(expected))
    passed = actual == expected or abs(actual - expected) <= bound
    return Verdict(PASSED if passed else FAILED, "close", text_of(expected), text_of(actual), "", bound)


def compare_equal(actual: Any, expected: Any, comparator: str) -> Verdict:
    same = actual == expected
    same = bool(same.all()) if hasattr(same, "all") else bool(same)
    passed = same == (comparator == "equal")
    return Verdict(PASSED if passed else FAILED, comparator, text_of(expected), text_of(actual), "", 0.0, count_of(actual))


ORDERS: dict[str, Callable[[Any, Any], Any]] = {
    "below": lambda a, b: a < b, "at_most": lambda a, b: a <= b, "above": lambda a, b: a > b,
    "at_least": lambda a, b: a >= b, "contains": lambda a, b: b in a}


def compare_order(actual: Any, expected: Any, comparator: str) -> Verdict:
    holds = ORDERS[comparator](actual, expected)
    holds = bool(holds.all()) if hasattr(holds, "all") else bool(holds)
    return Verdict(PASSED if holds else FAILED, comparator, text_of(expected), text_of(actual), "", 0.0, count_of(actual))


def compare(actual: Any, expected: Any, comparator: str, tolerance: float, relative: float) -> Verdict:
    try:
        if comparator == "bits":
            return compare_bits(actual, expected)
        if comparator == "close":
            return compare_close(actual, expected, tolerance, relative)
        if comparator in ORDERS:
            return compare_order(actual, expected, comparator)
        return compare_equal(actual, expected, comparator)
    except Exception as problem:  # what cannot be compared has not passed
        return Verdict(ERROR, comparator, text_of(expected), text_of(actual), f"{type(problem).__name__}: {problem}", 0.0, 0)


def caller(depth: int) -> tuple[str, int]:
    """The file and line of who asked for the check."""
    frame = sys._getframe(depth + 1)
    path = frame.f_code.co_filename
    here = os.getcwd() + os.sep
    return (path[len(here):] if path.startswith(here) else path), frame.f_lineno


def clean(text: str) -> str:
    """As the extension takes it: valid UTF-8 without NUL."""
    return text.replace("\0", "\\0").encode("utf-8", "replace").decode("utf-8")


def emit(core: Any, name: str, verdict: Verdict, unit: str, place: tuple[str, int], duration_ns: int) -> None:
    core.check(clean(name), verdict.status, COMPARATORS.index(verdict.comparator), clean(verdict.expected),
               clean(verdict.actual), clean(verdict.detail), clean(unit), clean(place[0]), place[1] & 0xffffffff,
               float(verdict.tolerance), max(verdict.n, 0), duration_ns)
