#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Keeps the inputs of a fuzz target in one file, tests/fuzz/corpus/TARGET.inputs.

usage: inputs.py count ARCHIVE
       inputs.py unpack ARCHIVE FOLDER   one file per input, named by its SHA-1 as libFuzzer does
       inputs.py pack ARCHIVE FOLDER     replaces the archive by all files of the folder
       inputs.py add ARCHIVE FILE...     creates the archive where there is none

The archive, which replay.c reads as well: the bytes "wtinputs", the number of inputs, then for each input its length and its bytes.
Numbers are 32 bits, little endian. Inputs are unique and sorted by length, then by content, so that the same set makes the same file.
"""

from __future__ import annotations

import hashlib
import os
import struct
import sys
from pathlib import Path
from typing import Iterable

MAGIC = b"wtinputs"
NUMBER = struct.Struct("<I")
INPUT_BYTES_MAX = 1 << 20


def read(archive: Path) -> list[bytes]:
    data = archive.read_bytes()
    if data[:len(MAGIC)] != MAGIC or len(data) < len(MAGIC) + NUMBER.size:
        raise ValueError(f"'{archive}' is no archive of inputs")
    (count,) = NUMBER.unpack_from(data, len(MAGIC))
    at = len(MAGIC) + NUMBER.size
    inputs = []
    for _ in range(count):
        end = at + NUMBER.size
        if end <= len(data):
            end += NUMBER.unpack_from(data, at)[0]
        if end > len(data) or end < at + NUMBER.size:
            raise ValueError(f"'{archive}' is cut off in input {len(inputs)} of {count}")
        inputs.append(data[at + NUMBER.size:end])
        at = end
    if at != len(data):
        raise ValueError(f"'{archive}' has bytes after its last input")
    return inputs


def write(archive: Path, inputs: Iterable[bytes]) -> int:
    unique = sorted(set(inputs), key=lambda data: (len(data), data))
    if unique and len(unique[-1]) > INPUT_BYTES_MAX:
        raise ValueError(f"an input has {len(unique[-1])} bytes; at most {INPUT_BYTES_MAX} are replayed")
    fresh = archive.with_name(archive.name + ".new")
    fresh.write_bytes(MAGIC + NUMBER.pack(len(unique)) + b"".join(NUMBER.pack(len(data)) + data for data in unique))
    os.replace(fresh, archive)
    return len(unique)


def unpack(archive: Path, folder: Path) -> int:
    inputs = read(archive)
    folder.mkdir(parents=True, exist_ok=True)
    for data in inputs:
        (folder / hashlib.sha1(data).hexdigest()).write_bytes(data)
    return len(inputs)


def files_of(folder: Path) -> list[bytes]:
    return [path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()]


def main(words: list[str]) -> int:
    if len(words) < 2 or words[0] not in ("count", "unpack", "pack", "add") or (len(words) == 2) != (words[0] == "count"):
        print(__doc__, file=sys.stderr)
        return 2
    verb, archive, rest = words[0], Path(words[1]), [Path(word) for word in words[2:]]
    try:
        if verb == "count":
            count = len(read(archive))
        elif verb == "unpack":
            count = unpack(archive, rest[0])
        elif verb == "pack":
            count = write(archive, files_of(rest[0]))
        else:
            old = read(archive) if archive.exists() else []
            count = write(archive, old + [path.read_bytes() for path in rest])
            print(f"{archive}: {count - len(old)} of {len(rest)} inputs are new")
    except (OSError, ValueError) as error:
        print(f"inputs.py: {error}", file=sys.stderr)
        return 1
    print(f"{archive}: {count} inputs")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
