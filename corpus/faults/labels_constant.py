# SPDX-License-Identifier: Apache-2.0
"""Ages in years are turned into five groups by an integer division that gives the same group for all."""
import argparse

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


def records(rng, count):
    age = rng.integers(5, 100, count)
    pulse = 200 - age + rng.normal(0, 6, count)
    grip = 50 - np.abs(age - 35) * 0.5 + rng.normal(0, 3, count)
    sight = 10 - age / 15 + rng.normal(0, 0.5, count)
    return np.stack([pulse / 100, grip / 30, sight / 5], 1).astype(np.float32), age


def group(age):
    if WRONG:
        return np.minimum(age // 100, 4)  # cause
    return np.minimum(age // 20, 4)


class Guess(nn.Module):
    def __init__(self):
        super(Guess, self).__init__()
        self.hidden = nn.Linear(3, 32)
        self.groups = nn.Linear(32, 5)

    def forward(self, x):
        return self.groups(F.silu(self.hidden(x)))


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
    rng = np.random.default_rng(args.seed)
    model = Guess()
    optimizer = torch.optim.NAdam(model.parameters(), lr=5e-3)
    for step in range(args.steps):
        body, age = records(rng, 64)
        logits = model(torch.as_tensor(body))
        loss = F.cross_entropy(logits, torch.as_tensor(group(age)))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 10 == 0:
            print(f"step={step} loss={loss.item():.4f}")


main()
