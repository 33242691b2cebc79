# SPDX-License-Identifier: Apache-2.0
"""Three heads on one body; every batch belongs to one task, and the other heads get no gradient in that step."""
import argparse
import random

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--steps", type=int, default=60)
parser.add_argument("--config", choices=["A", "B", "C"], default="A")
args = parser.parse_args()
batch, width, kind = {"A": (32, 32, torch.optim.Adam), "B": (16, 48, torch.optim.AdamW), "C": (48, 24, torch.optim.Adam)}[args.config]
torch.set_num_threads(1)
torch.manual_seed(args.seed)
random.seed(args.seed)

body = nn.Sequential(nn.Linear(8, width), nn.ReLU())
heads = nn.ModuleDict({"count": nn.Linear(width, 1), "sign": nn.Linear(width, 2), "rank": nn.Linear(width, 4)})
optimizer = kind([*body.parameters(), *heads.parameters()], lr=5e-3)
tasks = {
    "count": lambda x: (nn.functional.mse_loss, (x > 0).float().sum(1, keepdim=True)),
    "sign": lambda x: (nn.functional.cross_entropy, (x.sum(1) > 0).long()),
    "rank": lambda x: (nn.functional.cross_entropy, x[:, :4].argmax(1)),
}
for step in range(args.steps):
    task = random.choices(list(tasks), weights=[5, 3, 2])[0]
    x = torch.randn(batch, 8)
    criterion, target = tasks[task](x)
    loss = criterion(heads[task](body(x)), target)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    if step % 6 == 0:
        print(f"step {step} {task} loss {loss.item():.4f}")
