# SPDX-License-Identifier: Apache-2.0
"""The files that are mutated, and the folder in which a case is tried.

A case's folder is all that a verb sees: it is the working directory, and home/ in it is where runs are. Next to the
mutated file stand sound ones, linked, for whatever takes two.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import amplify

sys.path.append(str(Path(__file__).resolve().parents[1]))
import models  # noqa: E402
import texts
from watch import Program, execute

HERE = Path(__file__).resolve().parent
SEEDS = HERE / "seeds"
SOURCE = HERE.parent.parent
PUBLISHED = SOURCE.parent / "shared" / "data" / "traincheck"  # TrainCheck's own, where they are
STREAM_BYTES_MAX = 100 << 10
LINES_KEPT = 60  # of a published trace
INVARIANTS_KEPT = 40
STEPPED_GATE = '[[gate]]\ntype = "slower"\nmax = 0.05\nof = "run"\n'
GOLDEN_GATE = '[[gate]]\ntype = "golden"\ngolden = "./golden.toml"\n'
# How many of 100 cases are of each kind.
SHARES = {"stream": 42, "amplified": 1, "runjson": 8, "pack": 8, "partial": 4, "golden": 6, "gate": 7, "setting": 4, "config": 4, "simulation": 2,
          "trace": 6, "invariants": 3, "model": 3, "manifest": 1, "dataset": 1}  # fmt: skip


@dataclass
class Seeds:
    """Sound files, made once in a folder that all cases link to."""

    folder: Path
    runs: list[Path] = field(default_factory=list)
    streams: list[tuple[Path, Path]] = field(default_factory=list)  # of a run, and which of its files
    texts: dict[str, list[bytes]] = field(default_factory=dict)


def environment(folder: Path) -> dict[str, str]:
    from watch import SANITIZER_ENV

    return {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "HOME": str(folder), "WHEELTAP_HOME": "home", "TMPDIR": str(folder),
            "TZ": "UTC", **SANITIZER_ENV}


def make(program: Program, folder: Path, line: str) -> None:
    ended = execute(program, line.split(), folder, environment(folder))
    if ended.status not in (0, 1):
        raise SystemExit(f"cannot make the seeds: wheeltap {line}: {ended.stderr.decode(errors='replace')}")


def thin_pack(path: Path) -> None:
    """Keeps some invariants of each relation: a large pack would spend its mutations on the same lines."""
    lines = path.read_text().splitlines()
    body = [i for i, line in enumerate(lines) if line.lstrip().startswith('{"id"')]
    kept = set(body[:: max(1, len(body) // INVARIANTS_KEPT)])
    chosen = [line for i, line in enumerate(lines) if i in kept or i not in set(body)]
    last = max(i for i, line in enumerate(chosen) if line.lstrip().startswith('{"id"'))
    chosen[last] = chosen[last].rstrip(",")
    path.write_text("\n".join(chosen) + "\n")


def published() -> tuple[list[bytes], list[bytes]]:
    """Beginnings of TrainCheck's traces, and its invariants; nothing where they are not."""
    traces, invariants = [], []
    for archive in sorted(PUBLISHED.glob("*.tar.gz")):
        names = subprocess.run(["tar", "tzf", archive], capture_output=True, text=True, check=True).stdout.split()
        for name in names:
            is_trace = "/trace_" in name and name.endswith(".log")
            if not is_trace and not name.endswith(".json"):
                continue
            data = subprocess.run(["tar", "xzOf", archive, name], capture_output=True, check=True).stdout
            lines = data.splitlines(keepends=True)[:LINES_KEPT]
            (traces if is_trace else invariants).append(b"".join(lines))
    return traces, invariants


def gather_runs(seeds: Seeds) -> None:
    for name in ("ddp", "calls"):
        shutil.copytree(SEEDS / name, seeds.folder / name)
    for trace in sorted((SOURCE / "tests" / "golden").glob("*.wt")):
        if trace.stat().st_size <= STREAM_BYTES_MAX and trace.name != "empty.wt":
            (seeds.folder / trace.stem).mkdir()
            shutil.copy(trace, seeds.folder / trace.stem / "0001.wt")
    seeds.runs = sorted(path for path in seeds.folder.iterdir() if path.is_dir())
    for run in seeds.runs:
        # What training programs and system calls leave has the most readers.
        weight = {"ddp": 6, "calls": 6, "simulated": 2, "kinds": 2, "imported": 2}.get(run.name, 1)
        streams = sorted(run.glob("*.wt"))
        seeds.streams += [(run, stream) for stream in streams for _ in range(weight if stream.stat().st_size > 3000 else 1)]


DATA = b"# a,b,class\n1,2.5,0\n-3e2,nan,1\n\"4\",,0\n1,2.5,1\n"


