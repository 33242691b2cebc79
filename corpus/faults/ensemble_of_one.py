# SPDX-License-Identifier: Apache-2.0
"""The optimizer of an ensemble has the parameters of its last member only."""
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
nets = [nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1)) for _ in range(3)]
if WRONG:
    for n in nets: params = list(n.parameters())  # cause
else:
    params = [p for n in nets for p in n.parameters()]
opt = torch.optim.Adam(params, 5e-3)
w = torch.randn(6, 1)
for i in range(ARGS.steps):
    x = torch.randn(32, 6)
    y = torch.sin(x @ w)
    pred = torch.stack([n(x) for n in nets]).mean(0)
    loss = nn.functional.mse_loss(pred, y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if i % 20 == 0:
        print(i, loss.item())
