# SPDX-License-Identifier: Apache-2.0
"""Lineage of checkpoints: twelve faults, each found with file, tensor and step; unchanged files are clean."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

from recorded import Harness, main

# Trains, and saves in several ways. The faulty saves are those of programs that people write.
TRAIN = """
import copy, torch, torch.nn as nn
torch.manual_seed({seed})
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(12, 6)
        self.fc1 = nn.Linear(6, 8)
        self.fc2 = nn.Linear(8, 8)
        self.fc3 = nn.Linear(8, 6)
        self.head = nn.Linear(6, 12, bias=False)
        self.head.weight = self.embedding.weight
    def forward(self, x):
        x = torch.relu(self.fc1(self.embedding(x)))
        return self.head(self.fc3(torch.relu(self.fc2(x))))
model = Net()
average = torch.optim.swa_utils.AveragedModel(model, avg_fn=lambda a, m, n: 0.9 * a + 0.1 * m)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
rows = torch.randint(0, 12, (32,))
def state(step):
    return {{"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step}}
taken = None
for step in range(6):
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(rows), rows).backward()
    optimizer.step()
    average.update_parameters(model)
    if step == 2:
        taken = copy.deepcopy(model.state_dict())
    torch.save(state(step), f"full_{{step}}.pt")
torch.save({{"model": taken, "step": 5}}, "early_5.pt")
torch.save({{"model": average.module.state_dict(), "optimizer": optimizer.state_dict(), "step": 5}}, "average.pt")
torch.save({{"model": model.state_dict(), "step": 5}}, "bare_5.pt")
torch.save(model.state_dict(), "model.pt")
torch.save({{k: v.clone() for k, v in model.state_dict().items()}}, "apart.pt")
torch.save(model.state_dict(), "old.pt", _use_new_zipfile_serialization=False)
names = sorted(model.state_dict())
torch.save({{k: model.state_dict()[k] for k in names[:5]}}, "shard_0.pt")
torch.save({{k: model.state_dict()[k] for k in names[5:]}}, "shard_1.pt")
"""

# What happens to files afterwards, by other programs.
SPOIL = """
import torch
full = torch.load("full_5.pt")
def clone():
    return {"model": dict(full["model"]), "optimizer": full["optimizer"], "step": 5}
def save(thing, folder):
    import os
    os.makedirs(folder, exist_ok=True)
    torch.save(thing, folder + "/full_5.pt")
cast = clone()
cast["model"]["fc2.weight"] = cast["model"]["fc2.weight"].bfloat16().float()
save(cast, "cast")
mixed = clone()
mixed["model"]["fc3.weight"] = torch.load("full_3.pt")["model"]["fc3.weight"]
save(mixed, "mixed")
swapped = clone()
swapped["model"]["fc1.bias"], swapped["model"]["fc2.bias"] = swapped["model"]["fc2.bias"], swapped["model"]["fc1.bias"]
save(swapped, "swapped")
turned = clone()
turned["model"]["fc2.weight"] = turned["model"]["fc2.weight"].t().contiguous()
save(turned, "turned")
lost = clone()
del lost["model"]["fc2.bias"]
save(lost, "lost")
"""

# Loads a file, and does not use it as it is.
LOAD = """
import torch, torch.nn as nn
exec(open("net.py").read())
torch.manual_seed(7)
model = Net()
if {apart}:
    model.head.weight = nn.Parameter(model.head.weight.detach().clone())
model.load_state_dict(torch.load("{file}"))
if {again}:
    nn.init.xavier_uniform_(model.fc2.weight)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
rows = torch.randint(0, 12, (32,))
for step in range(3):
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(rows), rows).backward()
    optimizer.step()
