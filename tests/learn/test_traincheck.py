#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Each relation of TrainCheck's, under each kind of condition, on a trace where it holds and on one where it does not.

usage: test_traincheck.py WHEELTAP

Traces and invariants are made here, in the formats of TrainCheck 0.2. Where it holds it has to be measured, so that nothing holds because
nothing was looked at.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from harness import Bench as Program  # noqa: E402
from harness import Scratch, Tap  # noqa: E402

Record = dict[str, Any]
ALWAYS = [{"clauses": "Unconditional"}]
PARAMETER = "torch.nn.Parameter"


class Trace:
    """Records in the order of their time, as files of calls and of variables."""

    def __init__(self) -> None:
        self.now = 1_000_000
        self.calls: list[Record] = []
        self.variables: list[Record] = []
        self.ids = 0

    def record(self, meta: Record, process: int) -> Record:
        self.now += 1000
        return {"process_id": process, "thread_id": 140000000000000 + process, "time": self.now, "meta_vars": dict(meta)}

    def begin(self, function: str, meta: Record, args: list[Any] = [], process: int = 7, **kwargs: Any) -> Record:
        self.ids += 1
        call = {**self.record(meta, process), "func_call_id": f"c{self.ids}", "type": "function_call (pre)", "function": function,
                "is_bound_method": "obj_id" in kwargs, "obj_id": kwargs.pop("obj_id", None),
                "args": {str(i): arg for i, arg in enumerate(args)}, "kwargs": kwargs}
        self.calls.append(call)
        return call

    def end(self, call: Record, returned: Any = None) -> None:
        end = {key: call[key] for key in ("func_call_id", "function", "is_bound_method", "obj_id", "process_id", "thread_id", "meta_vars")}
        end |= {"type": "function_call (post)", "time": self.record({}, 0)["time"]}
        self.calls.append(end | ({"return_values": returned} if returned else {}))

    def call(self, function: str, meta: Record, args: list[Any] = [], returned: Any = None, process: int = 7, **kwargs: Any) -> None:
        self.end(self.begin(function, meta, args, process, **kwargs), returned)

    def variable(self, name: str, meta: Record, data: int | None, grad: int | None = None, process: int = 7, **attributes: Any) -> None:
        self.variables.append({**self.record(meta, process), "var_name": name, "var_type": PARAMETER, "type": "state_change", "attributes": {
            "data": data, "grad": grad, "dtype": "torch.float32", "shape": [4], "ndim": 1, "nbytes": 16, "requires_grad": True, **attributes}})

    def write(self, folder: Path) -> None:
        folder.mkdir()
        for name, records in (("trace_API_1.log", self.calls), ("trace_VAR_1.log", self.variables)):
            if records:
                (folder / name).write_text("".join(json.dumps(record) + "\n" for record in records))


def tensor(shape: list[int], dtype: str = "torch.float32", **more: Any) -> Record:
    return {"torch.Tensor": {"dtype": dtype, "shape": shape, "ndim": len(shape), "is_cuda": False, **more}}


def api(name: str, **arguments: Any) -> Record:
    return {"param_type": "APIParam", "api_full_name": name, **({"arguments": {"args": arguments, "func_name": name}} if arguments else {})}


def variable(attribute: str, **more: Any) -> Record:
    return {"param_type": "VarTypeParam", "var_type": PARAMETER, "attr_name": attribute, **more}


def field(name: str, is_input: bool, path: list[Any] | None, index: int | None = 0) -> Record:
    return {"param_type": "InputOutputParam", "name": name, "index": index, "type": "torch.Tensor", "additional_path": path, "api_name": "f",
            "is_input": is_input}


def clause(kind: str, name: str, values: list[Any] | None = None, path: Any = "None") -> Record:
    return {"type": kind, "prop_name": name, "additional_path": path, "prop_dtype": "str", **({"values": values} if values is not None else {})}


def entry(relation: str, group: str, params: list[Record], any_of: list[Any] = ALWAYS, inverted: bool = False) -> Record:
    return {"text_description": "x", "relation": relation, "params": params, "precondition": {group: {"inverted": inverted, "preconditions": any_of}},
            "num_positive_examples": 100, "num_negative_examples": 0}


def where(*clauses: Record) -> list[Record]:
    return [{"clauses": list(clauses)}]


@dataclass
class Case:
    name: str
    entry: Record
    right: Trace
    wrong: Trace


def training(step: int, **more: Any) -> Record:
    return {"step": step, "stage": "training", **more}


# ---- Calls -------------------------------------------------------------------------------------


