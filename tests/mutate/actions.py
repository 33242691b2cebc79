# SPDX-License-Identifier: Apache-2.0
"""What is done with a mutated file: verbs with arguments, by the kind of file. Paths are those of a case's folder (cases.py)."""

from __future__ import annotations

from dataclasses import dataclass

RUN = "home/run"
GOOD = "good"


@dataclass(frozen=True)
class Action:
    words: tuple[str, ...]
    stdout: str = "text"  # what it has to be: see watch.CHECKS
    files: tuple[tuple[str, str], ...] = ()  # that it writes, and what they have to be

    @property
    def verb(self) -> str:
        return self.words[0]


def text(line: str, **files: str) -> Action:
    return Action(tuple(line.split()), "text", tuple((name.replace("__", "."), how) for name, how in files.items()))


def json(line: str, **files: str) -> Action:
    words = (*line.split(), "--json")
    return Action(words, "json", tuple((name.replace("__", "."), how) for name, how in files.items()))


def csv(line: str) -> Action:
    return Action((*line.split(), "--csv"), "csv")


def export(kind: str, how: str, *more: str) -> Action:
    return Action(("export", "--to", kind, "-o", "out", *more, RUN), "text", (("out", how),))


# Of a run in which something is mutated, be it a stream or run.json.
OF_A_RUN = [
    text("ls"), json("ls"), text("ls --names"), csv("ls duration>=0 --sort loss"), json("ls --sort events status=failed"),
    text("trend"), json("trend events"), text(f"compare {RUN} {GOOD}"), json(f"compare --all {GOOD} {RUN}"),
    text(f"tests {RUN}"), json("tests --history"), json(f"tag {RUN} mutated"),
    text(f"info {RUN}"), json(f"info {RUN}"),
    text(f"report {RUN}"), json(f"report {RUN}"), text(f"report --html -o out {RUN}", out="any"),
    text(f"report --junit -o out {RUN}", out="xml"), text(f"report --intoto -o out {RUN}", out="jsonl"),
    text(f"view {RUN}"), json(f"view {RUN}"), text(f"view --step 1 {RUN}"), text(f"view --tail 20 {RUN}"),
    text(f"view --stage train --from 1ms {RUN}"), text(f"view -k tensor,state,syscall -n 50 {RUN}"),
    Action(("view", "--jsonl", RUN), "jsonl"), csv(f"view {RUN}"), csv(f"view -k syscall {RUN}"),
    text(f"stat {RUN}"), json(f"stat {RUN}"), csv(f"stat {RUN}"), text(f"stat --markdown {RUN}"),
    text(f"stat --by step {RUN}"), text(f"stat --by module {RUN}"), text(f"stat --by site {RUN}"), json(f"stat --by track {RUN}"),
    text(f"stat --syscalls --percentiles {RUN}"), json(f"stat --syscalls --by process {RUN}"),
    json(f"stat --syscalls --by site --time system {RUN}"), text(f"stat --syscalls --by step {RUN}"),
    text(f"stat --critical-path {RUN}"), json(f"stat --critical-path {RUN}"),
    text(f"timeline {RUN}"), json(f"timeline {RUN}"), text(f"timeline -w 200 --from 1ms --to 1s {RUN}"),
    text(f"replay --mode dry-run {RUN}"), json(f"replay --mode dry-run {RUN}"), text(f"replay {RUN}"),
    text(f"doctor {RUN}"), json(f"doctor --all {RUN}"), text(f"doctor --all --no-builtin {RUN}"),
    text(f"infer {RUN} --programs 1 --examples 1 --steps 1 -o out", out="json"), json(f"infer {RUN} {GOOD} -o out", out="json"),
    text(f"infer {RUN} --partial -o out", out="jsonl"),
    text(f"check {RUN}"), json(f"check --all -i pack.json {RUN}"), text(f"check -i pack.json {RUN}"), text(f"check -i builtin {RUN}"),
    text(f"diff {RUN} {GOOD}"), json(f"diff {GOOD} {RUN}"), text(f"diff --raw {RUN} {GOOD}"), text(f"diff --all -U 5 {GOOD} {RUN}"),
    text(f"diff --tensors {RUN} {GOOD}"), json(f"diff --tensors {GOOD} {RUN}"), text(f"rerun {RUN}"),
    text(f"digits {RUN} {GOOD}"), json(f"digits --compare {GOOD} {RUN}"), text(f"digits --by tensor {RUN} {RUN}"), csv(f"digits --by site {RUN} {RUN}"),
    text(f"golden check ./golden.toml {RUN}"), json(f"golden check ./golden.toml {RUN}"), text(f"golden add ./out {RUN}"),
    text(f"golden add ./out --times {RUN} {GOOD}"),
    text(f"gate -c gate.toml {RUN}"), json(f"gate -c gate.toml --junit out {RUN}", out="xml"), text(f"gate -c renacer.toml {RUN}"),
    json(f"gate -c renacer.toml {RUN}"), text(f"gate -c slower.toml {RUN} {RUN} {RUN} --against {GOOD},{GOOD},{GOOD}"),
    export("perfetto", "any"), export("chrome", "json"), export("jsonl", "jsonl"), export("csv", "any"), export("sqlite", "sqlite"),
    export("strace", "any"), export("strace", "any", "-y", "-t", "-s", "100"), export("renacer-json", "json"), export("html", "any"),
    Action(("export", "--to", "strace", "-o", "-", RUN), "text"), json(f"export --to jsonl -o out {RUN}", out="jsonl"),
    text("clean --dry-run --keep 0"), json("clean --dry-run --older-than 1s"),
]  # fmt: skip

