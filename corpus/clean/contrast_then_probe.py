# SPDX-License-Identifier: Apache-2.0
"""An encoder with a slow copy is trained by contrast; then both rest, and a linear classifier is trained on the encoder's features."""
import argparse
import copy

import torch
from torch import nn
from torch.nn import functional as F


def blobs(centres, count):
    y = torch.randint(0, len(centres), (count,))
    return centres[y] + 0.5 * torch.randn(count, centres.shape[1]), y


def contrast(encoder, slow, centres, steps, batch, keep):
    optimizer = torch.optim.SGD(encoder.parameters(), lr=0.1, momentum=0.9)
    for step in range(steps):
        x, _ = blobs(centres, batch)
        query = F.normalize(encoder(x + 0.1 * torch.randn_like(x)), dim=1)
        with torch.no_grad():
            key = F.normalize(slow(x + 0.1 * torch.randn_like(x)), dim=1)
        loss = F.cross_entropy(query @ key.T / 0.2, torch.arange(batch))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            for old, new in zip(slow.parameters(), encoder.parameters()):
                old.mul_(keep).add_(new, alpha=1 - keep)
        if step % 10 == 0:
            print(f"contrast {step} loss {loss.item():.4f}")


def probe(encoder, centres, steps, batch):
    head = nn.Linear(16, len(centres))
    optimizer = torch.optim.Adam(head.parameters(), lr=1e-2)
    for step in range(steps):
        x, y = blobs(centres, batch)
        with torch.no_grad():
            features = encoder(x)
        loss = F.cross_entropy(head(features), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 10 == 0:
            print(f"probe {step} loss {loss.item():.4f}")


parser = argparse.ArgumentParser()
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--steps", type=int, default=32)
parser.add_argument("--config", choices=["A", "B", "C"], default="A")
args = parser.parse_args()
batch, width, keep = {"A": (64, 32, 0.95), "B": (32, 24, 0.9), "C": (48, 48, 0.99)}[args.config]
torch.set_num_threads(1)
torch.manual_seed(args.seed)
centres = torch.randn(4, 16)
encoder = nn.Sequential(nn.Linear(16, width), nn.ReLU(), nn.Linear(width, 16))
slow = copy.deepcopy(encoder).requires_grad_(False)
contrast(encoder, slow, centres, args.steps, batch, keep)
encoder.eval().requires_grad_(False)
probe(encoder, centres, args.steps, batch)
