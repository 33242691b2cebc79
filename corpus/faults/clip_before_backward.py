# SPDX-License-Identifier: Apache-2.0
"""A quantile regressor; clipping stands before backward(), where there is nothing to clip."""
import argparse

import torch

parser = argparse.ArgumentParser()
parser.add_argument("twin", choices=["right", "wrong"])
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--steps", type=int, default=70)
args = parser.parse_args()
WRONG = args.twin == "wrong"


def pinball(prediction, target, quantiles):
    error = target - prediction
    return torch.maximum(quantiles * error, (quantiles - 1) * error).sum(1).mean()


def demand(count, generator):
    hour = torch.rand(count, 1, generator=generator) * 24
    base = 50 + 20 * torch.sin(hour / 24 * 6.2832)
    noise = torch.randn(count, 1, generator=generator) * (2 + hour / 4)
    return torch.cat([hour / 24, (hour / 24) ** 2, torch.sin(hour / 3.82)], 1), (base + noise) / 10


def fit(seed, steps):
    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(seed)
    quantiles = torch.tensor([0.1, 0.5, 0.9])
    model = torch.nn.Sequential(torch.nn.Linear(3, 24), torch.nn.Softplus(), torch.nn.Linear(24, 3))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.5)
    for step in range(steps):
        features, target = demand(80, generator)
        loss = pinball(model(features), target, quantiles)
        optimizer.zero_grad(set_to_none=False)
        if WRONG:
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)  # cause
            loss.backward()
        else:
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if step % 10 == 0:
            print(f"{step:4d} loss {loss.item():.4f}")


torch.set_num_threads(1)
fit(args.seed, args.steps)
