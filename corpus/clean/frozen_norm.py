# SPDX-License-Identifier: Apache-2.0
"""Fine-tuning with all batch norms frozen, in eval mode inside of a model in train mode: by intention."""
import argparse

import torch
from torch import nn


class FrozenNormNet(nn.Module):
    def __init__(self, width, freeze_affine):
        super().__init__()
        self.freeze_affine, self.frozen = freeze_affine, False
        self.body = nn.Sequential(nn.Conv1d(2, width, 3), nn.BatchNorm1d(width), nn.ReLU(), nn.Conv1d(width, width, 3),
                                  nn.BatchNorm1d(width), nn.ReLU())
        self.head = nn.Linear(width, 2)

    def train(self, mode=True):
        super().train(mode)
        if mode and self.frozen:
            for module in self.modules():
                if isinstance(module, nn.BatchNorm1d):
                    module.eval()
        return self

    def freeze_norms(self):
        self.frozen = True
        for module in self.modules():
            if isinstance(module, nn.BatchNorm1d) and self.freeze_affine:
                module.weight.requires_grad_(False)
                module.bias.requires_grad_(False)

    def forward(self, x):
        return self.head(self.body(x).mean(-1))


def motion(n, shift):
    label = torch.randint(0, 2, (n,))
    t = torch.linspace(0, 6.28, 16)
    wave = torch.sin(t * (1 + label[:, None]) + torch.rand(n, 1) * 6)
    return torch.stack([wave, wave.roll(2, 1)], 1) + shift + 0.3 * torch.randn(n, 2, 16), label


def phase(model, shift, n, steps, lr, name):
    model.train()
    optimizer = torch.optim.Adam((p for p in model.parameters() if p.requires_grad), lr=lr)
    for step in range(steps):
        x, y = motion(n, shift)
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        if step % 8 == 0:
            print(f"{name} {step} loss {loss.item():.4f}")


parser = argparse.ArgumentParser()
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--steps", type=int, default=50)
parser.add_argument("--config", choices=["A", "B", "C"], default="A")
args = parser.parse_args()
n, width, affine = {"A": (32, 12, True), "B": (24, 16, False), "C": (48, 8, True)}[args.config]
torch.set_num_threads(1)
torch.manual_seed(args.seed)
model = FrozenNormNet(width, affine)
phase(model, 0.0, n, args.steps // 2, 1e-2, "pretrain")
model.freeze_norms()
phase(model, 0.5, 4, args.steps // 2, 3e-3, "fine-tune")
