# SPDX-License-Identifier: Apache-2.0
"""A Wasserstein critic that is never cleared: the generator's pass leaves gradients in it, and they are applied too."""
import argparse

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("twin", choices=["right", "wrong"])
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--steps", type=int, default=40)
args = parser.parse_args()
WRONG = args.twin == "wrong"


def grid(n):
    """Four spots in the corners of a square."""
    corner = torch.randint(0, 2, (n, 2)) * 2.0 - 1
    return corner + 0.1 * torch.randn(n, 2)


def penalty(critic, real, fake):
    mix = torch.rand(len(real), 1)
    between = (mix * real + (1 - mix) * fake).requires_grad_()
    slope, = torch.autograd.grad(critic(between).sum(), between, create_graph=True)
    return (slope.norm(dim=1) - 1).pow(2).mean()


def main():
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    generator = nn.Sequential(nn.Linear(5, 48), nn.ReLU(), nn.Linear(48, 2))
    critic = nn.Sequential(nn.Linear(2, 48), nn.LeakyReLU(0.1), nn.Linear(48, 1))
    g_optimizer = torch.optim.RMSprop(generator.parameters(), lr=1e-3)
    c_optimizer = torch.optim.RMSprop(critic.parameters(), lr=2e-3)
    for round_number in range(args.steps):
        for _ in range(3):
            real, fake = grid(64), generator(torch.randn(64, 5)).detach()
            if not WRONG:
                c_optimizer.zero_grad()  # cause
            critic_loss = critic(fake).mean() - critic(real).mean() + penalty(critic, real, fake)
            critic_loss.backward()
            c_optimizer.step()
        g_optimizer.zero_grad()
        generator_loss = -critic(generator(torch.randn(64, 5))).mean()
        generator_loss.backward()
        g_optimizer.step()
        if round_number % 8 == 0:
            print(f"round {round_number}: critic loss {critic_loss.item():.4f} generator loss {generator_loss.item():.4f}")


main()
