# SPDX-License-Identifier: Apache-2.0
"""What --tensors keeps: digests as the level has them, of everything, bytes too, or nothing; parts of sparse tensors."""

from __future__ import annotations

import struct
import sys
from pathlib import Path

from recorded import Harness, Run, main

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from xxh3 import xxh3_64  # noqa: E402

PROGRAM = """
import torch
torch.manual_seed(1)
large = torch.arange(40000, dtype=torch.float32)
torch.neg(large)
torch.neg(large.view(200, 200).t())
torch.neg(torch.tensor([1 + 2j, 3 - 4j]).conj())
model = torch.nn.Linear(3, 2)
optimizer = torch.optim.Adam(model.parameters())
for _ in range(3):
    optimizer.zero_grad()
    model(torch.ones(1, 3)).sum().backward()
    optimizer.step()
"""

SPARSE = """
import torch
x = torch.sparse_coo_tensor([[0, 2], [1, 0]], [5.0, 7.0], (3, 2))
torch.neg(x)
torch.clone(torch.eye(3).to_sparse_csr())
torch.neg(torch.zeros(2, device="meta"))
"""

FLAG_NO_HASH, FLAG_KEPT, FLAG_NOT_KEPT = 8, 16, 32


def tensors(run: Run) -> list[dict]:
    return [event for event in run.of("tensor")]


def folder_of(t: Harness) -> Path:
    return t.folder / f"run{t.runs}" / "blobs"


def test_levels(t: Harness) -> None:
    digest = tensors(t.record(PROGRAM))
    stats = tensors(t.record(PROGRAM, "--tensors", "stats"))
    lean = tensors(t.record(PROGRAM, "--tensors", "stats", "--detail", "lean"))
    off = tensors(t.record(PROGRAM, "--tensors", "off"))
    of_large = [[x["flags"] & FLAG_NO_HASH for x in found if x["count"] == 40000] for found in (digest, stats, off)]
    t.equal("large arguments: described at this level, read by stats, described by off",
            [set(flags) for flags in of_large], [{8}, {0}, {8}])
    own = [sum(x["name"] == "weight.exp_avg" for x in found) for found in (stats, lean)]
    t.equal("stats take no turns, at no level", own, [3, 3])
    t.check("no blobs unless asked for", not folder_of(t).exists())


def test_blobs(t: Harness) -> None:
    run = t.record(PROGRAM, "--tensors", "full")
    folder = folder_of(t)
    found = tensors(run)
    files = {path.name: path.read_bytes() for path in folder.iterdir()} if folder.exists() else {}
    read = [x for x in found if not x["flags"] & FLAG_NO_HASH and x["count"]]
    t.check("every tensor that was read is kept", read and all(x["flags"] & FLAG_KEPT for x in read), read[:3])
    t.equal("each content once, and no other", sorted(files), sorted({str(x["hash"]).removeprefix("0x").zfill(16) for x in read}))
    t.check("each under its hash", all(xxh3_64(data) == int(name, 16) for name, data in files.items()))
    large = struct.pack("<40000f", *(float(i) for i in range(40000)))
    turned = struct.pack("<40000f", *(float(200 * (i % 200) + i // 200) for i in range(40000)))
    conjugate = struct.pack("<4f", 1, -2, 3, 4)
    t.equal("little-endian bytes in logical order, conjugates resolved",
            [data in files.values() for data in (large, turned, conjugate)], [True] * 3)


ARRAYS = """
import numpy, sys, wheeltap
run = wheeltap.open(sys.argv[1])
read = [row for row in run.tensors().rows() if row["flags"] & 16]
large = [run.array(row) for row in read if row["count"] == 40000]
assert all(a.dtype == numpy.float32 for a in large) and (large[0] == numpy.arange(40000)).all(), large[0]
turned = numpy.arange(40000).reshape(200, 200).T
assert any(a.shape == turned.shape and (a == turned).all() for a in large)
odd = {row["dtype"]: run.array(row) for row in read if row["dtype"] in ("bf16", "bool", "c64", "f64", "i64")}
assert odd["bf16"].tolist() == [-1.5, 2.0] and odd["bf16"].dtype == numpy.float32, odd
assert odd["c64"].tolist() in ([1 - 2j, 3 + 4j], [-1 + 2j, -3 - 4j]) and odd["bool"].tolist() == [True], odd
assert odd["f64"].shape == () and odd["i64"].tolist() == [3, 4], odd
event = next(event for event in run.events("tensor") if event.fields["count"] == 40000 and event.fields["flags"] & 16)
assert run.array(event).size == 40000
for row in run.tensors().rows():
    if not row["flags"] & 16:
        try:
            run.array(row)
        except wheeltap.TraceError as error:
            assert "not kept" in str(error), error
print(len(read), "arrays")
"""


def test_arrays(t: Harness) -> None:
    if not t.has("numpy"):
        print("# skip arrays: no numpy")
        return
    t.record(PROGRAM + """
torch.neg(torch.tensor([1.5, -2.0], dtype=torch.bfloat16))
torch.logical_not(torch.tensor([True])).logical_not()
torch.neg(torch.tensor(2.5, dtype=torch.float64))
torch.abs(torch.tensor([3, 4]))
""", "--tensors", "full")
    home = t.execute([t.wheeltap, "python", "path"]).output.strip()
    run = t.execute([t.python, "-c", ARRAYS, str(t.folder / f"run{t.runs}")], env={"PYTHONPATH": home})
    t.check("they can be had as arrays", run.status == 0 and "arrays" in run.output, run.output, run.errors)


def test_ceiling(t: Harness) -> None:
    found = tensors(t.record(PROGRAM, "--tensors", "full", "--blobs-max", "100000"))
    kept = sum(path.stat().st_size for path in folder_of(t).iterdir())
    t.check("no more than the ceiling", 0 < kept <= 100000, kept)
    t.check("what is not kept is said", any(x["flags"] & FLAG_NOT_KEPT for x in found if x["count"] == 40000))


def test_sparse(t: Harness) -> None:
    run = t.record(SPARSE)
    found = [(x["name"], x["sort"], x["shape"], x["mean"]) for x in tensors(run) if x["position"] == 0]
    expected = [("", "sparse_coo", "3x2", None), ("indices", "", "2x2", 0.75), ("values", "", "2", 6.0),
                ("", "sparse_csr", "3x3", None), ("crow_indices", "", "4", 1.5), ("col_indices", "", "3", 1.0),
                ("values", "", "3", 1.0), ("", "meta", "2", None)]
    t.check("indices and values are read, and told as such", all(row in found for row in expected), found)


if __name__ == "__main__":
    main(test_levels, test_blobs, test_arrays, test_ceiling, test_sparse, require=("torch",))
