#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Compares our TOML reader with Python's tomllib on documents made by changing good ones at random.

usage: toml_oracle.py UNIT_BASE_TOML [ROUNDS]

Both must accept the same documents and read the same values from them. Known differences: we have
no dates, no keys with NUL, 64-bit integers, a bounded depth, and take a byte order mark.
"""

from __future__ import annotations

import json
import math
import random
import subprocess
import sys
import tomllib

SEEDS = [
    b'title = "x"\n[a]\nb = 1\nc = [1, 2.5, true]\n[a.d]\ne = {f = 1, g.h = 2}\n[[l]]\nx = 1\n[[l]]\nx = 2\n[l.y]\n',
    b'a.b.c = 1\na.b.d = "\\u00e9\\n"\n[x.y]\nz = \'lit\'\n[x]\nw = -0x1f\n',
    b's = """\nline\\\n   next ""two"" \\t"""\nt = \'\'\'\nraw\\\'\'\'\nu = ""\n',
    b'n = [\n  1_000, # c\n  -0.5e+3,\n  inf, 0b101, 0o17, 0xAb,\n]\n"q k" . \'z\' = {}\n',
    b'a = [[1], [{b = [{}]}]]\n[c]\nd.e = 1\nd.f.g = 2\n[c.h]\n[c.h.i]\n[[c.j.k]]\n[c.j.k.l]\n[[c.j.k.m]]\n',
]
PIECES = [b"[", b"]", b"[[", b"]]", b"{", b"}", b"=", b".", b",", b'"', b"'", b'"""', b"'''", b"\n", b"\r\n", b"#",
          b" ", b"\t", b"a", b"b", b"c", b"x", b"1", b"0", b"_", b"-", b"+", b"e", b"\\", b"\\u", b"inf", b"nan", b"true",
          b"a.b", b"[a]\n", b"[a.b]\n", b"[[a]]\n", b"[[l]]\n", b"a.b = 1\n", b"b.c = 2\n", b"a = {}\n", b"\xc3\xa9",
          b"\xff", b"\x01", b"\x7f", b"c.j = 1\n", b"[x]\n", b"[x.y]\n", b"\r"]


def change(source: random.Random) -> bytes:
    text = source.choice(SEEDS)
    if source.random() < 0.3:
        text += source.choice(SEEDS)
    for _ in range(source.choice([1, 1, 1, 2, 3, 6])):
        at = source.randint(0, len(text))
        drop = source.choice([0, 0, 1, 2, 5])
        text = text[:at] + source.choice([b""] + PIECES) + text[at + drop:]
    return text.replace(b"\0", b"")


def known_difference(text: bytes, ours: str) -> bool:
    return "dates are not" in ours or "contains a NUL" in ours


def plain(value: object) -> object:
    """As our dump shows it: JSON has no numbers that are not finite."""
    if isinstance(value, dict):
        return {key: plain(child) for key, child in value.items()}
    if isinstance(value, list):
        return [plain(child) for child in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def expected(text: bytes) -> object:
    """The values, or None if tomllib refuses."""
    try:
        return plain(tomllib.loads(text.decode()))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError):
        return None


def main() -> int:
    program, rounds = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 20000
    source = random.Random(20240601)
    texts = [change(source) for _ in range(rounds)]
    answer = subprocess.run([program, "--dump"], input=b"".join(t + b"\0" for t in texts), stdout=subprocess.PIPE, check=True)
    lines = answer.stdout.decode().splitlines()
    assert len(lines) == len(texts), f"{len(lines)} answers to {len(texts)} documents"
    accepted = failed = 0
    for text, line in zip(texts, lines):
        theirs = expected(text)
        ours = json.loads(line) if line.startswith("{") else None
        if ours == theirs or known_difference(text, line):
            accepted += ours is not None
            continue
        failed += 1
        if failed <= 5:
            print(f"document {text!r}\n  ours      {line}\n  tomllib   {theirs}")
    print(f"{rounds} documents, {accepted} valid, {failed} read differently")
    return failed != 0 or accepted < rounds // 20


if __name__ == "__main__":
    sys.exit(main())
