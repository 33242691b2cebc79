# SPDX-License-Identifier: Apache-2.0
"""Two heads with optimizers of their own on a trunk that both losses train; an ensemble beside it; a cosine that restarts."""
import argparse

import torch
from torch import nn
import torch.nn.functional as F

cli = argparse.ArgumentParser()
cli.add_argument("--seed", type=int, default=0)
cli.add_argument("--steps", type=int, default=60)
cli.add_argument("--config", choices=["A", "B", "C"], default="A")
cli = cli.parse_args()
n, hidden, period = {"A": (32, 24, 15), "B": (20, 16, 10), "C": (40, 32, 20)}[cli.config]
torch.set_num_threads(1)
torch.manual_seed(cli.seed)

trunk = nn.Sequential(nn.Linear(8, hidden), nn.ReLU())
sort, amount = nn.Linear(hidden, 3), nn.Linear(hidden, 1)
committee = [nn.Linear(8, 1) for _ in range(3)]
of_trunk, of_sort, of_amount = (torch.optim.SGD(part.parameters(), 0.05) for part in (trunk, sort, amount))
of_committee = torch.optim.Adam([p for member in committee for p in member.parameters()], 5e-3)
restarts = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(of_trunk, T_0=period)
to_sort, to_amount = torch.randn(8, 3), torch.randn(8, 1)
for number in range(cli.steps):
    x = torch.randn(n, 8)
    y = x @ to_amount
    for optimizer in (of_trunk, of_sort, of_amount, of_committee):
        optimizer.zero_grad()
    first = F.cross_entropy(sort(trunk(x)), (x @ to_sort).argmax(1))
    first.backward()
    of_sort.step()
    second = F.mse_loss(amount(trunk(x)), y)
    second.backward()
    of_amount.step()
    of_trunk.step()  # with the gradients of both, as is meant
    restarts.step()
    third = F.mse_loss(torch.stack([member(x) for member in committee]).mean(0), y)
    third.backward()
    of_committee.step()
    if number % 10 == 0:
        print(number, *(round(loss.item(), 4) for loss in (first, second, third)))
