# SPDX-License-Identifier: Apache-2.0
"""A decoder of two layers from scratch: groups with and without decay, warm-up and cosine, accumulated micro-batches."""
import math
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(int(sys.argv[1]))
torch.set_num_threads(1)
V, T, C, H, ACCUM, STEPS = 24, 16, 32, 4, 2, 24


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(C), nn.LayerNorm(C)
        self.qkv, self.proj = nn.Linear(C, 3 * C), nn.Linear(C, C)
        self.mlp = nn.Sequential(nn.Linear(C, 4 * C), nn.GELU(), nn.Linear(4 * C, C), nn.Dropout(0.1))
        self.register_buffer("mask", torch.tril(torch.ones(T, T)).view(1, 1, T, T))

    def forward(self, x):
        B = x.size(0)
        q, k, v = (t.view(B, T, H, C // H).transpose(1, 2) for t in self.qkv(self.ln1(x)).split(C, dim=2))
        att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(C // H))
        att = F.softmax(att.masked_fill(self.mask == 0, float("-inf")), dim=-1)
        x = x + self.proj((att @ v).transpose(1, 2).contiguous().view(B, T, C))
        return x + self.mlp(self.ln2(x))


class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.tok, self.pos = nn.Embedding(V, C), nn.Embedding(T, C)
        self.blocks = nn.ModuleList([Block() for _ in range(2)])
        self.ln, self.head = nn.LayerNorm(C), nn.Linear(C, V, bias=False)
        self.head.weight = self.tok.weight

    def forward(self, idx, targets):
        x = self.tok(idx) + self.pos(torch.arange(T))
        for block in self.blocks:
            x = block(x)
        logits = self.head(self.ln(x))
        return logits, F.cross_entropy(logits.view(-1, V), targets.reshape(-1))


def get_batch():
    start = torch.randint(0, V, (8, 1))
    stride = torch.randint(1, 4, (8, 1))
    seq = (start + stride * torch.arange(T + 1)) % V
    return seq[:, :-1], seq[:, 1:]


def rate(step):
    return (step + 1) / 6 if step < 6 else 0.5 * (1 + math.cos(math.pi * (step - 6) / (STEPS - 6)))


model = GPT()
decay = [p for p in model.parameters() if p.dim() >= 2]
rest = [p for p in model.parameters() if p.dim() < 2]
optimizer = torch.optim.AdamW([{"params": decay, "weight_decay": 0.1}, {"params": rest, "weight_decay": 0.0}], lr=3e-3)
scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, rate)
for step in range(STEPS):
    for _ in range(ACCUM):
        x, y = get_batch()
        _, loss = model(x, y)
        (loss / ACCUM).backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    scheduler.step()
    optimizer.zero_grad(set_to_none=True)
    if step % 8 == 7:
        model.eval()
        with torch.no_grad():
            print(step, sum(model(*get_batch())[1].item() for _ in range(3)) / 3)
        model.train()