def contained(dropout: float) -> Trace:
    trace = Trace()
    for step in range(4):
        stage = {"step": step, "stage": "testing" if step > 1 else "training"}
        outer = trace.begin("models.Net.forward", stage)
        trace.call("models.attention", stage, [tensor([2])], dropout={"float": dropout if step > 1 else 0.5}, causal={"bool": True})
        trace.end(outer)
    return trace


def placed(mode: str) -> Trace:
    """An argument that is given by its place has no name in a trace."""
    trace = Trace()
    for step in range(3):
        outer = trace.begin("torch.nn.init.kaiming_uniform_", training(step))
        trace.call("torch.nn.init._calculate_correct_fan", training(step), [tensor([2]), {"str": mode}])
        trace.end(outer)
    return trace


def stepped(still: bool) -> Trace:
    """Variables come from a file of their own, and their times lie between those of the calls."""
    trace = Trace()
    trace.variable("w", training(0), 5)
    for step in range(5):
        outer = trace.begin("torch.optim.adadelta.Adadelta.step", training(step))
        trace.variable("w", training(step), 5 + step - (still and step > 2))
        trace.end(outer)
    return trace


def outputs(dtype: str) -> Trace:
    """Results under autocast, which is a meta variable between its __enter__ and its __exit__."""
    trace = Trace()
    for step in range(4):
        trace.call("torch.nn.functional.relu", training(step), [tensor([2])], tensor([2]))
        trace.call("torch.amp.autocast_mode.autocast.__init__", training(step), [{"x": {}}, {"str": "cuda"}], obj_id=9, dtype={"torch.dtype": "torch.float16"})
        trace.call("torch.amp.autocast_mode.autocast.__enter__", training(step), [{"x": {}}], obj_id=9)
        trace.call("torch.nn.functional.relu", training(step), [tensor([2])], tensor([2], dtype))
        trace.call("torch.amp.autocast_mode.autocast.__exit__", training(step), [{"x": {}}], obj_id=9)
    return trace


def batches(rows: int) -> Trace:
    trace = Trace()
    for step in range(3):
        trace.call("f", training(step), [{"int": 3}, tensor([50, 3])], [tensor([rows if step == 2 else 50, 7])])
    return trace


def generated(length: int) -> Trace:
    trace = Trace()
    for step in range(3):
        trace.call("f", training(step), [tensor([1, 4])], tensor([1, 9], lengths=[length if step else 2]), max_new_tokens={"int": 10})
    return trace


def ordered(missing: int) -> Trace:
    trace = Trace()
    for step in range(5):
        if step != missing:
            trace.call("opt.Opt.zero_grad", training(step))
        trace.call("opt.Opt.step", training(step))
    return trace


def initialised(again: bool) -> Trace:
    trace = Trace()
    for place in (1, 2, 1 if again else 3):
        trace.call("torch._C.TensorBase.normal_", {"step": 0}, [tensor([4], data_ID=place), {"float": 0.0}])
    return trace


# ---- Variables ---------------------------------------------------------------------------------


def replicas(parting: bool) -> Trace:
    """Ranks that are texts, as environment variables are."""
    trace = Trace()
    for step in range(6):
        for rank in range(2):
            meta = training(step, _DATA_PARALLEL_RANK=str(rank))
            trace.variable("w", meta, 7 * step + (rank if parting and step > 3 else 0), process=10 + rank, _ML_DAIKON_data_ID=50 + rank)
    return trace


def shards(parting: bool) -> Trace:
    """What is split between the ranks of a tensor-parallel group differs; what is not is equal."""
    trace = Trace()
    for step in range(6):
        for rank in range(2):
            meta = training(step, _TENSOR_MODEL_PARALLEL_GROUP=rank)
            trace.variable("split", meta, 100 * step + rank, process=10 + rank, tensor_model_parallel=True)
            trace.variable("norm", meta, 7 * step + (rank if parting and step > 3 else 0), process=10 + rank, tensor_model_parallel=False)
    return trace


AUTOCAST = "meta_vars.context_managers.torch.amp.autocast_mode.autocast"

