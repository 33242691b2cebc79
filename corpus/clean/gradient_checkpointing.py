# SPDX-License-Identifier: Apache-2.0
"""Gradient checkpointing: the blocks run forward a second time inside of backward, dropout masks and all."""
import argparse

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint, checkpoint_sequential


class Deep(nn.Module):
    def __init__(self, width, depth, segments):
        super().__init__()
        self.inp = nn.Linear(12, width)
        self.blocks = nn.Sequential(*[nn.Sequential(nn.LayerNorm(width), nn.Linear(width, width), nn.GELU(), nn.Dropout(0.05))
                                      for _ in range(depth)])
        self.out = nn.Linear(width, 3)
        self.segments = segments

    def forward(self, x):
        h = self.inp(x)
        if not self.training:
            return self.out(self.blocks(h))
        if self.segments:
            h = checkpoint_sequential(self.blocks, self.segments, h)
        else:
            for block in self.blocks:
                h = h + checkpoint(block, h)
        return self.out(h)


def wells(n):
    kind = torch.randint(0, 3, (n,))
    depth = torch.arange(12.0)
    return torch.sin(depth * (kind[:, None] + 1) / 3) + 0.5 * torch.randn(n, 12), kind


def main(args):
    width, depth, segments, n = {"A": (24, 4, 0, 32), "B": (32, 6, 2, 24), "C": (16, 3, 0, 48)}[args.config]
    model = Deep(width, depth, segments)
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for step in range(args.steps):
        x, y = wells(n)
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 10 == 9:
            model.eval()
            with torch.no_grad():
                x, y = wells(60)
                hits = (model(x).argmax(1) == y).float().mean().item()
            model.train()
            print(f"step {step} loss {loss.item():.4f} accuracy {hits:.2f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--config", choices=["A", "B", "C"], default="A")
    parsed = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(parsed.seed)
    main(parsed)
