# SPDX-License-Identifier: Apache-2.0
"""Triplet loss: one network run three times a step; where all margins are met the loss and gradients are zero, rightly."""
import argparse

import torch
from torch import nn
from torch.nn import functional as F


def draw(people, n):
    who = torch.randint(0, len(people), (n,))
    other = (who + torch.randint(1, len(people), (n,))) % len(people)
    noise = 0.3 * torch.randn(3, n, people.shape[1])
    return people[who] + noise[0], people[who] + noise[1], people[other] + noise[2]


def train(net, people, n, margin, steps):
    optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
    criterion = nn.TripletMarginLoss(margin=margin)
    idle = 0
    for step in range(steps):
        anchor, positive, negative = (F.normalize(net(part), dim=1) for part in draw(people, n))
        loss = criterion(anchor, positive, negative)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        idle += int(loss.item() == 0)
        if step % 10 == 0:
            print(f"step {step} loss {loss.item():.4f} idle {idle}")


parser = argparse.ArgumentParser()
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--steps", type=int, default=60)
parser.add_argument("--config", choices=["A", "B", "C"], default="A")
args = parser.parse_args()
torch.set_num_threads(1)
torch.manual_seed(args.seed)
n, width, margin = {"A": (32, 24, 0.5), "B": (16, 32, 0.3), "C": (48, 16, 1.0)}[args.config]
siamese = nn.Sequential(nn.Linear(14, width), nn.ReLU(), nn.Linear(width, 8))
train(siamese, torch.randn(12, 14), n, margin, args.steps)