CASES = (
    Case("contained call", entry("APIContainRelation", "parent_func_call_pre", [api("models.Net.forward"), api("models.attention", dropout={"float": 0.0})],
                                 where(clause("constant", "meta_vars.stage", ["testing", "inference"]))), contained(0.0), contained(0.1)),
    Case("contained call by place", entry("APIContainRelation", "parent_func_call_pre", [
        api("torch.nn.init.kaiming_uniform_"), api("torch.nn.init._calculate_correct_fan", mode={"str": "fan_in"})]), placed("fan_in"), placed("fan_out")),
    Case("contained change", entry("APIContainRelation", "parent_func_call_pre", [
        api("torch.optim.adadelta.Adadelta.step"), variable("data", pre_value="non_zero", post_value="above_zero")],
        [*where(clause("constant", "meta_vars.step", [0.0])), *where(clause("constant", "meta_vars.stage", ["testing", "init"]))], True),
        stepped(False), stepped(True)),
    Case("output", entry("ConsistentOutputRelation", "pre_event", [api("torch.nn.functional.relu"), {
        "param_type": "VarTypeParam", "var_type": "torch.Tensor", "attr_name": "dtype", "const_value": "torch.float16"}], where(
            clause("exist", AUTOCAST), clause("constant", AUTOCAST, ["torch.float16"], ["dtype"]), clause("constant", f"{AUTOCAST}.enabled", [True], ["enabled"]),
            clause("constant", f"{AUTOCAST}.device_type", ["cuda"]))), outputs("torch.float16"), outputs("torch.float32")),
    Case("input and output", entry("ConsistentInputOutputRelation", "pre_event", [
        field("input_tensors", True, ["shape", 0]), api("f"), field("output_tensors", False, ["shape", 0])]), batches(50), batches(1)),
    Case("threshold", entry("ThresholdRelation", "pre_event", [
        field("max_new_tokens", True, None, None), api("f"), field("output_tensors", False, ["lengths", 0])]), generated(10), generated(11)),
    Case("cover", entry("FunctionCoverRelation", "func_cover", [api("opt.Opt.zero_grad"), api("opt.Opt.step")],
                        where(clause("constant", "meta_vars.step", [0])), True), ordered(0), ordered(3)),
    Case("lead", entry("FunctionLeadRelation", "func_lead", [api("opt.Opt.step"), api("opt.Opt.zero_grad")]), ordered(0), ordered(3)),
    Case("distinct", entry("DistinctArgumentRelation", "distinct_arg", [api("torch._C.TensorBase.normal_")]), initialised(False), initialised(True)),
    Case("replicas", entry("ConsistencyRelation", "var", [variable("data"), variable("data")], where(
        clause("unequal", "process_id"), clause("unequal", "meta_vars._DATA_PARALLEL_RANK"), clause("unequal", "attributes._ML_DAIKON_data_ID"),
        clause("consistent", "meta_vars.step"), clause("consistent", "attributes.nbytes"))), replicas(False), replicas(True)),
    Case("shards", entry("ConsistencyRelation", "var", [variable("data"), variable("data")], where(
        clause("unequal", "meta_vars._TENSOR_MODEL_PARALLEL_GROUP"), clause("consistent", "var_name"), clause("consistent", "meta_vars.step"),
        clause("constant", "attributes.tensor_model_parallel", [False]))), shards(False), shards(True)),
)

# What cannot be judged, and the reason that is counted.
LEFT_OUT = (
    (entry("VarPeriodicChangeRelation", "var", [variable("data")]), "a relation that TrainCheck 0.2 does not have"),
    (entry("FunctionLeadRelation", "func_lead", [api("a"), api("b")], ALWAYS, True), "a condition that is never true"),
    (entry("ConsistentOutputRelation", "pre_event", [api("a"), variable("grad_fn", const_value="NOT SERIALIZABLE: <NA>")]),
     "a value that TrainCheck could not write"),
    (entry("FunctionLeadRelation", "func_lead", [api("a")]), "another number of parameters than its relation has"),
    (entry("FunctionLeadRelation", "func_lead", [api("a"), variable("data")]), "parameters of other types than its relation has"),
    (entry("FunctionLeadRelation", "func_lead", [api("a"), api("b")], where(clause("regex", "function"))), "a condition of a type that is not known"),
)


class Bench(Program):
    def pack(self, name: str, *entries: Record) -> Path:
        theirs, pack = self.folder / f"{name}.theirs", self.folder / f"{name}.pack"
        theirs.write_text("".join(json.dumps(one) + "\n" for one in entries))
        self.run("import", "traincheck", theirs, "-o", pack)
        return pack

    def judge(self, name: str, pack: Path, trace: Trace, codes: tuple[int, ...]) -> Record:
        trace.write(self.folder / f"{name}.trace")
        run = self.folder / f"{name}.run"
        self.run("import", "traincheck", self.folder / f"{name}.trace", "-o", run)
        return json.loads(self.run("check", "--json", "-i", pack, run, codes=codes))


