# SPDX-License-Identifier: Apache-2.0
"""Lineage of checkpoints: a table of faults, each found with file, tensor and step; unchanged files are clean."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from recorded import Harness, main

# Trains, and saves in several ways. The faulty saves are those of programs that people write.
TRAIN = """
import copy, json, os, numpy as np, torch, torch.nn as nn
from safetensors.torch import save_file
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
def save_shards(folder):
    state, where = model.state_dict(), {{}}
    names = sorted(name for name in state if name != "head.weight")
    os.makedirs(folder)
    for number, part in enumerate((names[:4], names[4:])):
        file = f"model-{{number}}.safetensors"
        save_file({{name: state[name] for name in part}}, folder + "/" + file)
        where.update(dict.fromkeys(part, file))
    with open(folder + "/model.safetensors.index.json", "w") as index:
        json.dump({{"metadata": {{}}, "weight_map": where}}, index)
taken = None
for step in range(6):
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(rows), rows).backward()
    optimizer.step()
    average.update_parameters(model)
    if step == 2:
        taken = copy.deepcopy(model.state_dict())
    torch.save(state(step), f"full_{{step}}.pt")
    if step in (1, 4):
        save_shards(f"shards_{{step}}")
torch.save({{"model": taken, "step": 5}}, "early_5.pt")
torch.save({{"model": average.module.state_dict(), "optimizer": optimizer.state_dict(), "step": 5}}, "average.pt")
torch.save({{"model": model.state_dict(), "step": 5}}, "bare_5.pt")
torch.save(model.state_dict(), "model.pt")
torch.save({{k: v.clone() for k, v in model.state_dict().items()}}, "apart.pt")
torch.save(model.state_dict(), "old.pt", _use_new_zipfile_serialization=False)
names = sorted(model.state_dict())
torch.save({{k: model.state_dict()[k] for k in names[:5]}}, "shard_0.pt")
torch.save({{k: model.state_dict()[k] for k in names[5:]}}, "shard_1.pt")
np.savez("arrays.npz", **{{k: v.numpy() for k, v in model.state_dict().items()}})
np.save("one", model.fc2.weight.detach().numpy())
np.save("mapped.npy", np.memmap("raw", np.float32, "w+", shape=(4, 3)))
torch.save({{"rows": np.arange(6.0), "model": model.state_dict()}}, "with_array.pt")
"""

# As much of the package as the programs use: it is not in Debian.
SAFETENSORS = """
import json, struct
def save_file(tensors, filename):
    header, at, data = {}, 0, b""
    for name, tensor in tensors.items():
        data += tensor.detach().numpy().tobytes()
        header[name] = {"dtype": "F32", "shape": list(tensor.shape), "data_offsets": [at, len(data)]}
        at = len(data)
    text = json.dumps(header).encode()
    with open(filename, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)
"""

# What happens to files afterwards, by other programs.
SPOIL = """
import os, shutil, torch
full = torch.load("full_5.pt")
def clone():
    return {"model": dict(full["model"]), "optimizer": full["optimizer"], "step": 5}
def save(thing, folder):
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
import numpy as np
arrays = dict(np.load("arrays.npz"))
arrays["fc3.bias"] = arrays["fc3.bias"] + 1
os.makedirs("moved")
np.savez("moved/arrays.npz", **arrays)
np.save("moved/one.npy", full["model"]["fc1.weight"].numpy())
shutil.copytree("shards_4", "mixed/shards_4")
shutil.copy("shards_1/model-1.safetensors", "mixed/shards_4")
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
        (t.folder / "safetensors").mkdir(exist_ok=True)
        (t.folder / "safetensors/__init__.py").write_text("")
        (t.folder / "safetensors/torch.py").write_text(SAFETENSORS)
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


