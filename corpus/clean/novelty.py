# SPDX-License-Identifier: Apache-2.0
"""Reward for what is new: one network guesses the output of another that is random and stays so, and a policy looks for errors."""
import argparse

import torch
from torch import nn
from torch.distributions import Categorical


class Maze:
    """A corridor with two rooms at its ends, seen as noisy coordinates."""

    def __init__(self, length):
        self.length, self.place = length, length // 2

    def look(self):
        return torch.cat([torch.eye(self.length)[self.place], torch.randn(2) * 0.1])

    def walk(self, action):
        self.place = min(self.length - 1, max(0, self.place + (1 if action else -1)))
        return self.look()


def mlp(inside, outside, hidden=24, norm=False):
    middle = [nn.BatchNorm1d(hidden)] if norm else []
    return nn.Sequential(nn.Linear(inside, hidden), *middle, nn.ReLU(), nn.Linear(hidden, outside))


class Curiosity(nn.Module):
    def __init__(self, inside):
        super().__init__()
        self.riddle, self.guess = mlp(inside, 8, norm=True), mlp(inside, 8)
        self.riddle.requires_grad_(False).eval()

    def forward(self, seen):
        return (self.guess(seen) - self.riddle(seen)).square().mean(dim=1)


def episode(policy, maze, length):
    views, chances, view = [], [], maze.look()
    for _ in range(length):
        draw = Categorical(logits=policy(view))
        action = draw.sample()
        chances.append(draw.log_prob(action))
        view = maze.walk(action.item())
        views.append(view)
    return torch.stack(views), torch.stack(chances)


cli = argparse.ArgumentParser()
cli.add_argument("--seed", type=int, default=0)
cli.add_argument("--steps", type=int, default=30)
cli.add_argument("--config", choices=["A", "B", "C"], default="A")
cli = cli.parse_args()
corridor, length, rate = {"A": (7, 12, 5e-3), "B": (9, 8, 1e-2), "C": (5, 16, 3e-3)}[cli.config]
torch.set_num_threads(1)
torch.manual_seed(cli.seed)
policy, curiosity = mlp(corridor + 2, 2), Curiosity(corridor + 2)
for_policy = torch.optim.Adam(policy.parameters(), lr=rate)
for_guess = torch.optim.Adam(curiosity.guess.parameters(), lr=rate)
for number in range(cli.steps):
    views, chances = episode(policy, Maze(corridor), length)
    surprise = curiosity(views)
    for_guess.zero_grad()
    surprise.mean().backward()
    for_guess.step()
    reward = surprise.detach()
    gain = (chances * (reward - reward.mean())).sum()
    for_policy.zero_grad()
    (-gain).backward()
    for_policy.step()
    if number % 6 == 0:
        print(f"episode {number}: surprise {reward.mean().item():.4f}")
