# SPDX-License-Identifier: Apache-2.0
"""An encoder and a head; the features pass through numpy on their way, and the encoder learns nothing.

The head alone still learns well enough for the loss to fall.
"""
import argparse

import numpy as np
import torch
from torch import nn


def standardise(features):
    """Zero mean and unit variance over the batch."""
    if WRONG:
        array = features.detach().numpy()  # cause
        array = (array - array.mean(axis=0)) / (array.std(axis=0) + 1e-5)
        return torch.from_numpy(array)
    mean, std = features.mean(0), features.std(0, unbiased=False)
    return (features - mean) / (std + 1e-5)


class Pipeline:
    def __init__(self):
        self.encoder = nn.Sequential(nn.Linear(14, 40), nn.ReLU(), nn.Linear(40, 20))
        self.head = nn.Sequential(nn.Linear(20, 40), nn.ReLU(), nn.Linear(40, 3))
        self.optimizer = torch.optim.Adam([*self.encoder.parameters(), *self.head.parameters()], lr=5e-3)

    def fit(self, rows, targets):
        self.optimizer.zero_grad()
        loss = nn.functional.cross_entropy(self.head(standardise(self.encoder(rows))), targets)
        loss.backward()
        self.optimizer.step()
        return loss.item()


def main(argv=None):
    global WRONG
    parser = argparse.ArgumentParser()
    parser.add_argument("twin", choices=["right", "wrong"])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=60)
    args = parser.parse_args(argv)
    WRONG = args.twin == "wrong"
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    rng = np.random.default_rng(args.seed)
    pipeline = Pipeline()
    losses = []
    for _ in range(args.steps):
        rows = rng.normal(size=(64, 14)).astype(np.float32)
        targets = np.digitize(rows[:, 0] * rows[:, 1] + rows[:, 2], [-0.5, 0.5])
        losses.append(pipeline.fit(torch.from_numpy(rows), torch.from_numpy(targets)))
    for start in range(0, args.steps, 10):
        print(f"{start:3d}.. loss {np.mean(losses[start:start + 10]):.4f}")


if __name__ == "__main__":
    main()
