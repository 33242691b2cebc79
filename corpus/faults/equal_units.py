# SPDX-License-Identifier: Apache-2.0
"""All weights begin with one value: the units of a layer stay equal."""
import argparse
import torch
from torch import nn

ARGS = argparse.ArgumentParser()
ARGS.add_argument("twin", choices=["right", "wrong"])
ARGS.add_argument("--seed", type=int, default=0)
ARGS.add_argument("--steps", type=int, default=60)
ARGS = ARGS.parse_args()
WRONG = ARGS.twin == "wrong"
torch.set_num_threads(1)


def init_weights(m):
    if isinstance(m, nn.Linear):
        if WRONG:
            nn.init.constant_(m.weight, 0.05)  # cause
        else:
            nn.init.kaiming_uniform_(m.weight)
        nn.init.zeros_(m.bias)

torch.manual_seed(ARGS.seed)
net = nn.Sequential(nn.Linear(8, 32), nn.Tanh(), nn.Linear(32, 16), nn.Tanh(), nn.Linear(16, 3))
net.apply(init_weights)
opt = torch.optim.SGD(net.parameters(), 0.1, momentum=0.9)
w = torch.randn(8, 3)
for i in range(ARGS.steps):
    x = torch.randn(40, 8)
    y = (x @ w).argmax(1)
    loss = nn.functional.cross_entropy(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if i % 20 == 0:
        print(i, loss.item())
