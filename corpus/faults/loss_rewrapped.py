# SPDX-License-Identifier: Apache-2.0
"""A bandit's policy: the loss is put together from numbers, so that backward() ends in a lone tensor."""
import argparse
import random

import torch

parser = argparse.ArgumentParser()
parser.add_argument("twin", choices=["right", "wrong"])
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--steps", type=int, default=60)
args = parser.parse_args()
WRONG = args.twin == "wrong"
torch.set_num_threads(1)
torch.manual_seed(args.seed)
random.seed(args.seed)

ARMS = 5
payout = torch.rand(3, ARMS)


class Policy(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.table = torch.nn.Linear(3, 16)
        self.choice = torch.nn.Linear(16, ARMS)

    def forward(self, context):
        return torch.log_softmax(self.choice(torch.relu(self.table(context))), dim=-1)


policy = Policy()
optimizer = torch.optim.Adam(policy.parameters(), lr=0.02)
mean_reward = 0.5
for episode in range(args.steps):
    terms = []
    rewards = []
    for _ in range(8):
        kind = random.randrange(3)
        context = torch.nn.functional.one_hot(torch.tensor(kind), 3).float()
        logits = policy(context)
        arm = torch.multinomial(logits.exp(), 1).item()
        reward = float(random.random() < payout[kind, arm])
        rewards.append(reward)
        terms.append(-logits[arm] * (reward - mean_reward))
    if WRONG:
        loss = torch.tensor([float(term) for term in terms], requires_grad=True).mean()  # cause
    else:
        loss = torch.stack(terms).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    mean_reward += 0.05 * (sum(rewards) / 8 - mean_reward)
    if episode % 10 == 0:
        print(f"episode {episode} loss {loss.item():.4f} reward {mean_reward:.3f}")
