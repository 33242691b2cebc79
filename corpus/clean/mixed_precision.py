# SPDX-License-Identifier: Apache-2.0
"""bfloat16 autocast on the CPU with torch's GradScaler switched off: its calls are made and do nothing."""
import argparse

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--steps", type=int, default=40)
parser.add_argument("--config", choices=["A", "B", "C"], default="A")
args = parser.parse_args()
batch, channels, use_amp = {"A": (32, 8, True), "B": (16, 16, True), "C": (24, 8, False)}[args.config]
torch.set_num_threads(1)
torch.manual_seed(args.seed)


class Block(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.conv = nn.Conv2d(c, c, 3, padding=1)
        self.norm = nn.BatchNorm2d(c)

    def forward(self, x):
        return x + torch.relu(self.norm(self.conv(x).float()))


model = nn.Sequential(nn.Conv2d(1, channels, 3, padding=1), Block(channels), Block(channels), nn.AdaptiveAvgPool2d(1),
                      nn.Flatten(), nn.Linear(channels, 3))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
scaler = torch.cuda.amp.GradScaler(enabled=False)


def stripes():
    y = torch.randint(0, 3, (batch,))
    x = torch.randn(batch, 1, 12, 12) * 0.5
    for image, kind in zip(x, y.tolist()):
        if kind == 0:
            image[0, ::2] += 1
        elif kind == 1:
            image[0, :, ::2] += 1
        else:
            image[0] += 0.5
    return x, y


for step in range(args.steps):
    x, y = stripes()
    with torch.autocast("cpu", dtype=torch.bfloat16, enabled=use_amp):
        loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad(set_to_none=True)
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(model.parameters(), 5.0)
    scaler.step(optimizer)
    scaler.update()
    if step % 8 == 0:
        print(f"step {step} loss {loss.item():.4f}")
