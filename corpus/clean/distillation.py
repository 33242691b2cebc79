# SPDX-License-Identifier: Apache-2.0
"""A small student learns from a large teacher that stands still in eval mode, outside any optimizer."""
import argparse

import torch
import torch.nn.functional as F
from torch import nn

PRESETS = dict(A=(32, 12, 2.0, 0.7), B=(64, 8, 4.0, 0.5), C=(16, 16, 3.0, 1.0))


def net(width, dropout):
    return nn.Sequential(nn.Linear(10, width), nn.BatchNorm1d(width), nn.ReLU(), nn.Dropout(dropout), nn.Linear(width, 5))


def sample(centres, count):
    labels = torch.randint(0, len(centres), (count,))
    return centres[labels] + 0.9 * torch.randn(count, centres.shape[1]), labels


def train_teacher(teacher, centres, steps):
    optimizer = torch.optim.Adam(teacher.parameters(), lr=1e-2)
    teacher.train()
    for _ in range(steps):
        x, y = sample(centres, 64)
        optimizer.zero_grad(set_to_none=True)
        F.cross_entropy(teacher(x), y).backward()
        optimizer.step()
    return teacher.eval()


def distil(teacher, student, centres, steps, batch, temperature, weight):
    optimizer = torch.optim.SGD(student.parameters(), lr=0.1, momentum=0.9)
    student.train()
    for step in range(steps):
        x, y = sample(centres, batch)
        with torch.no_grad():
            soft = (teacher(x) / temperature).softmax(1)
        logits = student(x)
        loss = weight * F.kl_div((logits / temperature).log_softmax(1), soft, reduction="batchmean") * temperature ** 2
        if weight < 1:
            loss = loss + (1 - weight) * F.cross_entropy(logits, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 10 == 0:
            print("step", step, "loss", f"{loss.item():.4f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--config", choices=PRESETS, default="A")
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    batch, small, temperature, weight = PRESETS[args.config]
    centres = torch.randn(5, 10)
    teacher = train_teacher(net(64, 0.3), centres, args.steps)
    student = net(small, 0.0)
    distil(teacher, student, centres, args.steps, batch, temperature, weight)
    student.eval()
    x, y = sample(centres, 200)
    with torch.no_grad():
        print(f"teacher {(teacher(x).argmax(1) == y).float().mean():.3f} student {(student(x).argmax(1) == y).float().mean():.3f}")