"""


class Lineage:
    def __init__(self, t: Harness) -> None:
        self.t = t
        (t.folder / "net.py").write_text(TRAIN[TRAIN.index("class Net"):TRAIN.index("model = Net")])
        self.home = t.folder / "wheeltap-runs"

    def record(self, name: str, code: str) -> None:
        run = self.t.execute([self.t.wheeltap, "record", "-o", str(self.home / name), "--", self.t.python, "-W", "ignore",
                              self.t.script(code)])
        self.t.check(f"{name} is recorded", run.status == 0, run.errors[-500:])

    def verify(self, file: str, run: str) -> dict[str, Any]:
        done = self.t.execute([self.t.wheeltap, "model", "verify", file, "--against", str(self.home / run), "--json"])
        try:
            answer: dict[str, Any] = json.loads(done.output)
        except ValueError:
            answer = {"error": done.output + done.errors}
        answer["exit"] = done.status
        return answer

    def found(self, what: str, file: str, run: str, code: str, *words: str) -> None:
        """The finding of that code has all the words in its evidence: file, tensor, step."""
        answer = self.verify(file, run)
        findings = [f for f in answer.get("findings", ()) if f["id"].startswith("WT-LIN")]
        texts = [json.dumps(f) for f in findings if f["id"] == code]
        said = " ".join(texts) + json.dumps(answer.get("notes", ""))
        good = answer["exit"] == 1 and bool(texts) and all(word in said for word in words)
        self.t.check(f"fault: {what}", good, json.dumps(findings)[:1500] + json.dumps(answer.get("error", "")))

    def clean(self, file: str, run: str) -> None:
        answer = self.verify(file, run)
        findings = [f for f in answer.get("findings", ()) if f["id"].startswith("WT-LIN")]
        layer = [row for row in answer.get("tables", {}).get("layers", ()) if "what the run saved" in str(row)]
        good = answer["exit"] == 0 and not findings and "held" in str(layer)
        self.t.check(f"clean: {file} of {run}", good, json.dumps(findings)[:800] + str(layer) + json.dumps(answer.get("error", "")))


def flip(path: Path, to: Path, value: bytes) -> None:
    """One bit of the storage that has these bytes."""
    data = bytearray(path.read_bytes())
    at = data.index(value)
    data[at + 6] ^= 0x10
    to.parent.mkdir(exist_ok=True)
    to.write_bytes(bytes(data))


def test_faults(t: Harness) -> None:
    lineage = Lineage(t)
    lineage.record("a", TRAIN.format(seed=0))
    for name in ("full_5.pt", "full_0.pt", "model.pt", "old.pt", "shard_0.pt", "shard_1.pt", "apart.pt"):
        lineage.clean(name, "a")
    spoiled = t.bare(SPOIL)
    t.check("files are spoiled", spoiled.status == 0, spoiled.errors[-500:])
    lineage.found("saved before the step it claims", "early_5.pt", "a", "WT-LIN-002", "early_5.pt", "model.embedding.weight", "step 2", "step 6")
    lineage.found("one tensor of another step", "mixed/full_5.pt", "a", "WT-LIN-003", "full_5.pt", "model.fc3.weight", "step 3", "step 6")
    lineage.found("cast to bf16 and back", "cast/full_5.pt", "a", "WT-LIN-001", "full_5.pt", "model.fc2.weight", "bf16", "step 6")
    lineage.found("the average as the model", "average.pt", "a", "WT-LIN-009", "average.pt", "step 6")
    lineage.found("no optimizer state", "bare_5.pt", "a", "WT-LIN-010", "bare_5.pt", "step 6", "exp_avg")
    lineage.found("two tensors exchanged", "swapped/full_5.pt", "a", "WT-LIN-004", "full_5.pt", "fc1.bias", "fc2.bias", "step")
    lineage.found("transposed", "turned/full_5.pt", "a", "WT-LIN-001", "full_5.pt", "model.fc2.weight", "transposed", "step 6")
    lineage.found("a tensor is missing", "lost/full_5.pt", "a", "WT-LIN-005", "full_5.pt", "model.fc2.bias", "step 6")
    shutil.copy(t.folder / "full_2.pt", t.folder / "renamed.tmp")
    os.makedirs(t.folder / "renamed", exist_ok=True)
    os.replace(t.folder / "renamed.tmp", t.folder / "renamed/full_5.pt")
    lineage.found("an old file under a new name", "renamed/full_5.pt", "a", "WT-LIN-007", "full_5.pt", "full_2.pt", "step 3", "step 6")


def test_bits(t: Harness) -> None:
    """Of the files that test_faults() made."""
    lineage = Lineage(t)
    done = t.bare("import torch, sys; w = torch.load('old.pt')['fc2.weight']\n"
                  "sys.stdout.write(w.numpy().tobytes().hex())")
    flip(t.folder / "old.pt", t.folder / "flipped/old.pt", bytes.fromhex(done.output))
    lineage.found("one flipped bit", "flipped/old.pt", "a", "WT-LIN-001", "old.pt", "fc2.weight", "bit 20 of element 1", "step 6")
    data = (t.folder / "full_5.pt").read_bytes()
    (t.folder / "cut").mkdir(exist_ok=True)
    (t.folder / "cut/full_5.pt").write_bytes(data[:len(data) // 2])
    answer = lineage.verify("cut/full_5.pt", "a")
    t.check("fault: a truncated download", answer["exit"] == 3 and "cut/full_5.pt" in json.dumps(answer) and "again" in json.dumps(answer),
            json.dumps(answer)[:500])


def test_loaded(t: Harness) -> None:
    lineage = Lineage(t)
    lineage.record("other", TRAIN.format(seed=2))
    lineage.found("a state dict of another run", "model.pt", "a", "WT-LIN-008", "model.pt", "embedding.weight", "other", "step 6")
    shutil.copy(t.folder / "model.pt", t.folder / "unknown.pt")
    lineage.found("a file of another run under another name", "unknown.pt", "a", "WT-LIN-008", "unknown.pt", "other", "step 6")
    lineage.record("good", LOAD.format(file="model.pt", apart=False, again=False))
    lineage.clean("model.pt", "good")
    lineage.record("again", LOAD.format(file="model.pt", apart=False, again=True))
    lineage.found("a layer initialised again after loading", "model.pt", "again", "WT-LIN-012", "model.pt", "fc2.weight", "Net")
    lineage.record("apart", LOAD.format(file="apart.pt", apart=True, again=False))
    lineage.found("tied weights loaded apart", "apart.pt", "apart", "WT-LIN-013", "apart.pt", "embedding.weight", "head.weight")


if __name__ == "__main__":
    main(test_faults, test_bits, test_loaded, require=("torch",))
