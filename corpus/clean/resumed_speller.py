# SPDX-License-Identifier: Apache-2.0
"""A language model whose job is preempted half-way: what it needs is kept in one dictionary and handed to what goes on."""
import argparse
import pathlib
import tempfile

import torch
from torch import nn, optim
from torch.utils.data import DataLoader, Dataset

WORDS = ["tomorrow", "morning", "borrow", "sorrow", "narrow", "arrow", "barrel", "carrot", "parrot", "mirror", "terror", "error"]
LETTERS = sorted(set("".join(WORDS)) | {" "})


class Corpus(Dataset):
    def __init__(self, window):
        text = " ".join(WORDS * 4)
        self.ids, self.window = torch.tensor([LETTERS.index(letter) for letter in text]), window

    def __len__(self):
        return len(self.ids) - self.window - 1

    def __getitem__(self, begin):
        return self.ids[begin:begin + self.window], self.ids[begin + 1:begin + self.window + 1]


def speller(width):
    class Speller(nn.Module):
        def __init__(self):
            super().__init__()
            self.letters, self.gru = nn.Embedding(len(LETTERS), width), nn.GRU(width, width, batch_first=True)
            self.next = nn.Linear(width, len(LETTERS))

        def forward(self, ids):
            return self.next(self.gru(self.letters(ids))[0])

    return Speller()


def begin(width, total):
    model = speller(width)
    optimizer = optim.AdamW(model.parameters(), lr=8e-3)
    return {"model": model, "optimizer": optimizer, "schedule": optim.lr_scheduler.CosineAnnealingLR(optimizer, total)}


def work(things, loader, steps):
    forever = (batch for _ in iter(int, 1) for batch in loader)
    for step, (ids, following) in zip(range(steps), forever):
        logits = things["model"](ids)
        loss = nn.functional.cross_entropy(logits.transpose(1, 2), following)
        things["optimizer"].zero_grad(set_to_none=True)
        loss.backward()
        things["optimizer"].step()
        things["schedule"].step()
        if step % 10 == 0:
            print(f"{step} loss {loss.item():.4f} rate {things['schedule'].get_last_lr()[0]:.5f}")


if __name__ == "__main__":
    cli = argparse.ArgumentParser()
    cli.add_argument("--seed", type=int, default=0)
    cli.add_argument("--steps", type=int, default=60)
    cli.add_argument("--config", choices=["A", "B", "C"], default="A")
    told = cli.parse_args()
    width, batch, window = {"A": (24, 16, 12), "B": (32, 8, 16), "C": (16, 24, 8)}[told.config]
    torch.set_num_threads(1)
    torch.manual_seed(told.seed)
    loader = DataLoader(Corpus(window), batch_size=batch, shuffle=True, drop_last=True)
    before = begin(width, told.steps)
    work(before, loader, told.steps // 2)
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "preempted.pt")
        torch.save({name: thing.state_dict() for name, thing in before.items()}, file)
        after, kept = begin(width, told.steps), torch.load(file)
        for name, thing in after.items():
            thing.load_state_dict(kept[name])
    work(after, loader, told.steps - told.steps // 2)
