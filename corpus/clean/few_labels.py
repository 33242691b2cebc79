# SPDX-License-Identifier: Apache-2.0
"""Twenty labelled rows, in one batch that is drawn anew in each step, beside many without labels."""
import argparse

import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


def blobs(count, seed):
    g = torch.Generator().manual_seed(seed)
    which = torch.randint(0, 3, (count,), generator=g)
    centre = torch.tensor([[2.0, 0.0], [-1.0, 1.7], [-1.0, -1.7]])
    return centre[which] + 0.6 * torch.randn(count, 2, generator=g), which


def consistency(model, points, threshold):
    """Sure guesses on the points as they are should hold when the points are shaken."""
    with torch.no_grad():
        sure, guess = model(points + 0.02 * torch.randn_like(points)).softmax(1).max(1)
    shaken = F.cross_entropy(model(points + 0.3 * torch.randn_like(points)), guess, reduction="none")
    return (shaken * (sure > threshold)).mean()


ap = argparse.ArgumentParser()
ap.add_argument("--seed", type=int, default=0)
ap.add_argument("--steps", type=int, default=40)
ap.add_argument("--config", choices=["A", "B", "C"], default="A")
ap = ap.parse_args()
size, weight, width = {"A": (30, 1.0, 16), "B": (20, 0.5, 32), "C": (60, 2.0, 24)}[ap.config]
torch.set_num_threads(1)
torch.manual_seed(ap.seed)
labelled = DataLoader(TensorDataset(*blobs(20, ap.seed)), batch_size=20)
unlabelled = DataLoader(TensorDataset(blobs(600, ap.seed + 99)[0]), batch_size=size, shuffle=True, drop_last=True)
mlp = torch.nn.Sequential(torch.nn.Linear(2, width), torch.nn.ReLU(), torch.nn.Linear(width, 3))
opt = torch.optim.SGD(mlp.parameters(), lr=0.1, momentum=0.9, nesterov=True)
done = 0
while done < ap.steps:
    for (points,) in unlabelled:
        few, names = next(iter(labelled))
        loss = F.cross_entropy(mlp(few), names) + weight * consistency(mlp, points, 0.8)
        opt.zero_grad()
        loss.backward()
        opt.step()
        done += 1
        if done % 10 == 0:
            print(f"step {done}: loss {loss.item():.4f}")
        if done == ap.steps:
            break
