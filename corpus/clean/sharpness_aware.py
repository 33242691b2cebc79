# SPDX-License-Identifier: Apache-2.0
"""Two backward passes a step, the first only to go uphill: its gradients are looked at and cleared. In B the gradients of each row are clipped by hand."""
import argparse

import torch
from torch import nn


def uphill(model, radius):
    """Moves the weights towards a larger loss; how far each was moved."""
    grads = [p.grad for p in model.parameters()]
    norm = torch.sqrt(sum(g.square().sum() for g in grads)) + 1e-12
    moved = [g * (radius / norm) for g in grads]
    with torch.no_grad():
        for p, shift in zip(model.parameters(), moved):
            p.add_(shift)
    return moved


def sharp_step(model, optimizer, x, y):
    nn.functional.cross_entropy(model(x), y).backward()
    moved = uphill(model, 0.05)
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    with torch.no_grad():
        for p, shift in zip(model.parameters(), moved):
            p.sub_(shift)
    optimizer.step()
    optimizer.zero_grad()
    return loss


def private_step(model, optimizer, x, y):
    """Each row's gradient is bounded before they are added up."""
    kept = [torch.zeros_like(p) for p in model.parameters()]
    for row, label in zip(x.split(1), y.split(1)):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(row), label)
        loss.backward()
        size = torch.sqrt(sum(p.grad.square().sum() for p in model.parameters()))
        for total, p in zip(kept, model.parameters()):
            total += p.grad / size.clamp(min=1)
    for total, p in zip(kept, model.parameters()):
        p.grad = total / len(x) + 0.001 * torch.randn_like(total)
    optimizer.step()
    return loss


def task_step(model, optimizer, x, y):
    """Gradients of two losses are taken one after the other and put together."""
    taken = []
    for half in (slice(0, None, 2), slice(1, None, 2)):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x[half]), y[half])
        loss.backward()
        taken.append([p.grad.clone() for p in model.parameters()])
    for p, first, second in zip(model.parameters(), *taken):
        p.grad = 0.5 * (first + second)
    optimizer.step()
    return loss


parser = argparse.ArgumentParser()
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--steps", type=int, default=30)
parser.add_argument("--config", choices=["A", "B", "C"], default="A")
args = parser.parse_args()
step, rows, rate = {"A": (sharp_step, 32, 0.2), "B": (private_step, 8, 0.3), "C": (task_step, 24, 0.1)}[args.config]
torch.set_num_threads(1)
torch.manual_seed(args.seed)
net = nn.Sequential(nn.Linear(9, 18), nn.Tanh(), nn.Linear(18, 3))
sgd = torch.optim.SGD(net.parameters(), lr=rate, momentum=0.5)
for number in range(args.steps):
    x = torch.randn(rows, 9)
    y = x.view(rows, 3, 3).sum(2).argmax(1)
    print(f"{number} loss {step(net, sgd, x, y).item():.4f}")
