# SPDX-License-Identifier: Apache-2.0
"""ReduceLROnPlateau(mode="max") is given a loss: the rate falls as training goes well."""
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

torch.manual_seed(ARGS.seed)
X = torch.randn(300, 10)
Y = X @ torch.randn(10, 1) + 0.1 * torch.randn(300, 1)
net = nn.Sequential(nn.Linear(10, 32), nn.Tanh(), nn.Linear(32, 1))
opt = torch.optim.Adam(net.parameters(), 5e-3)
if WRONG:
    sch = torch.optim.lr_scheduler.ReduceLROnPlateau(opt, mode="max", patience=1, factor=0.5)  # cause
else:
    sch = torch.optim.lr_scheduler.ReduceLROnPlateau(opt, mode="min", patience=1, factor=0.5)
for ep in range(12):
    s = 0
    for b in torch.randperm(240).split(24):
        l = (net(X[b]) - Y[b]).pow(2).mean()
        opt.zero_grad()
        l.backward()
        opt.step()
        s += l.item()
    with torch.no_grad():
        v = (net(X[240:]) - Y[240:]).pow(2).mean().item()
    sch.step(v)
    print(ep, s / 10, v, opt.param_groups[0]["lr"])
