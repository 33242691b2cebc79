# SPDX-License-Identifier: Apache-2.0
"""A network is trained and saved; another one loads it, freezes its body and trains the head, with an optimizer of its own.

In B and C the file holds the first optimizer too, which has nothing to say about the second. The rates end above zero, as planned.
"""
import argparse
import io

import torch
from torch import nn
from torch.nn import functional as F
from torch.optim.lr_scheduler import LinearLR


class Tagger(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(20, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
        self.head = nn.Linear(width, 4)

    def forward(self, x):
        return self.head(self.body(x))


def train(model, parameters, steps, batch, centres):
    optimizer = torch.optim.AdamW(parameters, lr=1e-2)
    schedule = LinearLR(optimizer, 1.0, 0.2, total_iters=steps)
    for step in range(steps):
        y = torch.randint(0, 4, (batch,))
        loss = F.cross_entropy(model(centres[y] + torch.randn(batch, 20)), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        if step % 10 == 0:
            print(f"step {step} loss {loss.item():.4f}")
    return optimizer


parser = argparse.ArgumentParser()
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--steps", type=int, default=30)
parser.add_argument("--config", choices=["A", "B", "C"], default="A")
args = parser.parse_args()
width, batch, keeps_optimizer = {"A": (32, 32, False), "B": (24, 16, True), "C": (48, 64, True)}[args.config]
torch.set_num_threads(1)
torch.manual_seed(args.seed)
first = Tagger(width)
centres = 2 * torch.randn(4, 20)
optimizer = train(first, first.parameters(), args.steps, batch, centres)
file = io.BytesIO()
torch.save({"model": first.state_dict(), "optimizer": optimizer.state_dict()} if keeps_optimizer else {"model": first.state_dict()}, file)
file.seek(0)
second = Tagger(width)
second.load_state_dict(torch.load(file)["model"])
for parameter in second.body.parameters():
    parameter.requires_grad = False
train(second, [p for p in second.parameters() if p.requires_grad], 2 * args.steps, batch, centres[[2, 0, 3, 1]])
