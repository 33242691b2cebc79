# SPDX-License-Identifier: Apache-2.0
"""The agent for AMD's devices against a stand-in for HIP and rocprofiler-sdk, in both versions of its records. usage: test_rocm.py BUILD"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from harness import PATIENCE, Scratch, Tap, environment  # noqa: E402

BUILD = Path(sys.argv[1]).resolve()
STANDIN = BUILD / "tests/standin"
ANNOTATION = 4  # a flag of spans
tap = Tap()


def numbers(text: str) -> dict[str, int]:
    return {words[0]: int(words[1]) for words in map(str.split, text.splitlines()) if len(words) == 2}


def events(run: Path, *kinds: str) -> list[dict[str, object]]:
    words = [word for kind in kinds for word in ("--kind", kind)]
    done = subprocess.run([BUILD / "wheeltap", "view", "--jsonl", *words, run], stdout=subprocess.PIPE, text=True, check=True, timeout=PATIENCE)
    return [{**line, **line["fields"]} for line in map(json.loads, done.stdout.splitlines())]


def compare_ranges(run: Path, version: str, made: dict[str, int]) -> None:
    """Each range is a span that nests, with the launches of the calls in it."""
    stack: list[str] = []
    found, inside = [], 0
    for event in events(run, "span_begin", "span_end", "edge"):
        if event["kind"] == "span_begin" and int(str(event["flags"])) == ANNOTATION:
            stack.append(str(event["name"]))
            found.append((len(stack), str(event["name"])))
        elif event["kind"] == "span_end" and stack and event["name"] == stack[-1]:
            stack.pop()
        elif event["kind"] == "edge" and stack and event["from"] == event["to"]:
            inside += stack[-1] == "inner"
    expected = [one for i in range(0, 500, 50) for one in ((1, f"step {i}"), (2, "inner"))]
    tap.equal(f"version {version}: ranges of roctx nest", found, expected)
    tap.equal(f"version {version}: and end", stack, [])
    tap.equal(f"version {version}: with what was launched in them", inside, made["ranges"] // 2)
    marks = [event for event in events(run, "mark") if event["name"] == "halfway"]
    tap.equal(f"version {version}: marks of roctx", len(marks), made["marks"])


def compare(folder: Path, version: str) -> None:
    run = folder / f"version{version}"
    done = subprocess.run([BUILD / "wheeltap", "record", "--rocm", "--on-full", "wait", "--json", "-o", run, "--", STANDIN / "standin_rocm",
                           version], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=PATIENCE, env=environment())
    tap.equal(f"version {version}: the program ends as it would have", done.returncode, 0, done.stderr)
    seen = subprocess.run([STANDIN / "standin_accounts", run], stdout=subprocess.PIPE, text=True, check=True, timeout=PATIENCE).stdout
    made, found = numbers(done.stdout), numbers(seen)
    for key, value in made.items():
        tap.equal(f"version {version}: {key} as the stand-in made it", found.get(key), value, made, found)
    also = {words[1]: int(words[2]) for words in map(str.split, done.stdout.splitlines()) if words[0] == "made"}
    counted = {str(event["name"]): int(float(str(event["value"]))) for event in events(run, "counter")}
    tap.equal(f"version {version}: records that are too short, of other kinds or empty are counted", counted.get("rocprofiler.unknown"), also["unknown"], counted)
    tap.equal(f"version {version}: and all others emitted", counted.get("rocprofiler.emitted"), made["op0"] + made["op1"], counted)
    geometry = {str(event["geometry"]) for event in events(run, "device_op") if event["op"] == "kernel"}
    tap.equal(f"version {version}: geometry is groups and work-items of a group", geometry, {"16x1x1/64x1x1"})
    compare_ranges(run, version, also)
    said = json.loads(done.stderr.splitlines()[-1])
    tap.equal(f"version {version}: record says what was dropped", said["losses"], {"device": made["dropped"]}, said)
    stat = subprocess.run([BUILD / "wheeltap", "stat", run], stdout=subprocess.PIPE, text=True, timeout=PATIENCE).stdout
    tap.check(f"version {version}: kernels have their names", "vector_add " in stat and "hipGraphLaunch" in stat, stat[:600])


with Scratch() as scratch:
    for version in ("0", "1"):
        tap.case(f"version {version}", compare, scratch, version)
sys.exit(tap.finish())
