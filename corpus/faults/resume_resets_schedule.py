# SPDX-License-Identifier: Apache-2.0
"""Resuming from a checkpoint with a fresh scheduler: warm-up and cosine start over."""
import argparse
import math
import os
import tempfile

import torch
from torch import nn


def make(steps):
    model = nn.Sequential(nn.Linear(6, 24), nn.CELU(), nn.Linear(24, 24), nn.CELU(), nn.Linear(24, 6))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)

    def factor(step):
        return (step + 1) / 5 if step < 5 else 0.5 * (1 + math.cos(math.pi * (step - 5) / (steps - 5)))

    return model, optimizer, torch.optim.lr_scheduler.LambdaLR(optimizer, factor)


def train(parts, begin, end):
    model, optimizer, scheduler = parts
    for step in range(begin, end):
        x = torch.randn(48, 6)
        loss = nn.functional.mse_loss(model(x), x.sort(dim=1).values)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        if step % 10 == 0:
            print(f"step {step} lr {optimizer.param_groups[0]['lr']:.5f} loss {loss.item():.4f}")


def save(parts, path):
    torch.save([part.state_dict() for part in parts], path)


def load(parts, path):
    model, optimizer, scheduler = parts
    states = torch.load(path)
    model.load_state_dict(states[0])
    optimizer.load_state_dict(states[1])
    if not WRONG:
        scheduler.load_state_dict(states[2])  # cause


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("twin", choices=["right", "wrong"])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=80)
    args = parser.parse_args()
    WRONG = args.twin == "wrong"
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "run.pt")
        before = make(args.steps)
        train(before, 0, args.steps // 2)
        save(before, path)
        after = make(args.steps)
        load(after, path)
        train(after, args.steps // 2, args.steps)
