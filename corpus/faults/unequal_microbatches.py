# SPDX-License-Identifier: Apache-2.0
"""Accumulation over micro-batches with very different numbers of real tokens, each averaged by itself.

A token in a short micro-batch counts for many times one in a long one; the mean of means is not the mean.
"""
import argparse

import torch
from torch import nn
from torch.nn import functional as F

PAD = 0


class Speller(nn.Module):
    def __init__(self, letters=15, width=32):
        super().__init__()
        self.table = nn.Embedding(letters, width, padding_idx=PAD)
        self.mix = nn.Conv1d(width, width, 3, padding=2)
        self.out = nn.Linear(width, letters)

    def forward(self, x):
        h = self.mix(self.table(x).transpose(1, 2))[:, :, :-2].transpose(1, 2)
        return self.out(torch.relu(h))


def micro_batch(rng, longest):
    words = torch.zeros(8, 20, dtype=torch.long)
    for row in words:
        length = int(torch.randint(3, longest + 1, (1,), generator=rng))
        start = int(torch.randint(1, 15, (1,), generator=rng))
        row[:length] = (start + 2 * torch.arange(length)) % 14 + 1
        slips = torch.rand(length, generator=rng) < 0.15
        row[:length][slips] = torch.randint(1, 15, (int(slips.sum()),), generator=rng)
    return words


def update(model, optimizer, micro_batches):
    targets = [words[:, 1:] for words in micro_batches]
    tokens = sum(int((t != PAD).sum()) for t in targets)
    optimizer.zero_grad()
    report = 0.0
    for words, target in zip(micro_batches, targets):
        logits = model(words[:, :-1]).transpose(1, 2)
        if WRONG:
            loss = F.cross_entropy(logits, target, ignore_index=PAD) / len(micro_batches)  # cause
        else:
            loss = F.cross_entropy(logits, target, ignore_index=PAD, reduction="sum") / tokens
        loss.backward()
        report += loss.item()
    optimizer.step()
    return report


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("twin", choices=["right", "wrong"])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=40)
    args = parser.parse_args()
    WRONG = args.twin == "wrong"
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    rng = torch.Generator().manual_seed(args.seed)
    model = Speller()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for number in range(args.steps):
        loss = update(model, optimizer, [micro_batch(rng, longest) for longest in (4, 8, 20, 20)])
        if number % 8 == 0:
            print(f"update {number} loss {loss:.4f}")
