# SPDX-License-Identifier: Apache-2.0
"""LBFGS calls its closure many times a step; the closure clears nothing, so every call adds up."""
import argparse

import torch
from torch import nn


def logistic_data(seed, count=150):
    rng = torch.Generator().manual_seed(seed)
    x = torch.randn(count, 6, generator=rng)
    w = torch.randn(6, 1, generator=rng)
    return x, torch.bernoulli(torch.sigmoid(2 * x @ w), generator=rng)


def fit(x, y, steps):
    model = nn.Linear(6, 1)
    optimizer = torch.optim.LBFGS(model.parameters(), lr=0.02, max_iter=2, history_size=5)
    trace = []

    def closure():
        if not WRONG:
            optimizer.zero_grad()  # cause
        loss = nn.functional.binary_cross_entropy_with_logits(model(x), y)
        loss = loss + 1e-3 * model.weight.pow(2).sum()
        loss.backward()
        trace.append(loss.item())
        return loss

    for step in range(steps):
        optimizer.step(closure)
        print(f"step {step} loss {trace[-1]:.5f} calls {len(trace)}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("twin", choices=["right", "wrong"])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=15)
    args = parser.parse_args()
    WRONG = args.twin == "wrong"
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    fit(*logistic_data(args.seed), args.steps)
