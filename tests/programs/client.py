#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The client agent, measured by a small recorder: what its programs emit must arrive, or be counted.

usage: client.py BUILD_FOLDER CLIENT_LIBRARY [CASE]...
"""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from harness import PATIENCE, Scratch, Skip, Tap, environment  # noqa: E402

BUILD = Path(sys.argv[1]).absolute()
LIBRARY = sys.argv[2]
RECORDER = BUILD / "fake_recorder"
RING_BYTES = 1 << 20
HEADER_BYTES = 4096


@dataclass
class Seen:
    """What the recorder printed."""

    text: str
    status: int = -1
    faults: int = -1
    tally: int = -1
    rings: list[dict[str, str]] = field(default_factory=list)
    processes: list[dict[str, str]] = field(default_factory=list)
    control: dict[str, int] = field(default_factory=dict)
    events: list[str] = field(default_factory=list)

    def total(self, key: str) -> int:
        return sum(int(ring[key]) for ring in self.rings)


def pairs(words: list[str]) -> dict[str, str]:
    return dict(zip(words[0::2], words[1::2]))


def parse(text: str) -> Seen:
    seen = Seen(text)
    for line in text.splitlines():
        words = line.split()
        match words[:1]:
            case ["ring"]:
                seen.rings.append({"pid": words[1], "tid": words[2], "state": words[-1]} | pairs(words[3:-1]))
            case ["process"]:
                seen.processes.append({"pid": words[1], "command": words[2]} | pairs(words[3:]))
            case ["control"]:
                seen.control = {key: int(value) for key, value in pairs(words[1:]).items()}
            case ["event"]:
                seen.events.append(re.sub(r"^event \d+ \d+ ", "", line))
            case ["status"]:
                seen.status = int(words[1])
            case ["tally"]:
                seen.tally = int(words[1])
            case ["faults"]:
                seen.faults = int(words[1])
    return seen


def record(program: list[str], **options: object) -> Seen:
    """Runs a program under the small recorder; nothing may be wrong in the rings."""
    with Scratch() as folder:
        settings = {"folder": folder} | {key.replace("_", "-"): value for key, value in options.items()}
        arguments = [str(word) for pair in settings.items() for word in pair]
        done = subprocess.run([str(RECORDER), *arguments, "--", *program], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=PATIENCE)
    seen = parse(done.stdout.decode(errors="replace") + done.stderr.decode(errors="replace"))
    expect(seen.faults == 0, f"no faults in the rings:\n{seen.text[-3000:]}")
    return seen


def expect(condition: bool, what: str) -> None:
    if not condition:
        raise AssertionError(what)


def case(name: str) -> list[str]:
    return [str(BUILD / "cases"), name]


def test_api() -> None:
    seen = record(case("api"), print=1)
    expect(seen.status == 0, f"the program found all as it should be:\n{seen.text}")
    wanted = [
        'key "stage" type 5 value 0 text "train"', 'key "epoch" type 2 value 2', 'key "step" type 2 value -7',
        'name "point" value 41', 'kind 9 seq 6 name "outer"', 'name "loss" value 0.5', 'kind 10 seq 8 name "outer"',
        'name "size" value 1000000000', 'text "epoch 3 loss 0.25"', 'text "retries=3"',
        'key "temperature" type 3 value 4602678819172646912', 'key "device" type 5 value 0 text "cuda:0"',
        'owner "optimizer" attribute "lr" old 3fb999999999999a new 3f847ae147ae147b',
        'owner "sampler" attribute "seed" old ffffffffffffffff new 11', 'attribute "mode" old 0 new 0 text "eval"',
        'name "weight" shape "2x3" count 6 hash', 'mean 3.5', 'name "scalar" shape #0 count 1',
        'name "gemm" queue 2 bytes 64',
    ]
    for text in wanted:
        expect(any(text in event for event in seen.events), f"an event with {text}:\n{seen.text}")
    stacks = [event for event in seen.events if event.startswith("kind 16 ")]
    expect(len(stacks) == 2 and all(int(event.split()[-1]) >= 3 for event in stacks), f"two stacks: {stacks}")
    expect([event.split()[1] for event in seen.events[:2]] == ["1", "2"], "process and thread come first")
    expect("kind 2 " in seen.events[-1] and "phase 1" in seen.events[-1], "the thread's end comes last")


def test_transfer() -> None:
    seen = record(case("transfer"), print=1)
    expect(seen.status == 0, f"the program found all as it should be:\n{seen.text}")
    kinds = [event.split()[1] for event in seen.events if event.split()[1] in ("13", "21", "22", "23")]
    expect(kinds == ["21", "23", "13", "23", "22", "21", "23", "22"], f"a save with its values, and a load: {kinds}\n{seen.text}")


def test_secrets() -> None:
    seen = record(case("secrets"), print=1)
    expect(len(seen.events) >= 10 and "PLANTED" not in seen.text, f"no secret is kept:\n{seen.text}")
    expect(seen.text.count("bytes, hash ") == 5, f"five texts are described:\n{seen.text}")
    expect("token=********" in seen.text and "https://me:********@host/" in seen.text, f"keys stay:\n{seen.text}")
    kept = record(case("secrets"), print=1, keep=1).text
    for number in (1, 2, 3, 4, 5, 6, 7, 8, 10, 11):
        expect(f"PLANTED{number:02}" in kept, f"kept when asked to: {number}\n{kept}")


def test_texts() -> None:
    seen = record(case("texts"), print=1, keep=1)
    expect(seen.status == 0, seen.text[-500:])
    names = [event for event in seen.events if event.startswith("kind 6 ")]
    cut = names[0].split('"')[1]
    expect(cut == "\\xe2\\x82\\xac" * 1365, f"a long name is cut between characters: {len(cut)} {cut[-40:]}")
    expect("line\\x0abreak \\x22quoted\\x22" in names[1], names[1])


def test_overflow() -> None:
    seen = record(case("overflow"), definitions_max=1 << 20, budget_ns=60_000_000_000)
    expect(seen.status == 0 and int(seen.processes[0]["overflow"]) > 1000, f"counted:\n{seen.text}")
    expect(seen.total("events") == 40000 + 3, f"no event is lost for want of a name:\n{seen.text}")


def test_many() -> None:
    # Threads share the budget: on a busy machine 64 of them wait for a minute within a second.
    seen = record([str(BUILD / "many"), "20000"], budget_ns=3_600_000_000_000, ring_bytes=1 << 18)
    said = re.search(r"expect processes (\d+) rings (\d+) marks (\d+)", seen.text)
    expect(seen.status == 0 and said is not None, seen.text[-2000:])
    assert said
    expect(len({process["pid"] for process in seen.processes}) == int(said[1]), f"all processes:\n{seen.text}")
    expect(len(seen.rings) == int(said[2]), f"all rings: {len(seen.rings)} of {said[2]}")
    expect(seen.total("marks") == int(said[3]) and seen.total("lost") == 0, f"all marks:\n{seen.text}")
    expect(seen.control["used"] == 0 and seen.control["refused"] == 0, f"all quota is back: {seen.control}")
    expect(sum(ring["state"] == "closed" for ring in seen.rings) == 64, "64 threads closed their rings")


def test_drop() -> None:
    seen = record(case("steady"), on_full=1, lazy=1)
    expect(seen.status == 0 and seen.total("lost") > 2_000_000, f"lost, and counted:\n{seen.text}")
    expect(seen.total("marks") + seen.total("lost") >= 3_000_000, f"every event is one or the other:\n{seen.text}")
    expect(f"published {seen.total('marks')} " in seen.text, f"the program was told the truth:\n{seen.text}")


def test_block_is_capped() -> None:
    """A recorder that reads nothing holds the program up for its budget and no longer."""
    seen = record(case("steady"), lazy=1, budget_ns=200_000_000)
    said = re.search(r"in (\d+) ms", seen.text)
    assert said
    expect(200 <= int(said[1]) < 8000, f"held up for the budget only:\n{seen.text}")
    expect(seen.total("lost") > 2_000_000, f"then dropped:\n{seen.text}")


def test_block_loses_nothing() -> None:
    seen = record(case("steady"), ring_bytes=1 << 16, budget_ns=60_000_000_000)
    expect(seen.total("marks") == 3_000_000 and seen.total("lost") == 0, f"waited for room:\n{seen.text}")


def test_signals() -> None:
    seen = record([str(BUILD / "signals"), "emit"], tally="signal", budget_ns=60_000_000_000)
    said = re.search(r"expect signals (\d+)", seen.text)
    expect(seen.status == 0 and said is not None, seen.text[-500:])
    assert said
    expect(seen.tally + seen.total("reentrant") == int(said[1]), f"{seen.tally} written of {said[1]}: {seen.rings}")


def test_fork_in_handler() -> None:
    seen = record([str(BUILD / "signals"), "fork"], tally="child", budget_ns=60_000_000_000)
    said = re.search(r"expect children (\d+)", seen.text)
    expect(seen.status == 0 and said is not None, seen.text[-500:])
    assert said
    expect(seen.tally == 100 * int(said[1]), f"{seen.tally} of {said[1]} children")


def test_ceiling() -> None:
    seen = record(case("ceiling"), rings_max=4 * (RING_BYTES + HEADER_BYTES))
    expect(len(seen.rings) == 4 and seen.control["refused"] == 4, f"four rings, four refused:\n{seen.text}")
    expect(int(seen.processes[0]["lost_no_ring"]) == 400, f"their events are counted:\n{seen.text}")


def test_churn() -> None:
    seen = record(case("churn"), rings_max=60 * (RING_BYTES + HEADER_BYTES))
    expect(len(seen.rings) == 300 and seen.control["refused"] == 0, f"rings are reused:\n{seen.control}")
    expect(seen.total("marks") == 30000, "all marks")
    expect(sorted(int(ring["track"]) for ring in seen.rings) == list(range(1, 301)), "tracks are dense from 1")


def test_late() -> None:
    seen = record(case("late"), print=1)
    expect(len(seen.rings) == 1 and seen.rings[0]["state"] == "closed", f"one ring:\n{seen.text}")
    order = [event.split()[1] for event in seen.events]
    expect(order == ["1", "2", "6", "6", "2"], f"process, thread, early, late, thread's end: {seen.events}")


def test_descriptors() -> None:
    seen = record(case("descriptors"))
    expect(seen.status == 0, seen.text[-1000:])


def test_generations() -> None:
    seen = record(case("generations"), print=1)
    expect(seen.status == 0 and len(seen.rings) == 8, seen.text[-1000:])
    for name in ("generation", "fixed"):
        values = sorted(event.split()[-1] for event in seen.events if f'"{name}"' in event)
        expect(values == [str(i) for i in range(8)], f"{name}: {values}")


def test_vfork() -> None:
    seen = record(case("vfork"), print=1)
    expect(seen.status == 0 and len(seen.processes) == 1, seen.text[-500:])
    expect(seen.total("marks") == 50, f"the parent's marks are whole:\n{seen.text[-500:]}")


def test_loaded() -> None:
    seen = record([str(BUILD / "loaded"), LIBRARY])
    expect(seen.status == 0 and seen.total("marks") == 3 + 3, f"events before and after dlclose:\n{seen.text}")


def test_header_in_cxx() -> None:
    if not (BUILD / "header").exists():
        raise Skip("no C++ compiler")
    expect(record([str(BUILD / "header")]).status == 0, "recorded")


def test_mismatch() -> None:
    seen = record(case("quiet"), protocol=99)
    expect(seen.status == 0 and seen.control["mismatch"] == 1, f"stays out, and is counted:\n{seen.text}")
    expect(not seen.processes, "did not join")


def quiet(variable: str | None) -> None:
    done = subprocess.run(case("quiet"), stdout=subprocess.PIPE, timeout=PATIENCE,
                          env=environment() if variable is None else environment(WHEELTAP_AGENT=variable))
    expect(done.returncode == 0, f"WHEELTAP_AGENT={variable}: {done.stdout!r}")


def test_not_recording() -> None:
    key = "A" * 22
    with Scratch() as folder:
        for variable in (None, "", "2", "2:", "x:/tmp", "2:relative", f"2:{folder}", f"2:/{'x' * 5000}", "2:/nowhere",
                         f"2:{folder}/{key}", f"2:{folder}/{key}.", f"2:{folder}/{key}.x", f"2:{folder}/{key}.99999999",
                         f"2:{folder}/{key}.{'9' * 40}", f"2:/{key}.none"):
            quiet(variable)
        for protocol in (1, 2):
            inner = Path(folder, f"{key}.none") if protocol == 2 else Path(folder)
            inner.mkdir(mode=0o700, exist_ok=True)
            for content in (b"WCTL" + bytes(8), b"WCTL" + protocol.to_bytes(4, "little") + bytes(4088)):
                Path(inner, "control").write_bytes(content)
                Path(inner, "control").chmod(0o600)
                quiet(f"{protocol}:{inner}")


def test_long_folder() -> None:
    with Scratch() as folder:
        deep = Path(folder, "x" * 120)
        expect(record(case("generations"), folder=deep).total("events") > 0, "a socket with a long path is reached")


def lone_program(*options: str) -> str:
    """Runs a program whose recorder dies or stops; returns its output."""
    with Scratch() as folder:
        output = Path(folder, "output")
        end = time.monotonic() + PATIENCE
        recorder = subprocess.Popen([str(RECORDER), "folder", str(folder), *options, "--", "/bin/sh", "-c",
                                     f"{BUILD / 'cases'} second >{output} 2>&1; echo status $? >>{output}"],
                                    stdout=subprocess.DEVNULL)
        while not (output.exists() and "status" in output.read_text()) and time.monotonic() < end:
            time.sleep(0.02)
        recorder.kill()
        recorder.wait()
        return output.read_text() if output.exists() else ""


def test_recorder_killed() -> None:
    for at in (1, 300):
        text = lone_program("die-after", str(at))
        expect("finished" in text and "status 0" in text, f"after {at} ms: {text}")


def test_recorder_stopped() -> None:
    for at in (1, 300):
        text = lone_program("stop-after", str(at))
        expect("finished" in text and "status 0" in text, f"after {at} ms: {text}")


def main() -> int:
    tests: dict[str, Callable[[], None]] = {name[5:]: function for name, function in globals().items()
                                            if name.startswith("test_")}
    chosen = sys.argv[3:] or list(tests)
    tap = Tap()
    for name in chosen:
        tap.case(name, tests[name])
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
