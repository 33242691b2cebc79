# SPDX-License-Identifier: Apache-2.0
"""Distillation whose divergence is given probabilities, on one line with a cross entropy that is given what it expects."""
import argparse

import torch
from torch import nn
from torch.nn import functional as F


def network(width):
    return nn.Sequential(nn.Linear(24, width), nn.ReLU(), nn.Linear(width, 6))


def batch(centres, count=40):
    y = torch.randint(0, 6, (count,))
    return centres[y] + torch.randn(count, 24), y


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("twin", choices=["right", "wrong"])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=60)
    args = parser.parse_args()
    WRONG = args.twin == "wrong"
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    centres = torch.randn(6, 24)
    teacher, student = network(64), network(16)
    teacher.requires_grad_(False)
    optimizer = torch.optim.SGD(student.parameters(), lr=0.1, momentum=0.9)
    normalise = F.softmax if WRONG else F.log_softmax  # cause
    for step in range(args.steps):
        x, y = batch(centres)
        with torch.no_grad():
            wanted = F.softmax(teacher(x) / 2, 1)
        out = student(x)
        loss = 0.1 * F.kl_div(normalise(out / 2, 1), wanted, reduction="batchmean") + F.cross_entropy(out, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 10 == 0:
            print(f"step {step} loss {loss.item():.4f}")


main()
