# SPDX-License-Identifier: Apache-2.0
"""Actor and two critics with replay: targets follow slowly, a learned temperature, losses through networks of others."""
import argparse
import copy
import random

import torch
from torch import nn
import torch.nn.functional as F

parser = argparse.ArgumentParser()
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--steps", type=int, default=120)
parser.add_argument("--config", choices=["A", "B", "C"], default="A")
args = parser.parse_args()
batch, width, tau = {"A": (32, 32, 0.05), "B": (16, 24, 0.02), "C": (48, 40, 0.1)}[args.config]
torch.set_num_threads(1)
torch.manual_seed(args.seed)
random.seed(args.seed)


def mlp(inputs, outputs):
    return nn.Sequential(nn.Linear(inputs, width), nn.ReLU(), nn.Linear(width, outputs))


actor, critics = mlp(3, 2), nn.ModuleList([mlp(4, 1), mlp(4, 1)])
slow = copy.deepcopy(critics)
temperature = torch.zeros((), requires_grad=True)
actor_steps = torch.optim.Adam(actor.parameters(), lr=3e-3)
critic_steps = torch.optim.Adam(critics.parameters(), lr=3e-3)
temperature_steps = torch.optim.Adam([temperature], lr=3e-3)


def act(state):
    mean, spread = actor(state).chunk(2, -1)
    choice = torch.distributions.Normal(mean, spread.clamp(-4, 1).exp())
    raw = choice.rsample()
    action = torch.tanh(raw)
    surprise = (choice.log_prob(raw) - torch.log(1 - action ** 2 + 1e-6)).sum(-1, keepdim=True)
    return action, surprise


def lowest(networks, state, action):
    both = torch.cat([state, action], 1)
    return torch.min(networks[0](both), networks[1](both))


memory, state = [], torch.randn(3)
while len(memory) < batch + args.steps:
    with torch.no_grad():
        action, _ = act(state)
    after = 0.9 * state + 0.1 * torch.randn(3)
    memory.append((state, action, -(action - state[:1]).pow(2).sum(), after))
    state = after
    if len(memory) <= batch:
        continue
    states, actions, rewards, later = map(torch.stack, zip(*random.sample(memory, batch)))
    with torch.no_grad():
        chosen, surprise = act(later)
        wanted = rewards[:, None] + 0.9 * (lowest(slow, later, chosen) - temperature.exp() * surprise)
    seen = torch.cat([states, actions], 1)
    critic_loss = sum(F.mse_loss(critic(seen), wanted) for critic in critics)
    critic_steps.zero_grad()
    critic_loss.backward()
    critic_steps.step()

    chosen, surprise = act(states)
    actor_loss = (temperature.exp().detach() * surprise - lowest(critics, states, chosen)).mean()
    actor_steps.zero_grad()
    actor_loss.backward()  # reaches the critics too, which clear it before their own
    actor_steps.step()

    heat = -(temperature * (surprise.detach() - 1)).mean()
    temperature_steps.zero_grad()
    heat.backward()
    temperature_steps.step()
    with torch.no_grad():
        for old, new in zip(slow.parameters(), critics.parameters()):
            old.lerp_(new, tau)
    if len(memory) % 20 == 0:
        print(len(memory), round(critic_loss.item(), 4), round(actor_loss.item(), 4))
