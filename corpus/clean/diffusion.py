# SPDX-License-Identifier: Apache-2.0
"""A toy diffusion model with an averaged copy for sampling; the sampler runs the net many times without gradients."""
import argparse
import copy

import torch
from torch import nn


class Denoiser(nn.Module):
    def __init__(self, width, steps):
        super().__init__()
        self.time = nn.Embedding(steps, width)
        self.inp, self.mid, self.out = nn.Linear(2, width), nn.Linear(width, width), nn.Linear(width, 2)

    def forward(self, x, t):
        h = torch.relu(self.inp(x) + self.time(t))
        return self.out(torch.relu(self.mid(h)))


class Process:
    def __init__(self, steps):
        self.beta = torch.linspace(1e-3, 0.2, steps)
        self.keep = torch.cumprod(1 - self.beta, 0)

    def noised(self, x, t, noise):
        keep = self.keep[t][:, None]
        return keep.sqrt() * x + (1 - keep).sqrt() * noise

    @torch.no_grad()
    def sample(self, model, count):
        x = torch.randn(count, 2)
        for t in reversed(range(len(self.beta))):
            guess = model(x, torch.full((count,), t))
            x = (x - self.beta[t] / (1 - self.keep[t]).sqrt() * guess) / (1 - self.beta[t]).sqrt()
            if t:
                x = x + self.beta[t].sqrt() * torch.randn_like(x)
        return x


def run(seed, steps, config):
    times, width, batch = {"A": (20, 48, 128), "B": (10, 64, 64), "C": (30, 32, 96)}[config]
    torch.manual_seed(seed)
    process, model = Process(times), Denoiser(width, times)
    shadow = copy.deepcopy(model).requires_grad_(False)
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    for step in range(steps):
        corner = torch.randint(0, 2, (batch, 2)) * 2.0 - 1
        x, t, noise = corner + 0.1 * torch.randn(batch, 2), torch.randint(0, times, (batch,)), torch.randn(batch, 2)
        loss = (model(process.noised(x, t, noise), t) - noise).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            for slow, fast in zip(shadow.parameters(), model.parameters()):
                slow.lerp_(fast, 0.05)
        if step % 12 == 0:
            print(f"step {step} loss {loss.item():.4f} spread {process.sample(shadow, 32).std().item():.3f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--config", choices=["A", "B", "C"], default="A")
    torch.set_num_threads(1)
    run(**vars(parser.parse_args()))
