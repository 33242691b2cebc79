# SPDX-License-Identifier: Apache-2.0
"""Few labels and a mean teacher, which should follow the student and is never moved."""
import argparse

import torch
from torch import nn
from torch.nn.functional import cross_entropy, mse_loss
from torch.utils.data import DataLoader, TensorDataset


def blobs(count, generator):
    """Three clouds on a circle; of most points the label is not known (-1)."""
    label = torch.randint(0, 3, (count,), generator=generator)
    angle = label * 2.1 + 0.35 * torch.randn(count, generator=generator)
    radius = 2 + 0.3 * torch.randn(count, generator=generator)
    points = torch.stack([radius * angle.cos(), radius * angle.sin(), torch.ones(count)], 1)
    known = torch.rand(count, generator=generator) < 0.3
    return points, torch.where(known, label, torch.full_like(label, -1))


def make():
    return nn.Sequential(nn.Linear(3, 40), nn.ReLU(), nn.Dropout(0.1), nn.Linear(40, 20), nn.ReLU(), nn.Linear(20, 3))


@torch.no_grad()
def follow(teacher, student, decay):
    for slow, fast in zip(teacher.parameters(), student.parameters()):
        slow.mul_(decay).add_(fast, alpha=1 - decay)


def train(student, teacher, loader, epochs):
    opt = torch.optim.RMSprop(student.parameters(), lr=2e-3)
    for epoch in range(epochs):
        for points, label in loader:
            noisy = points + 0.05 * torch.randn_like(points)
            out = student(noisy)
            with torch.no_grad():
                opinion = teacher(points).softmax(-1)
            loss = cross_entropy(out, label, ignore_index=-1) + 0.3 * mse_loss(out.softmax(-1), opinion)
            opt.zero_grad()
            loss.backward()
            opt.step()
            if not WRONG:
                follow(teacher, student, 0.9)  # cause
        print("epoch", epoch, "loss", round(loss.item(), 4))


parser = argparse.ArgumentParser()
parser.add_argument("twin", choices=["right", "wrong"])
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--steps", type=int, default=60)
args = parser.parse_args()
WRONG = args.twin == "wrong"
torch.set_num_threads(1)
torch.manual_seed(args.seed)
data = DataLoader(TensorDataset(*blobs(32 * max(1, args.steps // 4), torch.Generator().manual_seed(args.seed))), 32, shuffle=True)
first = make()
second = make()
second.load_state_dict(first.state_dict())
second.requires_grad_(False).eval()
train(first, second, data, 4)
