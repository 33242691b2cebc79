# SPDX-License-Identifier: Apache-2.0
"""Training pictures are scaled to -1..1; the evaluation gets them as they are, from 0 to 255."""
import argparse

import torch
from torch import nn


class Compose:
    def __init__(self, *transforms):
        self.transforms = transforms

    def __call__(self, x):
        for transform in self.transforms:
            x = transform(x)
        return x


def to_float(x):
    return x.float()


def normalise(x):
    return (x - 127.5) / 127.5


def flip(x):
    return x.flip(-1) if torch.rand(()) < 0.5 else x


class Weather(nn.Module):
    """Sun, cloud or rain, from a picture of the sky."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Sequential(nn.Conv2d(1, 10, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(10, 10, 3), nn.ReLU())
        self.fc = nn.Linear(40, 3)

    def forward(self, x):
        return self.fc(self.conv(x).flatten(1))


def skies(n, rng):
    kind = torch.randint(0, 3, (n,), generator=rng)
    sky = torch.randint(100, 160, (n, 1, 10, 10), generator=rng)
    sky[kind == 0, :, 2:5, 2:5] += 90
    sky[kind == 1, :, 5:] -= 60
    sky[kind == 2, :, :, ::3] -= 80
    return sky.clamp(0, 255).to(torch.uint8), kind


parser = argparse.ArgumentParser()
parser.add_argument("twin", choices=["right", "wrong"])
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--steps", type=int, default=60)
args = parser.parse_args()
WRONG = args.twin == "wrong"
train_transform = Compose(to_float, normalise, flip)
test_transform = Compose(to_float) if WRONG else Compose(to_float, normalise)  # cause

torch.set_num_threads(1)
torch.manual_seed(args.seed)
rng = torch.Generator().manual_seed(args.seed)
model = Weather()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
test_images, test_labels = skies(90, rng)
for step in range(1, args.steps + 1):
    images, labels = skies(32, rng)
    model.train()
    loss = nn.functional.cross_entropy(model(train_transform(images)), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 12 == 0:
        model.eval()
        with torch.no_grad():
            hit = (model(test_transform(test_images)).argmax(1) == test_labels).float().mean()
        print(f"step {step} loss {loss.item():.4f} accuracy {hit.item():.2f}")
