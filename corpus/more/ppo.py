# SPDX-License-Identifier: Apache-2.0
"""PPO on a cart with a pole that is written out here: episodes end when they end, updates stop at a divergence."""
import sys

import numpy as np
import torch
import torch.nn as nn
from torch.distributions import Categorical

seed = int(sys.argv[1])
rng = np.random.default_rng(seed)
torch.manual_seed(seed)
torch.set_num_threads(1)


class Cart:
    def reset(self):
        self.s, self.t = rng.uniform(-0.05, 0.05, 4), 0
        return self.s.astype("float32")

    def step(self, a):
        x, v, th, w = self.s
        f = 10.0 if a == 1 else -10.0
        tmp = (f + 0.05 * w * w * np.sin(th)) / 1.1
        acc = (9.8 * np.sin(th) - np.cos(th) * tmp) / (0.5 * (4 / 3 - 0.1 * np.cos(th) ** 2 / 1.1))
        self.s = np.array([x + 0.02 * v, v + 0.02 * (tmp - 0.05 * acc * np.cos(th) / 1.1), th + 0.02 * w, w + 0.02 * acc])
        self.t += 1
        done = abs(self.s[0]) > 2.4 or abs(self.s[2]) > 0.2 or self.t >= 60
        return self.s.astype("float32"), 1.0, done


class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 32), nn.Tanh())
        self.pi, self.v = nn.Linear(32, 2), nn.Linear(32, 1)

    def forward(self, x):
        h = self.body(x)
        return Categorical(logits=self.pi(h)), self.v(h).squeeze(-1)


env, net = Cart(), ActorCritic()
opt = torch.optim.Adam(net.parameters(), lr=5e-3, eps=1e-5)
obs, lengths, length = env.reset(), [], 0
for update in range(6):
    buf = {k: [] for k in ("s", "a", "lp", "r", "d", "v")}
    for _ in range(48):
        with torch.no_grad():
            dist, value = net(torch.from_numpy(obs).unsqueeze(0))
            action = dist.sample()
        nxt, reward, done = env.step(action.item())
        length += 1
        for k, v in zip(buf, (torch.from_numpy(obs), action[0], dist.log_prob(action)[0], reward, done, value[0])):
            buf[k].append(v)
        obs = nxt
        if done:
            lengths.append(length)
            obs, length = env.reset(), 0
    returns, g = [], 0.0
    for r, d in zip(reversed(buf["r"]), reversed(buf["d"])):
        g = r + 0.97 * g * (not d)
        returns.insert(0, g)
    s, a, lp, v = (torch.stack(buf[k]) for k in ("s", "a", "lp", "v"))
    ret = torch.tensor(returns)
    adv = ret - v
    adv = (adv - adv.mean()) / (adv.std() + 1e-8)
    for epoch in range(3):
        for idx in torch.randperm(48).split(24):
            dist, value = net(s[idx])
            ratio = (dist.log_prob(a[idx]) - lp[idx]).exp()
            clipped = torch.clamp(ratio, 0.8, 1.2)
            loss = -torch.min(ratio * adv[idx], clipped * adv[idx]).mean() + 0.005 * (value - ret[idx]).pow(2).mean()
            loss = loss - 0.01 * dist.entropy().mean()
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), 0.5)
            opt.step()
        kl = (lp - net(s)[0].log_prob(a)).mean().item()
        if kl > 0.03:
            break
    print(update, np.mean(lengths[-5:]) if lengths else 0, loss.item())
