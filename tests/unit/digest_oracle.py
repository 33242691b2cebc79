#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Digests computed a second time, plainly, from docs/digest.md alone, and compared to the bit.

usage: digest_oracle.py UNIT_DIGEST FOLDER_OF_XXH3
"""

from __future__ import annotations

import math
import random
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, sys.argv[2])
from xxh3 import xxh3_64  # noqa: E402

DTYPES = ["other", "bool", "u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64", "f16", "bf16", "f32", "f64", "c64",
          "c128", "f8e4m3", "f8e5m2", "c32", "f8e4m3fnuz", "f8e5m2fnuz", "f8e8m0"]
SIZE = {"bool": 1, "u8": 1, "i8": 1, "u16": 2, "i16": 2, "u32": 4, "i32": 4, "u64": 8, "i64": 8, "f16": 2, "bf16": 2,
        "f32": 4, "f64": 8, "c64": 8, "c128": 16, "f8e4m3": 1, "f8e5m2": 1, "c32": 4,
        "f8e4m3fnuz": 1, "f8e5m2fnuz": 1, "f8e8m0": 1}
FORMAT = {"u8": "B", "i8": "b", "u16": "H", "i16": "h", "u32": "I", "i32": "i", "u64": "Q", "i64": "q", "f16": "e",
          "f32": "f", "f64": "d", "c64": "f", "c128": "d", "c32": "e"}
REAL = {"c32": "f16", "c64": "f32", "c128": "f64"}
SMALL = ["bool", "u8", "i8", "u16", "i16", "f16", "bf16", "c32", "f8e4m3", "f8e5m2", "f8e4m3fnuz", "f8e5m2fnuz", "f8e8m0"]
LANES = 16
BLOCK = 4096
WAYS = 9  # in which the program is asked for each digest


def small_float(bits: int, exponent_bits: int, mantissa_bits: int, has_infinity: bool) -> float:
    sign = -1.0 if bits >> (exponent_bits + mantissa_bits) else 1.0
    exponent = bits >> mantissa_bits & (1 << exponent_bits) - 1
    mantissa = bits & (1 << mantissa_bits) - 1
    bias = (1 << exponent_bits - 1) - 1
    top = exponent == (1 << exponent_bits) - 1
    if top and has_infinity:
        return math.nan if mantissa else sign * math.inf
    if top and mantissa == (1 << mantissa_bits) - 1:
        return math.nan
    if exponent == 0:
        return sign * math.ldexp(mantissa, 1 - bias - mantissa_bits)
    return sign * math.ldexp(mantissa + (1 << mantissa_bits), exponent - bias - mantissa_bits)


def unsigned_zero(bits: int, exponent_bits: int, mantissa_bits: int) -> float:
    """The "fnuz" forms: no infinity, no negative zero, whose place is the NaN; a bias that is one more."""
    if bits == 0x80:
        return math.nan
    sign = -1.0 if bits & 0x80 else 1.0
    exponent = bits >> mantissa_bits & (1 << exponent_bits) - 1
    mantissa = bits & (1 << mantissa_bits) - 1
    bias = 1 << exponent_bits - 1
    if exponent == 0:
        return sign * math.ldexp(mantissa, 1 - bias - mantissa_bits)
    return sign * math.ldexp(mantissa + (1 << mantissa_bits), exponent - bias - mantissa_bits)


def reals(dtype: str, data: bytes) -> list[float]:
    if dtype == "bool":
        return [1.0 if byte else 0.0 for byte in data]
    if dtype == "bf16":
        return [struct.unpack("<f", bytes((0, 0)) + data[i:i + 2])[0] for i in range(0, len(data), 2)]
    if dtype == "f8e4m3":
        return [small_float(byte, 4, 3, False) for byte in data]
    if dtype == "f8e5m2":
        return [small_float(byte, 5, 2, True) for byte in data]
    if dtype == "f8e4m3fnuz":
        return [unsigned_zero(byte, 4, 3) for byte in data]
    if dtype == "f8e5m2fnuz":
        return [unsigned_zero(byte, 5, 2) for byte in data]
    if dtype == "f8e8m0":
        return [math.nan if byte == 255 else math.ldexp(1.0, byte - 127) for byte in data]
    code = FORMAT[dtype]
    return [float(value) for value in struct.unpack(f"<{len(data) // struct.calcsize(code)}{code}", data)]


def fold(lanes: list[float]) -> float:
    lanes = list(lanes)
    for step in (8, 4, 2, 1):
        for j in range(step):
            lanes[j] += lanes[j + step]
    return lanes[0]


def square(x: float) -> float:
    return x * x


def divide(a: float, b: float) -> float:
    return a / b


def block_of(values: list[float]) -> tuple[int, float, float]:
    """Finite elements, mean, m2."""
    sums = [0.0] * LANES
    finite = [(i % LANES, x) for i, x in enumerate(values) if math.isfinite(x)]
    for lane, x in finite:
        sums[lane] += x
    if not finite:
        return 0, 0.0, 0.0
    mean = divide(fold(sums), len(finite))
    squares = [0.0] * LANES
    for lane, x in finite:
        squares[lane] += square(x - mean)
    return len(finite), mean, fold(squares)


def bits(value: float) -> str:
    if value == 0:
        value = 0.0
    if math.isnan(value):
        return "7ff8000000000000"
    return f"{struct.unpack('<Q', struct.pack('<d', value))[0]:016x}"


def digest(dtype: str, data: bytes) -> str:
    values = reals(dtype, data)
    n, mean, m2 = 0, 0.0, 0.0
    for at in range(0, len(values), BLOCK):
        n_b, mean_b, m2_b = block_of(values[at:at + BLOCK])
        if n_b == 0:
            continue
        if n == 0:
            n, mean, m2 = n_b, mean_b, m2_b
            continue
        d, t = mean_b - mean, n + n_b
        mean = mean + d * n_b / t
        m2 = (m2 + m2_b) + d * d * n * n_b / t
        n = t
    finite = [x for x in values if math.isfinite(x)]
    nan = sum(math.isnan(x) for x in values)
    inf = sum(math.isinf(x) for x in values)
    zeros = sum(x == 0 for x in values)
    return (f"{len(data) // SIZE[dtype]} {xxh3_64(data):016x} {nan} {inf} {zeros} {bits(min(finite, default=0.0))} "
            f"{bits(max(finite, default=0.0))} {bits(mean)} {bits(m2)}")


def patterns(dtype: str) -> list[bytes]:
    """Every element of a small type."""
    size = SIZE[REAL.get(dtype, dtype)]
    return [value.to_bytes(size, "little") for value in range(256 ** size)]


def finite_patterns(dtype: str) -> list[bytes]:
    real = REAL.get(dtype, dtype)
    return [pattern for pattern in patterns(dtype) if math.isfinite(reals(real, pattern)[0])]


def make_small(rng: random.Random, dtype: str, count: int, style: str, finite: list[bytes]) -> bytes:
    """`finite`: without NaN and infinities, as most blocks are; `one`: one element in 3000 that is not;
    `positive` and `negative`: one sign alone; else the byte of which all is made, in hexadecimal."""
    count = count * SIZE[dtype] // len(finite[0])
    if style in ("positive", "negative"):
        finite = [pattern for pattern in finite if (pattern[-1] >= 0x80) == (style == "negative")] or finite
    elif style not in ("finite", "one"):
        return bytes.fromhex(style) * (count * len(finite[0]))
    values = rng.choices(finite, k=count)
    if style == "one":
        others = sorted(set(patterns(dtype)) - set(finite)) or finite
        for i in range(rng.randrange(20), count, 3000):
            values[i] = rng.choice(others)
    return b"".join(values)


def small_inputs(rng: random.Random) -> list[tuple[tuple[str, int, str], tuple[str, bytes]]]:
    inputs = []
    for dtype in SMALL:
        finite = finite_patterns(dtype)
        shuffled = rng.sample(finite, len(finite))
        for style, values in (("every", patterns(dtype)), ("every finite", finite), ("shuffled", shuffled)):
            inputs.append(((dtype, len(values), style), (dtype, b"".join(values))))
        cases = [(count, style) for count in (1, 15, 17, 31, 33, 65, 127, 1023, 4095, 4096, 4097, 8209)
                 for style in ("finite", "one", "positive", "negative")]
        cases += [(count, f"{byte:02x}") for count in (5, 33, 8200) for byte in (0, 1, 0x7f, 0x80, 0xff)]
        if SIZE[dtype] == 1:
            cases += [(67, f"{byte:02x}") for byte in range(256)]
        inputs += [((dtype, *case), (dtype, make_small(rng, dtype, *case, finite))) for case in cases]
    return inputs


def make(rng: random.Random, dtype: str, count: int, style: str) -> bytes:
    """`bits`: any bytes at all; `normal`: a bell; `special`: NaN, infinities, zeros, denormals among them."""
    if style == "bits" or dtype not in ("f32", "f64", "c64", "c128"):
        return rng.randbytes(count * SIZE[dtype])
    code = FORMAT[dtype]
    values = [rng.gauss(0.1, 1.0) for _ in range(count * SIZE[dtype] // struct.calcsize(code))]
    if style == "special":
        for i in range(0, len(values), 7):
            values[i] = rng.choice([math.nan, math.inf, -math.inf, 0.0, -0.0, 1e-42, 1e-310, 3e38])
    if style == "huge" and code == "d":
        values = [value * 1e308 / 8 for value in values]
    if style == "zeros":
        values = [-0.0] * len(values)
    return struct.pack(f"<{len(values)}{code}", *values)


def main() -> int:
    rng = random.Random(1)
    cases = [(dtype, count, style)
             for dtype in DTYPES[1:]
             for count in (0, 1, 7, 15, 16, 17, 255, 256, 257, 4095, 4096, 4097, 9000)
             for style in (("bits", "normal", "special", "huge", "zeros") if dtype in ("f32", "f64", "c64", "c128") else ("bits",))]
    inputs = [(dtype, make(rng, dtype, count, style)) for dtype, count, style in cases]
    for case, data in small_inputs(rng):
        cases.append(case)
        inputs.append(data)
    with tempfile.NamedTemporaryFile() as file:
        for dtype, data in inputs:
            file.write(struct.pack("<QQ", DTYPES.index(dtype), len(data) // SIZE[dtype]) + data)
        file.flush()
        lines = subprocess.run([sys.argv[1], file.name], stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
    failed = 0
    for i, (dtype, data) in enumerate(inputs):
        expected = digest(dtype, data)
        for j, got in enumerate(lines[WAYS * i:WAYS * (i + 1)]):
            if got != expected:
                failed += 1
                print(f"{cases[i]} way {j}:\n  got      {got}\n  expected {expected}")
    print(f"{len(inputs)} tensors, {failed} differences")
    return 1 if failed or len(lines) != WAYS * len(inputs) else 0


if __name__ == "__main__":
    sys.exit(main())
