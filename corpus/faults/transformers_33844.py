# SPDX-License-Identifier: Apache-2.0
"""A self-attention classifier whose attention drops weights in evaluation too."""
import argparse

import torch
from torch import nn
from torch.nn import functional as F


class SelfAttention(nn.Module):
    def __init__(self, dim, dropout):
        super().__init__()
        self.qkv = nn.Linear(dim, 3 * dim, bias=False)
        self.proj = nn.Linear(dim, dim)
        self.dropout = dropout

    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        attention = (q @ k.transpose(1, 2) * q.shape[-1] ** -0.5).softmax(-1)
        if WRONG:
            attention = F.dropout(attention, self.dropout)  # cause
        else:
            attention = F.dropout(attention, self.dropout, training=self.training)
        return self.proj(attention @ v)


class Encoder(nn.Module):
    def __init__(self, symbols=12, dim=32):
        super().__init__()
        self.embed = nn.Embedding(symbols, dim)
        self.place = nn.Parameter(torch.randn(10, dim) * 0.1)
        self.attention = SelfAttention(dim, dropout=0.1)
        self.norm = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, 2)

    def forward(self, tokens):
        x = self.embed(tokens) + self.place
        x = self.norm(x + self.attention(x))
        return self.head(x.mean(1))


def make(count, generator):
    """Does the sequence hold symbol 3 more often than symbol 7?"""
    tokens = torch.randint(0, 12, (count, 10), generator=generator)
    return tokens, ((tokens == 3).sum(1) > (tokens == 7).sum(1)).long()


def accuracy(model, tokens, labels):
    model.eval()
    with torch.no_grad():
        correct = (model(tokens).argmax(1) == labels).float().mean().item()
    model.train()
    return correct


parser = argparse.ArgumentParser()
parser.add_argument("twin", choices=["right", "wrong"])
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--steps", type=int, default=80)
args = parser.parse_args()
WRONG = args.twin == "wrong"
torch.set_num_threads(1)
torch.manual_seed(args.seed)
generator = torch.Generator().manual_seed(args.seed)
model = Encoder()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
held_out = make(200, generator)
for step in range(1, args.steps + 1):
    tokens, labels = make(48, generator)
    loss = F.cross_entropy(model(tokens), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 0:
        print(f"step {step} loss {loss.item():.4f} accuracy {accuracy(model, *held_out):.3f}")
