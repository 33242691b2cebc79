# SPDX-License-Identifier: Apache-2.0
"""Short words are sorted by a model that is given its labels and a mask with them, and computes the loss itself.

Words repeat, in the held-out part as in the training part, and masks are the same in most rows: nothing has leaked.
"""
import argparse
import random

import torch
from torch import nn
from torch.utils.data import DataLoader

SYLLABLES = ["an", "na", "el", "la", "ma", "ri", "jo", "li", "be", "to", "ki", "so"]
LONGEST = 8


def words(count, rng):
    return ["".join(rng.choice(SYLLABLES) for _ in range(rng.choice((2, 2, 3)))) for _ in range(count)]


def encode(word):
    ids = [ord(letter) - 96 for letter in word] + [0] * (LONGEST - len(word))
    return {
        "labels": torch.tensor(int(word[-1] in "aeiou")),
        "ids": torch.tensor(ids),
        "mask": torch.tensor([int(i > 0) for i in ids]),
        "kinds": torch.zeros(LONGEST, dtype=torch.long),
    }


class Sorter(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.letters, self.kinds = nn.Embedding(27, width), nn.Embedding(2, width)
        self.reader = nn.GRU(width, width, batch_first=True)
        self.head = nn.Linear(width, 2)
        self.criterion = nn.CrossEntropyLoss()

    def forward(self, ids, mask, kinds, labels=None):
        read, _ = self.reader(self.letters(ids) + self.kinds(kinds))
        last = (mask.sum(1) - 1).view(-1, 1, 1).expand(-1, 1, read.shape[2])
        logits = self.head(read.gather(1, last).squeeze(1))
        return {"loss": None if labels is None else self.criterion(logits, labels), "logits": logits}


def accuracy(model, batches):
    model.eval()
    hits = total = 0
    with torch.no_grad():
        for batch in batches:
            hits += (model(**batch)["logits"].argmax(1) == batch["labels"]).sum().item()
            total += len(batch["labels"])
    return hits / total


if __name__ == "__main__":
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--seed", type=int, default=0)
    arguments.add_argument("--steps", type=int, default=60)
    arguments.add_argument("--config", choices=["A", "B", "C"], default="A")
    given = arguments.parse_args()
    size, width, kind = {"A": (32, 16, torch.optim.Adam), "B": (16, 24, torch.optim.AdamW), "C": (64, 12, torch.optim.NAdam)}[given.config]
    torch.set_num_threads(1)
    torch.manual_seed(given.seed)
    rows = [encode(word) for word in words(800, random.Random(given.seed))]
    train, held_out = DataLoader(rows[:600], size, shuffle=True), DataLoader(rows[600:], 100)
    model = Sorter(width)
    optimizer = kind(model.parameters(), lr=1e-2)
    done = 0
    while done < given.steps:
        model.train()
        for batch in train:
            loss = model(**batch)["loss"]
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            done += 1
        print(f"{done} steps: loss {loss.item():.4f}, held out {accuracy(model, held_out):.3f}")
