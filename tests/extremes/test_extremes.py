#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Runs of absurd numbers through every verb that reads them: no crash, no undefined behaviour.

The exit code may be any that a verb has for what it found; what the sanitizers find is not among them.

usage: test_extremes.py WHEELTAP MAKE_EXTREMES SEEDS
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from harness import PATIENCE, Bench, Scratch, Tap, environment  # noqa: E402

WHEELTAP, MAKE = (str(Path(word).resolve()) for word in sys.argv[1:3])
SEEDS = int(sys.argv[3])
ENVIRONMENT = environment(UBSAN_OPTIONS="halt_on_error=0:print_stacktrace=1")
GATE = "".join(f'[[gate]]\nname = "{i}"\n{body}\n' for i, body in enumerate([
    'type = "duration"\nmax = "1s"',
    'type = "duration"\nof = "step"\nmax = "1s"',
    'type = "duration"\nof = "critical_path"\nmax = "1s"',
    'type = "count"\ncall = "%file"\nper = "step"\nmax = 9223372036854775807',
    'type = "bytes"\nof = "all"\nmax = "1k"',
    'type = "memory"\nof = "mapped"\nmax = "1k"',
    'type = "forbidden"\neffect = "network"',
    'type = "slower"\nmax = 0.5',
    'type = "expression"\ntable = "syscalls"\nexpression = "calls * 1e308 * 1e308 > 1 % 0"\nrows = "any"',
]))
# Numbers at which text becomes something else than what stands there.
RECORDS = "\n".join(
    f'{{"process_id": {pid}, "thread_id": {number}, "time": {time}, "type": "function_call (pre)", "func_call_id": "{number}", '
    f'"function": "torch.nn.Linear.forward", "args": {{"0": {{"torch.Tensor": {{"shape": [{number}, {number}], '
    f'"dtype": "torch.float32", "value": {number}}}}}}}, "meta_vars.step": {number}}}'
    for pid in (1, 4294967295) for time in (0, "9223372036854775807", "1e14")
    for number in ("9223372036854775807", "-9223372036854775808", "1e300", "-1e300", "18446744073709551616", "0"))


def verbs(a: str, b: str, folder: Path) -> list[list[str]]:
    text = lambda name: str(folder / name)  # noqa: E731
    exports = ["perfetto", "chrome", "jsonl", "csv", "sqlite", "strace", "renacer-json", "html"]
    stats = [["--by", by] for by in ("name", "kind", "track", "step", "module", "function", "site")]
    calls = [["--syscalls", "--percentiles", "--by", by] for by in ("name", "process", "thread", "step")]
    return [
        ["info", a], ["info", "--json", a], ["view", a], ["view", "--json", a], ["timeline", a], ["timeline", "--json", a],
        *(["stat", *words, a] for words in stats), *(["stat", *words, "--json", a] for words in calls), ["stat", "--critical-path", a], ["stat", "--device", a], ["stat", "--device", "--json", a],
        ["stat", "--from", "-9223372036s", "--to", "9223372036s", a],
        *(["export", "--to", to, "-o", text(f"out.{to}"), "--force", a] for to in exports),
        ["doctor", "--all", a], ["infer", a, b, "-o", text("pack.json")], ["check", "-i", text("pack.json"), a],
        ["infer", "--partial", a, "-o", text("a.part")], ["infer", "--partial", b, "-o", text("b.part")],
        ["infer", "--merge", text("a.part"), text("b.part"), "-o", text("merged.json")],
        ["diff", a, b], ["golden", "add", "--force", "--times", "-d", text("goldens"), "it", a, b],
        ["golden", "check", "-d", text("goldens"), "it", b], ["golden", "show", "-d", text("goldens"), "it"],
        ["gate", "-c", text("gate.toml"), a], ["gate", "-c", text("gate.toml"), a, b, a, b, a, b],
        ["import", "traincheck", text("theirs.json"), "-o", text("theirs")], ["check", "-i", text("pack.json"), text("theirs")],
    ]


def problem(words: list[str], folder: Path) -> str:
    done = Bench(WHEELTAP, folder).call(*words, env=ENVIRONMENT)
    found = [line for line in done.stderr.splitlines() if "runtime error" in line or "Sanitizer" in line]
    if found or done.returncode < 0 or done.returncode > 4:
        return "\n".join(found[:20] or [f"exit code {done.returncode}", done.stderr[-2000:]])
    return ""


def main() -> int:
    tap = Tap()
    for seed in range(SEEDS):
        with Scratch() as folder:
            runs = [str(folder / "a"), str(folder / "b")]
            for i, run in enumerate(runs):
                subprocess.run([MAKE, run, str(seed * 2 + i)], check=True, timeout=PATIENCE)
            (folder / "gate.toml").write_text(GATE)
            (folder / "theirs.json").write_text(RECORDS + "\n")
            for words in verbs(runs[0], runs[1], folder):
                why = problem(words, folder)
                tap.check(f"{' '.join(words[:3])} (seed {seed})".replace(str(folder), ""), not why, why)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
