#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The build for aarch64, under qemu-user, does what the one for x86-64 does.

usage: test_aarch64.py BUILD CROSS ROOT

The tests of tests/golden are run with programs of CROSS; what reads, decodes, simulates and records is compared with BUILD, byte by byte
where nothing depends on time. qemu-user emulates one process: a recorded program is started by naming qemu itself.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import harness  # noqa: E402

GOLDEN = Path(__file__).resolve().parents[1] / "golden"
QEMU = "qemu-aarch64-static"
TRACES = sorted(GOLDEN.glob("*.wt"))
VERBS = (("info", "--json"), ("view", "--json"), ("stat", "--json"))


class Cross:
    def __init__(self, cross: Path, root: str, folder: Path) -> None:
        self.cross = cross
        self.root = root
        self.folder = folder

    def words(self, name: str) -> list[str]:
        return [QEMU, "-L", self.root, "-E", f"LD_LIBRARY_PATH={self.cross}/src/agents/client", str(self.cross / name)]

    def script(self, name: str) -> str:
        """A program of this machine that runs the one of the other."""
        path = self.folder / Path(name).name
        path.write_text(f'#!/bin/sh\nexec {shlex.join(self.words(name))} "$@"\n')
        path.chmod(0o755)
        return str(path)


def run(*words: object) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([str(word) for word in words], capture_output=True, stdin=subprocess.DEVNULL, timeout=harness.PATIENCE,
                          env=harness.environment())


def golden(tap: harness.Tap, cross: Cross) -> None:
    """Writer, reader and the decoder that was written from docs/format.md alone."""
    check = GOLDEN / "check_golden.py"
    canonical, maker = cross.script("tests/golden/canonical"), cross.script("tests/golden/make_golden")
    for what, words in {
        "reader and second decoder agree on the golden traces": ("agree", canonical, *TRACES),
        "the writer makes the golden traces, byte by byte": ("reproduce", maker, canonical, GOLDEN),
        "both decoders agree on a simulated run": ("sim", cross.script("wheeltap"), canonical, "--kinds", "all", "--events", "20000", "--seed", "3"),
    }.items():
        done = run(sys.executable, check, *words)
        tap.check(what, done.returncode == 0, done.stdout.decode(), done.stderr.decode())
    for name, words in {"broken_traces": [GOLDEN / "errors"], "every_variant": [GOLDEN / "handmade.wt", GOLDEN / "one_row.wt"]}.items():
        done = run(*cross.words(f"tests/golden/{name}"), *words)
        tap.check(name, done.returncode == 0, done.stdout.decode()[-2000:], done.stderr.decode()[-2000:])


def same(tap: harness.Tap, build: Path, cross: Cross) -> None:
    """The same files give the same answers, to the byte."""
    for path in TRACES:
        ours, theirs = run(build / "tests/golden/canonical", path), run(*cross.words("tests/golden/canonical"), path)
        tap.check(f"canonical {path.name}: {len(ours.stdout)} bytes", ours.stdout and (ours.returncode, ours.stdout) == (theirs.returncode, theirs.stdout),
                  theirs.stderr.decode())
    for verb in VERBS:
        pairs = [(run(build / "wheeltap", *verb, path), run(*cross.words("wheeltap"), *verb, path)) for path in TRACES]
        wrong = [path.name for path, (ours, theirs) in zip(TRACES, pairs) if (ours.returncode, ours.stdout) != (theirs.returncode, theirs.stdout)]
        tap.check(f"wheeltap {' '.join(verb)} on {len(TRACES)} traces", not wrong and all(ours.stdout for ours, _ in pairs), wrong)
    runs = [cross.folder / name for name in ("ours", "theirs")]
    for run_folder, words in zip(runs, ([build / "wheeltap"], cross.words("wheeltap"))):
        run(*words, "sim", "--events", "20000", "--seed", "7", "-o", run_folder)
    views = [run(build / "wheeltap", "view", "--json", folder).stdout.replace(folder.name.encode(), b"RUN") for folder in runs]
    tap.check("the simulator makes the same events from the same seed", len(views[0]) > 100000 and views[0] == views[1], *map(len, views))


def recorded(tap: harness.Tap, build: Path, cross: Cross) -> None:
    """Agent, recorder and reader of aarch64 together; what was recorded reads the same here."""
    ours, theirs = cross.folder / "recorded-here", cross.folder / "recorded-there"
    run(build / "wheeltap", "record", "-o", ours, "--", build / "tests/golden/emit_some")
    done = run(*cross.words("wheeltap"), "record", "-o", theirs, "--", *cross.words("tests/golden/emit_some"))
    tap.check("record ends as the program does", done.returncode == 0 and b"nothing lost" in done.stderr, done.stderr.decode())
    kinds = [{kind["kind"]: kind["events"] for kind in info(build / "wheeltap", folder)} for folder in (ours, theirs)]
    emitted = ("span_begin", "span_end", "counter", "mark", "tensor", "log", "context")
    tap.equal("as many events of each kind as on x86-64", {kind: kinds[1].get(kind) for kind in emitted}, {kind: kinds[0].get(kind) for kind in emitted}, kinds)
    tap.check("there are some", kinds[1].get("counter") == 500, kinds)
    views = [run(*words, "view", "--json", theirs).stdout for words in ([build / "wheeltap"], cross.words("wheeltap"))]
    tap.check("both read what was recorded there in the same way", len(views[0]) > 10000 and views[0] == views[1])
    digests = [values(build / "wheeltap", folder) for folder in (ours, theirs)]
    tap.check(f"{len(digests[0])} digests of tensors are the same", digests[0] and digests[0] == digests[1], digests[0][:1], digests[1][:1])


def info(wheeltap: Path, folder: Path) -> "list[dict[str, object]]":
    return list(json.loads(run(wheeltap, "info", "--json", folder).stdout)["tables"]["kinds"])


def values(wheeltap: Path, folder: Path) -> "list[object]":
    events = json.loads(run(wheeltap, "view", "--json", "--kind", "tensor", folder).stdout)["events"]
    return [event["fields"] for event in events]


def main() -> int:
    build, cross, root = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve(), sys.argv[3]
    os.environ["WHEELTAP_BUILD"] = str(build)
    tap = harness.Tap()
    with harness.Scratch() as folder:
        programs = Cross(cross, root, folder)
        golden(tap, programs)
        same(tap, build, programs)
        recorded(tap, build, programs)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
