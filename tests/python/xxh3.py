# SPDX-License-Identifier: Apache-2.0
"""XXH3-64 with seed 0, in Python alone, and the system's libxxhash where there is one.

Traces carry XXH3 checksums, which Python's standard library does not know. `xxh3_64` is the hash that the
reference decoder uses: libxxhash when it can be loaded, since pure Python manages only some MB/s, and
`xxh3_64_pure` otherwise. The tests hold the two against each other.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable

MASK32 = 0xFFFFFFFF
MASK64 = 0xFFFFFFFFFFFFFFFF
PRIME32_1 = 0x9E3779B1
PRIME32_2 = 0x85EBCA77
PRIME32_3 = 0xC2B2AE3D
PRIME64_1 = 0x9E3779B185EBCA87
PRIME64_2 = 0xC2B2AE3D27D4EB4F
PRIME64_3 = 0x165667B19E3779F9
PRIME64_4 = 0x85EBCA77C2B2AE63
PRIME64_5 = 0x27D4EB2F165667C5
PRIME_MX1 = 0x165667919E3779F9
PRIME_MX2 = 0x9FB21C651E98DF25

# The algorithm's default secret.
SECRET = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671f"
    "cb79e64eccc0e578825ad07dccff7221b8084674f743248ee03590e6813a264c"
    "3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8"
    "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364"
    "eac5ac8334d3ebc3c581a0fffa1363eb170ddd51b7f0da49d316552629d4689e"
    "2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e"
)

STRIPE = 64
STRIPES_IN_BLOCK = (len(SECRET) - STRIPE) // 8
BLOCK = STRIPE * STRIPES_IN_BLOCK


def u32(data: bytes, at: int) -> int:
    return int.from_bytes(data[at : at + 4], "little")


def u64(data: bytes, at: int) -> int:
    return int.from_bytes(data[at : at + 8], "little")


def secret_pair(at: int) -> int:
    return u64(SECRET, at) ^ u64(SECRET, at + 8)


def rotate(value: int, bits: int) -> int:
    return (value << bits | value >> (64 - bits)) & MASK64


def fold(a: int, b: int) -> int:
    """The two halves of the 128-bit product, one upon the other."""
    product = a * b
    return (product & MASK64) ^ (product >> 64)


def avalanche(h: int) -> int:
    h ^= h >> 37
    h = h * PRIME_MX1 & MASK64
    return h ^ h >> 32


def avalanche_short(h: int) -> int:
    """The finish of XXH64, which inputs of up to 3 bytes use."""
    h ^= h >> 33
    h = h * PRIME64_2 & MASK64
    h ^= h >> 29
    h = h * PRIME64_3 & MASK64
    return h ^ h >> 32


def up_to_16(data: bytes) -> int:
    size = len(data)
    if size == 0:
        return avalanche_short(secret_pair(56))
    if size <= 3:
        combined = data[0] << 16 | data[size >> 1] << 24 | data[-1] | size << 8
        return avalanche_short(combined ^ u32(SECRET, 0) ^ u32(SECRET, 4))
    if size <= 8:
        h = u32(data, size - 4) + (u32(data, 0) << 32) ^ secret_pair(8)
        h ^= rotate(h, 49) ^ rotate(h, 24)
        h = h * PRIME_MX2 & MASK64
        h ^= (h >> 35) + size
        h = h * PRIME_MX2 & MASK64
        return h ^ h >> 28
    low = u64(data, 0) ^ secret_pair(24)
    high = u64(data, size - 8) ^ secret_pair(40)
    swapped = int.from_bytes(low.to_bytes(8, "little"), "big")
    return avalanche(size + swapped + high + fold(low, high) & MASK64)


def mix(data: bytes, at: int, secret_at: int) -> int:
    return fold(u64(data, at) ^ u64(SECRET, secret_at), u64(data, at + 8) ^ u64(SECRET, secret_at + 8))


def up_to_128(data: bytes) -> int:
    size = len(data)
    acc = size * PRIME64_1
    for i in range((size - 1) // 32 + 1):
        acc += mix(data, 16 * i, 32 * i) + mix(data, size - 16 * (i + 1), 32 * i + 16)
    return avalanche(acc & MASK64)


def up_to_240(data: bytes) -> int:
    size = len(data)
    acc = size * PRIME64_1 + sum(mix(data, 16 * i, 16 * i) for i in range(8))
    acc = avalanche(acc & MASK64)
    acc += sum(mix(data, 16 * i, 16 * (i - 8) + 3) for i in range(8, size // 16))
    acc += mix(data, size - 16, 136 - 17)
    return avalanche(acc & MASK64)


SECRET_WORDS = [struct.unpack_from("<8Q", SECRET, 8 * n) for n in range(STRIPES_IN_BLOCK + 1)]
SECRET_LAST = struct.unpack_from("<8Q", SECRET, len(SECRET) - STRIPE - 7)


def accumulate(acc: list[int], words: tuple[int, ...], secret: tuple[int, ...]) -> None:
    """One stripe. The sums stay unmasked: they are reduced once a block."""
    for i in range(8):
        key = words[i] ^ secret[i]
        acc[i ^ 1] += words[i]
        acc[i] += (key & MASK32) * (key >> 32)


def scramble(acc: list[int]) -> None:
    for i, secret in enumerate(SECRET_WORDS[STRIPES_IN_BLOCK]):
        value = acc[i] & MASK64
        acc[i] = (value ^ value >> 47 ^ secret) * PRIME32_1 & MASK64


def long(data: bytes) -> int:
    size = len(data)
    acc = [PRIME32_3, PRIME64_1, PRIME64_2, PRIME64_3, PRIME64_4, PRIME32_2, PRIME64_5, PRIME32_1]
    stripe = struct.Struct("<8Q")
    whole_stripes = (size - 1) // STRIPE
    for n in range(whole_stripes):
        in_block = n % STRIPES_IN_BLOCK
        accumulate(acc, stripe.unpack_from(data, n * STRIPE), SECRET_WORDS[in_block])
        if in_block == STRIPES_IN_BLOCK - 1:
            scramble(acc)
    accumulate(acc, stripe.unpack_from(data, size - STRIPE), SECRET_LAST)
    acc = [value & MASK64 for value in acc]
    result = size * PRIME64_1
    for i in range(4):
        result += fold(acc[2 * i] ^ u64(SECRET, 11 + 16 * i), acc[2 * i + 1] ^ u64(SECRET, 19 + 16 * i))
    return avalanche(result & MASK64)


def xxh3_64_pure(data: bytes) -> int:
    size = len(data)
    if size <= 16:
        return up_to_16(data)
    if size <= 128:
        return up_to_128(data)
    if size <= 240:
        return up_to_240(data)
    return long(data)


def load_library() -> Callable[[bytes], int] | None:
    """XXH3_64bits of libxxhash, or None."""
    try:
        function = ctypes.CDLL("libxxhash.so.0").XXH3_64bits
    except (OSError, AttributeError):
        return None
    function.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
    function.restype = ctypes.c_uint64
    return lambda data: int(function(data, len(data)))


xxh3_64_library = load_library()
xxh3_64: Callable[[bytes], int] = xxh3_64_library or xxh3_64_pure
