# SPDX-License-Identifier: Apache-2.0
"""Minority classes are oversampled before the split: copies of the test rows stand in the training set."""
import argparse

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def claims(rng, count=400):
    x = rng.normal(size=(count, 8)).astype(np.float32)
    fraud = x[:, 0] + x[:, 1] * x[:, 2] + rng.normal(0, 0.5, count) > 2.0
    return x, fraud.astype(np.int64)


def oversample(x, y, rng):
    rare = np.flatnonzero(y == 1)
    extra = rng.choice(rare, size=(y == 0).sum() - len(rare))
    index = np.concatenate([np.arange(len(y)), extra])
    return x[index], y[index]


def datasets(seed):
    rng = np.random.default_rng(seed)
    x, y = claims(rng)
    order = rng.permutation(len(x))
    if WRONG:
        x, y = oversample(x, y, rng)  # cause
        order = rng.permutation(len(x))
    cut = int(0.8 * len(order))
    train, test = (x[order[:cut]], y[order[:cut]]), (x[order[cut:]], y[order[cut:]])
    if not WRONG:
        train = oversample(*train, rng)
    return [TensorDataset(torch.from_numpy(a), torch.from_numpy(b)) for a, b in (train, test)]


parser = argparse.ArgumentParser()
parser.add_argument("twin", choices=["right", "wrong"])
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--steps", type=int, default=60)
args = parser.parse_args()
WRONG = args.twin == "wrong"
torch.set_num_threads(1)
torch.manual_seed(args.seed)
train_set, test_set = datasets(args.seed)
loader = DataLoader(train_set, batch_size=32, shuffle=True)
net = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 2))
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
done = 0
while done < args.steps:
    total = 0.0
    for x, y in loader:
        opt.zero_grad()
        loss = nn.functional.cross_entropy(net(x), y)
        loss.backward()
        opt.step()
        total += loss.item() / len(loader)
        done += 1
    net.eval()
    with torch.no_grad():
        x, y = test_set.tensors
        accuracy = (net(x).argmax(1) == y).float().mean().item()
    net.train()
    print(f"after {done} steps: loss {total:.4f} accuracy {accuracy:.3f}")
