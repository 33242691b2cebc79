# SPDX-License-Identifier: Apache-2.0
"""A translation toy with one table for both embeddings and the output; the tying is undone by a clone."""
import argparse

import torch
from torch import nn
from torch.nn import functional as F

SYMBOLS, WIDTH, LENGTH = 18, 32, 6


class Translator(nn.Module):
    def __init__(self):
        super().__init__()
        self.source = nn.Embedding(SYMBOLS, WIDTH)
        self.target = nn.Embedding(SYMBOLS, WIDTH)
        self.encoder = nn.GRU(WIDTH, WIDTH, batch_first=True)
        self.decoder = nn.GRU(WIDTH, WIDTH, batch_first=True)
        self.output = nn.Linear(WIDTH, SYMBOLS)
        nn.init.normal_(self.source.weight, std=0.2)
        self.tie_weights()

    def tie_weights(self):
        self.target.weight = self.source.weight
        if WRONG:
            self.output.weight = nn.Parameter(self.source.weight.detach().clone())  # cause
        else:
            self.output.weight = self.source.weight

    def forward(self, source, shifted):
        _, state = self.encoder(self.source(source))
        decoded, _ = self.decoder(self.target(shifted), state)
        return self.output(decoded)


def sentences(count, rng):
    source = torch.randint(1, SYMBOLS, (count, LENGTH), generator=rng)
    return source, source.flip(1)


def loop(model, optimizer, steps, rng):
    for step in range(steps):
        source, target = sentences(48, rng)
        shifted = F.pad(target[:, :-1], (1, 0))
        logits = model(source, shifted)
        loss = F.cross_entropy(logits.transpose(1, 2), target)
        yield step, loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


parser = argparse.ArgumentParser()
parser.add_argument("twin", choices=["right", "wrong"])
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--steps", type=int, default=60)
args = parser.parse_args()
WRONG = args.twin == "wrong"
torch.set_num_threads(1)
torch.manual_seed(args.seed)
model = Translator()
optimizer = torch.optim.Adam(model.parameters(), lr=8e-3)
for step, loss in loop(model, optimizer, args.steps, torch.Generator().manual_seed(args.seed)):
    if step % 10 == 0:
        print(f"{step} loss={loss.item():.4f}")
