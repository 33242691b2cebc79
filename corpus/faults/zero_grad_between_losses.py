# SPDX-License-Identifier: Apache-2.0
"""A discriminator's two losses: the gradients of the first are cleared before the second arrives."""
import argparse

import torch
from torch import nn
from torch.nn.functional import binary_cross_entropy_with_logits as bce


class Adversaries:
    def __init__(self, lr):
        self.generator = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 1))
        self.discriminator = nn.Sequential(nn.Linear(1, 32), nn.ReLU(), nn.Linear(32, 1))
        self.g_opt = torch.optim.Adam(self.generator.parameters(), lr=lr)
        self.d_opt = torch.optim.Adam(self.discriminator.parameters(), lr=lr)

    def discriminator_step(self, real):
        fake = self.generator(torch.randn(len(real), 4)).detach()
        if not WRONG:
            self.d_opt.zero_grad()
        on_real = self.discriminator(real)
        loss_real = bce(on_real, torch.ones_like(on_real))
        loss_real.backward()
        if WRONG:
            self.d_opt.zero_grad()  # cause
        on_fake = self.discriminator(fake)
        loss_fake = bce(on_fake, torch.zeros_like(on_fake))
        loss_fake.backward()
        self.d_opt.step()
        return (loss_real + loss_fake).item()

    def generator_step(self, count):
        verdict = self.discriminator(self.generator(torch.randn(count, 4)))
        loss = bce(verdict, torch.ones_like(verdict))
        self.g_opt.zero_grad()
        loss.backward()
        self.g_opt.step()
        return loss.item()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("twin", choices=["right", "wrong"])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=60)
    args = parser.parse_args()
    WRONG = args.twin == "wrong"
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    pair = Adversaries(lr=1e-3)
    for step in range(args.steps):
        d_loss = pair.discriminator_step(torch.randn(64, 1) * 0.5 + 2)
        g_loss = pair.generator_step(64)
        if step % 10 == 0:
            print(f"step {step} d_loss {d_loss:.4f} g_loss {g_loss:.4f}")
