# SPDX-License-Identifier: Apache-2.0
"""Weights in bfloat16 with a small learning rate: most updates are smaller than half a unit and vanish."""
import argparse

import torch
from torch import nn


class HalfSGD:
    """SGD for bfloat16 weights, with masters in float32 unless that is taken for a waste of memory."""

    def __init__(self, params, lr):
        self.params, self.lr = list(params), lr
        if not WRONG:
            self.masters = [p.detach().float() for p in self.params]

    @torch.no_grad()
    def step(self):
        for i, p in enumerate(self.params):
            if WRONG:
                p.sub_(self.lr * p.grad)  # cause
            else:
                self.masters[i].sub_(self.lr * p.grad.float())
                p.copy_(self.masters[i])
            p.grad = None


class Equaliser(nn.Module):
    """A gain for each of 32 bands, all one in the beginning."""

    def __init__(self, bands=32):
        super().__init__()
        self.gains = nn.Parameter(torch.ones(bands))
        self.offset = nn.Parameter(torch.zeros(bands))

    def forward(self, x):
        return x * self.gains + self.offset


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("twin", choices=["right", "wrong"])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=120)
    args = parser.parse_args()
    global WRONG
    WRONG = args.twin == "wrong"
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    wanted = torch.rand(32) + 0.5
    model = Equaliser().bfloat16()
    optimizer = HalfSGD(model.parameters(), lr=3e-3)
    for step in range(args.steps):
        x = torch.randn(64, 32)
        loss = (model(x.bfloat16()).float() - x * wanted - 0.1).pow(2).sum(1).mean()
        loss.backward()
        optimizer.step()
        if step % 10 == 0:
            print(f"step {step} loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
