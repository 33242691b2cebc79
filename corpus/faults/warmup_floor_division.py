# SPDX-License-Identifier: Apache-2.0
"""Warm-up by LambdaLR with // instead of /: the learning rate is zero until the warm-up is over."""
import argparse

import torch
from torch import nn
from torch.optim.lr_scheduler import LambdaLR


class Attend(nn.Module):
    """Which of six keys fits the query?"""

    def __init__(self, width=16):
        super().__init__()
        self.query = nn.Linear(8, width)
        self.key = nn.Linear(8, width)

    def forward(self, query, keys):
        return (self.query(query)[:, None] * self.key(keys)).sum(-1)


def riddles(rotation, count=48):
    keys = torch.randn(count, 6, 8)
    answer = torch.randint(0, 6, (count,))
    query = keys[torch.arange(count), answer] @ rotation + 0.3 * torch.randn(count, 8)
    return query, keys, answer


def warmup(steps):
    if WRONG:
        return lambda step: min(1, (step + 1) // steps)  # cause
    return lambda step: min(1.0, (step + 1) / steps)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("twin", choices=["right", "wrong"])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=60)
    args = parser.parse_args()
    global WRONG
    WRONG = args.twin == "wrong"
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    rotation = torch.linalg.qr(torch.randn(8, 8)).Q
    model = Attend()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    scheduler = LambdaLR(optimizer, lr_lambda=warmup(args.steps // 4))
    for step in range(args.steps):
        query, keys, answer = riddles(rotation)
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(query, keys), answer)
        loss.backward()
        optimizer.step()
        scheduler.step()
        if step % 6 == 0:
            print(f"step {step}: loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
