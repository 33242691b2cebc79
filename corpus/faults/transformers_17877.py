# SPDX-License-Identifier: Apache-2.0
"""A small GPT whose residual projections get a scaled initialisation.

model.apply() calls the function for every submodule; one that loops over named_parameters() of
each sees the projections again at every level and draws them anew every time.
"""
import argparse
import math

import torch
import torch.nn as nn
from torch.nn import functional as F

parser = argparse.ArgumentParser()
parser.add_argument("twin", choices=["right", "wrong"])
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--steps", type=int, default=40)
args = parser.parse_args()
WRONG = args.twin == "wrong"


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.c_attn = nn.Linear(width, 3 * width)
        self.c_proj = nn.Linear(width, width)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = self.c_attn(x).view(b, t, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
        mask = torch.ones(t, t, dtype=torch.bool).triu(1)
        weights = scores.masked_fill(mask, float("-inf")).softmax(-1)
        return self.c_proj((weights @ v).transpose(1, 2).reshape(b, t, c))


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.ln_1, self.ln_2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attn = Attention(width, heads)
        self.mlp = nn.ModuleDict({"c_fc": nn.Linear(width, 2 * width), "c_proj": nn.Linear(2 * width, width)})

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        return x + self.mlp["c_proj"](F.gelu(self.mlp["c_fc"](self.ln_2(x))))


class GPT(nn.Module):
    def __init__(self, vocabulary=16, width=32, layers=2):
        super().__init__()
        self.layers = layers
        self.wte = nn.Embedding(vocabulary, width)
        self.wpe = nn.Embedding(32, width)
        self.h = nn.ModuleList(Block(width, 4) for _ in range(layers))
        self.lm_head = nn.Linear(width, vocabulary, bias=False)
        self.apply(self._init_weights)

    def _init_weights(self, module):
        if isinstance(module, (nn.Linear, nn.Embedding)):
            nn.init.normal_(module.weight, std=0.05)
        if WRONG:
            for name, p in module.named_parameters():  # cause
                if "c_proj" in name and "weight" in name:
                    p.data.normal_(mean=0.0, std=0.05 / math.sqrt(2 * self.layers))
        elif module is self:
            for name, p in module.named_parameters():
                if "c_proj" in name and "weight" in name:
                    p.data.normal_(mean=0.0, std=0.05 / math.sqrt(2 * self.layers))

    def forward(self, tokens):
        x = self.wte(tokens) + self.wpe.weight[:tokens.shape[1]]
        for block in self.h:
            x = block(x)
        return self.lm_head(x)


torch.set_num_threads(1)
torch.manual_seed(args.seed)
model = GPT()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
for it in range(args.steps):
    start = torch.randint(0, 16, (24, 1))
    tokens = (start + torch.arange(17) * torch.randint(1, 4, (24, 1))) % 16
    logits = model(tokens[:, :-1])
    loss = F.cross_entropy(logits.reshape(-1, 16), tokens[:, 1:].reshape(-1))
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    if it % 5 == 0:
        print(f"iter {it}: loss {loss.item():.4f}")
