# SPDX-License-Identifier: Apache-2.0
"""REINFORCE in a corridor of seven cells; the loss is negative at times and does not fall steadily."""
import argparse

import torch
from torch import nn
from torch.distributions import Categorical


class Corridor:
    """Start in the middle, reach the right end. Every move costs a little."""

    def __init__(self, length=7):
        self.length = length

    def reset(self):
        self.place, self.time = self.length // 2, 0
        return self.view()

    def view(self):
        one_hot = torch.zeros(self.length)
        one_hot[self.place] = 1
        return one_hot

    def step(self, action):
        self.place = max(0, self.place + (1 if action else -1))
        self.time += 1
        won = self.place == self.length - 1
        return self.view(), 1.0 if won else -0.05, won or self.time >= 20


def returns(rewards, gamma):
    total, out = 0.0, []
    for reward in reversed(rewards):
        total = reward + gamma * total
        out.insert(0, total)
    return torch.tensor(out)


def play(env, policy):
    logs, entropies, rewards, state, done = [], [], [], env.reset(), False
    while not done:
        choice = Categorical(logits=policy(state))
        action = choice.sample()
        state, reward, done = env.step(action.item())
        logs.append(choice.log_prob(action))
        entropies.append(choice.entropy())
        rewards.append(reward)
    return torch.stack(logs), torch.stack(entropies), rewards


def main(seed, steps, config):
    episodes, width, lr, entropy_weight = {"A": (4, 16, 2e-2, 0.0), "B": (2, 32, 1e-2, 0.01), "C": (6, 8, 3e-2, 0.02)}[config]
    torch.manual_seed(seed)
    env = Corridor()
    policy = nn.Sequential(nn.Linear(env.length, width), nn.Tanh(), nn.Linear(width, 2))
    optimizer = torch.optim.Adam(policy.parameters(), lr=lr)
    baseline = 0.0
    for update in range(steps):
        losses, scores = [], []
        for _ in range(episodes):
            logs, entropies, rewards = play(env, policy)
            gains = returns(rewards, 0.97)
            losses.append(-(logs * (gains - baseline)).mean() - entropy_weight * entropies.mean())
            scores.append(sum(rewards))
        baseline = 0.9 * baseline + 0.1 * sum(scores) / len(scores)
        optimizer.zero_grad()
        loss = torch.stack(losses).mean()
        loss.backward()
        optimizer.step()
        if update % 6 == 0:
            print(f"update {update} loss {loss.item():+.4f} score {sum(scores) / len(scores):.2f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--config", choices=["A", "B", "C"], default="A")
    torch.set_num_threads(1)
    main(**vars(parser.parse_args()))
