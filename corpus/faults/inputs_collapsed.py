# SPDX-License-Identifier: Apache-2.0
"""Pixels from 0 to 255 divided with // by 255: all that is left of the pictures is whether a pixel is full."""
import argparse
import itertools

import torch
from torch import nn


def photographs(rng):
    """uint8 pictures: day or night, with a lamp somewhere that is fully lit."""
    while True:
        day = torch.randint(0, 2, (32,), generator=rng)
        base = 40 + 120 * day[:, None, None]
        pixels = (base + torch.randint(0, 60, (32, 8, 8), generator=rng)).to(torch.uint8)
        lit = torch.rand(32, 8, 8, generator=rng) < 0.02 + 0.03 * day[:, None, None]
        yield pixels.masked_fill(lit, 255), day


def scale(pixels):
    if WRONG:
        return (pixels // 255).float()  # cause
    return pixels.float() / 255


class Camera(nn.Module):
    def __init__(self):
        super().__init__()
        self.see = nn.Sequential(nn.Flatten(), nn.Linear(64, 20), nn.ReLU())
        self.tell = nn.Linear(20, 2)

    def forward(self, pixels):
        return self.tell(self.see(scale(pixels)))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("twin", choices=["right", "wrong"])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=60)
    args = parser.parse_args()
    WRONG = args.twin == "wrong"
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    camera = Camera()
    sgd = torch.optim.SGD(camera.parameters(), lr=0.1)
    stream = photographs(torch.Generator().manual_seed(args.seed))
    for number, (pixels, day) in enumerate(itertools.islice(stream, args.steps)):
        sgd.zero_grad()
        loss = nn.functional.cross_entropy(camera(pixels), day)
        loss.backward()
        sgd.step()
        if number % 10 == 0:
            print(f"{number:3d} loss {loss.item():.4f}")
