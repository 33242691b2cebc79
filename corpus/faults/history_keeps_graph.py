# SPDX-License-Identifier: Apache-2.0
"""The running loss is summed up as a tensor, with its graph: memory grows from step to step."""
import argparse

import torch
from torch import nn


class Meter:
    def __init__(self):
        self.total, self.count = 0.0, 0

    def add(self, loss):
        if WRONG:
            self.total = self.total + loss  # cause
        else:
            self.total = self.total + loss.item()
        self.count += 1

    def mean(self):
        return float(self.total) / self.count


def kernel_features(x, centres):
    return torch.exp(-torch.cdist(x, centres).pow(2))


def main(options):
    torch.manual_seed(options.seed)
    centres = nn.Parameter(torch.randn(24, 2))
    weights = nn.Linear(24, 1)
    optimizer = torch.optim.Adam([centres, *weights.parameters()], lr=2e-2)
    meter = Meter()
    for step in range(1, options.steps + 1):
        x = torch.randn(80, 2)
        y = torch.sin(2 * x[:, :1]) * x[:, 1:]
        loss = (weights(kernel_features(x, centres)) - y).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        meter.add(loss)
        if step % 12 == 0:
            print("step", step, "mean loss", f"{meter.mean():.4f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("twin", choices=["right", "wrong"])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=60)
    namespace = parser.parse_args()
    WRONG = namespace.twin == "wrong"
    torch.set_num_threads(1)
    main(namespace)
