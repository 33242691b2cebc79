# SPDX-License-Identifier: Apache-2.0
"""Gradual unfreezing: the backbone joins the optimizer at half-time, but its forward is still under no_grad."""
import argparse

import torch
from torch import nn


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(nn.Conv2d(1, 12, 3, padding=1), nn.ReLU(), nn.Conv2d(12, 12, 3, stride=2), nn.ReLU())
        self.head = nn.Linear(12, 2)
        self.frozen = False

    def freeze(self):
        self.frozen = True
        self.backbone.requires_grad_(False)

    def unfreeze(self):
        self.backbone.requires_grad_(True)
        if not WRONG:
            self.frozen = False  # cause

    def forward(self, image):
        with torch.set_grad_enabled(not self.frozen and torch.is_grad_enabled()):
            features = self.backbone(image)
        return self.head(features.mean(dim=(2, 3)))


def xrays(n):
    sick = torch.randint(0, 2, (n,))
    image = torch.randn(n, 1, 9, 9) * 0.5
    image[:, :, 3:6, 3:6] += sick[:, None, None, None] * 0.7
    return image, sick


def phase(name, model, optimizer, steps):
    for step in range(steps):
        image, sick = xrays(32)
        loss = nn.functional.cross_entropy(model(image), sick)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 8 == 0:
            print(f"{name} {step} loss {loss.item():.4f}")


parser = argparse.ArgumentParser()
parser.add_argument("twin", choices=["right", "wrong"])
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--steps", type=int, default=60)
args = parser.parse_args()
WRONG = args.twin == "wrong"
torch.set_num_threads(1)
torch.manual_seed(args.seed)
model = Detector()
model.freeze()
optimizer = torch.optim.Adam(model.head.parameters(), lr=2e-2)
phase("head", model, optimizer, args.steps // 2)
model.unfreeze()
optimizer.add_param_group({"params": model.backbone.parameters(), "lr": 5e-3})
phase("all", model, optimizer, args.steps // 2)
