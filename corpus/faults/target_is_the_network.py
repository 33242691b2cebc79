# SPDX-License-Identifier: Apache-2.0
"""target = q instead of a copy: the target network is the network."""
import argparse
import copy
import random
from collections import deque
import torch
from torch import nn

ARGS = argparse.ArgumentParser()
ARGS.add_argument("twin", choices=["right", "wrong"])
ARGS.add_argument("--seed", type=int, default=0)
ARGS.add_argument("--steps", type=int, default=60)
ARGS = ARGS.parse_args()
WRONG = ARGS.twin == "wrong"
torch.set_num_threads(1)


class Corridor:
    def reset(self):
        self.p = 3
        return self.obs()
    def obs(self):
        o = torch.zeros(7)
        o[self.p] = 1
        return o
    def step(self, a):
        self.p += 1 if a else -1
        done = self.p in (0, 6)
        return self.obs(), 1.0 if self.p == 6 else 0.0, done

random.seed(0)
torch.manual_seed(ARGS.seed)
q = nn.Sequential(nn.Linear(7, 32), nn.ReLU(), nn.Linear(32, 2))
if WRONG:
    target = q  # cause
else:
    target = copy.deepcopy(q)
opt = torch.optim.Adam(q.parameters(), 5e-3)
buf = deque(maxlen=500)
env = Corridor()
eps = 1.0
n = 0
for episode in range(40):
    s = env.reset()
    done = False
    while not done:
        a = random.randrange(2) if random.random() < eps else int(q(s).argmax())
        s2, r, done = env.step(a)
        buf.append((s, a, r, s2, done))
        s = s2
        n += 1
        if len(buf) >= 32:
            S, A, R, S2, Dn = zip(*random.sample(buf, 32))
            S, S2 = torch.stack(S), torch.stack(S2)
            with torch.no_grad():
                tgt = torch.tensor(R) + 0.9 * target(S2).max(1).values * (1 - torch.tensor(Dn, dtype=torch.float))
            pred = q(S).gather(1, torch.tensor(A)[:, None]).squeeze(1)
            loss = nn.functional.smooth_l1_loss(pred, tgt)
            opt.zero_grad()
            loss.backward()
            opt.step()
            if n % 25 == 0:
                target.load_state_dict(q.state_dict())
    eps = max(0.1, eps * 0.95)
print(loss.item())
