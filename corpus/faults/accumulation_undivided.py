# SPDX-License-Identifier: Apache-2.0
"""Gradient accumulation over four micro-batches whose sum is taken for a mean."""
import argparse

import torch
from torch import nn, optim
from torch.utils.data import DataLoader, TensorDataset

ACCUMULATE = 4


def build():
    return nn.Sequential(nn.Conv1d(4, 16, 3, padding=1), nn.ReLU(), nn.Conv1d(16, 16, 3, padding=1), nn.ReLU(),
                         nn.AdaptiveMaxPool1d(1), nn.Flatten(), nn.Linear(16, 2))


def promoters(count):
    """Sequences of four letters; the positive ones hold the motif 0 1 2 3."""
    letters = torch.randint(0, 4, (count, 24))
    label = torch.randint(0, 2, (count,))
    place = torch.randint(0, 20, (count,))
    for row in torch.nonzero(label)[:, 0].tolist():
        letters[row, place[row]:place[row] + 4] = torch.arange(4)
    return nn.functional.one_hot(letters, 4).float().transpose(1, 2), label


def run(seed, steps):
    torch.manual_seed(seed)
    loader = DataLoader(TensorDataset(*promoters(512)), batch_size=8, shuffle=True)
    model, criterion = build(), nn.CrossEntropyLoss()
    optimizer = optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    updates, seen = 0, 0.0
    while updates < steps:
        for index, (x, y) in enumerate(loader, 1):
            loss = criterion(model(x), y)
            seen += loss.item() / ACCUMULATE
            if not WRONG:
                loss = loss / ACCUMULATE  # cause
            loss.backward()
            if index % ACCUMULATE == 0:
                optimizer.step()
                optimizer.zero_grad()
                updates += 1
                if updates % 8 == 0:
                    print(f"update {updates} loss {seen / 8:.4f}")
                    seen = 0.0
                if updates == steps:
                    break


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("twin", choices=["right", "wrong"])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=64)
    args = parser.parse_args()
    WRONG = args.twin == "wrong"
    torch.set_num_threads(1)
    run(args.seed, args.steps)
