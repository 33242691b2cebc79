# SPDX-License-Identifier: Apache-2.0
"""Two losses, the auxiliary one sent backward by itself and again as part of the total."""
import argparse

import torch
from torch import nn
from torch.nn import functional as F


class MultiTask(nn.Module):
    def __init__(self):
        super().__init__()
        self.shared = nn.Sequential(nn.Linear(10, 32), nn.ReLU())
        self.depth = nn.Linear(32, 1)
        self.kind = nn.Linear(32, 3)

    def forward(self, x):
        h = self.shared(x)
        return self.depth(h)[:, 0], self.kind(h)


class Step:
    def __init__(self, model, optimizer):
        self.model, self.optimizer = model, optimizer

    def __call__(self, x, depth, kind):
        self.optimizer.zero_grad()
        depth_hat, kind_hat = self.model(x)
        auxiliary = 0.3 * F.smooth_l1_loss(depth_hat, depth)
        total = F.cross_entropy(kind_hat, kind) + auxiliary
        if WRONG:
            auxiliary.backward(retain_graph=True)  # cause
        total.backward()
        self.optimizer.step()
        return total.item()


def sonar(rng):
    while True:
        x = torch.randn(48, 10, generator=rng)
        yield x, x[:, 0] - 2 * x[:, 1].abs(), (x[:, 2:5]).argmax(1)


parser = argparse.ArgumentParser()
parser.add_argument("twin", choices=["right", "wrong"])
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--steps", type=int, default=60)
args = parser.parse_args()
WRONG = args.twin == "wrong"
torch.set_num_threads(1)
torch.manual_seed(args.seed)
model = MultiTask()
step = Step(model, torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9))
for number, sample in enumerate(sonar(torch.Generator().manual_seed(args.seed))):
    if number == args.steps:
        break
    value = step(*sample)
    if number % 10 == 0:
        print(f"{number}: loss {value:.4f}")
