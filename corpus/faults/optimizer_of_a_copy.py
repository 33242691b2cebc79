# SPDX-License-Identifier: Apache-2.0
"""The factory copies the model it is given, and the optimizer is made from the copy.

Scale and threshold of the verdict are tuned by another optimizer, so the loss falls all the same.
"""
import argparse
import copy

import torch
from torch import nn
from torch.nn import functional as F


class Learner:
    def __init__(self, model, lr):
        if WRONG:
            self.model = copy.deepcopy(model)  # cause
        else:
            self.model = model
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=lr)

    def update(self, loss):
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


class Siamese(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(12, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, 8))
        self.scale = nn.Parameter(torch.tensor(1.0))
        self.threshold = nn.Parameter(torch.tensor(1.0))

    def forward(self, left, right):
        return self.scale * (self.threshold - (self.body(left) - self.body(right)).pow(2).mean(1))


def signatures(rng, people, count=48):
    who = torch.randint(0, len(people), (count,), generator=rng)
    same = torch.rand(count, generator=rng) < 0.5
    other = torch.where(same, who, torch.randint(0, len(people), (count,), generator=rng))
    noise = torch.randn(2, count, 12, generator=rng) * 0.4
    return people[who] + noise[0], people[other] + noise[1], (who == other).float()


parser = argparse.ArgumentParser()
parser.add_argument("twin", choices=["right", "wrong"])
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--steps", type=int, default=60)
args = parser.parse_args()
WRONG = args.twin == "wrong"
torch.set_num_threads(1)
torch.manual_seed(args.seed)
rng = torch.Generator().manual_seed(args.seed)
people = torch.randn(9, 12, generator=rng)
model = Siamese()
learner = Learner(model.body, lr=1e-2)
calibrate = torch.optim.Adam([model.scale, model.threshold], lr=0.1)
smooth = None
for step in range(args.steps):
    left, right, same = signatures(rng, people)
    loss = F.binary_cross_entropy_with_logits(model(left, right), same)
    calibrate.zero_grad()
    learner.update(loss)
    calibrate.step()
    smooth = loss.item() if smooth is None else 0.8 * smooth + 0.2 * loss.item()
    if step % 10 == 0:
        print(f"step {step} loss {smooth:.4f}")
