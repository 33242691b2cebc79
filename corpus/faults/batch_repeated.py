# SPDX-License-Identifier: Apache-2.0
"""next(iter(loader)) inside of the loop: without shuffling it is the first batch for ever."""
import argparse

import torch
from torch.utils.data import DataLoader, Dataset


class Spectra(Dataset):
    """Mixtures of three lines; how much of each?"""

    def __init__(self, count, seed):
        rng = torch.Generator().manual_seed(seed)
        grid = torch.linspace(0, 1, 40)
        lines = torch.stack([torch.exp(-((grid - c) / 0.05) ** 2) for c in (0.2, 0.5, 0.7)])
        self.shares = torch.rand(count, 3, generator=rng)
        self.spectra = self.shares @ lines + 0.02 * torch.randn(count, 40, generator=rng)

    def __len__(self):
        return len(self.shares)

    def __getitem__(self, index):
        return self.spectra[index], self.shares[index]


def train(model, loader, steps):
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    batches = iter(loader)
    for step in range(steps):
        if WRONG:
            spectra, shares = next(iter(loader))  # cause
        else:
            try:
                spectra, shares = next(batches)
            except StopIteration:
                batches = iter(loader)
                spectra, shares = next(batches)
        loss = torch.nn.functional.mse_loss(model(spectra), shares)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 10 == 0:
            print(f"step {step} loss {loss.item():.5f}")


parser = argparse.ArgumentParser()
parser.add_argument("twin", choices=["right", "wrong"])
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--steps", type=int, default=60)
args = parser.parse_args()
WRONG = args.twin == "wrong"
torch.set_num_threads(1)
torch.manual_seed(args.seed)
network = torch.nn.Sequential(torch.nn.Linear(40, 32), torch.nn.ReLU(), torch.nn.Linear(32, 3), torch.nn.Sigmoid())
train(network, DataLoader(Spectra(512, args.seed), batch_size=32), args.steps)