OF_A_PACK = [
    text("pack show pack.json"), json("pack show pack.json"), text("pack merge pack.json good.json -o out", out="json"),
    text("pack filter pack.json --match *loss* --confidence 0.5 -o out", out="json"), json("pack lint pack.json"),
    text("pack lint pack.json"), text("pack explain pack.json *"), json("pack explain pack.json *"),
    text("pack suppress pack.json * --reason because --until 2099-01-01 -o out", out="json"),
    text("pack export pack.json --to traincheck -o out", out="jsonl"), text("pack show -"),
    text(f"check -i pack.json {GOOD}"), json(f"check --all -i pack.json {GOOD}"),
]  # fmt: skip

OF_A_PARTIAL = [
    text("infer --merge partial.json -o out", out="json"), json("infer --merge partial.json good.partial -o out", out="json"),
    text("infer --merge --partial partial.json -o out", out="jsonl"),
]  # fmt: skip

OF_A_GOLDEN = [
    text("golden show ./golden.toml"), json("golden show ./golden.toml"), text(f"golden check ./golden.toml {GOOD}"),
    json(f"golden check ./golden.toml {GOOD}"), text(f"golden accept ./golden.toml {GOOD}"), text(f"gate -c golden-gate.toml {GOOD}"),
]  # fmt: skip

OF_A_GATE = [
    text(f"gate -c gate.toml {GOOD}"), json(f"gate -c gate.toml {GOOD}"), text(f"gate -c gate.toml --junit out {GOOD}", out="xml"),
]  # fmt: skip

OF_A_SETTING = [  # wheeltap.toml of the working directory
    text(f"doctor {GOOD}"), json(f"doctor {GOOD}"), text(f"check -i pack.json {GOOD}"), text(f"gate {GOOD}"), json(f"gate {GOOD}"),
    text("explain WT-SYS-003"), json("explain WT-SYS-003"), text("record --write-config -c wheeltap.toml"),
]  # fmt: skip

OF_A_CONFIG = [text("record --write-config -c config")]  # which prints TOML, whatever else is asked for

OF_A_MODEL = [
    text("model inspect model"), json("model inspect model"), text("model verify model"), json("model verify model --manifest good.manifest"),
    text("model diff model good.model"), json("model diff good.model model"), text("model convert model out.safetensors"),
    text("model manifest model -o out", out="json"), text("model inspect model --html out"),
]  # fmt: skip

OF_A_DATASET = [text("dataset inspect rows.csv"), json("dataset inspect rows.csv good.csv"), text("model verify good.model --data rows.csv")]

OF_A_MANIFEST = [text("model verify good.model --manifest manifest"), json("model verify good.model --manifest manifest")]

OF_A_SIMULATION = [
    text("sim --events 300 -c sim.toml -o out.run"), json("sim --events 50 --seed 1 -c sim.toml -o out.run"),
]  # fmt: skip

OF_A_TRACE = [
    text("import traincheck trace.jsonl -o out.run"), json("import traincheck trace.jsonl -o out.run"),
    text("import traincheck traces -o out.run"), text("import traincheck trace.jsonl traces/other.jsonl -o out.run"),
]  # fmt: skip

OF_INVARIANTS = [
    text("import traincheck invariants.jsonl -o out", out="json"), json("import traincheck invariants.jsonl -o out", out="json"),
]  # fmt: skip

# What is done with what an import has made, if it has made something.
THEN = [text("info out.run"), text("doctor out.run"), json("view out.run"), text("infer out.run -o out", out="json"), text("stat out.run")]

ACTIONS: dict[str, list[Action]] = {
    "stream": OF_A_RUN, "amplified": OF_A_RUN, "runjson": OF_A_RUN, "pack": OF_A_PACK, "partial": OF_A_PARTIAL, "golden": OF_A_GOLDEN, "gate": OF_A_GATE,
    "setting": OF_A_SETTING, "config": OF_A_CONFIG, "simulation": OF_A_SIMULATION, "trace": OF_A_TRACE,
    "invariants": OF_INVARIANTS, "model": OF_A_MODEL, "manifest": OF_A_MANIFEST, "dataset": OF_A_DATASET,
}  # fmt: skip

# Verbs that read no file of ours; any other one that the verb table has must be in ACTIONS.
WITHOUT = {
    "python": "changes interpreters of the machine", "try": "runs programs of the corpus", "env": "looks at the machine",
    "help": "reads nothing", "version": "reads nothing",
}  # fmt: skip


def verbs_left_out(table: list[str]) -> list[str]:
    """Verbs of the table that no action tries and that have no reason to be left out."""
    tried = {action.verb for actions in ACTIONS.values() for action in actions}
    return [verb for verb in table if verb not in tried and verb not in WITHOUT]
