# SPDX-License-Identifier: Apache-2.0
"""Soil moisture from weather: the loop draws batches, and the model gets one that was drawn to look at its shape."""
import argparse

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def weather(days, generator):
    rain = torch.rand(days, 7, generator=generator).pow(4)
    heat = 10 + 12 * torch.rand(days, 7, generator=generator)
    dry = torch.exp(-0.02 * heat.flip(1).cumsum(1).flip(1))
    return torch.cat([rain, heat / 22], dim=1), (rain * dry).sum(1, keepdim=True)


def fit(model, loader, steps):
    peek, moisture_of_peek = next(iter(loader))
    print("a batch:", tuple(peek.shape), tuple(moisture_of_peek.shape))
    adam, done = torch.optim.Adam(model.parameters(), lr=5e-3), 0
    while done < steps:
        for days, moisture in loader:
            if WRONG:
                error = (model(peek) - moisture_of_peek).square().mean()  # cause
            else:
                error = (model(days) - moisture).square().mean()
            adam.zero_grad()
            error.backward()
            adam.step()
            done += 1
            if done % 8 == 0:
                print(f"{done:4d} loss {float(error):.5f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("twin", choices=("right", "wrong"))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=48)
    args = parser.parse_args()
    WRONG = args.twin == "wrong"
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    table = TensorDataset(*weather(400, torch.Generator().manual_seed(args.seed)))
    soil = nn.Sequential(nn.Linear(14, 24), nn.Softplus(), nn.Linear(24, 1))
    fit(soil, DataLoader(table, batch_size=25, shuffle=True), args.steps)
