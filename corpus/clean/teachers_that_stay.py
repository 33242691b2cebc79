# SPDX-License-Identifier: Apache-2.0
"""A frozen copy is asked in every step and should not move.

A: a net that was trained teaches its next generation, which begins as its copy. B: a reference that was
trained before and read from a file holds a policy back. C: a target network that is refreshed more rarely
than the run is long.
"""
import argparse
import copy
import io

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

parser = argparse.ArgumentParser()
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--steps", type=int, default=60)
parser.add_argument("--config", choices=["A", "B", "C"], default="A")
args = parser.parse_args()
torch.set_num_threads(1)
torch.manual_seed(args.seed)


def make(width):
    return nn.Sequential(nn.Linear(8, width), nn.ReLU(), nn.Linear(width, 4))


def rows(batch):
    x = torch.randn(batch * max(1, args.steps // 3), 8)
    y = (x[:, :4] + 0.5 * x[:, 4:]).argmax(1)
    return DataLoader(TensorDataset(x, y), batch, shuffle=True)


def supervised(net, loader, epochs, teacher=None):
    opt = torch.optim.Adam(net.parameters(), 5e-3)
    for _ in range(epochs):
        for x, y in loader:
            out = net(x)
            loss = F.cross_entropy(out, y)
            if teacher is not None:
                with torch.no_grad():
                    wanted = teacher(x).softmax(1)
                loss = loss + F.kl_div(out.log_softmax(1), wanted, reduction="batchmean")
            opt.zero_grad()
            loss.backward()
            opt.step()
        print(f"loss {loss.item():.4f}")


def frozen(net):
    return copy.deepcopy(net).requires_grad_(False).eval()


def generations():
    net, loader = make(48), rows(24)
    supervised(net, loader, 2)
    supervised(net, loader, 3, teacher=frozen(net))


def held_back():
    store, loader = io.BytesIO(), rows(32)
    before = make(32)
    supervised(before, loader, 2)
    torch.save(before.state_dict(), store)
    store.seek(0)
    policy = make(32)
    policy.load_state_dict(torch.load(store))
    supervised(policy, loader, 3, teacher=frozen(policy))


def rarely_refreshed():
    net = make(64)
    target = frozen(net)
    opt = torch.optim.SGD(net.parameters(), 0.05)
    for step in range(args.steps):
        state, following, reward = torch.randn(32, 8), torch.randn(32, 8), torch.rand(32)
        action = torch.randint(0, 4, (32, 1))
        with torch.no_grad():
            goal = reward + 0.9 * target(following).max(1).values
        loss = F.smooth_l1_loss(net(state).gather(1, action).squeeze(1), goal)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if (step + 1) % 1000 == 0:
            target.load_state_dict(net.state_dict())
        if step % 20 == 0:
            print(f"loss {loss.item():.4f}")


{"A": generations, "B": held_back, "C": rarely_refreshed}[args.config]()
