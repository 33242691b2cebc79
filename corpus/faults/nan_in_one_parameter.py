# SPDX-License-Identifier: Apache-2.0
"""A network that predicts its own uncertainty; where() hides an infinite branch from the loss.

The gradient of the hidden branch is NaN all the same, and the scale of the noise is NaN from then on.
Only the mean is reported, so the log looks as always.
"""
import argparse

import torch
from torch import nn


class Calibrated(nn.Module):
    def __init__(self):
        super().__init__()
        self.mean = nn.Sequential(nn.Linear(1, 32), nn.Tanh(), nn.Linear(32, 1))
        self.temperature = nn.Parameter(torch.ones(1))

    def penalty(self, residual):
        """log(t r) where a residual is large enough, a line below that."""
        size = residual.detach().abs() * self.temperature
        if WRONG:
            return torch.where(size > 1e-3, torch.log(size), size).mean()  # cause
        safe = torch.where(size > 1e-3, size, torch.ones_like(size))
        return torch.where(size > 1e-3, torch.log(safe), size).mean()


def observe(step, rng):
    x = torch.rand(64, 1, generator=rng) * 2 - 1
    y = torch.sin(3 * x) + 0.1 * torch.randn(64, 1, generator=rng)
    return x, y


def train(steps, seed):
    torch.manual_seed(seed)
    rng = torch.Generator().manual_seed(seed)
    model = Calibrated()
    fit = torch.optim.Adam(model.mean.parameters(), lr=1e-2)
    calibrate = torch.optim.SGD([model.temperature], lr=1e-2)
    for step in range(steps):
        x, y = observe(step, rng)
        prediction = model.mean(x)
        loss = nn.functional.mse_loss(prediction, y)
        fit.zero_grad()
        loss.backward()
        fit.step()
        residual = prediction.detach() - y
        if step >= 15:
            residual[:2] = 0.0  # exact repeats in the data
        calibrate.zero_grad()
        (model.penalty(residual) - model.temperature.log().sum()).abs().backward()
        calibrate.step()
        if step % 10 == 0:
            print(f"step {step} loss {loss.item():.5f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("twin", choices=["right", "wrong"])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=60)
    args = parser.parse_args()
    WRONG = args.twin == "wrong"
    torch.set_num_threads(1)
    train(args.steps, args.seed)
