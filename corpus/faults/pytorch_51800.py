# SPDX-License-Identifier: Apache-2.0
"""A critic with spectral normalisation whose score is looked at before training begins.

The power iteration runs in train mode only: a first forward in eval mode divides by a norm taken
from vectors that were never iterated.
"""
import argparse
import math

import torch
from torch import nn
from torch.nn.utils import spectral_norm


def critic():
    return nn.Sequential(
        spectral_norm(nn.Linear(4, 64)), nn.LeakyReLU(0.2),
        spectral_norm(nn.Linear(64, 64)), nn.LeakyReLU(0.2),
        spectral_norm(nn.Linear(64, 1)))


def sample(count, generator):
    angle = torch.rand(count, 1, generator=generator) * 2 * math.pi
    real = torch.cat([angle.cos(), angle.sin(), (2 * angle).cos(), (2 * angle).sin()], 1)
    noise = torch.randn(count, 4, generator=generator)
    return real, noise


def score(model, data):
    model.eval()
    with torch.no_grad():
        real, noise = data
        return (model(real).mean() - model(noise).mean()).item()


def main(argv=None):
    parser = argparse.ArgumentParser()
    parser.add_argument("twin", choices=["right", "wrong"])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=60)
    args = parser.parse_args(argv)
    WRONG = args.twin == "wrong"
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    generator = torch.Generator().manual_seed(args.seed + 1)
    model = critic()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3, betas=(0.5, 0.9))
    held_out = sample(256, generator)
    if not WRONG:
        with torch.no_grad():
            for part in held_out:
                model.train()(part)
    first = score(model, held_out)  # cause
    margin = min(max(5 * abs(first), 0.2), 2.0)
    print(f"before training: score {first:.4f}, margin {margin:.3f}")
    for step in range(args.steps):
        model.train()
        real, noise = sample(64, generator)
        loss = torch.relu(margin - model(real)).mean() + torch.relu(margin + model(noise)).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 20 == 19:
            print(f"step {step + 1} loss {loss.item():.4f} score {score(model, held_out):.4f}")


if __name__ == "__main__":
    main()
