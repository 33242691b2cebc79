# SPDX-License-Identifier: Apache-2.0
"""What people do with torch and beside it, each with the agent and without: every line printed is the same."""

from __future__ import annotations

from pathlib import Path

from recorded import Harness, main

PROGRAMS = Path(__file__).resolve().parent / "programs"


def same(t: Harness, program: str, *levels: str) -> None:
    command = [t.python, str(PROGRAMS / program)]
    bare = t.execute(command)
    theirs = bare.output.splitlines()
    failed = [line for line in theirs if " failed " in line]
    print(f"# {program}: does not work here even without us: {failed}")
    t.check(f"{program} runs", bare.status == 0 and len(theirs) > 5, bare.status, bare.errors[-2000:])
    for level in levels:
        run = t.record_command(command, "--detail", level)
        ours = run.output.splitlines()
        different = [pair for pair in zip(ours, theirs) if pair[0] != pair[1]]
        t.equal(f"{program}, {level}: {theirs[-1] if theirs else ''}", (run.status, len(ours), different),
                (bare.status, len(theirs), []), run.errors[-1500:])
        t.check(f"{program}, {level}: it was recorded", len(run.of("call_begin", "call_end")) > 100, run.errors[-500:])


def test_idioms(t: Harness) -> None:
    same(t, "idioms.py", "normal", "full")


def test_transforms(t: Harness) -> None:
    same(t, "transforms.py", "normal", "full")


def test_beside(t: Harness) -> None:
    same(t, "beside.py", "normal", "full")


if __name__ == "__main__":
    main(test_idioms, test_transforms, test_beside, require=("torch",))
