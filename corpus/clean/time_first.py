# SPDX-License-Identifier: Apache-2.0
"""Sequences with the time first throughout: tags flattened in the order of the logits, padding ignored, a mask of padding."""
import argparse

import torch
from torch import nn

ask = argparse.ArgumentParser()
ask.add_argument("--seed", type=int, default=0)
ask.add_argument("--steps", type=int, default=60)
ask.add_argument("--config", choices=["A", "B", "C"], default="A")
ask = ask.parse_args()
size, longest, width = {"A": (16, 9, 24), "B": (12, 7, 16), "C": (24, 11, 32)}[ask.config]
torch.set_num_threads(1)
torch.manual_seed(ask.seed)
WORDS, TAGS = 20, 5
tag_of = torch.cat([torch.zeros(1, dtype=torch.long), torch.randint(1, TAGS, (WORDS - 1,))])


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(WORDS, width, padding_idx=0)
        self.look = nn.MultiheadAttention(width, 2)
        self.read = nn.GRU(width, width)
        self.say = nn.Linear(width, TAGS)

    def forward(self, words):  # time, batch
        x = self.words(words)
        seen, _ = self.look(x, x, x, key_padding_mask=~(words != 0).t())
        return self.say(self.read(x + seen)[0])


tagger, ignore = Tagger(), nn.CrossEntropyLoss(ignore_index=0)
optimizer = torch.optim.Adam(tagger.parameters(), 1e-2)
schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=ask.steps)
for turn in range(ask.steps):
    words = torch.randint(1, WORDS, (longest, size))
    lengths = torch.randint(3, longest + 1, (size,))
    words[torch.arange(longest)[:, None] >= lengths[None]] = 0
    logits = tagger(words)
    loss = ignore(logits.reshape(-1, TAGS), tag_of[words].reshape(-1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    schedule.step()
    if turn % 10 == 0:
        print(turn, round(loss.item(), 4))
