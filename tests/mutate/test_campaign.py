#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The campaign sees what it has to see, and its mutations get behind the checksums.

usage: test_campaign.py WHEELTAP MUTATOR
"""

from __future__ import annotations

import json
import os
import random
import struct
import subprocess
import sys
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parent / "python")]
import texts  # noqa: E402
import watch  # noqa: E402
from actions import ACTIONS, verbs_left_out  # noqa: E402
from campaign import actions_of  # noqa: E402
from cases import SHARES, kind_of  # noqa: E402
from harness import Case, Scratch  # noqa: E402
from xxh3 import xxh3_64  # noqa: E402

WHEELTAP, MUTATOR = (str(Path(word).resolve()) for word in sys.argv[1:3])
STREAM = HERE / "seeds" / "calls" / "0001.wt"
ENV = {"PATH": "/usr/bin:/bin"}


class Watch(Case):
    """Each way to go wrong, done by a small program."""

    def wrong(self, script: str, how: str = "text", sanitized: bool = False, interpreter: str = "/bin/sh") -> str:
        program = watch.Program(interpreter, sanitized, 1, 30)
        ended = watch.execute(program, ["-c", script], self.folder, ENV)
        return watch.wrong_end(program, ended, watch.STATUSES) or watch.wrong_output(ended, how)

    def test_right(self) -> None:
        for status in watch.STATUSES:
            self.assertEqual(self.wrong(f"printf 'a\\tb \\303\\251\\n'; exit {status}"), "")
        self.assertEqual(self.wrong("echo '{\"a\": [1, null]}'", "json"), "")
        self.assertEqual(self.wrong("echo 1; echo 2", "jsonl"), "")
        self.assertEqual(self.wrong("printf 'a,b\\r\\n'", "csv"), "")

    def test_ends(self) -> None:
        self.assertEqual(self.wrong("kill -SEGV $$"), "signal 11")
        self.assertEqual(self.wrong("exit 7"), "exit status 7")
        self.assertEqual(self.wrong("while :; do :; done"), "hang")

    def test_memory(self) -> None:
        greedy = "b'x' * (600 << 20)"
        self.assertIn("memory", self.wrong(greedy, interpreter="/usr/bin/python3"))
        self.assertEqual(self.wrong(greedy, interpreter="/usr/bin/python3", sanitized=True), "")

    def test_sanitizers(self) -> None:
        report = "printf '../src/a.c:12:3: runtime error: shift of 70\\n' >&2; exit 99"
        self.assertEqual(self.wrong(report, sanitized=True), "sanitizer: src/a.c:12 shift of N")
        report = ("printf '==1==ERROR: AddressSanitizer: heap-use-after-free on\\n  #0 0x1 in memcpy (x)\\n"
                  "  #1 0x2 in wti_a /x/src/trace/a.c:7\\n' >&2; exit 99")  # fmt: skip
        self.assertEqual(self.wrong(report, sanitized=True), "sanitizer: heap-use-after-free wti_a trace/a.c:7")

    def test_control_bytes(self) -> None:
        for byte in ("\\033", "\\001", "\\r", "\\177", "\\233", "\\302\\233", "\\000"):
            self.assertIn("control byte", self.wrong(f"printf 'a{byte}b'"), byte)
            self.assertIn("on stderr", self.wrong(f"printf 'a{byte}b' >&2"), byte)
        self.assertIn("control byte", self.wrong("printf 'a\\rb\\r\\n'", "csv"))

    def test_json(self) -> None:
        for text in ("{", "{} {}", "[1,]", "NaN", '"\\377"'):
            self.assertIn("not json", self.wrong(f"printf '%b' '{text}'", "json"), text)
        self.assertIn("no json", self.wrong("exit 0", "json"))
        self.assertIn("not jsonl", self.wrong("echo 1; echo x", "jsonl"))

    def test_files(self) -> None:
        path = self.folder / "out"
        for how, good, bad in (("json", b"{}", b"{"), ("xml", b"<a/>", b"<a>\x1b</a>"), ("sqlite", b"", b"no database, no")):
            path.write_bytes(good)
            self.assertEqual(watch.wrong_files(self.folder, {"out": how}), "")
            path.write_bytes(bad)
            self.assertIn(f"not {how}", watch.wrong_files(self.folder, {"out": how}))


class Table(unittest.TestCase):
    def test_verbs(self) -> None:
        self.assertEqual(verbs_left_out(["info", "version", "novel"]), ["novel"])

    def test_every_action_has_its_turn(self) -> None:
        for kind, actions in ACTIONS.items():
            numbers = [number for number in range(100 * len(actions)) if kind_of(number) == kind]
            self.assertEqual(len(numbers), SHARES[kind] * len(actions), kind)
            tried = {action for number in numbers for action in actions_of(number, kind, 3)}
            self.assertEqual(tried, set(actions), kind)


class Texts(unittest.TestCase):
    def test_reach_behind_the_parser(self) -> None:
        text = (HERE / "seeds" / "calls" / "run.json").read_bytes()
        same = sound = 0
        for seed in range(200):
            first, said = texts.mutate(random.Random(seed), text)
            self.assertEqual(texts.mutate(random.Random(seed), text), (first, said))
            same += first == text
            try:
                json.loads(first)
                sound += 1
            except (ValueError, RecursionError):
                pass
        self.assertLess(same, 20)
        self.assertGreater(sound, 30)
        self.assertLess(sound, 170)


def checksums(data: bytes) -> int:
    """How many blocks a stream has, all checksums of which are right."""
    if len(data) < 128 or struct.unpack_from("<Q", data, 120)[0] != xxh3_64(data[:120]):
        raise ValueError("file header")
    at = 128
    count = 0
    while data[at : at + 4] == b"WTBK":
        (size,) = struct.unpack_from("<I", data, at + 12)
        payload, header = struct.unpack_from("<QQ", data, at + 48)
        if header != xxh3_64(data[at : at + 56]) or payload != xxh3_64(data[at + 64 : at + 64 + size]):
            raise ValueError(f"block {count}")
        at += 64 + size
        count += 1
    return count


class Streams(Case):
    def mutate(self, seed: int) -> tuple[bytes, str]:
        path = self.folder / "mutated.wt"
        done = subprocess.run([MUTATOR, str(seed), STREAM, path], capture_output=True, text=True, check=True)
        return path.read_bytes(), done.stdout

    def test_checksums_are_right(self) -> None:
        original = STREAM.read_bytes()
        blocks = checksums(original)
        self.assertGreater(blocks, 10)
        whole = 0
        for seed in range(12):
            data, said = self.mutate(seed)
            self.assertEqual(self.mutate(seed), (data, said))
            self.assertNotEqual(data, original, said)
            if "cut at" in said or "field 7" in said:  # a header that says another size, on purpose
                continue
            whole += checksums(data) > blocks // 2
        self.assertGreater(whole, 6)

    def test_are_read(self) -> None:
        """Most of them are streams with events for the reader, not just files that it refuses."""
        read = 0
        for seed in range(40):
            self.mutate(seed)
            done = subprocess.run([WHEELTAP, "info", "--json", self.folder / "mutated.wt"], capture_output=True)
            try:
                read += json.loads(done.stdout).get("events", 0) > 100
            except ValueError:
                pass
        self.assertGreater(read, 25)


WRAPPER = """#!/bin/sh
if [ "$1" = timeline ]; then printf '\\033[31m'; exit 0; fi
exec {wheeltap} "$@"
"""


class Whole(unittest.TestCase):
    def test_a_failure_is_reported_and_kept(self) -> None:
        with Scratch() as folder:
            wrapper = folder / "wheeltap"
            wrapper.write_text(WRAPPER.format(wheeltap=WHEELTAP))
            wrapper.chmod(0o755)
            kind = "--asan" if os.environ.get("ASAN_OPTIONS") else "--plain"
            done = subprocess.run([sys.executable, HERE / "campaign.py", "--mutator", MUTATOR, kind, wrapper, "--count", "60",
                                   "--keep", folder / "kept"], capture_output=True, text=True)  # fmt: skip
            self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
            self.assertIn("timeline: control byte 0x1b on stdout", done.stdout)
            again = next(line for line in done.stdout.splitlines() if line.startswith("  cd ") and "timeline" in line)
            shown = subprocess.run(["/bin/sh", "-c", again], capture_output=True)
            self.assertEqual((shown.returncode, shown.stdout), (0, b"\033[31m"), again)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
