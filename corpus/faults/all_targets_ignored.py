# SPDX-License-Identifier: Apache-2.0
"""Instruction tuning: the prompt is masked with -100; long prompts are cut so that no answer is left.

A batch of long prompts has no target at all; the loss of such a batch is zero and the step is idle.
"""
import argparse

import torch
from torch import nn
from torch.nn import functional as F

LIMIT, IGNORE = 16, -100


def example(rng, long):
    length = int(torch.randint(16, 22, (1,), generator=rng)) if long else int(torch.randint(4, 9, (1,), generator=rng))
    prompt = torch.randint(1, 12, (length,), generator=rng)
    answer = prompt[-3:].flip(0)
    if WRONG:
        return prompt, answer  # cause
    return prompt[-8:], answer


def encode(prompt, answer):
    ids = torch.cat([prompt, answer])[:LIMIT]
    labels = torch.cat([torch.full_like(prompt, IGNORE), answer])[:LIMIT]
    gap = LIMIT - len(ids)
    return F.pad(ids, (0, gap)), F.pad(labels, (0, gap), value=IGNORE)


def batches(rng, count, size=16):
    for number in range(count):
        rows = [encode(*example(rng, long=number % 4 == 3)) for _ in range(size)]
        yield tuple(torch.stack(part) for part in zip(*rows))


class Tuned(nn.Module):
    def __init__(self, width=40):
        super().__init__()
        self.embed = nn.Embedding(12, width)
        self.gru = nn.GRU(width, width, batch_first=True)
        self.head = nn.Linear(width, 12)

    def loss(self, ids, labels):
        logits = self.head(self.gru(self.embed(ids))[0])[:, :-1]
        total = F.cross_entropy(logits.flatten(0, 1), labels[:, 1:].flatten(), ignore_index=IGNORE, reduction="sum")
        return total / (labels[:, 1:] != IGNORE).sum().clamp(min=1)


parser = argparse.ArgumentParser()
parser.add_argument("twin", choices=["right", "wrong"])
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--steps", type=int, default=60)
args = parser.parse_args()
WRONG = args.twin == "wrong"
torch.set_num_threads(1)
torch.manual_seed(args.seed)
model = Tuned()
optimizer = torch.optim.AdamW(model.parameters(), lr=8e-3)
for step, (ids, labels) in enumerate(batches(torch.Generator().manual_seed(args.seed), args.steps)):
    loss = model.loss(ids, labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 9 == 0:
        print(f"step {step} loss {loss.item():.4f}")
