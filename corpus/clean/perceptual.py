# SPDX-License-Identifier: Apache-2.0
"""An autoencoder that is judged by the features of another network: gradients go through that one, and leave it alone."""
import argparse

import torch
from torch import nn, optim


def critic(width):
    """A fixed network with norms; its own weights are drawn once."""
    net = nn.Sequential(nn.Linear(16, width), nn.BatchNorm1d(width), nn.Tanh(), nn.Linear(width, width), nn.BatchNorm1d(width))
    with torch.no_grad():
        for _ in range(10):
            net(signals(64))
    for p in net.parameters():
        p.requires_grad_(False)
    return net.eval()


def signals(count):
    phase, speed = torch.rand(count, 1) * 6.28, torch.rand(count, 1) + 0.5
    return torch.sin(phase + speed * torch.arange(16) / 2)


class Autoencoder(nn.Module):
    def __init__(self, code):
        super().__init__()
        self.encode = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, code))
        self.decode = nn.Sequential(nn.Linear(code, 32), nn.ReLU(), nn.Linear(32, 16))

    def forward(self, x):
        return self.decode(self.encode(x))


def perceptual_loss(features, x, again):
    with torch.no_grad():
        wanted = features(x)
    return (features(again) - wanted).square().mean() + 0.1 * (again - x).abs().mean()


def main(seed, steps, config):
    torch.manual_seed(seed)
    code, batch, make = {"A": (4, 48, lambda p: optim.Adam(p, 3e-3)), "B": (6, 32, lambda p: optim.SGD(p, 0.05, momentum=0.9)),
                         "C": (3, 64, lambda p: optim.AdamW(p, 5e-3))}[config]
    features, model = critic(24), Autoencoder(code)
    descent = make(model.parameters())
    for t in range(steps):
        x = signals(batch)
        loss = perceptual_loss(features, x, model(x))
        descent.zero_grad()
        loss.backward()
        descent.step()
        if t % 12 == 0:
            print(f"t={t} loss={loss.item():.5f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--config", choices=["A", "B", "C"], default="A")
    chosen = parser.parse_args()
    torch.set_num_threads(1)
    main(chosen.seed, chosen.steps, chosen.config)
