# SPDX-License-Identifier: Apache-2.0
"""Zstandard decompression for the reference decoder, through the system's libzstd.

Python 3.11 has no Zstandard of its own, and the frames are not what the reference decoder is there to verify.
"""

from __future__ import annotations

import ctypes

_library = ctypes.CDLL("libzstd.so.1")
_library.ZSTD_decompress.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]
_library.ZSTD_decompress.restype = ctypes.c_size_t
_library.ZSTD_compress.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_int]
_library.ZSTD_compress.restype = ctypes.c_size_t
_library.ZSTD_compressBound.argtypes = [ctypes.c_size_t]
_library.ZSTD_compressBound.restype = ctypes.c_size_t
_library.ZSTD_isError.argtypes = [ctypes.c_size_t]
_library.ZSTD_isError.restype = ctypes.c_uint


def decompress(frame: bytes, content_bytes: int) -> bytes | None:
    """The content, or None if the frame is damaged or gives another size."""
    out = ctypes.create_string_buffer(max(content_bytes, 1))
    got = _library.ZSTD_decompress(out, content_bytes, frame, len(frame))
    if _library.ZSTD_isError(got) or got != content_bytes:
        return None
    return ctypes.string_at(out, content_bytes)


def compress(content: bytes, level: int = 3) -> bytes:
    """For tests that make traces by hand."""
    room = _library.ZSTD_compressBound(len(content))
    out = ctypes.create_string_buffer(room)
    got = _library.ZSTD_compress(out, room, content, len(content), level)
    if _library.ZSTD_isError(got):
        raise RuntimeError("libzstd cannot compress")
    return ctypes.string_at(out, got)
