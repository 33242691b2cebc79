#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The golden traces, read twice: by the C reader (canonical) and by the decoder written from docs/format.md.

    check_golden.py agree CANONICAL FILE...           both must print the same, line by line
    check_golden.py broken FOLDER                     the decoder must see what is broken in each of errors/*.wt
    check_golden.py reproduce MAKE_GOLDEN CANONICAL FOLDER
                                                      today's writer must make the committed files, byte for byte
                                                      but for the version of the writer;
                                                      with another version of zstd, the same events; where the schema
                                                      has grown since, it must have kept the rules of growth
    check_golden.py handmade FOLDER                   make_errors.py must make the committed files, byte for byte
    check_golden.py sim WHEELTAP CANONICAL ARGS...    both must agree on what the simulator makes
    check_golden.py record WHEELTAP CANONICAL PROGRAM and on what the recorder makes of a program
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from itertools import zip_longest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from harness import PATIENCE  # noqa: E402

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "python"))
from reference_decoder import decode  # noqa: E402
from trace_model import Damage, Kind  # noqa: E402
from trace_text import canonical  # noqa: E402

ZSTD_VERSION = "zstd-version"  # what the committed traces were made with


def run(*command: str | Path) -> str:
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=PATIENCE)
    if done.returncode:
        raise SystemExit(f"'{command[0]}' ended with {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def agree(program: str, paths: list[Path]) -> bool:
    good = bool(paths)
    for path in paths:
        stream = decode(str(path))
        for note in stream.notes:
            print(f"'{path}' is damaged {note}")
        good = good and not stream.notes
        lines = run(program, path).splitlines()
        for n, (c, python) in enumerate(zip_longest(lines, canonical(stream)), 1):
            if c != python:
                print(f"'{path}', line {n}:\n  C reader:  {c}\n  reference: {python}")
                good = False
                break
        print(f"{path.name}: {len(lines)} lines, {stream.event_count} events")
    return good


def sees(path: Path, where: str, low: int, high: int, events: str) -> str:
    """Why the decoder does not say what it must of a broken trace; empty if it does."""
    try:
        stream = decode(str(path))
    except Damage as damage:
        return "" if where == "open" and low <= damage.offset <= high else f"cannot be opened, {damage}"
    if where == "open" or (where == "read") != bool(stream.notes):
        return f"is read with these notes: {', '.join(map(str, stream.notes)) or 'none'}"
    if stream.notes and not low <= stream.notes[0].offset <= high:
        return f"is damaged {stream.notes[0]}"
    enough = stream.event_count >= int(events[:-1]) if events.endswith("+") else stream.event_count == int(events)
    return "" if enough else f"gives {stream.event_count} events"


def broken(folder: Path) -> bool:
    good = True
    for line in (folder / "errors" / "expected.tsv").read_text().splitlines():
        if line.startswith("#"):
            continue
        name, where, _, low, high, events, _ = line.split("\t")
        wrong = sees(folder / "errors" / f"{name}.wt", where, int(low), int(high), events)
        if wrong:
            print(f"{name} {wrong}; expected: {where}, byte {low} to {high}, {events} events")
            good = False
    return good


def same_files(committed: Path, made: Path, pattern: str) -> list[str]:
    """Names of those that differ, or are there only once."""
    names = {p.relative_to(root) for root in (committed, made) for p in root.glob(pattern)}
    return sorted(str(n) for n in names if not (committed / n).is_file() or not (made / n).is_file()
                  or (committed / n).read_bytes() != (made / n).read_bytes())  # fmt: skip


def without_places(text: str) -> list[str]:
    """Canonical lines but for where blocks stand and how large they are."""
    return [line.split(" ", 3)[3] if line.startswith("block ") else line for line in text.splitlines()]


def broken_growth(old: dict[int, Kind], new: dict[int, Kind]) -> str:
    """The rule of growth that a schema breaks: numbers keep their meaning, fields and values are only appended."""
    for number, kind in old.items():
        now = new.get(number)
        if now is None or now.name != kind.name:
            return f"kind {number} was '{kind.name.decode()}'"
        if [(f.name, f.type) for f in now.fields[: len(kind.fields)]] != [(f.name, f.type) for f in kind.fields]:
            return f"kind '{kind.name.decode()}' has other fields than it had"
        for f, f_now in zip(kind.fields, now.fields):
            if f_now.enum_names[: len(f.enum_names)] != f.enum_names:
                return f"values of '{kind.name.decode()}.{f.name.decode()}' have other names than they had"
    return ""


def without_writer(data: bytes) -> bytes:
    """But for the version of the wheeltap that wrote it, and the checksum over that (docs/format.md)."""
    return data[:72] + data[88:120] + data[128:]


def reproduced(committed: Path, made: Path, program: str, same_zstd: bool) -> str:
    """Why today's file is not the committed one; empty if it is, or may differ."""
    if not made.is_file() or without_writer(made.read_bytes()) == without_writer(committed.read_bytes()):
        return "" if made.is_file() else "is not made any more"
    old, new = decode(str(committed)).kinds, decode(str(made)).kinds
    if broken := broken_growth(old, new):
        return f"breaks the rules of growth: {broken}"
    if old != new:
        print(f"{committed.name}: the schema has grown since, so that the bytes are not compared")
        return ""
    if same_zstd:
        return "is not what make_golden makes: if the writer was meant to change, make the golden traces again"
    print(f"{committed.name}: another version of zstd, so that only the events are compared")
    same = without_places(run(program, made)) == without_places(run(program, committed))
    return "" if same else "has other events"


def reproduce(maker: str, program: str, folder: Path) -> bool:
    good = True
    with tempfile.TemporaryDirectory() as made:
        same_zstd = run(maker, made) == (folder / ZSTD_VERSION).read_text()
        names = {p.name for root in (folder, Path(made)) for p in root.glob("*.wt")} - {"handmade.wt"}
        for name in sorted(names):
            if not (folder / name).is_file():
                wrong = "is not committed"
            else:
                wrong = reproduced(folder / name, Path(made) / name, program, same_zstd)
            if wrong:
                print(f"'{name}' {wrong}")
                good = False
    return good


def handmade(folder: Path) -> bool:
    with tempfile.TemporaryDirectory() as made:
        run(sys.executable, HERE / "make_errors.py", made)
        different = same_files(folder / "errors", Path(made) / "errors", "*")
        different += [n for n in same_files(folder, Path(made), "handmade.wt")]
        for name in different:
            print(f"'{name}' is not what make_errors.py makes: run it again and commit")
        return not different


def sim(wheeltap: str, program: str, arguments: list[str]) -> bool:
    with tempfile.TemporaryDirectory() as folder:
        run(wheeltap, "sim", *arguments, "-o", f"{folder}/run")
        return agree(program, sorted(Path(folder).rglob("*.wt")))


def record(wheeltap: str, program: str, recorded: str) -> bool:
    with tempfile.TemporaryDirectory() as folder:
        run(wheeltap, "record", "-o", f"{folder}/run", "--", recorded)
        return agree(program, sorted(Path(folder).rglob("*.wt")))


def main(what: str, *arguments: str) -> bool:
    if what == "agree":
        return agree(arguments[0], [Path(a) for a in arguments[1:]])
    if what == "broken":
        return broken(Path(arguments[0]))
    if what == "reproduce":
        return reproduce(arguments[0], arguments[1], Path(arguments[2]))
    if what == "handmade":
        return handmade(Path(arguments[0]))
    if what == "sim":
        return sim(arguments[0], arguments[1], list(arguments[2:]))
    if what == "record":
        return record(*arguments)
    raise SystemExit(__doc__)


if __name__ == "__main__":
    sys.exit(0 if main(*sys.argv[1:]) else 1)
