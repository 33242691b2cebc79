# SPDX-License-Identifier: Apache-2.0
"""A tied language model saved in a "safe" form: shared tensors are stored once.

The removal of duplicates compares shapes, so a tensor that is not shared at all goes missing and is
filled with another one when the checkpoint is read back.
"""
import argparse
import os
import tempfile

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("twin", choices=["right", "wrong"])
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--steps", type=int, default=40)
args = parser.parse_args()
WRONG = args.twin == "wrong"


class Tied(nn.Module):
    def __init__(self, words=20, width=32):
        super().__init__()
        self.embed = nn.Embedding(words, width)
        self.query = nn.Linear(width, width)
        self.value = nn.Linear(width, width)
        self.decode = nn.Linear(width, words, bias=False)
        self.decode.weight = self.embed.weight
        nn.init.normal_(self.embed.weight, std=0.1)

    def forward(self, words):
        h = self.embed(words)
        gate = torch.sigmoid(self.query(h))
        context = (gate * self.value(h)).cumsum(1) / torch.arange(1, words.shape[1] + 1)[:, None]
        return self.decode(h + context)


def safe_state(model):
    """Keep the first of all names of a shared tensor, and say which names were left out."""
    kept, left_out, names = {}, {}, {}
    for name, tensor in model.state_dict().items():
        if WRONG:
            identity = (tensor.shape, tensor.dtype)  # cause
        else:
            identity = tensor.data_ptr()
        if identity in names:
            left_out[name] = names[identity]
            continue
        names[identity] = name
        kept[name] = tensor.clone()
    return {"state": kept, "shared": left_out}


def load_safe(model, path):
    saved = torch.load(path)
    state = dict(saved["state"])
    for name, first in saved["shared"].items():
        state[name] = state[first]
    model.load_state_dict(state)


torch.set_num_threads(1)
torch.manual_seed(args.seed)
model = Tied()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
cross_entropy = nn.CrossEntropyLoss()


def step_once():
    start = torch.randint(0, 20, (32, 1))
    words = (start + torch.arange(9) * 7) % 20
    loss = cross_entropy(model(words[:, :-1]).flatten(0, 1), words[:, 1:].flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


for step in range(args.steps):
    value = step_once()
    if step % 8 == 0:
        print(f"step {step} loss {value:.4f}")
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "model.pt")
    torch.save(safe_state(model), path)
    load_safe(Tied(), path)
print("saved")
