# SPDX-License-Identifier: Apache-2.0
"""DQN with a replay buffer and a target network that is copied now and then.

Rows come back from the buffer, the target network never sees an optimizer, and nothing is
learned until the buffer holds enough.
"""
import argparse
import collections
import copy
import random

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--steps", type=int, default=160)
parser.add_argument("--config", choices=["A", "B", "C"], default="A")
args = parser.parse_args()
BATCH, WIDTH, SYNC, SOFT = {"A": (32, 32, 25, False), "B": (16, 64, 10, False), "C": (48, 24, 1, True)}[args.config]
torch.set_num_threads(1)
torch.manual_seed(args.seed)
random.seed(args.seed)
Transition = collections.namedtuple("Transition", "state action reward following done")


def act(state, action):
    """A pole that drifts away; pushes bring it back. Position and speed."""
    position, speed = state.tolist()
    speed = 0.9 * speed + (0.3 if action else -0.3) + random.gauss(0, 0.05)
    position += 0.3 * speed
    done = abs(position) > 2
    return torch.tensor([position, speed]), 1.0 - abs(position) - 5.0 * done, done


class Agent:
    def __init__(self):
        self.online = nn.Sequential(nn.Linear(2, WIDTH), nn.ReLU(), nn.Linear(WIDTH, 2))
        self.target = copy.deepcopy(self.online).requires_grad_(False)
        self.optimizer = torch.optim.Adam(self.online.parameters(), lr=5e-3)
        self.memory = collections.deque(maxlen=500)
        self.updates = 0

    def choose(self, state, epsilon):
        if random.random() < epsilon:
            return random.randrange(2)
        with torch.no_grad():
            return int(self.online(state).argmax())

    def learn(self):
        rows = Transition(*zip(*random.sample(self.memory, BATCH)))
        states, following = torch.stack(rows.state), torch.stack(rows.following)
        actions, rewards = torch.tensor(rows.action), torch.tensor(rows.reward)
        alive = 1 - torch.tensor(rows.done, dtype=torch.float32)
        value = self.online(states).gather(1, actions[:, None])[:, 0]
        with torch.no_grad():
            goal = rewards + 0.9 * alive * self.target(following).max(1).values
        loss = nn.functional.smooth_l1_loss(value, goal)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.updates += 1
        if SOFT:
            for slow, fast in zip(self.target.parameters(), self.online.parameters()):
                slow.data.mul_(0.95).add_(fast.data, alpha=0.05)
        elif self.updates % SYNC == 0:
            self.target.load_state_dict(self.online.state_dict())
        return loss.item()


agent, state, losses = Agent(), torch.zeros(2), []
for t in range(args.steps):
    action = agent.choose(state, epsilon=max(0.1, 1 - t / 100))
    following, reward, done = act(state, action)
    agent.memory.append(Transition(state, action, reward, following, done))
    state = torch.zeros(2) if done else following
    if len(agent.memory) >= 2 * BATCH:
        losses.append(agent.learn())
        if len(losses) % 20 == 0:
            print(f"t {t} loss {sum(losses[-20:]) / 20:.4f}")