# What is wrong, the file, the run that it is compared with, the finding, and what stands in it: file, tensor and step.
FAULTS: tuple[tuple[str, ...], ...] = (
    ("saved before the step it claims", "early_5.pt", "a", "WT-LIN-002", "early_5.pt", "model.embedding.weight", "step 2", "step 6"),
    ("one tensor of another step", "mixed/full_5.pt", "a", "WT-LIN-003", "full_5.pt", "model.fc3.weight", "step 3", "step 6"),
    ("cast to bf16 and back", "cast/full_5.pt", "a", "WT-LIN-001", "full_5.pt", "model.fc2.weight", "bf16", "step 6"),
    ("the average as the model", "average.pt", "a", "WT-LIN-009", "average.pt", "step 6"),
    ("no optimizer state", "bare_5.pt", "a", "WT-LIN-010", "bare_5.pt", "step 6", "exp_avg"),
    ("two tensors exchanged", "swapped/full_5.pt", "a", "WT-LIN-004", "full_5.pt", "fc1.bias", "fc2.bias", "step"),
    ("transposed", "turned/full_5.pt", "a", "WT-LIN-001", "full_5.pt", "model.fc2.weight", "transposed", "step 6"),
    ("a tensor is missing", "lost/full_5.pt", "a", "WT-LIN-005", "full_5.pt", "model.fc2.bias", "step 6"),
    ("an old file under a new name", "renamed/full_5.pt", "a", "WT-LIN-007", "full_5.pt", "full_2.pt", "step 3", "step 6"),
    ("one flipped bit", "flipped/old.pt", "a", "WT-LIN-001", "old.pt", "fc2.weight", "bit 20 of element 1", "step 6"),
    ("a shard of an earlier save", "mixed/shards_4/model.safetensors.index.json", "a", "WT-LIN-003", "model-1.safetensors",
     "fc2.weight", "step 1", "step 5"),
    ("a shard that the last save left as it was", "left/model.safetensors.index.json", "a", "WT-LIN-003", "model-1.safetensors",
     "fc2.weight", "step 2", "step 5"),
    ("an array of an archive was changed", "moved/arrays.npz", "a", "WT-LIN-001", "arrays.npz", "fc3.bias", "step 6"),
    ("another array under the name of one", "moved/one.npy", "a", "WT-LIN-004", "one.npy", "fc1.weight", "step"),
    ("a state dict of another run", "model.pt", "a", "WT-LIN-008", "model.pt", "embedding.weight", "other", "step 6"),
    ("a file of another run under another name", "unknown.pt", "a", "WT-LIN-008", "unknown.pt", "other", "step 6"),
    ("a layer initialised again after loading", "model.pt", "again", "WT-LIN-012", "model.pt", "fc2.weight", "Net"),
    ("tied weights loaded apart", "apart.pt", "apart", "WT-LIN-013", "apart.pt", "embedding.weight", "head.weight"),
)
CLEAN = ("full_5.pt", "full_0.pt", "model.pt", "old.pt", "shard_0.pt", "shard_1.pt", "apart.pt", "arrays.npz", "one.npy", "with_array.pt",
         "shards_1/model.safetensors.index.json", "shards_4/model.safetensors.index.json", "copied/model.safetensors.index.json")


def copy_files(t: Harness) -> None:
    """What is done to files without reading them."""
    for folder in ("renamed", "left", "copied"):
        (t.folder / folder).mkdir()
    shutil.copy(t.folder / "full_2.pt", t.folder / "renamed/full_5.pt")
    for name in ("model-0.safetensors", "model-1.safetensors", "model.safetensors.index.json"):
        shutil.copy(t.folder / "shards_4" / name, t.folder / "copied" / name)
        shutil.copy(t.folder / ("shards_1" if "1" in name else "shards_4") / name, t.folder / "left" / name)
    done = t.bare("import torch, sys; w = torch.load('old.pt')['fc2.weight']\n"
                  "sys.stdout.write(w.numpy().tobytes().hex())")
    flip(t.folder / "old.pt", t.folder / "flipped/old.pt", bytes.fromhex(done.output))


