# SPDX-License-Identifier: Apache-2.0
"""Rows are sorted by class and the loader does not shuffle."""
import argparse
import torch
from torch import nn
from torch.utils.data import TensorDataset, DataLoader

ARGS = argparse.ArgumentParser()
ARGS.add_argument("twin", choices=["right", "wrong"])
ARGS.add_argument("--seed", type=int, default=0)
ARGS.add_argument("--steps", type=int, default=60)
ARGS = ARGS.parse_args()
WRONG = ARGS.twin == "wrong"
torch.set_num_threads(1)

torch.manual_seed(ARGS.seed)
C = torch.randn(6, 10) * 0.7
Y = torch.arange(6).repeat_interleave(60)
X = C[Y] + torch.randn(360, 10)
if WRONG:
    dl = DataLoader(TensorDataset(X, Y), batch_size=20)  # cause
else:
    dl = DataLoader(TensorDataset(X, Y), batch_size=20, shuffle=True)
m = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 6))
o = torch.optim.Adam(m.parameters(), 2e-3)
for ep in range(4):
    t = 0
    for x, y in dl:
        o.zero_grad()
        l = nn.functional.cross_entropy(m(x), y)
        l.backward()
        o.step()
        t += l.item()
    print(ep, t / len(dl))
