#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Packs by hand, broken and foreign: what is said of them, with the place; nothing is ever executed.

usage: test_packs.py WHEELTAP
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from harness import Bench, Scratch, Tap  # noqa: E402

INVARIANT: dict[str, Any] = {"relation": "order", "subject": ["Optimizer.step"],
                             "holds": ["since", "Optimizer.zero_grad"]}


def pack(**changes: Any) -> dict[str, Any]:
    return {"wheeltap": "pack", "version": 1, "invariants": [{**INVARIANT, **changes}]}


BROKEN: dict[str, tuple[str, str]] = {
    "cut": ('{"wheeltap": "pack", "version": 1, "invariants": [', "1:51"),
    "not JSON": ("wheeltap: pack", "1:1"),
    "not a pack": ('{"a": 1}', "not a pack"),
    "deep nesting": ("[" * 100, "deep"),
    "version": (json.dumps({**pack(), "version": 7}), "version"),
    "relation": (json.dumps(pack(relation="import os")), "no such relation"),
    "form": (json.dumps(pack(holds=["eval", "x"])), "what holds is a list"),
    "subject": (json.dumps(pack(subject="x")), "a subject is a list"),
    "feature": (json.dumps(pack(when=[[{"feature": "pid", "constant": "1"}]])), "no such feature"),
    "clause": (json.dumps(pack(when=[[{"feature": "stage"}]])), "a clause needs a condition"),
    "range": (json.dumps(pack(when=[[{"feature": "ndim", "range": [3, 1]}]])), "the end of a range"),
    "huge number": (json.dumps(pack(when=[[{"feature": "ndim", "range": [99999999999]}]])), "a range is"),
    "confidence": (json.dumps(pack(confidence=7)), "from 0 to 1"),
    "many clauses": (json.dumps(pack(when=[[{"feature": "stage", "not": "x"}] * 9])), "too many clauses"),
}

STATE = {"var_type": "torch.nn.Parameter", "thread_id": 1, "type": "state_change"}


def theirs(rank: int, step: int, value: int) -> str:
    return json.dumps({**STATE, "var_name": "w", "process_id": 10 + rank, "time": 100 * step + rank,
                       "meta_vars": {"step": step, "stage": "training", "_DATA_PARALLEL_RANK": rank},
                       "attributes": {"data": value, "grad": None, "shape": [2, 2], "dtype": "torch.float32",
                                      "requires_grad": True}})


CONSISTENCY = {"relation": "ConsistencyRelation",
               "params": [{"param_type": "VarTypeParam", "var_type": "torch.nn.Parameter", "attr_name": "data"}] * 2,
               "precondition": {"var": {"inverted": False, "preconditions": [{"clauses": [
                   {"type": "unequal", "prop_name": "process_id", "prop_dtype": "int"}]}]}},
               "num_positive_examples": 100}


class Packs(Bench):
    def both(self, *words: str, code: int = 0) -> tuple[str, str]:
        """What it prints on standard output and on standard error."""
        done = self.call(*words)
        assert done.returncode == code, (words, done.returncode, done.stderr)
        return done.stdout, done.stderr


def broken_packs(bench: Packs) -> None:
    for name, (text, said) in BROKEN.items():
        path = bench.write("broken.json", text)
        _, error = bench.both("pack", "show", path, code=3)
        assert said in error and path in error, (name, error)


def actions(bench: Packs) -> None:
    path = bench.write("pack.json", json.dumps(pack(when=[[{"feature": "stage", "constant": "train"}]])))
    shown = json.loads(bench.both("pack", "show", "--json", path)[0])["tables"]["invariants"]
    assert len(shown) == 1 and "where the stage is train" in shown[0]["text"], shown
    name = shown[0]["id"]
    assert "between one Optimizer.step" in bench.both("pack", "explain", path, name)[0]
    bench.both("pack", "explain", path, "order-nothing", code=2)
    bench.both("pack", "lint", path)
    other = bench.write("other.json", json.dumps(pack(relation="contain", holds=["calls", "torch.add"])))
    both = os.path.join(bench.folder, "both.json")
    bench.both("pack", "merge", path, other, path, "-o", both)
    assert len(json.load(open(both))["invariants"]) == 2
    bench.both("pack", "filter", both, "--relation", "order", "-o", both)
    assert [i["id"] for i in json.load(open(both))["invariants"]] == [name]
    bench.both("pack", "suppress", both, name, code=2)  # no reason
    bench.both("pack", "suppress", both, name, "--reason", "a test", "--until", "2001-01-01")
    assert "has expired" in bench.both("pack", "lint", both, code=1)[0]
    twice = pack(relation="output", subject=["f"], holds=["is", "result.dtype", "f32"])
    twice["invariants"].append({**twice["invariants"][0], "holds": ["is", "result.dtype", "f64"]})
    assert "contradict each other" in bench.both("pack", "lint", bench.write("twice.json", json.dumps(twice)), code=1)[0]
    bench.both("pack", "shwo", path, code=2)
    assert "hypothesis" in bench.both("explain", "WT-LEARN-ORDER")[0]


