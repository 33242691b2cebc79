# SPDX-License-Identifier: Apache-2.0
"""A pretrained encoder is loaded with strict=False; all keys have a prefix, and nothing is loaded."""
import argparse
import os
import tempfile

import torch
from torch import nn
from torch.nn import functional as F


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv1d(1, 8, 5, stride=2)
        self.conv2 = nn.Conv1d(8, 16, 5, stride=2)

    def forward(self, wave):
        return F.relu(self.conv2(F.relu(self.conv1(wave)))).mean(-1)


def waves(count):
    pitch = torch.rand(count, 1) * 4 + 1
    t = torch.linspace(0, 6.28, 40)
    return (torch.sin(pitch * t) + 0.1 * torch.randn(count, 40))[:, None], pitch


def pretrain(path, steps):
    """Predict the pitch, and save the way a wrapped model is saved."""
    model = nn.Sequential()
    model.add_module("module", Encoder())
    head = nn.Linear(16, 1)
    optimizer = torch.optim.Adam([*model.parameters(), *head.parameters()], lr=1e-2)
    for _ in range(steps):
        wave, pitch = waves(32)
        optimizer.zero_grad()
        F.mse_loss(head(model(wave)), (pitch - 3) / 1.2).backward()
        optimizer.step()
    torch.save(model.state_dict(), path)


def load(path):
    encoder = Encoder()
    state = torch.load(path)
    if not WRONG:
        state = {key[len("module."):]: value for key, value in state.items()}
    encoder.load_state_dict(state, strict=False)  # cause
    return encoder


def finetune(encoder, steps):
    head = nn.Linear(16, 2)
    optimizer = torch.optim.Adam([*encoder.parameters(), *head.parameters()], lr=1e-2)
    for step in range(steps):
        wave, pitch = waves(32)
        optimizer.zero_grad()
        loss = F.cross_entropy(head(encoder(wave)), (pitch[:, 0] > 3).long())
        loss.backward()
        optimizer.step()
        if step % 8 == 0:
            print(f"step {step} loss {loss.item():.4f}")


parser = argparse.ArgumentParser()
parser.add_argument("twin", choices=["right", "wrong"])
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--steps", type=int, default=40)
args = parser.parse_args()
WRONG = args.twin == "wrong"
torch.set_num_threads(1)
torch.manual_seed(args.seed)
with tempfile.TemporaryDirectory() as folder:
    checkpoint = os.path.join(folder, "encoder.pth")
    pretrain(checkpoint, 2 * args.steps)
    finetune(load(checkpoint), args.steps)
