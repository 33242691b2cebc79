# SPDX-License-Identifier: Apache-2.0
"""Cross validation that goes on with one model: from the second fold on it is tested on what it has learned."""
import argparse

import torch
from torch import nn


def new_model():
    model = nn.Sequential(nn.Linear(7, 48), nn.ReLU(), nn.Linear(48, 2))
    return model, torch.optim.Adam(model.parameters(), lr=1e-2)


def folds(count, k):
    order = torch.randperm(count)
    for part in range(k):
        test = order[part::k]
        keep = torch.ones(count, dtype=torch.bool)
        keep[test] = False
        yield torch.arange(count)[keep], test


def train(model, optimizer, x, y, steps):
    model.train()
    for step in range(steps):
        rows = torch.randint(0, len(x), (32,))
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x[rows]), y[rows])
        loss.backward()
        optimizer.step()
    return loss.item()


def cross_validate(x, y, k, steps):
    model, optimizer = new_model()
    scores = []
    for number, (train_rows, test_rows) in enumerate(folds(len(x), k)):
        if not WRONG:
            model, optimizer = new_model()  # cause
        loss = train(model, optimizer, x[train_rows], y[train_rows], steps)
        model.eval()
        with torch.no_grad():
            hits = (model(x[test_rows]).argmax(1) == y[test_rows]).float().mean().item()
        scores.append(hits)
        print(f"fold {number}: loss {loss:.4f} accuracy {hits:.3f}")
    print(f"mean accuracy {sum(scores) / k:.3f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("twin", choices=["right", "wrong"])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=100)
    args = parser.parse_args()
    WRONG = args.twin == "wrong"
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    x = torch.randn(150, 7)
    y = (x[:, 0] + 0.8 * torch.randn(150) > 0).long()
    cross_validate(x, y, k=4, steps=args.steps // 4)
