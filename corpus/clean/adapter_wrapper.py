# SPDX-License-Identifier: Apache-2.0
"""A model that was used already is wrapped, frozen and given adapters of low rank; the rate warms up from 0.

The optimizer has a group without weight decay for biases and norms, and there is none to be trained: the group is empty.
"""
import argparse

import torch
from torch import nn
from torch.nn import functional as F


class Tagger(nn.Module):
    def __init__(self, width, depth):
        super().__init__()
        self.words = nn.Embedding(40, width)
        self.layers = nn.ModuleList(nn.Linear(width, width) for _ in range(depth))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, 3)

    def forward(self, text):
        x = self.words(text)
        for layer in self.layers:
            x = x + torch.tanh(layer(x))
        return self.head(self.norm(x))


class LowRank(nn.Module):
    def __init__(self, base, rank):
        super().__init__()
        self.base = base
        self.down = nn.Linear(base.in_features, rank, bias=False)
        self.up = nn.Linear(rank, base.out_features, bias=False)
        nn.init.zeros_(self.up.weight)

    def forward(self, x):
        return self.base(x) + self.up(self.down(x))


class Tuned(nn.Module):
    """The model inside of a module, with whatever else it is asked for."""

    def __init__(self, model, rank):
        super().__init__()
        self.model = model
        for weight in model.parameters():
            weight.requires_grad = False
        for index, layer in enumerate(model.layers):
            model.layers[index] = LowRank(layer, rank)

    def __getattr__(self, name):
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(self.model, name)

    def forward(self, *args, **kwargs):
        return self.model.forward(*args, **kwargs)


def sentences(count, shift):
    text = torch.randint(0, 40, (count, 7))
    return text, (text + shift) % 3


def groups(model, decay):
    named = [(name, weight) for name, weight in model.named_parameters() if weight.requires_grad]
    spared = [weight for name, weight in named if name.endswith("bias") or "norm" in name]
    return [{"params": [w for _, w in named if all(w is not s for s in spared)], "weight_decay": decay},
            {"params": spared, "weight_decay": 0.0}]


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--seed", type=int, default=0)
    p.add_argument("--steps", type=int, default=60)
    p.add_argument("--config", choices=["A", "B", "C"], default="A")
    o = p.parse_args()
    width, depth, rank, warm = {"A": (24, 2, 4, 5), "B": (16, 3, 2, 10), "C": (32, 1, 8, 3)}[o.config]
    torch.set_num_threads(1)
    torch.manual_seed(o.seed)
    model = Tagger(width, depth)
    text, tags = sentences(64, 1)
    print(f"before: {F.cross_entropy(model(text).flatten(0, 1), tags.flatten()).item():.4f}")
    tuned = Tuned(model, rank)
    optimizer = torch.optim.AdamW(groups(tuned, 0.01), lr=2e-2)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda i: i / warm if i < warm else max(0.0, (o.steps - i) / (o.steps - warm)))
    for step in range(o.steps):
        text, tags = sentences(32, 1)
        loss = F.cross_entropy(tuned(text).flatten(0, 1), tags.flatten())
        loss.backward()
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()
        if step % 20 == 19:
            print(f"{step + 1}: {loss.item():.4f}")
