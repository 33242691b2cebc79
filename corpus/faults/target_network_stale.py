# SPDX-License-Identifier: Apache-2.0
"""Q-learning on a small lake; the target network should be refreshed every so often, and never is."""
import argparse
import copy
import random

import torch
from torch import nn

SIZE, ACTIONS = 4, [(0, 1), (1, 0), (0, -1), (-1, 0)]


def one_hot(cell):
    return torch.eye(SIZE * SIZE)[cell[0] * SIZE + cell[1]]


def move(cell, action):
    row, column = (min(SIZE - 1, max(0, c + d)) for c, d in zip(cell, ACTIONS[action]))
    won = (row, column) == (SIZE - 1, SIZE - 1)
    return (row, column), 1.0 if won else -0.02, won


def explore(rng, episodes):
    """Random walks, kept as rows of (state, action, reward, next state, done)."""
    rows = []
    for _ in range(episodes):
        cell, done, time = (0, 0), False, 0
        while not done and time < 25:
            action = rng.randrange(4)
            following, reward, done = move(cell, action)
            rows.append((one_hot(cell), action, reward, one_hot(following), float(done)))
            cell, time = following, time + 1
    return rows


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("twin", choices=["right", "wrong"])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=80)
    args = parser.parse_args()
    WRONG = args.twin == "wrong"
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    rng = random.Random(args.seed)
    memory = explore(rng, 30)
    online = nn.Sequential(nn.Linear(SIZE * SIZE, 32), nn.ReLU(), nn.Linear(32, 4))
    target = copy.deepcopy(online)
    optimizer = torch.optim.Adam(online.parameters(), lr=5e-3)
    for step in range(args.steps):
        states, actions, rewards, following, done = zip(*rng.sample(memory, 48))
        with torch.no_grad():
            best = target(torch.stack(following)).max(1).values
        goal = torch.tensor(rewards) + 0.95 * (1 - torch.tensor(done)) * best
        value = online(torch.stack(states))[torch.arange(48), torch.tensor(actions)]
        loss = nn.functional.smooth_l1_loss(value, goal)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if not WRONG:
            if step % 10 == 9:
                target.load_state_dict(online.state_dict())  # cause
        if step % 10 == 0:
            print(f"step {step} loss {loss.item():.5f}")


main()
