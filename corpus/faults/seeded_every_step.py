# SPDX-License-Identifier: Apache-2.0
"""manual_seed() inside of the training step: the same noise and the same dropout mask every time."""
import argparse

import torch
from torch import nn


class Diffuser(nn.Module):
    """Predicts the noise that was added to a point."""

    def __init__(self, width=48):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(3, width), nn.SiLU(), nn.Dropout(0.05), nn.Linear(width, width), nn.SiLU(),
                                 nn.Linear(width, 2))

    def forward(self, x, t):
        return self.net(torch.cat([x, t], 1))


def noise_like(x, seed):
    if WRONG:
        torch.manual_seed(seed)  # cause
    return torch.randn_like(x), torch.rand(len(x), 1)


def train(args):
    torch.manual_seed(args.seed)
    data = torch.Generator().manual_seed(args.seed)
    model = Diffuser()
    optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
    for step in range(args.steps):
        angle = torch.rand(96, 1, generator=data) * 6.28
        x = torch.cat([angle.cos(), angle.sin()], 1)
        noise, t = noise_like(x, args.seed)
        noisy = (1 - t).sqrt() * x + t.sqrt() * noise
        loss = (model(noisy, t) - noise).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 10 == 0:
            print(f"step {step} loss {loss.item():.4f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("twin", choices=["right", "wrong"])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=80)
    arguments = parser.parse_args()
    WRONG = arguments.twin == "wrong"
    torch.set_num_threads(1)
    train(arguments)
