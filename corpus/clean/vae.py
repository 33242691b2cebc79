# SPDX-License-Identifier: Apache-2.0
"""A variational autoencoder; the weight of the KL term starts at zero and is warmed up.

While it is zero, the gradients of that term are zero by intention.
"""
import argparse

import torch
import torch.nn.functional as F
from torch import nn


class VAE(nn.Module):
    def __init__(self, width, latent=3):
        super().__init__()
        self.encode = nn.Sequential(nn.Linear(25, width), nn.ReLU())
        self.mu, self.logvar = nn.Linear(width, latent), nn.Linear(width, latent)
        self.decode = nn.Sequential(nn.Linear(latent, width), nn.ReLU(), nn.Linear(width, 25))

    def forward(self, x):
        h = self.encode(x)
        mu, logvar = self.mu(h), self.logvar(h)
        z = mu + torch.exp(0.5 * logvar) * torch.randn_like(mu)
        return self.decode(z), mu, logvar


def elbo(recon, x, mu, logvar, beta):
    bce = F.binary_cross_entropy_with_logits(recon, x, reduction="sum") / len(x)
    kl = -0.5 * (1 + logvar - mu.pow(2) - logvar.exp()).sum() / len(x)
    return bce + beta * kl


def crosses(count):
    """5x5 pictures of a cross at a random place."""
    pictures = torch.zeros(count, 5, 5)
    rows, columns = torch.randint(0, 5, (2, count))
    index = torch.arange(count)
    pictures[index, rows] = 1.0
    pictures[index, :, columns] = 1.0
    return pictures.flatten(1)


class Experiment:
    presets = {"A": (32, 32, torch.optim.Adam, 1e-2), "B": (64, 48, torch.optim.RMSprop, 3e-3),
               "C": (16, 64, torch.optim.AdamW, 5e-3)}

    def __init__(self, seed, steps, preset):
        torch.manual_seed(seed)
        self.batch, width, kind, lr = self.presets[preset]
        self.steps = steps
        self.model = VAE(width)
        self.optimizer = kind(self.model.parameters(), lr=lr)

    def beta(self, step):
        return max(0.0, min(1.0, (step - 5) / 20))

    def run(self):
        for step in range(self.steps):
            x = crosses(self.batch)
            self.optimizer.zero_grad()
            loss = elbo(*[(out := self.model(x))[0], x, *out[1:]], self.beta(step))
            loss.backward()
            self.optimizer.step()
            if step % 10 == 0:
                print(f"step {step}: loss {loss.item():.3f}")
        self.model.eval()
        with torch.no_grad():
            print("samples on:", (self.model.decode(torch.randn(4, 3)) > 0).sum(1).tolist())


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--config", choices=Experiment.presets, default="A")
    args = parser.parse_args()
    torch.set_num_threads(1)
    Experiment(args.seed, args.steps, args.config).run()