def phrases_of_0_1(bench: Packs) -> None:
    """Packs of version 1 say in English what later ones have identifiers for: they are the same, id and all."""
    said = (("parts", ["loss of a micro-batch"], ["true", "is a part of the mean"], ["microbatch_loss"], ["true", "is_part_of_mean"],
             "parts-ab3fc920", "of the backward passes of one step, each loss of a micro-batch is a part of the mean"),
            ("output", ["nn.linear", "argument 1, result"], ["true", "result has no NaN"], ["nn.linear", "argument 1, result"],
             ["true", "result.has_no_nan"], "output-b867d6e0", "of what nn.linear returns, result has no NaN"),
            ("schedule", ["learning rate"], ["range", "the rate of step 3", 0.5, 0.5], ["learning_rate"], ["range", "rate_of_step.3", 0.5, 0.5],
             "schedule-c55eeb97", "the rate of step 3 is 0.5"))
    for relation, subject, holds, subject_now, holds_now, name, text in said:
        for version, written in ((1, (subject, holds)), (2, (subject_now, holds_now))):
            made = {**pack(relation=relation, subject=written[0], holds=written[1]), "version": version}
            path = bench.write("phrases.json", json.dumps(made))
            bench.both("pack", "merge", path, "-o", path)
            read = json.load(open(path))
            assert read["version"] == 2, read
            found = read["invariants"][0]
            assert (found["subject"], found["holds"]) == (subject_now, holds_now), (version, found)
            assert (found["id"], found["text"]) == (name, text), (version, found)
    # In version 2 a phrase is a word like any other.
    path = bench.write("phrases.json", json.dumps({**pack(relation="parts", subject=["micro-batch"], holds=["true", "x"]), "version": 2}))
    bench.both("pack", "merge", path, "-o", path)
    assert json.load(open(path))["invariants"][0]["subject"] == ["micro-batch"]


def sentences_go_by_identifiers(bench: Packs) -> None:
    """Not by how a name begins: a function that begins with the letter of a term is a function."""
    for changes, text in (({"relation": "ranks", "subject": ["math.fsum"], "holds": ["true", "is_given_same_numbers"]},
                           "in the same step math.fsum is given the same numbers on all ranks"),
                          ({"relation": "ranks", "subject": ["module"], "holds": ["true", "makes_same_of_same"]},
                           "on all ranks a module makes the same of the same"),
                          ({"relation": "loss", "subject": ["clipping"], "holds": ["true", "finds_gradients"]}, "the clipping finds gradients"),
                          ({"relation": "loss", "subject": ["loss", "contents"], "holds": ["is", "dtype", "f32"]}, "the loss is of dtype f32"),
                          ({"relation": "changes", "subject": ["old_gradients"], "holds": ["true", "are_cleared_between_steps"]},
                           "old gradients are cleared between two steps of an optimizer")):
        path = bench.write("sentence.json", json.dumps({**pack(**changes), "version": 2}))
        assert json.loads(bench.both("pack", "show", "--json", path)[0])["tables"]["invariants"][0]["text"] == text, changes


def needs_are_calls(bench: Packs) -> None:
    """Fields of arguments and numbers of steps are no calls to record."""
    for changes, calls in (({"relation": "argument", "subject": ["torch.add", "input"], "holds": ["is", "input.dtype", "f32"]}, ["torch.add"]),
                           ({"relation": "schedule", "subject": ["learning_rate"], "holds": ["range", "rate_of_step.3", 0.5, 0.5]}, []),
                           ({"relation": "every-step", "subject": ["step"], "holds": ["range", "Optimizer.step", 1, 1]}, ["*.step"]),
                           ({"relation": "data", "subject": ["dataset"], "holds": ["true", "stays_while_rows_are_read"]},
                            ["torch.Tensor.__getitem__"])):
        path = bench.write("needs.json", json.dumps({**pack(**changes), "version": 2}))
        bench.both("pack", "merge", path, "-o", path)
        assert json.load(open(path))["invariants"][0]["needs"]["calls"] == calls, (changes, json.load(open(path)))


