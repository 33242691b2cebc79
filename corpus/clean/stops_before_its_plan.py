# SPDX-License-Identifier: Apache-2.0
"""Schedules in epochs, stepped once an epoch, in runs that end when the loss does not improve any more.

A: a cosine over many epochs. B: a line, written as a lambda. C: a warm-up, then a cosine.
"""
import argparse
import math

import torch
from torch import nn
from torch.optim import lr_scheduler

p = argparse.ArgumentParser()
p.add_argument("--seed", type=int, default=0)
p.add_argument("--steps", type=int, default=80)
p.add_argument("--config", choices=["A", "B", "C"], default="A")
a = p.parse_args()
torch.set_num_threads(1)
torch.manual_seed(a.seed)

batches = max(2, a.steps // 10)
size, rate = {"A": (20, 0.02), "B": (40, 0.01), "C": (16, 0.03)}[a.config]
x = torch.randn(batches * size, 5)
y = x.square().sum(1, keepdim=True) / 5
net = nn.Sequential(nn.Linear(5, 30), nn.SiLU(), nn.Linear(30, 1))
opt = torch.optim.Adam(net.parameters(), rate)
if a.config == "A":
    schedule = lr_scheduler.CosineAnnealingLR(opt, 60)
elif a.config == "B":
    schedule = lr_scheduler.LambdaLR(opt, lambda epoch: 1 - epoch / 40)
else:
    schedule = lr_scheduler.SequentialLR(opt, [lr_scheduler.LinearLR(opt, 0.3, total_iters=3),
                                               lr_scheduler.CosineAnnealingLR(opt, 37)], [3])
best, patience = math.inf, 0
for epoch in range(60):
    total = 0.0
    for rows in torch.randperm(len(x)).split(size):
        opt.zero_grad()
        loss = nn.functional.mse_loss(net(x[rows]), y[rows])
        loss.backward()
        opt.step()
        total += loss.item() / batches
    schedule.step()
    patience = 0 if total < 0.9 * best else patience + 1
    best = min(best, total)
    print(f"epoch {epoch} loss {total:.4f}")
    if epoch >= 7 and (patience >= 2 or epoch >= 11):
        break
