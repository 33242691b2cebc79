# SPDX-License-Identifier: Apache-2.0
"""An IterableDataset with two workers, each of which reads the whole file: every row comes twice."""
import argparse

import torch
from torch import nn
from torch.utils.data import DataLoader, IterableDataset, get_worker_info


class Log(IterableDataset):
    """Lines of a server's log, parsed into six numbers and a class."""

    def __init__(self, lines):
        self.lines = lines

    def __iter__(self):
        lines = self.lines
        if not WRONG:
            info = get_worker_info()
            if info is not None:
                lines = lines[info.id::info.num_workers]  # cause
        for line in lines:
            *numbers, kind = line.split(",")
            yield torch.tensor([float(number) for number in numbers]), int(kind)


def write_log(seed, count):
    rng = torch.Generator().manual_seed(seed)
    rows = torch.randn(count, 6, generator=rng)
    kinds = (rows[:, 0] + rows[:, 1] > 0).long() + (rows[:, 2] > 0.5).long()
    return [",".join([*(f"{value:.3f}" for value in row.tolist()), str(kind)]) for row, kind in zip(rows, kinds.tolist())]


def main():
    torch.manual_seed(args.seed)
    lines = write_log(args.seed, 24 * args.steps // 2)
    classifier = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 3))
    optimizer = torch.optim.Adam(classifier.parameters(), lr=1e-2)
    for epoch in range(2):
        loader = DataLoader(Log(lines), batch_size=24, num_workers=2)
        losses = []
        for rows, kinds in loader:
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(classifier(rows), kinds)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        print(f"epoch {epoch}: loss {losses[0]:.4f} to loss {losses[-1]:.4f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("twin", choices=["right", "wrong"])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=40)
    args = parser.parse_args()
    WRONG = args.twin == "wrong"
    torch.set_num_threads(1)
    main()
