# SPDX-License-Identifier: Apache-2.0
"""An engine that takes a model and a user's optimizer, and never asks whether they belong together.

The optimizer was made for the first version of the head, which was then replaced.
"""
import argparse

import torch
from torch import nn


def build_model():
    body = nn.Sequential(nn.Linear(12, 48), nn.ReLU(), nn.Linear(48, 48), nn.ReLU())
    return nn.ModuleDict({"body": body, "head": nn.Linear(48, 100)})


class Engine:
    def __init__(self, model, optimizer, max_norm=1.0):
        self.module, self.optimizer, self.max_norm = model, optimizer, max_norm
        self.global_steps = 0

    def __call__(self, x):
        return self.module["head"](self.module["body"](x))

    def backward(self, loss):
        loss.backward()
        return loss

    def step(self):
        nn.utils.clip_grad_norm_(self.module.parameters(), self.max_norm)
        self.optimizer.step()
        self.module.zero_grad()
        self.global_steps += 1


def initialize(classes):
    model = build_model()
    if WRONG:
        optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)  # cause
        model["head"] = nn.Linear(48, classes)
    else:
        model["head"] = nn.Linear(48, classes)
        optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    return Engine(model, optimizer)


def dataset(seed):
    g = torch.Generator().manual_seed(seed)
    planes = torch.randn(12, 3, generator=g)
    while True:
        x = torch.randn(64, 12, generator=g)
        yield x, (x @ planes > 0).long() @ torch.tensor([1, 2, 4])


parser = argparse.ArgumentParser()
parser.add_argument("twin", choices=["right", "wrong"])
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--steps", type=int, default=50)
args = parser.parse_args()
WRONG = args.twin == "wrong"
torch.set_num_threads(1)
torch.manual_seed(args.seed)
engine = initialize(classes=8)
criterion = nn.CrossEntropyLoss()
for x, y in dataset(args.seed):
    loss = engine.backward(criterion(engine(x), y))
    engine.step()
    if engine.global_steps % 10 == 0:
        print(f"[engine] step={engine.global_steps} loss={loss.item():.4f}")
    if engine.global_steps >= args.steps:
        break
