#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Mutates streams, run.json, packs, goldens, gates, settings and imports, and lets all verbs read them.

usage: campaign.py --mutator PROGRAM [--plain WHEELTAP] [--asan WHEELTAP] [--count N] [--seed S] [--verbs N] [--jobs N]
                   [--keep FOLDER] [--first CASE] [--kinds KIND,...] [--only CASE]

The same seed and build give the same mutations; TrainCheck's published traces take part where ../shared/data has them. A case is one mutation and a few verbs, in turn, so that over the campaign each verb
meets each kind of file that it reads. It fails if a verb ends by a signal, with a report of a sanitizer, with an exit status
that is not documented, not before its limit of processor time, with more than 500 MB resident (of the plain program: a
sanitizer's own memory says nothing), or prints control bytes, or what should be JSON and is none.

Each failure is printed once, with the command that shows it again; its folder is kept.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import random
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import watch
from actions import ACTIONS, THEN, Action, verbs_left_out
from cases import SHARES, Seeds, build, environment, gather, kind_of
from watch import Program

SAID_MAX = 400  # characters of what was changed; mutation.txt has it all
CASES_EACH_MAX = 3  # of one failure that are kept
PLAIN_CPU_SECONDS, PLAIN_WALL_SECONDS = 10, 120
ASAN_CPU_SECONDS, ASAN_WALL_SECONDS = 40, 400


@dataclass
class Setup:
    mutator: str
    programs: list[Program]
    seeds: Seeds
    work: Path
    seed: int
    verbs: int


@dataclass
class Failure:
    what: str
    program: Program
    words: tuple[str, ...]

    def key(self) -> str:
        return f"{self.words[0]}: {self.what}" if not self.what.startswith("sanitizer") else self.what


@dataclass
class Outcome:
    """Of a case."""

    number: int
    kind: str
    said: str
    folder: Path
    ran: list[tuple[str, int]] = field(default_factory=list)  # verb, exit status of the first program
    failures: list[Failure] = field(default_factory=list)
    memory: tuple[int, str] = (0, "")  # the most that a plain program took, in KiB, and which it was
    cpu: tuple[float, str] = (0, "")  # likewise the most seconds of a processor, of any program


SETUP: Setup


def actions_of(number: int, kind: str, count: int) -> list[Action]:
    """A few of the kind's actions: the next ones, case by case."""
    every = ACTIONS[kind]
    share = SHARES[kind]
    turn = number // 100 * share + sum(kind_of(i) == kind for i in range(number - number % 100, number))
    return [every[(turn * count + i) % len(every)] for i in range(min(count, len(every)))]


def clear_outputs(folder: Path) -> None:
    for name in ("out", "out.run"):
        path = folder / name
        shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)


def try_action(setup: Setup, outcome: Outcome, action: Action) -> None:
    """Runs it with each program; what the last one wrote stays."""
    allowed = watch.RECORD_STATUSES if action.verb == "record" else watch.STATUSES
    for i, program in enumerate(setup.programs):
        if action not in THEN:
            clear_outputs(outcome.folder)
        ended = watch.execute(program, list(action.words), outcome.folder, environment(outcome.folder))
        wrong = watch.wrong_end(program, ended, allowed) or watch.wrong_output(ended, action.stdout)
        if not wrong and ended.status in (0, 1):
            wrong = watch.wrong_files(outcome.folder, dict(action.files))
        if wrong:
            outcome.failures.append(Failure(wrong, program, action.words))
        what = f"case {outcome.number}: {shlex.join(action.words)}"
        outcome.cpu = max(outcome.cpu, (ended.cpu_seconds, what))
        if not program.is_sanitized:
            outcome.memory = max(outcome.memory, (ended.memory_kib, what))
        if not i:
            outcome.ran.append((action.verb, ended.status))


def restore(folder: Path, name: str, data: bytes | None) -> None:
    if data is not None and (folder / name).read_bytes() != data:
        (folder / name).write_bytes(data)


def try_case(number: int) -> Outcome:
    setup = SETUP
    kind = kind_of(number)
    chance = random.Random(f"{setup.seed}:{number}")
    outcome = Outcome(number, kind, "", setup.work / str(number))
    outcome.folder.mkdir()
    outcome.said = build(setup.mutator, setup.seeds, outcome.folder, chance, kind)
    # The one verb that changes what it reads.
    golden = (outcome.folder / "golden.toml").read_bytes()
    for action in actions_of(number, kind, setup.verbs):
        try_action(setup, outcome, action)
        restore(outcome.folder, "golden.toml", golden)
    if (outcome.folder / "out.run").is_dir():
        try_action(setup, outcome, chance.choice(THEN))
    if not outcome.failures:
        shutil.rmtree(outcome.folder, ignore_errors=True)
    return outcome


# ---- The campaign


def again(kept: Path, failure: Failure) -> str:
    """The command that shows a failure once more."""
    is_first = failure.words not in [action.words for action in THEN]  # the others look at out.run
    variables = [f"{name}={value}" for name, value in environment(kept).items()]
    command = shlex.join(["env", "-i", *variables, failure.program.path, *failure.words])
    return f"cd {shlex.quote(str(kept))} && {'rm -rf out out.run && ' if is_first else ''}{command}"