def traincheck(bench: Packs) -> None:
    """Their trace and their invariant: the step in which the ranks part is found, and nothing before."""
    lines = [theirs(rank, step, 7 * step + (rank if step > 3 else 0)) for step in range(8) for rank in range(2)]
    bench.both("import", "traincheck", bench.write("trace_VAR.log", "\n".join(lines) + "\n"), "-o",
              os.path.join(bench.folder, "run"))
    invariants = bench.write("invariants.json", json.dumps(CONSISTENCY) + "\n" + json.dumps(
        {"relation": "FunctionLeadRelation", "params": [{"param_type": "APIParam", "api_full_name": "os.system"}] * 2,
         "precondition": {"func_lead": {"inverted": False, "preconditions": [{"clauses": "Unconditional"}]}}}) + "\n")
    imported = os.path.join(bench.folder, "imported.json")
    bench.both("import", "traincheck", invariants, "-o", imported)
    out, _ = bench.both("check", "--json", "-i", imported, os.path.join(bench.folder, "run"), code=1)
    findings = json.loads(out)["findings"]
    assert [f["id"] for f in findings] == ["WT-LEARN-TRAINCHECK"] and findings[0]["evidence"]["first_step"] == 4, findings
    back = os.path.join(bench.folder, "back.json")
    bench.both("pack", "export", imported, "--to", "traincheck", "-o", back)
    relations = sorted(json.loads(line)["relation"] for line in open(back))
    assert relations == ["ConsistencyRelation", "FunctionLeadRelation"], relations
    again = os.path.join(bench.folder, "again.json")
    bench.both("import", "traincheck", back, "-o", again)
    assert {i["id"] for i in json.load(open(again))["invariants"]} == {i["id"] for i in json.load(open(imported))["invariants"]}
    _, error = bench.both("import", "traincheck", bench.write("trace_bad.log", lines[0] + "\n{\"process_id\": 1, \n"), "-o",
                         os.path.join(bench.folder, "bad"), code=3)
    assert "trace_bad.log:2:" in error, error


def nothing_is_no_pass(bench: Packs) -> None:
    """A pack of which nothing could be measured gives 3 and says why, alone or beside one that holds."""
    lines = [theirs(rank, step, 7 * step) for step in range(8) for rank in range(2)]
    run = os.path.join(bench.folder, "equal")
    bench.both("import", "traincheck", bench.write("trace_EQUAL.log", "\n".join(lines) + "\n"), "-o", run)
    holds = os.path.join(bench.folder, "holds.json")
    bench.both("import", "traincheck", bench.write("theirs.json", json.dumps(CONSISTENCY) + "\n"), "-o", holds)
    never = bench.write("never.json", json.dumps(pack(relation="mode", subject=["Module.forward"], holds=["true", "trains"])))
    empty = bench.write("empty.json", json.dumps({"wheeltap": "pack", "version": 1, "invariants": []}))
    assert json.loads(bench.both("check", "--json", "-i", holds, run)[0])["status"] == "clean"
    for packs, reason in (((never,), "no such module was called"), ((empty,), "no invariants"),
                          ((never, empty), "no such module was called"), ((empty, never), "no invariants")):
        options = [word for path in packs for word in ("-i", path)]
        said = json.loads(bench.both("check", "--json", *options, run, code=3)[0])
        assert said["status"] == "not_measured" and not said["findings"], said
        for path in packs:
            assert any(f"nothing of the pack '{path}'" in note for note in said["notes"]), said["notes"]
        text, errors = bench.both("check", *options, run, code=3)
        assert text.splitlines()[-1].startswith("Nothing could be judged: "), text
        assert reason in text + errors, (text, errors)
    for packs in ((holds, never), (never, holds), (holds, empty)):
        options = [word for path in packs for word in ("-i", path)]
        said = json.loads(bench.both("check", "--json", *options, run, code=3)[0])
        assert said["status"] == "not_measured" and len(said["notes"]) == 1 and holds not in said["notes"][0], said
    # The same said twice is one invariant of both.
    assert not json.loads(bench.both("check", "--json", "-i", holds, "-i", holds, run)[0])["notes"]


def main() -> int:
    tap = Tap()
    with Scratch() as folder:
        bench = Packs(sys.argv[1], folder)
        for test in (broken_packs, actions, phrases_of_0_1, sentences_go_by_identifiers, needs_are_calls, traincheck, nothing_is_no_pass):
            tap.case(test.__name__, test, bench)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
