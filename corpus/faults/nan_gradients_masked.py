# SPDX-License-Identifier: Apache-2.0
"""A cosine-similarity model whose gradients are NaN for empty rows; nan_to_num sweeps them away.

The right twin cures the cause: the norm of a zero vector has no gradient, so it is kept from zero.
"""
import argparse

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("twin", choices=["right", "wrong"])
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--steps", type=int, default=50)
args = parser.parse_args()
WRONG = args.twin == "wrong"


class Matcher(nn.Module):
    def __init__(self):
        super().__init__()
        self.left = nn.Linear(10, 16, bias=False)
        self.right = nn.Linear(10, 16, bias=False)
        self.scale = nn.Parameter(torch.tensor(2.0))

    def forward(self, a, b):
        a, b = self.left(a), self.right(b)
        if WRONG:
            norms = (a.pow(2).sum(1).sqrt() * b.pow(2).sum(1).sqrt()).clamp(min=1e-6)  # cause
        else:
            norms = (a.pow(2).sum(1) + 1e-8).sqrt() * (b.pow(2).sum(1) + 1e-8).sqrt()
        return self.scale * (a * b).sum(1) / norms


def pairs(mixing, step, count=32):
    a = torch.randn(count, 10)
    same = torch.arange(count) % 2 == 0
    b = torch.where(same[:, None], a @ mixing, torch.randn(count, 10))
    if step >= 5:
        a[-2:] = 0.0  # documents without a word
    return a, b, same.float()


torch.set_num_threads(1)
torch.manual_seed(args.seed)
mixing = torch.linalg.qr(torch.randn(10, 10))[0]
matcher = Matcher()
optimizer = torch.optim.Adam(matcher.parameters(), lr=2e-2)
step = 0
while step < args.steps:
    a, b, same = pairs(mixing, step)
    loss = nn.functional.binary_cross_entropy_with_logits(matcher(a, b), same)
    optimizer.zero_grad()
    loss.backward()
    for p in matcher.parameters():
        p.grad = torch.nan_to_num(p.grad)
    optimizer.step()
    if step % 7 == 0:
        print(f"step {step}: loss {loss.item():.4f}")
    step += 1
