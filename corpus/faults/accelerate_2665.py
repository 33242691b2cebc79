# SPDX-License-Identifier: Apache-2.0
"""A model that is flattened into shards after the optimizer was made (the order of an FSDP wrap).

The optimizer goes on stepping the parameters of before; the flat ones only see gradients.
"""
import argparse
import math

import torch
from torch import nn


class FlatLinear(nn.Module):
    """A linear layer whose weight and bias live in one flat parameter."""

    def __init__(self, layer):
        super().__init__()
        self.shape = layer.weight.shape
        self.flat = nn.Parameter(torch.cat([layer.weight.detach().reshape(-1), layer.bias.detach()]))

    def forward(self, x):
        split = math.prod(self.shape)
        return nn.functional.linear(x, self.flat[:split].view(self.shape), self.flat[split:])


def shard(model):
    for name, child in model.named_children():
        if isinstance(child, nn.Linear) and name != "head":
            setattr(model, name, FlatLinear(child))
        else:
            shard(child)
    return model


class Tagger(nn.Module):
    def __init__(self, words=30, tags=4, width=24):
        super().__init__()
        self.embed = nn.Embedding(words, width)
        self.left = nn.Linear(width, width)
        self.right = nn.Linear(width, width)
        self.head = nn.Linear(width, tags)

    def forward(self, words):
        h = self.embed(words)
        shifted = torch.roll(h, 1, dims=1)
        return self.head(torch.relu(self.left(h) + self.right(shifted)))


def prepare(model, make_optimizer):
    """Wrap both, in the order that the wrapping needs."""
    if WRONG:
        optimizer = make_optimizer(model.parameters())  # cause
        model = shard(model)
    else:
        model = shard(model)
        optimizer = make_optimizer(model.parameters())
    return model, optimizer


def main(args):
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    tags_of = torch.randint(0, 4, (30,))
    model, optimizer = prepare(Tagger(), lambda parameters: torch.optim.Adam(parameters, lr=1e-2))
    for step in range(args.steps):
        words = torch.randint(0, 30, (16, 12))
        tags = (tags_of[words] + (torch.roll(words, 1, dims=1) > 20)) % 4
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(words).flatten(0, 1), tags.flatten())
        loss.backward()
        optimizer.step()
        if step % 10 == 0:
            print(f"step {step} | loss {loss.item():.4f}")


if __name__ == "__main__":
    cli = argparse.ArgumentParser()
    cli.add_argument("twin", choices=["right", "wrong"])
    cli.add_argument("--seed", type=int, default=0)
    cli.add_argument("--steps", type=int, default=60)
    arguments = cli.parse_args()
    WRONG = arguments.twin == "wrong"
    main(arguments)
