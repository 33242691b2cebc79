# SPDX-License-Identifier: Apache-2.0
"""A learnable scale that is a plain tensor: it gets gradients in every step, and no optimizer ever sees it."""
import argparse

import torch
from torch import nn


class Steep(nn.Module):
    """tanh(a x + b), with a slope and a shift for each unit."""

    def __init__(self, units):
        super().__init__()
        if WRONG:
            self.slope = torch.full((units,), 0.5, requires_grad=True)  # cause
        else:
            self.slope = nn.Parameter(torch.full((units,), 0.5))
        self.shift = nn.Parameter(torch.zeros(units))

    def forward(self, x):
        return torch.tanh(x * self.slope + self.shift)


class Thermostat(nn.Module):
    def __init__(self):
        super().__init__()
        self.read, self.bend = nn.Linear(6, 15), Steep(15)
        self.turn = nn.Linear(15, 1)

    def forward(self, sensors):
        return self.turn(self.bend(self.read(sensors))).squeeze(-1)


def house(count):
    sensors = torch.randn(count, 6)
    return sensors, torch.sign(sensors[:, 0] - sensors[:, 1]) * sensors[:, 2:].abs().mean(1)


def run(steps):
    thermostat = Thermostat()
    optimizer = torch.optim.Adam(thermostat.parameters(), lr=1e-2)
    for minute in range(steps):
        sensors, wanted = house(48)
        optimizer.zero_grad()
        loss = nn.functional.l1_loss(thermostat(sensors), wanted)
        loss.backward()
        optimizer.step()
        if minute % 10 == 0:
            print(f"minute {minute}: loss {loss.item():.4f}")


if __name__ == "__main__":
    parse = argparse.ArgumentParser()
    parse.add_argument("twin", choices=["right", "wrong"])
    parse.add_argument("--seed", type=int, default=0)
    parse.add_argument("--steps", type=int, default=50)
    parse = parse.parse_args()
    WRONG = parse.twin == "wrong"
    torch.set_num_threads(1)
    torch.manual_seed(parse.seed)
    run(parse.steps)
