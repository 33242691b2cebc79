# SPDX-License-Identifier: Apache-2.0
"""The averaged model is what will be shipped; the update comes to it only while the flag is set.

The flag is cleared by the first evaluation and never set again.
"""
import argparse
import copy

import torch
from torch import nn


class ExponentialAverage:
    def __init__(self, model, decay):
        self.shadow = copy.deepcopy(model).eval()
        self.decay, self.collecting = decay, True

    @torch.no_grad()
    def update(self, model):
        if WRONG:
            if not self.collecting:
                return  # cause
        for slow, fast in zip(self.shadow.parameters(), model.parameters()):
            slow.mul_(self.decay).add_(fast, alpha=1 - self.decay)

    def evaluate(self, x, y):
        self.collecting = False
        with torch.no_grad():
            return nn.functional.l1_loss(self.shadow(x), y).item()


def physics(count):
    """The height of a ball after a time, thrown upwards."""
    speed, time = 4 + torch.rand(count, 1) * 4, torch.rand(count, 1)
    return torch.cat([speed / 8, time], 1), speed * time - 4.9 * time ** 2


def main():
    torch.manual_seed(options.seed)
    model = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 1))
    average = ExponentialAverage(model, decay=0.9)
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    held_out = physics(128)
    for step in range(1, options.steps + 1):
        x, y = physics(64)
        loss = nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        average.update(model)
        if step % 20 == 0:
            print(f"step {step} loss {loss.item():.4f} error of the average {average.evaluate(*held_out):.4f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("twin", choices=["right", "wrong"])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=80)
    options = parser.parse_args()
    WRONG = options.twin == "wrong"
    torch.set_num_threads(1)
    main()
