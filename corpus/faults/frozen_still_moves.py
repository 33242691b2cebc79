# SPDX-License-Identifier: Apache-2.0
"""The body is frozen half-way, but stays in an optimizer with momentum and weight decay.

zero_grad leaves gradients of zero behind, so that decay and momentum go on moving what is frozen.
"""
import argparse

import torch
from torch import nn


def freeze(module):
    for p in module.parameters():
        p.requires_grad_(False)
        if not WRONG:
            p.grad = None  # cause


def epoch(body, head, optimizer, batches):
    losses = []
    for x, y in batches:
        optimizer.zero_grad(set_to_none=False)
        loss = nn.functional.cross_entropy(head(body(x)), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return sum(losses) / len(losses)


def make_batches(count, rule):
    for _ in range(count):
        x = torch.randn(40, 9)
        yield x, (x @ rule).argmax(1)


def main(seed, steps):
    torch.manual_seed(seed)
    body = nn.Sequential(nn.Linear(9, 30), nn.ReLU(), nn.Linear(30, 30), nn.ReLU())
    head = nn.Linear(30, 4)
    optimizer = torch.optim.SGD([*body.parameters(), *head.parameters()], lr=0.05, momentum=0.9, weight_decay=1e-2)
    rule = torch.randn(9, 4)
    epochs = 6
    for number in range(epochs):
        if number == epochs // 2:
            freeze(body)
        print(f"epoch {number} loss {epoch(body, head, optimizer, make_batches(steps // epochs, rule)):.4f}")


if __name__ == "__main__":
    cli = argparse.ArgumentParser()
    cli.add_argument("twin", choices=["right", "wrong"])
    cli.add_argument("--seed", type=int, default=0)
    cli.add_argument("--steps", type=int, default=72)
    parsed = cli.parse_args()
    WRONG = parsed.twin == "wrong"
    torch.set_num_threads(1)
    main(parsed.seed, parsed.steps)
