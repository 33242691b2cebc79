# SPDX-License-Identifier: Apache-2.0
"""Norms and biases are to be spared from weight decay; the names do not match and nothing is spared."""
import argparse

import torch
from torch import nn
from torch.nn import functional as F


class Mixer(nn.Module):
    def __init__(self, tokens=8, width=24):
        super().__init__()
        self.embed = nn.Linear(6, width, bias=False)
        self.ln_tokens = nn.LayerNorm(width)
        self.mix_tokens = nn.Linear(tokens, tokens)
        self.ln_channels = nn.LayerNorm(width)
        self.mix_channels = nn.Linear(width, width)
        self.head = nn.Linear(width, 1)

    def forward(self, x):
        x = self.embed(x)
        x = x + F.gelu(self.mix_tokens(self.ln_tokens(x).transpose(1, 2))).transpose(1, 2)
        x = x + F.gelu(self.mix_channels(self.ln_channels(x)))
        return self.head(x.mean(1))[:, 0]


def optimizer_for(model, lr=5e-3, weight_decay=0.2):
    spared = ("LayerNorm.weight", "LayerNorm.bias") if WRONG else ("ln_", "bias")  # cause
    named = list(model.named_parameters())
    return torch.optim.AdamW([
        {"params": [p for n, p in named if not any(word in n for word in spared)], "weight_decay": weight_decay},
        {"params": [p for n, p in named if any(word in n for word in spared)], "weight_decay": 0.0},
    ], lr=lr)


def tracks(count, generator):
    """Eight observations of six numbers; how far did it travel?"""
    moves = torch.randn(count, 8, 6, generator=generator)
    return moves, moves[:, :, :2].pow(2).sum(2).sqrt().sum(1) / 4


parser = argparse.ArgumentParser()
parser.add_argument("twin", choices=["right", "wrong"])
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--steps", type=int, default=60)
args = parser.parse_args()
WRONG = args.twin == "wrong"
torch.set_num_threads(1)
torch.manual_seed(args.seed)
generator = torch.Generator().manual_seed(args.seed)
model = Mixer()
optimizer = optimizer_for(model)
for step in range(args.steps):
    x, y = tracks(48, generator)
    loss = F.huber_loss(model(x), y)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    if not step % 12:
        print(f"step {step}: loss {loss.item():.4f}")
