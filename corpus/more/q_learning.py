# SPDX-License-Identifier: Apache-2.0
"""Q-learning in a maze: exploration by chance, a replay memory, a target network that is copied now and then."""
import random
import sys
from collections import deque

import torch
import torch.nn as nn
import torch.nn.functional as F

seed = int(sys.argv[1])
random.seed(seed)
torch.manual_seed(seed)
torch.set_num_threads(1)
SIZE, GOAL = 5, (4, 4)


def encode(state):
    x = torch.zeros(SIZE * SIZE)
    x[state[0] * SIZE + state[1]] = 1.0
    return x


def move(state, a):
    r, c = state
    r, c = (max(r - 1, 0), c) if a == 0 else (min(r + 1, 4), c) if a == 1 else (r, max(c - 1, 0)) if a == 2 else (r, min(c + 1, 4))
    return (r, c), 1.0 if (r, c) == GOAL else -0.02, (r, c) == GOAL


q = nn.Sequential(nn.Linear(25, 32), nn.ReLU(), nn.Linear(32, 4))
target = nn.Sequential(nn.Linear(25, 32), nn.ReLU(), nn.Linear(32, 4))
target.load_state_dict(q.state_dict())
opt = torch.optim.Adam(q.parameters(), lr=2e-3)
memory, eps, steps = deque(maxlen=300), 1.0, 0
for episode in range(10):
    state = (random.randint(0, 2), random.randint(0, 2))
    for t in range(30):
        if random.random() < eps:
            action = random.randrange(4)
        else:
            with torch.no_grad():
                action = q(encode(state).unsqueeze(0)).argmax(1).item()
        nxt, reward, done = move(state, action)
        memory.append((encode(state), action, reward, encode(nxt), done))
        state = nxt
        if len(memory) >= 32:
            s, a, r, n, d = zip(*random.sample(memory, 16))
            with torch.no_grad():
                best = target(torch.stack(n)).max(1).values
                y = torch.tensor(r) + 0.95 * best * (1 - torch.tensor(d, dtype=torch.float))
            loss = F.smooth_l1_loss(q(torch.stack(s)).gather(1, torch.tensor(a).unsqueeze(1)).squeeze(1), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            steps += 1
            if steps % 40 == 0:
                target.load_state_dict(q.state_dict())
        if done:
            break
    eps = max(0.1, eps * 0.8)
    print(episode, t, eps)
