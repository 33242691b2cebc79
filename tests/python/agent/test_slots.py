# SPDX-License-Identifier: Apache-2.0
"""Indexing and attributes of tensors are told, and everything about them stays as it was."""

from __future__ import annotations

from recorded import Harness, main

USE = """
import copy, pickle, torch
x = torch.arange(6.0).reshape(2, 3).requires_grad_()
class Early(torch.Tensor):
    pass
y = x[0]
z = torch.zeros(3)
z[z == 0] = 5.0
z[1:] = torch.ones(2)
(x * 2).sum().backward()
g = x.grad
x.grad = None
d = x.data
class Late(torch.Tensor):
    pass
class Own(torch.Tensor):
    def __getitem__(self, index):
        return "own"
print(torch.ones(3).as_subclass(Late)[1].item(), torch.ones(3).as_subclass(Own)[1], torch.Tensor.__getitem__(z, 0).item())
print(torch._C._TensorBase.__getitem__ is torch.Tensor.__getitem__, torch.Tensor.data.__name__, type(torch.Tensor.grad).__name__)
try:
    z[10]
except IndexError as error:
    print("IndexError", len(error.args))
try:
    del z[0]
except TypeError as error:
    print("TypeError")
try:
    x.data = 3
except TypeError:
    print("no data")
try:
    del z.grad
except Exception as error:
    print(type(error).__name__)
print(pickle.loads(pickle.dumps(x)).sum().item(), copy.deepcopy(z).tolist(), [v.item() for v in z], g.tolist(), d.tolist())
@torch.jit.script
def scripted(v: torch.Tensor) -> torch.Tensor:
    return v[0] + v.data[1]
print(scripted(z).item(), torch.fx.symbolic_trace(lambda v: v[0]).code.count("getitem"))
"""


def test_same(t: Harness) -> None:
    bare = t.bare(USE)
    t.equal("the program runs", bare.status, 0, bare.errors)
    for level in ("lean", "normal", "full"):
        run = t.record(USE, "--detail", level)
        t.equal(f"{level}: the same output", run.output, bare.output, run.errors)


def test_told(t: Harness) -> None:
    run = t.record(USE)
    site = {c["callee"]: str(c["site"]) for c in reversed(run.of("call_begin"))}
    lines = {"Tensor.__getitem__": ":6", "Tensor.__setitem__": ":8", "Tensor.grad": ":11", "Tensor.grad.__set__": ":12",
             "Tensor.data": ":13"}
    for name, line in lines.items():
        t.check(f"{name} with its line", site.get(name, "").endswith(line), site)
    t.check("types that are made later too, and calls by the method's name",
            len([c for c in run.calls("Tensor.__getitem__")]) >= 4, len(run.calls("Tensor.__getitem__")))
    ends = [e["exception"] for e in run.of("call_end") if e["callee"] == "Tensor.__getitem__"]
    t.check("an exception is told", "IndexError" in ends, ends)
    begin = next(e["seq"] for e in run.events if e["kind"] == "call_begin" and e["fields"]["callee"] == "Tensor.__getitem__")
    results = [x["mean"] for x in run.of("tensor") if x["call"] == begin and x["position"] == -1]
    t.equal("with what came out", results, [1.0])
    lean = t.record(USE, "--detail", "lean")
    t.equal("not at lean", [c for c in lean.of("call_begin") if c["callee"].startswith("Tensor.__")], [])


if __name__ == "__main__":
    main(test_same, test_told, require=("torch",))