@dataclass
class Tally:
    keep: Path
    cases: int = 0
    mutations: Counter[str] = field(default_factory=Counter)
    runs: int = 0
    memory: tuple[int, str] = (0, "")
    cpu: tuple[float, str] = (0, "")
    pairs: Counter[tuple[str, str]] = field(default_factory=Counter)  # kind of file, verb
    statuses: Counter[tuple[str, int]] = field(default_factory=Counter)  # kind of file, exit status
    failures: Counter[str] = field(default_factory=Counter)

    def add(self, outcome: Outcome) -> None:
        self.cases += 1
        self.mutations[outcome.kind] += 1
        self.memory = max(self.memory, outcome.memory)
        self.cpu = max(self.cpu, outcome.cpu)
        for verb, status in outcome.ran:
            self.runs += 1
            self.pairs[outcome.kind, verb] += 1
            self.statuses[outcome.kind, status] += 1
        for failure in outcome.failures:
            self.failures[failure.key()] += 1
        for failure in outcome.failures:
            if self.failures[failure.key()] <= CASES_EACH_MAX:
                self.report(outcome, failure)
        if outcome.folder.exists():
            shutil.rmtree(outcome.folder, ignore_errors=True)

    def report(self, outcome: Outcome, failure: Failure) -> None:
        kept = self.keep / str(outcome.number)
        if not kept.exists():
            self.keep.mkdir(parents=True, exist_ok=True)
            shutil.copytree(outcome.folder, kept, symlinks=True)
            (kept / "mutation.txt").write_text(outcome.said + "\n")
        print(f"FAILED case {outcome.number} ({outcome.kind}): {failure.key()}\n  {outcome.said[:SAID_MAX]}\n"
              f"  {again(kept, failure)}", flush=True)  # fmt: skip

    def never_met(self) -> list[str]:
        """Pairs that the table of actions has and no case has tried."""
        return sorted({f"{kind} {action.verb}" for kind, actions in ACTIONS.items() for action in actions
                       if not self.pairs[kind, action.verb]})  # fmt: skip

    def summary(self, seconds: float) -> str:
        lines = [f"{self.cases} mutations, {self.runs} verbs run, {seconds:.0f} s"]
        for kind in SHARES:
            ends = {status: count for (of, status), count in sorted(self.statuses.items()) if of == kind}
            lines.append(f"  {kind:<11}{self.mutations[kind]:>6} mutations; exit status "
                         + ", ".join(f"{status}: {count}" for status, count in ends.items()))  # fmt: skip
        lines.append(f"  most processor time: {self.cpu[0]:.1f} s ({self.cpu[1]})")
        if self.memory[0]:
            lines.append(f"  most resident memory: {self.memory[0] >> 10} MB ({self.memory[1]})")
        return "\n".join(lines)


def verb_table(program: Program) -> list[str]:
    done = subprocess.run([program.path, "help"], capture_output=True, text=True, check=True)
    return [line.split()[0] for line in done.stdout.splitlines() if line.startswith("  ")]


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="campaign.py", description="Lets all verbs read mutated files.")
    parser.add_argument("--mutator", required=True)
    parser.add_argument("--plain", help="wheeltap as it is shipped; its memory is measured")
    parser.add_argument("--asan", help="wheeltap with address and undefined behaviour sanitizers")
    parser.add_argument("--count", type=int, default=10000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--verbs", type=int, default=3, help="how many a mutation")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--keep", type=Path, default=Path("mutate-failures"), help="where failing cases are kept")
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--kinds", type=lambda text: text.split(","), help="only cases of these kinds of files")
    parser.add_argument("--only", type=int, help="this case alone")
    args = parser.parse_args()
    if not args.plain and not args.asan:
        parser.error("give --plain, --asan, or both")
    return args


def programs_of(args: argparse.Namespace) -> list[Program]:
    programs = []
    if args.asan:
        programs.append(Program(os.path.abspath(args.asan), True, ASAN_CPU_SECONDS, ASAN_WALL_SECONDS))
    if args.plain:
        programs.append(Program(os.path.abspath(args.plain), False, PLAIN_CPU_SECONDS, PLAIN_WALL_SECONDS))
    return programs


def run(args: argparse.Namespace, work: Path) -> int:
    global SETUP
    programs = programs_of(args)
    if missing := verbs_left_out(verb_table(programs[0])):
        print(f"no action tries: {', '.join(missing)} (tests/mutate/actions.py)")
        return 1
    (work / "seeds").mkdir()
    seeds = gather(programs[-1], work / "seeds")
    (work / "cases").mkdir()
    SETUP = Setup(os.path.abspath(args.mutator), programs, seeds, work / "cases", args.seed, args.verbs)
    numbers = [args.only] if args.only is not None else range(args.first, args.first + args.count)
    if args.kinds:
        numbers = [number for number in numbers if kind_of(number) in args.kinds]
    tally = Tally(args.keep.absolute())
    start = time.monotonic()
    with multiprocessing.get_context("fork").Pool(args.jobs) as pool:
        for outcome in pool.imap_unordered(try_case, numbers):
            tally.add(outcome)
    print(tally.summary(time.monotonic() - start))
    complete = args.only is None and not args.kinds and args.count * args.verbs >= 100 * max(map(len, ACTIONS.values()))
    if complete and (never := tally.never_met()):
        print(f"never tried: {', '.join(never)}")
        return 1
    for key, count in tally.failures.most_common():
        print(f"  {count:>6} times  {key}")
    print("no failures" if not tally.failures else f"{len(tally.failures)} different failures")
    return 1 if tally.failures or not tally.runs else 0


def main() -> int:
    args = arguments()
    with tempfile.TemporaryDirectory(prefix="wheeltap-mutate-") as folder:
        return run(args, Path(folder))


if __name__ == "__main__":
    sys.exit(main())
