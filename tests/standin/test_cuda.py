# SPDX-License-Identifier: Apache-2.0
"""The agent for CUDA against a stand-in for the driver and libcupti: every record is in the trace or counted as lost, none is invented,
and operations belong to the Python calls that launched them. usage: test_cuda.py BUILD"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from harness import PATIENCE, PYTHON, Scratch, Tap, environment  # noqa: E402

BUILD = Path(sys.argv[1]).resolve()
WHEELTAP, HERE = BUILD / "wheeltap", Path(__file__).resolve().parent
STANDIN = BUILD / "tests/standin"
LIBRARY = STANDIN / "libcupti.so.12"
EVENT = 1 << 63  # an end of an edge that is an event
RUNTIME = 1  # a flag of spans
tap = Tap()


def numbers(text: str) -> dict[str, int]:
    return {words[0]: int(words[1]) for words in map(str.split, text.splitlines()) if len(words) == 2}


def record(folder: Path, name: str, program: list[object], *options: str, **variables: str) -> tuple[Path, dict[str, object], str]:
    """The run, what `record` says of it, and what the program printed."""
    home = folder / "cuda"
    if not home.exists():
        (home / "lib64").mkdir(parents=True)
        os.symlink(LIBRARY, home / "lib64/libcupti.so.12")
    run = folder / name
    done = subprocess.run([WHEELTAP, "record", "--cuda", "--on-full", "wait", "--json", "-o", run, *options, "--", *map(str, program)],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=PATIENCE, cwd=folder,
                          env=environment(CUDA_HOME=str(home), STANDIN_TRUTH=str(folder / "truth"), STANDIN_LIBRARY=str(LIBRARY),
                                          **variables))
    tap.equal(f"{name}: the program ended as it would have", done.returncode, 0, done.stdout, done.stderr)
    return run, json.loads(done.stderr.splitlines()[-1]), done.stdout


def accounts(folder: Path, run: Path) -> tuple[dict[str, int], dict[str, int]]:
    """Of the stand-in, and of the trace."""
    seen = subprocess.run([STANDIN / "standin_accounts", run], stdout=subprocess.PIPE, text=True, check=True, timeout=PATIENCE).stdout
    return numbers((folder / "truth").read_text()), numbers(seen)


def compare(name: str, made: dict[str, int], seen: dict[str, int]) -> None:
    operations = [f"op{i}" for i in range(9)]
    for key in ["dropped", "nodes", "sum", *operations]:
        tap.equal(f"{name}: {key} as the stand-in made it", seen[key], made[key], made, seen)
    tap.equal(f"{name}: nothing else was lost", seen["lost"], 0)


def events(run: Path, *options: str) -> list[dict[str, object]]:
    """With their fields beside what all events have; a track has the number of its stream."""
    done = subprocess.run([WHEELTAP, "view", "--jsonl", *options, run], stdout=subprocess.PIPE, text=True, timeout=PATIENCE)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    return [{**line, **line["fields"], "place": (line["stream"], line["track"])} for line in lines]


def million(folder: Path) -> None:
    run, said, _ = record(folder, "million", [STANDIN / "standin_driver", 9000, "fork"], STANDIN_DROP="3")
    made, seen = accounts(folder, run)
    tap.check("million: at least a million records, some dropped", made["made"] >= 1_000_000 and made["dropped"] > 1000, made)
    tap.equal("million: made is delivered and dropped", made["delivered"] + made["dropped"], made["made"])
    compare("million", made, seen)
    tap.equal("million: a span for each call, none for the driver's own or for questions", seen["spans"], made["calls"])
    tap.equal("million: a launch for each call", seen["launches"], made["calls"])
    tap.equal("million: record says what was dropped", said["losses"], {"device": made["dropped"]}, said)
    stat = subprocess.run([WHEELTAP, "stat", "--device", run], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=PATIENCE)
    facts = [line.split() for line in stat.stdout.splitlines()[:3]]
    tap.equal("million: two devices with four streams each", facts[1:], [["devices", "2"], ["queues", "8"]], stat.stdout[:300])
    tap.check("million: every operation has its call, nodes of graphs, too", "is not recorded" not in stat.stderr, stat.stderr)


def tally(folder: Path) -> None:
    """Each record that was delivered is in exactly one of the counters."""
    run, _, _ = record(folder, "tally", [STANDIN / "standin_driver", 100])
    made, _ = accounts(folder, run)
    counted = {str(event["name"]): int(float(str(event["value"]))) for event in events(run, "--kind", "counter")}
    total = sum(counted.get(f"cupti.{name}", 0) for name in ("emitted", "joined", "unknown"))
    tap.equal("tally: emitted, joined and unknown are all that was delivered", total, made["delivered"], counted)
    tap.equal("tally: records of unknown kinds are counted", counted.get("cupti.unknown"), made["unknown"], counted)


def ranges(folder: Path) -> None:
    """Ranges of NVTX, two in each other on four threads: name, thread and both times of each."""
    run, _, _ = record(folder, "ranges", [STANDIN / "standin_driver", 400])
    made, seen = accounts(folder, run)
    tap.equal("ranges: two a round on four threads", made["ranges"], 4 * 2 * 400)
    for key in ("ranges", "range_sum"):
        tap.equal(f"ranges: {key} as the stand-in made it", seen[key], made[key], made, seen)


def taken(folder: Path) -> None:
    """Another subscriber: activity records alone."""
    run, said, _ = record(folder, "taken", [STANDIN / "standin_driver", 200], STANDIN_TAKEN="1")
    made, seen = accounts(folder, run)
    compare("taken", made, seen)
    tap.equal("taken: calls are reported afterwards", seen["api"], made["api"], made, seen)
    tap.equal("taken: and are no spans", seen["spans"], 0)
    tap.check("taken: record says who is in the way and what is missing",
              "another profiler" in str(said["device_note"]) and "39" in str(said["device_note"]), said)


def broken(folder: Path) -> None:
    """What the agent cannot use, the program does not notice."""
    run, said, _ = record(folder, "old", [STANDIN / "standin_driver", 5], STANDIN_VERSION="0")
    tap.check("old: record says why", "version" in str(said["device_note"]), said)
    run, said, _ = record(folder, "clock", [STANDIN / "standin_driver", 50], STANDIN_NO_CLOCK="1")
    compare("clock", *accounts(folder, run))
    # A recorder that a child outlives, and a program that is recorded without the driver.
    run, said, _ = record(folder, "none", ["/bin/true"])
    tap.equal("none: nothing is said of a program without CUDA", said["device_note"], None)


def printed(output: str) -> dict[int, str]:
    return {int(words[1]): words[0] for words in map(str.split, output.splitlines()) if words[0] != "start"}


def nested(run: Path) -> dict[int, list[str]]:
    """The calls and ranges of Python around each launch, the outermost first."""
    stacks: dict[object, list[str]] = {}
    found: dict[int, list[str]] = {}
    for event in events(run):
        stack = stacks.setdefault(event["place"], [])
        if event["kind"] == "call_begin":
            stack.append(str(event["callee"]))
        elif event["kind"] == "span_begin" and not int(str(event["flags"])) & RUNTIME:
            stack.append(str(event["name"]))
        elif stack and (event["kind"] == "call_end" or event["kind"] == "span_end" and event["name"] == stack[-1]):
            stack.pop()
        elif event["kind"] == "edge" and event["type"] == "launch" and event["from"] == event["to"]:
            found[int(str(event["to"]))] = [*stack]
    return found


def external(run: Path) -> dict[int, str]:
    """The call or range of Python that each operation names by an external id."""
    begun, found = {}, {}
    for event in events(run):
        if event["kind"] == "call_begin":
            begun[int(str(event["track"])), int(str(event["seq"]))] = str(event["callee"])
        elif event["kind"] == "span_begin":
            begun[int(str(event["track"])), int(str(event["seq"]))] = str(event["name"])
        elif event["kind"] == "edge" and event["type"] == "launch" and int(str(event["from"])) & EVENT:
            place = int(str(event["from"])) & ~EVENT
            found[int(str(event["to"]))] = begun.get((place >> 32, place & 0xffffffff), "nothing")
    return found


def python(folder: Path) -> None:
    options = ["--modules", "gadget", "--detail", "full"]
    run, _, output = record(folder, "python", [PYTHON, HERE / "program.py"], *options)
    expected = printed(output)
    tap.equal("python: two threads, five launches a step", len(expected), 50, output)
    calls = nested(run)
    wrong = {key: (calls.get(key), name) for key, name in expected.items() if not any(name in call for call in calls.get(key, []))}
    tap.equal("python: each launch is within the call that made it", wrong, {}, list(calls.items())[:5])
    tap.equal("python: ranges nest", {tuple(calls.get(key, [])[-2:]) for key, name in expected.items() if name == "in_range"}, {("outer", "in_range")})
    run, _, output = record(folder, "python_taken", [PYTHON, HERE / "program.py"], *options, STANDIN_TAKEN="1")
    names, expected = external(run), printed(output)
    inner = {key: name for key, name in expected.items() if name != "layer"}
    wrong = {key: (names.get(key), name) for key, name in inner.items() if name not in names.get(key, "")}
    tap.equal("python: with another subscriber each operation names its call", wrong, {}, list(names.items())[:5], len(inner))


with Scratch() as scratch:
    for case in (million, tally, ranges, taken, broken, python):
        tap.case(case.__name__, case, scratch)
sys.exit(tap.finish())