def gather(program: Program, folder: Path) -> Seeds:
    seeds = Seeds(folder)
    read = {name: (SEEDS / name).read_bytes() for name in os.listdir(SEEDS) if (SEEDS / name).is_file()}
    (folder / "trace").write_bytes(read["trace.jsonl"])
    models.write(folder / "good.model", models.small())
    (folder / "good.csv").write_bytes(DATA)
    for line in (f"infer {SEEDS}/ddp --programs 1 --examples 1 --steps 1 -o pack.json",
                 f"infer {SEEDS}/ddp --partial -o partial.json", f"golden add ./golden.toml --times {SEEDS}/calls",
                 "sim --events 300 --seed 5 -o simulated", "sim --events 400 --kinds all --seed 6 -o kinds",
                 "import traincheck trace -o imported", "model manifest good.model -o good.manifest"):  # fmt: skip
        make(program, folder, line)
    thin_pack(folder / "pack.json")
    traces, invariants = published()
    gather_runs(seeds)
    made = {name: (folder / name).read_bytes() for name in ("pack.json", "partial.json", "golden.toml")}
    goldens = [path.read_bytes() for path in sorted((SOURCE / "examples" / "goldens").glob("*.toml"))]
    seeds.texts = {
        "runjson": [(run / "run.json").read_bytes() for run in seeds.runs if (run / "run.json").exists()],
        "pack": [made["pack.json"], (SOURCE / "packs" / "pytorch.json").read_bytes()],
        "partial": [made["partial.json"]],
        "golden": [made["golden.toml"], *goldens],
        "gate": [read["gate.toml"], read["renacer.toml"]],
        "setting": [read["wheeltap.toml"]],
        "config": [read["wheeltap.toml"], read["traincheck.yaml"], read["pytracer.json"]],
        "simulation": [read["sim.toml"]],
        "trace": [read["trace.jsonl"], *traces],
        "invariants": [read["invariants.jsonl"], *invariants],
        "model": [models.small()],
        "manifest": [(folder / "good.manifest").read_bytes()],
        "dataset": [DATA],
    }
    (folder / "slower.toml").write_text(STEPPED_GATE)
    (folder / "golden-gate.toml").write_text(GOLDEN_GATE)
    for name in ("gate.toml", "renacer.toml", "invariants.jsonl", "trace.jsonl"):
        (folder / name).write_bytes(read[name])
    return seeds


# ---- A case


def kind_of(number: int) -> str:
    """Kinds in turn, so that any stretch of cases has its share of each."""
    turn = [kind for kind, share in SHARES.items() for _ in range(share)]
    return turn[number * 37 % len(turn)]


def link_run(run: Path, to: Path) -> None:
    to.mkdir(parents=True)
    for path in run.iterdir():
        os.link(path, to / path.name)


def place(path: Path, data: bytes) -> None:
    path.unlink(missing_ok=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


# Where the mutated text of a kind goes.
PLACES = {"runjson": "home/run/run.json", "pack": "pack.json", "partial": "partial.json", "golden": "golden.toml", "gate": "gate.toml",
          "setting": "wheeltap.toml", "config": "config", "simulation": "sim.toml", "trace": "trace.jsonl",
          "invariants": "invariants.jsonl", "model": "model", "manifest": "manifest", "dataset": "rows.csv"}  # fmt: skip


def prepare(seeds: Seeds, folder: Path, chance: random.Random, kind: str) -> Path:
    """Fills a case's folder with sound files; returns the run that is in it."""
    run = chance.choice(seeds.runs)
    if kind == "runjson":
        run = chance.choice([one for one in seeds.runs if (one / "run.json").exists()])
    good = seeds.folder / (run.name if run.name in ("ddp", "calls") else chance.choice(("ddp", "calls")))
    if kind in ("golden", "gate"):
        good = seeds.folder / "calls"
    elif kind == "pack":
        good = seeds.folder / "ddp"
    link_run(good, folder / "good")
    for name in ("pack.json", "golden.toml", "gate.toml", "renacer.toml", "slower.toml", "golden-gate.toml", "good.model", "good.manifest", "good.csv"):
        shutil.copy(seeds.folder / name, folder / name)
    shutil.copy(seeds.folder / "pack.json", folder / "good.json")
    shutil.copy(seeds.folder / "partial.json", folder / "good.partial")
    (folder / "traces").mkdir()
    shutil.copy(seeds.folder / "trace.jsonl", folder / "traces" / "other.jsonl")
    return run


def mutate_stream(mutator: str, seeds: Seeds, folder: Path, chance: random.Random) -> str:
    run, stream = chance.choice(seeds.streams)
    link_run(run, folder / "home" / "run")
    target = folder / "home" / "run" / stream.name
    target.unlink()
    number = chance.getrandbits(63)
    done = subprocess.run([mutator, str(number), stream, target], capture_output=True, text=True, check=True,
                          env=environment(folder))
    return f"{run.name}/{stream.name}, mutate_stream {number}: {done.stdout.strip()}"


def build(mutator: str, seeds: Seeds, folder: Path, chance: random.Random, kind: str) -> str:
    """Makes the case; says what was changed."""
    run = prepare(seeds, folder, chance, kind)
    if kind == "stream":
        return mutate_stream(mutator, seeds, folder, chance)
    if kind == "amplified":
        data, said = amplify.any_stream(chance)
        place(folder / "home" / "run" / "0001.wt", data)
        return said
    link_run(run, folder / "home" / "run")
    data, said = texts.mutate(chance, chance.choice(seeds.texts[kind]))
    place(folder / PLACES[kind], data)
    if kind == "trace":
        place(folder / "traces" / "trace_1.log", data)
    return f"{PLACES[kind]}: {said}"
