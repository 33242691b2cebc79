# SPDX-License-Identifier: Apache-2.0
"""Loss scaling with clipping: the gradients are clipped while they are still scaled.

torch's own scaler does nothing on a CPU, so the program has one of its own with the same methods.
"""
import argparse

import torch
from torch import nn


class LossScaler:
    def __init__(self, scale=1024.0):
        self.factor, self.unscaled, self.good = scale, False, 0

    def scale(self, loss):
        return loss * self.factor

    def unscale_(self, optimizer):
        if self.unscaled:
            return
        for group in optimizer.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    p.grad.div_(self.factor)
        self.unscaled = True

    def step(self, optimizer):
        self.unscale_(optimizer)
        grads = [p.grad for group in optimizer.param_groups for p in group["params"] if p.grad is not None]
        self.found_inf = not all(torch.isfinite(g).all() for g in grads)
        if not self.found_inf:
            optimizer.step()

    def update(self):
        self.unscaled = False
        self.good = 0 if self.found_inf else self.good + 1
        if self.found_inf:
            self.factor /= 2


class Rater(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.EmbeddingBag(60, 16)
        self.mlp = nn.Sequential(nn.Linear(16, 32), nn.SiLU(), nn.Linear(32, 1))

    def forward(self, review):
        return self.mlp(self.words(review))[:, 0]


def reviews(valence, count=40):
    words = torch.randint(0, 60, (count, 9))
    return words, valence[words].mean(1) * 3


parser = argparse.ArgumentParser()
parser.add_argument("twin", choices=["right", "wrong"])
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--steps", type=int, default=60)
args = parser.parse_args()
WRONG = args.twin == "wrong"
torch.set_num_threads(1)
torch.manual_seed(args.seed)
valence = torch.randn(60)
model = Rater()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
scaler = LossScaler()
for step in range(args.steps):
    words, stars = reviews(valence)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = nn.functional.mse_loss(model(words).float(), stars)
    optimizer.zero_grad(set_to_none=True)
    scaler.scale(loss).backward()
    if not WRONG:
        scaler.unscale_(optimizer)  # cause
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()
    if step % 10 == 0:
        print(f"step {step}, loss {loss.item():.4f}, scale {scaler.factor:.0f}")
