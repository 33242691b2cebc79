# SPDX-License-Identifier: Apache-2.0
"""Mutations of JSON, TOML and YAML by tokens and lines: numbers, strings and structure, not only bytes."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

TOKEN = re.compile(rb'"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'|-?\d[\w.+-]*|[A-Za-z_$][\w.$-]*|\s+|.', re.DOTALL)
NUMBERS = [b"0", b"1", b"-1", b"255", b"65536", b"2147483648", b"-2147483648", b"4294967295", b"4294967296",
           b"9223372036854775807", b"-9223372036854775808", b"9223372036854775808", b"18446744073709551615",
           b"18446744073709551616", b"-18446744073709551616", b"1e308", b"-1e308", b"1e309", b"1e-400", b"0.1", b"-0.0",
           b"123456789012345678901234567890", b"1e99999999999", b"0x7f", b"nan", b"inf", b"-inf", b"00", b"1_000"]
STRINGS = [b"", b"\\u001b[31mred\\u0007", b"\\u009b31m", b"\\u0000", b"\\ud800", b"\\n\\r\\t\\b", b"\xff\xfe", b"\x1b[2J",
           b"\xc2\x9b31m", b"\x7f", b"\xe2\x80\xae", b"%s%n", b"../../../etc/passwd", b"/dev/full", b"A" * 300, b"B" * 70000,
           b"*" * 64, b"((((((((a*)*)*)*)*)*)*)*)", b"(a|aa)+$", b"[", b"a{65535}", b"[[:alpha:]]{999}", b"1/0 > 0",
           b"train", b"step", b"2027-02-31", b"9999999999d", b"-5ms", b"1e30s", b"18446744073709551615G"]
VALUES = [b"null", b"true", b"false", b"[]", b"{}", b"[1]", b'["a"]', b'{"a": 1}', b"[[[[]]]]", b"~", b"- x", b"1", b'""', b'"x"',
          b"1979-05-27", b"[1, 2, 3, 4, 5, 6, 7, 8, 9]"]
DEEP = (10, 63, 64, 65, 130, 5000, 100000)


def is_number(token: bytes) -> bool:
    return token[:1].isdigit() or (token[:1] == b"-" and len(token) > 1)


def is_string(token: bytes) -> bool:
    return token[:1] in (b'"', b"'") and len(token) > 1


def is_value(token: bytes) -> bool:
    return is_number(token) or is_string(token) or token in (b"true", b"false", b"null")


def pick(chance: random.Random, tokens: list[bytes], wanted: Callable[[bytes], bool]) -> int | None:
    places = [i for i, token in enumerate(tokens) if wanted(token)]
    return chance.choice(places) if places else None


def hostile(chance: random.Random) -> bytes:
    quote = b"'" if chance.random() < 0.1 else b'"'
    return quote + chance.choice(STRINGS) + quote


def change_number(chance: random.Random, tokens: list[bytes]) -> None:
    if (at := pick(chance, tokens, is_number)) is not None:
        tokens[at] = chance.choice(NUMBERS)


def change_string(chance: random.Random, tokens: list[bytes]) -> None:
    if (at := pick(chance, tokens, is_string)) is not None:
        tokens[at] = hostile(chance)


def change_part(chance: random.Random, tokens: list[bytes]) -> None:
    """A string keeps its beginning or its end."""
    if (at := pick(chance, tokens, is_string)) is not None:
        text = tokens[at][1:-1]
        cut = chance.randrange(len(text) + 1)
        middle = chance.choice(STRINGS)
        tokens[at] = b'"' + (text[:cut] + middle if chance.random() < 0.5 else middle + text[cut:]) + b'"'


def change_type(chance: random.Random, tokens: list[bytes]) -> None:
    if (at := pick(chance, tokens, is_value)) is not None:
        tokens[at] = chance.choice([*VALUES, chance.choice(NUMBERS), hostile(chance)])


def change_word(chance: random.Random, tokens: list[bytes]) -> None:
    """A token becomes one that stands elsewhere in the file."""
    at = chance.randrange(len(tokens))
    tokens[at] = chance.choice(tokens)


def remove_tokens(chance: random.Random, tokens: list[bytes]) -> None:
    at = chance.randrange(len(tokens))
    del tokens[at : at + chance.choice((1, 1, 2, 5))]


def repeat_tokens(chance: random.Random, tokens: list[bytes]) -> None:
    at = chance.randrange(len(tokens))
    piece = tokens[at : at + chance.choice((1, 2, 5, 12, 40))]
    tokens[at:at] = piece * chance.choice((1, 1, 2, 30, 300))


def nest(chance: random.Random, tokens: list[bytes]) -> None:
    if (at := pick(chance, tokens, is_value)) is None:
        return
    depth = chance.choice(DEEP)
    opening, closing = chance.choice(((b"[", b"]"), (b'{"a":', b"}"), (b"{a=", b"}"), (b"[", b"")))
    tokens[at] = opening * depth + tokens[at] + closing * depth


def change_lines(chance: random.Random, tokens: list[bytes]) -> None:
    lines = b"".join(tokens).splitlines(keepends=True)
    at, other = chance.randrange(len(lines)), chance.randrange(len(lines))
    match chance.randrange(5):
        case 0:
            lines[at], lines[other] = lines[other], lines[at]
        case 1:
            lines.insert(other, lines[at])
        case 2:
            lines[at:at] = [lines[at]] * chance.choice((2, 20, 2000))
        case 3:
            del lines[at]
        case 4:
            lines[at] = b" " * chance.randrange(9) + lines[at].lstrip()
    tokens[:] = TOKEN.findall(b"".join(lines))


def change_bytes(chance: random.Random, tokens: list[bytes]) -> None:
    data = bytearray(b"".join(tokens))
    for _ in range(chance.randint(1, 6)):
        at = chance.randrange(len(data)) if data else 0
        match chance.randrange(4):
            case 0 if data:
                data[at] ^= 1 << chance.randrange(8)
            case 1 if data:
                data[at] = chance.choice((0, 9, 10, 13, 27, 127, 128, 155, 255))
            case 2:
                data[at:at] = chance.choice((b"\0", b"\xef\xbb\xbf", b"\r\n", b"\x1b[31m", b"\\", b'"', b"#", b"\xc2\x9b"))
            case 3 if data:
                del data[at]
    tokens[:] = TOKEN.findall(bytes(data))


def cut(chance: random.Random, tokens: list[bytes]) -> None:
    data = b"".join(tokens)
    tokens[:] = TOKEN.findall(data[: chance.randrange(len(data) + 1)])


CHANGES = [change_number] * 5 + [change_string] * 5 + [change_part] * 4 + [change_type] * 5 + [change_word] * 3 + [
    remove_tokens, remove_tokens, repeat_tokens, repeat_tokens, nest, change_lines, change_lines, change_bytes, cut]


def mutate(chance: random.Random, text: bytes) -> tuple[bytes, str]:
    """The text with one to three changes, and what they were."""
    tokens = TOKEN.findall(text)
    said = []
    for _ in range(chance.choice((1, 1, 1, 1, 2, 3))):
        if not tokens:
            break
        change = chance.choice(CHANGES)
        change(chance, tokens)
        said.append(change.__name__)
    return b"".join(tokens), ", ".join(said)
