# SPDX-License-Identifier: Apache-2.0
"""What the reader's tests share. They run in the interpreter that they test; output is TAP.

usage: test_x.py WHEELTAP SOURCE      [quick]   SOURCE is the root of the source tree
"""

from __future__ import annotations

import atexit
import json
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from harness import PATIENCE, PYTHON, Scratch, Tap, skip_all  # noqa: E402,F401

WHEELTAP = os.path.abspath(sys.argv[1])
SOURCE = Path(sys.argv[2]).resolve()
QUICK = "quick" in sys.argv[3:]  # the part that every interpreter runs
GOLDEN = SOURCE / "tests" / "golden"
PACKAGE = os.path.join(os.path.dirname(WHEELTAP), "python")
SCRATCH = Scratch()
FOLDER = SCRATCH.path
atexit.register(SCRATCH.__exit__)
sys.path.insert(0, PACKAGE)
os.environ.pop("WHEELTAP_HOME", None)


TAP = Tap()
check, equal, skip = TAP.check, TAP.equal, TAP.skip


def finish() -> None:
    sys.exit(TAP.finish())


def cli(*words: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([WHEELTAP, *words], capture_output=True, text=True, timeout=PATIENCE, cwd=FOLDER)


def has(module: str) -> bool:
    try:
        __import__(module)
        return True
    except ImportError:
        return False


def simulated(name: str, *options: str) -> str:
    path = str(FOLDER / name)
    done = cli("sim", "-o", path, *options)
    assert done.returncode == 0, done.stderr
    return path


def recorded(name: str, program: str, *options: str) -> str:
    """A run of a small Python program, by Debian's interpreter: the one that always has an agent."""
    path = str(FOLDER / name)
    script = FOLDER / (name + ".py")
    script.write_text(program)
    done = cli("record", "-o", path, *options, "--", PYTHON, str(script))
    assert done.returncode == 0, done.stderr
    return path


def shown(path: str, *options: str) -> "list[dict[str, Any]]":
    """The events as the command line tells them; but for the lines of system calls, which the package does not look up."""
    events = [json.loads(line) for line in cli("view", "--jsonl", *options, path).stdout.split("\n") if line]
    for event in events:
        if event["kind"] == "syscall":
            event["fields"].pop("source", None)
    return events


def as_shown(event: Any, hashes: "set[str]") -> "dict[str, Any]":
    """An event of the package in the words of the command line; `hashes` are fields that are always hashes."""
    fields = {}
    for name, value in event.fields.items():
        is_hash = name in hashes or (event.fields.get("type") == "hash" and name in ("value", "old", "new"))
        if isinstance(value, bool) or value is None or isinstance(value, str):
            fields[name] = value
        elif is_hash:
            fields[name] = f"{value:016x}"
        elif isinstance(value, float):
            fields[name] = value if math.isfinite(value) else "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
        else:
            fields[name] = value if -(1 << 53) <= value <= 1 << 53 else str(value)
    seq = event.seq if event.seq <= 1 << 53 else str(event.seq)
    return {"time_ns": event.time_ns, "kind": event.kind, "stream": event.stream, "track": event.track, "seq": seq,
            "fields": fields}


def hash_fields(run: Any, kind: str) -> "set[str]":
    return {field.name for field in run.kinds[kind].fields if field.type == "hash"}


def same_events(run: Any, events: Any, lines: "list[dict[str, Any]]") -> str:
    """Empty, or the first difference."""
    hashes = {kind: hash_fields(run, kind) for kind in run.kinds}
    mine = [as_shown(event, hashes[event.kind]) for event in events]
    if len(mine) != len(lines):
        return f"{len(mine)} events, the command line has {len(lines)}"
    for one, line in zip(mine, lines):
        line.pop("track_name")
        if one != line:
            return f"{one}\n{line}"
    return ""
