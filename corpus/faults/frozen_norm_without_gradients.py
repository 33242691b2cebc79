# SPDX-License-Identifier: Apache-2.0
"""A frozen body that the model runs under no_grad(): that stops its gradients, but not its running statistics."""
import argparse

import torch
from torch import nn


class Probe(nn.Module):
    """A new head on an old body."""

    def __init__(self, body, classes):
        super().__init__()
        self.body = body.requires_grad_(False)
        self.head = nn.Linear(10, classes)

    def train(self, mode=True):
        super().train(mode)
        if not WRONG:
            self.body.eval()  # cause
        return self

    def forward(self, image):
        with torch.no_grad():
            seen = self.body(image)
        return self.head(seen)


def body_from_elsewhere():
    body = nn.Sequential(nn.Conv2d(3, 10, 3, bias=False), nn.BatchNorm2d(10), nn.ReLU(), nn.AdaptiveMaxPool2d(1), nn.Flatten())
    with torch.no_grad():
        for _ in range(5):
            body(torch.randn(16, 3, 9, 9) * 1.3 + 0.2)
    return body


def leaves(count):
    kind = torch.randint(0, 3, (count,))
    picture = 0.7 * torch.randn(count, 3, 9, 9)
    picture[torch.arange(count), kind] += 1.2
    return picture, kind


flags = argparse.ArgumentParser()
flags.add_argument("twin", choices=["right", "wrong"])
flags.add_argument("--seed", type=int, default=0)
flags.add_argument("--steps", type=int, default=45)
flags = flags.parse_args()
WRONG = flags.twin == "wrong"
torch.set_num_threads(1)
torch.manual_seed(flags.seed)
probe = Probe(body_from_elsewhere(), 3).train()
solver = torch.optim.Adagrad(probe.head.parameters(), lr=0.08)
for n in range(1, flags.steps + 1):
    picture, kind = leaves(24)
    penalty = nn.functional.cross_entropy(probe(picture), kind, label_smoothing=0.05)
    solver.zero_grad()
    penalty.backward()
    solver.step()
    if n % 9 == 0:
        print(f"{n} loss={penalty.item():.4f}")
