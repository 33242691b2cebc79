# SPDX-License-Identifier: Apache-2.0
"""A learning-rate finder: the rate rises every step, weights and optimizer are put back, then the real training."""
import argparse
import copy

import torch
from torch import nn


def batch(n):
    x = torch.randn(n, 6)
    return x, (x[:, :2].prod(1, keepdim=True) + x[:, 2:3]).clamp(-2, 2)


def sweep(model, optimizer, n, low=1e-4, high=1.0, count=15):
    saved = copy.deepcopy((model.state_dict(), optimizer.state_dict()))
    losses = []
    for i in range(count):
        rate = low * (high / low) ** (i / (count - 1))
        optimizer.param_groups[0]["lr"] = rate
        x, y = batch(n)
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append((loss.item(), rate))
        if loss.item() > 4 * min(losses)[0]:
            break
    model.load_state_dict(saved[0])
    optimizer.load_state_dict(saved[1])
    return min(losses)[1] / 5


def train(model, optimizer, n, steps):
    for step in range(steps):
        x, y = batch(n)
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        if step % 10 == 0:
            yield step, loss.item()


parser = argparse.ArgumentParser()
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--steps", type=int, default=50)
parser.add_argument("--config", choices=["A", "B", "C"], default="A")
args = parser.parse_args()
n, width, kind = {"A": (32, 32, torch.optim.SGD), "B": (64, 16, torch.optim.Adam), "C": (48, 48, torch.optim.RMSprop)}[args.config]
torch.set_num_threads(1)
torch.manual_seed(args.seed)
net = nn.Sequential(nn.Linear(6, width), nn.ReLU(), nn.Linear(width, 1))
opt = kind(net.parameters(), lr=1e-4)
rate = sweep(net, opt, n)
opt.param_groups[0]["lr"] = rate
print(f"rate {rate:.4f}")
for step, value in train(net, opt, n, args.steps):
    print(f"step {step} loss {value:.4f}")
