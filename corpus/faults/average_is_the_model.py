# SPDX-License-Identifier: Apache-2.0
"""The slow copy of a self-supervised model is not a copy: the average of a thing and itself."""
import argparse
import copy

import torch
from torch import nn
from torch.nn import functional as F


class SelfDistilled:
    def __init__(self, student, decay):
        self.student, self.decay = student, decay
        if WRONG:
            self.teacher = student  # cause
        else:
            self.teacher = copy.deepcopy(student)
        self.predictor = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 8))

    def parameters(self):
        return [*self.student.parameters(), *self.predictor.parameters()]

    def loss(self, one, other):
        guess = F.normalize(self.predictor(self.student(one)), dim=1)
        with torch.no_grad():
            goal = F.normalize(self.teacher(other), dim=1)
        return (2 - 2 * (guess * goal).sum(1)).mean()

    @torch.no_grad()
    def follow(self):
        for slow, fast in zip(self.teacher.parameters(), self.student.parameters()):
            slow.lerp_(fast, 1 - self.decay)


def views(rng, count=64):
    scene = torch.randn(count, 10, generator=rng)
    return [scene + 0.3 * torch.randn(count, 10, generator=rng) for _ in (0, 1)]


parser = argparse.ArgumentParser()
parser.add_argument("twin", choices=["right", "wrong"])
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--steps", type=int, default=60)
args = parser.parse_args()
WRONG = args.twin == "wrong"
torch.set_num_threads(1)
torch.manual_seed(args.seed)
rng = torch.Generator().manual_seed(args.seed)
method = SelfDistilled(nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 8)), decay=0.98)
optimizer = torch.optim.Adam(method.parameters(), lr=5e-3)
for step in range(args.steps):
    loss = method.loss(*views(rng))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    method.follow()
    if step % 10 == 0:
        print(f"step {step} loss {loss.item():.4f}")