def judged(bench: Bench) -> None:
    for case in CASES:
        pack = bench.pack(case.name, case.entry)
        said = bench.judge(f"{case.name} right", pack, case.right, (0,))
        row = said["tables"]["invariants"][0]
        assert row["outcome"] == "held" and not said["findings"], (case.name, said)
        said = bench.judge(f"{case.name} wrong", pack, case.wrong, (1,))
        assert [finding["id"] for finding in said["findings"]] == ["WT-LEARN-TRAINCHECK"], (case.name, said)
        print("ok", case.name, flush=True)


def conditions(bench: Bench) -> None:
    """A process id of another run is never that of this one; a meta variable that is not there is not equal to anything."""
    lead = "FunctionLeadRelation"
    params = [api("opt.Opt.step"), api("opt.Opt.zero_grad")]
    pack = bench.pack("never", entry(lead, "func_lead", params, where(clause("constant", "process_id", [8]))),
                      entry(lead, "func_lead", params, where(clause("constant", "meta_vars.epoch", [1]))),
                      entry(lead, "func_lead", params, where(clause("exist", "meta_vars.epoch"))))
    rows = bench.judge("never", pack, ordered(3), (0, 3))["tables"]["invariants"]
    assert len(rows) == 3 and {row["outcome"] for row in rows} == {"not measured"}, rows
    pack = bench.pack("not there", entry(lead, "func_lead", params, where(clause("constant", "meta_vars.epoch", [1])), True))
    assert len(bench.judge("not there", pack, ordered(3), (1,))["findings"]) == 1


def left_out(bench: Bench) -> None:
    theirs = bench.folder / "left.json"
    theirs.write_text("".join(json.dumps(one) + "\n" for one, _ in LEFT_OUT) + json.dumps(CASES[0].entry) + "\n" + json.dumps(CASES[0].entry) + "\n")
    said = json.loads(bench.run("import", "traincheck", theirs, "-o", bench.folder / "left.pack", "--json"))
    assert (said["entries"], said["invariants"], said["left_out"], said["repeated"]) == (len(LEFT_OUT) + 2, 1, len(LEFT_OUT), 1), said
    reasons = {row["reason"]: row["count"] for row in said["tables"]["left_out"]}
    assert reasons == {why: 1 for _, why in LEFT_OUT}, reasons


def there_and_back(bench: Bench) -> None:
    pack = bench.pack("all", *(case.entry for case in CASES))
    back = bench.folder / "back.json"
    bench.run("pack", "export", pack, "--to", "traincheck", "-o", back)
    written = [json.loads(line) for line in back.read_text().splitlines()]
    for case in CASES:
        same = [one for one in written if all(one[key] == case.entry[key] for key in ("relation", "params", "precondition", "num_positive_examples"))]
        assert len(same) == 1, case.name
    bench.run("import", "traincheck", back, "-o", bench.folder / "again.pack")
    assert (bench.folder / "again.pack").read_text() == pack.read_text()
    bench.run("pack", "show", pack)
    for case in CASES:
        case.right.write(bench.folder / f"{case.name} show")
    broken = json.loads(pack.read_text())
    broken["invariants"][0]["entry"]["relation"] = "NoRelation"
    (bench.folder / "broken.pack").write_text(json.dumps(broken))
    bench.run("pack", "show", bench.folder / "broken.pack", codes=(3,))


def ranks(bench: Bench) -> None:
    """The rules know the ranks, too, whatever they are written as."""
    folder, run = bench.folder / "ranks.trace", bench.folder / "ranks.run"
    replicas(True).write(folder)
    bench.run("import", "traincheck", folder, "-o", run)
    found = json.loads(bench.run("check", "--json", run, codes=(1,)))["findings"]
    assert [finding["id"] for finding in found] == ["WT-RANK-001"] and found[0]["evidence"]["first_step"] == 4, found


def short(bench: Bench) -> None:
    """From a run of four steps what holds in two of them is learned, and said; five steps can be asked for."""
    trace = Trace()
    for step in range(4):
        for _ in range(5):
            trace.call("models.Net.embed", training(step), [tensor([4, 2])], tensor([4, 2]))
    folder, run, pack = bench.folder / "short.trace", bench.folder / "short.run", bench.folder / "short.pack"
    trace.write(folder)
    bench.run("import", "traincheck", folder, "-o", run)
    bench.run("infer", run, "--steps", "5", "-o", pack, codes=(3,))
    said = json.loads(bench.run("infer", run, "-o", pack, "--json"))
    assert said["invariants"] >= 3 and any("is short" in note for note in said["notes"]), said
    bench.run("check", "-i", pack, run)


def main() -> int:
    tap = Tap()
    with Scratch() as folder:
        bench = Bench(sys.argv[1], folder)
        for test in (judged, conditions, left_out, there_and_back, ranks, short):
            tap.case(test.__name__, test, bench)
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())
