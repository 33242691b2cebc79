#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Damaged and hostile run folders, through `replay`: cut, flipped, with fields that were changed under sound checksums, without bytes, with links.

    replay_mutate.py [--count 30] [--seed 1] MUTATOR WHEELTAP PROGRAM...

Programs are recorded once. Each case is one mutation of one run, and goes through `replay` four times: a dry run, without --yes, with the code of the sound run,
and with its own code. It fails if replay ends by a signal, with a report of a sanitizer or with an exit status that is not documented, and if anything was
compiled without consent: the driver keeps what it has compiled in a folder that is empty before. With consent to mutated work kernels run with mutated
arguments, as docs/replay.md says: what they do to the process or how long they take is only counted, unless a sanitizer saw it in our own code.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "mutate")]
from harness import environment, skip  # noqa: E402
from replaying import CODE, record  # noqa: E402
from watch import FRAME, REPORT, SANITIZER_ENV  # noqa: E402

SECONDS = 60  # for what is executed; longer is counted
STATUSES = {0, 1, 2, 3, 4}


def flip(path: Path, chance: random.Random) -> None:
    data = bytearray(path.read_bytes())
    for _ in range(chance.randint(1, 4)):
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    path.write_bytes(data)


def cut(path: Path, chance: random.Random) -> None:
    os.truncate(path, chance.randrange(path.stat().st_size))


def damage_blob(run: Path, chance: random.Random) -> str:
    blob = chance.choice(sorted((run / "blobs").iterdir()))
    what = chance.choice(("flipped", "cut", "removed", "a link", "a folder", "a pipe"))
    if what in ("flipped", "cut"):
        (flip if what == "flipped" else cut)(blob, chance)
        return f"blob {blob.name} {what}"
    blob.unlink()
    if what == "a link":
        blob.symlink_to("/dev/zero")
    elif what == "a folder":
        blob.mkdir()
    elif what == "a pipe":
        os.mkfifo(blob)
    return f"blob {blob.name} is {what}"


def damage(mutator: str, run: Path, chance: random.Random) -> str:
    """One mutation, in words."""
    stream = max(run.glob("*.wt"), key=lambda path: path.stat().st_size)
    kind = chance.choices(("fields", "flip", "cut", "blob"), (6, 1, 1, 3))[0]
    if kind == "blob":
        return damage_blob(run, chance)
    if kind != "fields":
        (flip if kind == "flip" else cut)(stream, chance)
        return f"{stream.name}: {kind}"
    sound = stream.with_suffix(".sound")
    stream.rename(sound)
    done = subprocess.run([mutator, str(chance.getrandbits(32)), str(sound), str(stream)], capture_output=True, text=True, check=True)
    sound.unlink()
    return f"{stream.name}: {done.stdout.strip()}"


class Case:
    def __init__(self, wheeltap: str, run: Path, cache: Path) -> None:
        self.wheeltap, self.run, self.cache = wheeltap, run, cache
        self.wrong: list[str] = []
        self.ends: Counter[str] = Counter()

    def replay(self, *words: str, is_agreed: bool) -> str:
        """Standard error. What the driver may have compiled before is gone."""
        shutil.rmtree(self.cache, ignore_errors=True)
        self.cache.mkdir()
        variables = dict(SANITIZER_ENV)
        if is_agreed:
            variables["ASAN_OPTIONS"] += ":detect_leaks=0"  # those of the driver's compiler
        try:
            done = subprocess.run([self.wheeltap, "replay", *words, "--memory-max", "256M", str(self.run)], stdin=subprocess.DEVNULL, capture_output=True,
                                  timeout=SECONDS if is_agreed else 10 * SECONDS, check=False, env=environment(POCL_CACHE_DIR=str(self.cache), **variables))
        except subprocess.TimeoutExpired:
            self.ends["too long"] += 1
            if not is_agreed:
                self.wrong.append(f"{words}: takes too long")
            return ""
        ours = [frame for frame in FRAME.findall(done.stderr)[:4] if b"replay/" in frame[1]]
        if REPORT.search(done.stderr) and (ours or not is_agreed):
            self.wrong.append(f"{words}: {done.stderr[:3000].decode(errors='replace')}")
        elif done.returncode not in STATUSES and not is_agreed:
            self.wrong.append(f"{words}: ended with {done.returncode}: {done.stderr[:1000].decode(errors='replace')}")
        if not is_agreed and any(path.is_file() for path in self.cache.rglob("*")):
            self.wrong.append(f"{words}: something was compiled")
        self.ends[str(done.returncode) if done.returncode in STATUSES else "the kernel ended it"] += 1
        return done.stderr.decode(errors="replace")

    def go(self, sound_code: str) -> None:
        self.replay("--mode", "dry-run", "--json", is_agreed=False)
        said = CODE.search(self.replay(is_agreed=False))
        code = said[1] if said else ""
        self.replay("--yes", sound_code, is_agreed=code == sound_code)
        if code and code != sound_code:
            self.replay("--yes", code, is_agreed=True)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("mutator")
    parser.add_argument("wheeltap")
    parser.add_argument("programs", nargs="+")
    arguments = parser.parse_args()
    ends: Counter[str] = Counter()
    wrong = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if subprocess.run([arguments.programs[0]], capture_output=True, check=False, env=environment()).returncode == 77:
            skip("there is no OpenCL device")
        runs = [record(folder / Path(program).name, [program]) for program in arguments.programs]
        cache = folder / "cache"
        codes = [CODE.search(Case(arguments.wheeltap, run, cache).replay(is_agreed=False))[1] for run in runs]  # type: ignore[index]
        Case(arguments.wheeltap, runs[0], cache).replay("--yes", codes[0], is_agreed=True)
        if not any(path.is_file() for path in cache.rglob("*")):
            skip("the driver keeps nothing of what it compiles: nobody could see it")
        for number in range(arguments.count):
            chance = random.Random(arguments.seed * 1_000_003 + number)
            which = chance.randrange(len(runs))
            run = folder / "case"
            shutil.copytree(runs[which], run)
            said = damage(arguments.mutator, run, chance)
            case = Case(arguments.wheeltap, run, cache)
            case.go(codes[which])
            ends += case.ends
            wrong += bool(case.wrong)
            for line in case.wrong:
                print(f"case {number}, {runs[which].name}, {said}: {line}")
            shutil.rmtree(run)
    print(f"{arguments.count} cases, {wrong} wrong; ends: {dict(sorted(ends.items()))}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