def test_saved(t: Harness) -> None:
    lineage = Lineage(t)
    lineage.record("a", TRAIN.format(seed=0))
    spoiled = t.bare(SPOIL)
    t.check("files are spoiled", spoiled.status == 0, spoiled.errors[-500:])
    copy_files(t)
    for name in CLEAN:
        lineage.clean(name, "a")
    for fault in FAULTS[:14]:
        lineage.found(*fault)
    layer = str(lineage.verify("mapped.npy", "a"))
    t.check("an array without a hash is not measured, with the reason", "NOT MEASURED" in layer and "without a hash" in layer, layer[:1500])
    for name, status in (("model.pt", 0), ("flipped/old.pt", 1)):
        done = t.execute([t.wheeltap, "model", "attest", name, "--run", str(lineage.home / "a"), "-o", "statement"])
        written = (t.folder / "statement").read_text() if (t.folder / "statement").exists() else ""
        good = done.status == status and bool(written) == (not status) and ('"lineage":"held' in written) == (not status)
        t.check(f"attested is what the run saved: {name}", good, done.output + done.errors + written)
        (t.folder / "statement").unlink(missing_ok=True)
    data = (t.folder / "full_5.pt").read_bytes()
    (t.folder / "cut").mkdir(exist_ok=True)
    (t.folder / "cut/full_5.pt").write_bytes(data[:len(data) // 2])
    answer = lineage.verify("cut/full_5.pt", "a")
    t.check("fault: a truncated download", answer["exit"] == 3 and "cut/full_5.pt" in json.dumps(answer) and "again" in json.dumps(answer),
            json.dumps(answer)[:500])


def test_loaded(t: Harness) -> None:
    """In the folder that test_saved() has left."""
    lineage = Lineage(t)
    for name in ("shards_1", "shards_4"):
        shutil.rmtree(t.folder / name)
    lineage.record("other", TRAIN.format(seed=2))
    shutil.copy(t.folder / "model.pt", t.folder / "unknown.pt")
    lineage.record("good", LOAD.format(file="model.pt", apart=False, again=False))
    lineage.clean("model.pt", "good")
    lineage.record("again", LOAD.format(file="model.pt", apart=False, again=True))
    lineage.record("apart", LOAD.format(file="apart.pt", apart=True, again=False))
    for fault in FAULTS[14:]:
        lineage.found(*fault)


# Saves to many files, each of which is spoiled in another way before the next run loads it.
SAVE_MANY = """
import numpy as np, torch, torch.nn as nn
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 8), nn.Linear(8, 4))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for step in range(4):
    optimizer.zero_grad()
    model(torch.ones(2, 6)).sum().backward()
    optimizer.step()
    for name in ("good", "old", "cast", "mixed", "bare", "lost", "stale", "foreign"):
        torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step}, name + ".pt")
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step}, f"step_{step}.pt")
np.savez("arrays.npz", **{k: v.numpy() for k, v in model.state_dict().items()})
np.savez("changed.npz", **{k: v.numpy() for k, v in model.state_dict().items()})
"""
SPOIL_MANY = """
import os, shutil, numpy as np, torch
def spoil(name, change):
    state = torch.load(name + ".pt")
    change(state)
    torch.save(state, name + ".pt")
spoil("cast", lambda s: s["model"].update({"0.weight": s["model"]["0.weight"].bfloat16().float()}))
spoil("mixed", lambda s: s["model"].update({"1.weight": torch.load("step_1.pt")["model"]["1.weight"]}))
spoil("bare", lambda s: s.pop("optimizer"))
spoil("lost", lambda s: s["model"].pop("1.bias"))
spoil("foreign", lambda s: s["model"].update({"2.weight": torch.ones(3)}))
shutil.copy("step_1.pt", "old.pt")
os.makedirs("moved")
shutil.copy("good.pt", "moved/renamed.pt")
arrays = dict(np.load("changed.npz"))
arrays["0.bias"] = arrays["0.bias"] * 2
np.savez("changed.npz", **arrays)
"""
LOAD_MANY = """
import sys, numpy as np, torch
for name in sys.argv[1:]:
    if name.endswith(".npz"):
        print(len(dict(np.load(name))))
    else:
        torch.load(name)
"""
# What is wrong, the file that was loaded, the finding, and what stands in it: the run, the tensor, the steps.
ACROSS = (
    ("a cast on the way from run to run", "cast.pt", "WT-LIN-001", "model.0.weight", "'first'", "step 4"),
    ("a tensor of an earlier step", "mixed.pt", "WT-LIN-003", "model.1.weight", "'first'", "step 2", "step 4"),
    ("the optimizer's state was left out", "bare.pt", "WT-LIN-010", "optimizer.state.0", "'first'", "step 4"),
    ("a tensor was lost", "lost.pt", "WT-LIN-005", "model.1.bias", "'first'", "step 4"),
    ("an old checkpoint under the name of the last", "old.pt", "WT-LIN-007", "model.0.weight", "'first'", "step 2", "step 4"),
    ("a tensor that nobody saved", "foreign.pt", "WT-LIN-006", "model.2.weight", "'first'", "step 4"),
    ("an array of an archive was changed", "changed.npz", "WT-LIN-001", "0.bias", "'first'", "step 4"),
)


class Across:
    """Runs in a folder of their own."""

    def __init__(self, t: Harness) -> None:
        self.t = t
        self.folder = t.folder / "across"
        self.folder.mkdir()

    def run(self, *command: str) -> Any:
        return self.t.execute(["env", "-C", str(self.folder), *command])

    def record(self, name: str, code: str, *words: str) -> None:
        done = self.run(self.t.wheeltap, "record", "-o", f"wheeltap-runs/{name}", "--", self.t.python, self.t.script(code), *words)
        self.t.check(f"{name} is recorded", done.status == 0, done.errors[-500:])

    def findings(self, verb: str, name: str) -> tuple[list[dict[str, Any]], str]:
        done = self.run(self.t.wheeltap, verb, name, "--json")
        answer = json.loads(done.output) if done.output.startswith("{") else {"error": done.output + done.errors}
        return [f for f in answer.get("findings", ()) if f["id"].startswith("WT-LIN")], json.dumps(answer)


def test_across(t: Harness) -> None:
    """A run that loads finds the run that saved, in the catalogue."""
    across = Across(t)
    across.record("first", SAVE_MANY)
    spoiled = across.run(t.python, t.script(SPOIL_MANY))
    t.check("files are spoiled", spoiled.status == 0, spoiled.errors[-500:])
    across.record("clean", LOAD_MANY, "good.pt", "moved/renamed.pt", "stale.pt", "arrays.npz", "step_1.pt")
    across.record("bad", LOAD_MANY, *(fault[1] for fault in ACROSS))
    for verb in ("doctor", "check"):
        found, answer = across.findings(verb, "clean")
        t.check(f"{verb}: unchanged checkpoints are clean across runs", not found and '"findings"' in answer, answer[:1500])
    found, answer = across.findings("doctor", "bad")
    for what, file, code, *words in ACROSS:
        texts = [json.dumps(f) for f in found if f["id"] == code and file in json.dumps(f)]
        t.check(f"fault across runs: {what}", len(texts) == 1 and all(word in texts[0] for word in words), json.dumps(found)[:3000])
    t.equal("and no more findings than faults", len(found), len(ACROSS), json.dumps(found)[:3000])
    shutil.rmtree(across.folder / "wheeltap-runs/first")
    found, answer = across.findings("doctor", "bad")
    t.check("silent where nobody is known to have saved it", not found, json.dumps(found)[:1500])


WRITE = """
import json, os, struct
head = json.dumps({"w": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}).encode()
data = struct.pack("<Q", len(head)) + head + struct.pack("<2f", 1, 2)
with open("once.tmp", "wb") as file:
    file.write(data)
os.rename("once.tmp", "once.safetensors")
with open("twice.safetensors", "wb") as file:
    file.write(data)
with open("twice.safetensors", "r+b") as file:
    file.seek(len(data) - 1)
    file.write(b"@")
"""


def test_written(t: Harness) -> None:
    """A program of which only system calls are known, as one in Rust."""
    run = t.execute([t.wheeltap, "record", "--syscalls", "-o", "wheeltap-runs/calls", "--", t.python, "-S", t.script(WRITE)])
    t.check("system calls are recorded", run.status == 0, run.errors[-500:])
    for name, words in (("once", ("once.tmp", "once: 77 bytes; it has 77 now")), ("twice", ("written to again",))):
        done = t.execute([t.wheeltap, "model", "verify", f"{name}.safetensors", "--against", "wheeltap-runs/calls"])
        t.check(f"who wrote the file, and how often: {name}", all(word in done.output for word in ("tensors were not recorded; written by", *words)),
                done.output[-1500:])


if __name__ == "__main__":
    main(test_saved, test_loaded, test_across, test_written, require=("torch", "numpy"))
