# SPDX-License-Identifier: Apache-2.0
"""A decoder-only language model on made-up sentences: weight tying, decay groups, warm-up and cosine."""
import argparse
import math

import torch
import torch.nn as nn
from torch.nn import functional as F

parser = argparse.ArgumentParser()
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--steps", type=int, default=60)
parser.add_argument("--config", choices="ABC", default="A")
args = parser.parse_args()
batch_size, n_layer, block, dropout = {"A": (16, 2, 24, 0.1), "B": (8, 1, 32, 0.0), "C": (24, 3, 16, 0.2)}[args.config]

torch.set_num_threads(1)
torch.manual_seed(args.seed)
words = "the a big small red cat dog bird sees likes finds and .".split()
stoi = {w: i for i, w in enumerate(words)}


def sentence():
    def pick(*options):
        return options[torch.randint(len(options), ()).item()]
    def noun():
        return [pick("the", "a"), pick("big", "small", "red"), pick("cat", "dog", "bird")]
    return noun() + [pick("sees", "likes", "finds")] + noun() + ["."]


corpus = torch.tensor([stoi[w] for _ in range(300) for w in sentence()])
split = int(0.9 * len(corpus))


def get_batch(part):
    data = corpus[:split] if part == "train" else corpus[split:]
    starts = torch.randint(len(data) - block - 1, (batch_size,))
    x = torch.stack([data[s:s + block] for s in starts])
    y = torch.stack([data[s + 1:s + 1 + block] for s in starts])
    return x, y


class Layer(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = nn.MultiheadAttention(width, heads, dropout=dropout, batch_first=True)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width), nn.Dropout(dropout))
        self.register_buffer("mask", torch.ones(block, block, dtype=torch.bool).triu(1))

    def forward(self, x):
        t = x.shape[1]
        h = self.ln1(x)
        x = x + self.attention(h, h, h, attn_mask=self.mask[:t, :t], need_weights=False)[0]
        return x + self.mlp(self.ln2(x))


class LanguageModel(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.tokens = nn.Embedding(len(words), width)
        self.positions = nn.Embedding(block, width)
        self.layers = nn.Sequential(*[Layer(width, 4) for _ in range(n_layer)])
        self.ln = nn.LayerNorm(width)
        self.head = nn.Linear(width, len(words), bias=False)
        self.head.weight = self.tokens.weight
        nn.init.normal_(self.tokens.weight, std=0.1)
        nn.init.normal_(self.positions.weight, std=0.02)

    def forward(self, x, y=None):
        h = self.tokens(x) + self.positions(torch.arange(x.shape[1]))
        logits = self.head(self.ln(self.layers(h)))
        return logits, None if y is None else F.cross_entropy(logits.flatten(0, 1), y.flatten())


model = LanguageModel()
decay = [p for p in model.parameters() if p.dim() >= 2]
plain = [p for p in model.parameters() if p.dim() < 2]
optimizer = torch.optim.AdamW([{"params": decay, "weight_decay": 0.1}, {"params": plain, "weight_decay": 0.0}],
                              lr=5e-3, betas=(0.9, 0.95))


def learning_rate(it, warmup=5):
    if it < warmup:
        return 5e-3 * (it + 1) / warmup
    ratio = (it - warmup) / max(1, args.steps - warmup)
    return 5e-4 + 0.5 * (1 + math.cos(math.pi * ratio)) * 4.5e-3


for it in range(args.steps):
    for group in optimizer.param_groups:
        group["lr"] = learning_rate(it)
    _, loss = model(*get_batch("train"))
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    if it % 10 == 9:
        model.eval()
        with torch.no_grad():
            held_out = model(*get_batch("test"))[1].item()
        model.train()
        print(f"iter {it + 1}: loss {loss.item():.4f}, held out {held_out:.4f}")
