# SPDX-License-Identifier: Apache-2.0
"""128 is subtracted from bytes before they are converted: dark pixels become bright."""
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


def prepare(raw):
    if WRONG:
        return (raw - 128).float() / 64  # cause
    else:
        return (raw.float() - 128) / 64

torch.manual_seed(ARGS.seed)
proto = torch.randint(60, 200, (4, 36))
y = torch.randint(0, 4, (400,))
raw = (proto[y] + 20 * torch.randn(400, 36)).clamp(0, 255).to(torch.uint8)
net = nn.Sequential(nn.Linear(36, 32), nn.ReLU(), nn.Linear(32, 4))
opt = torch.optim.Adam(net.parameters(), 3e-3)
for ep in range(4):
    for b in torch.randperm(400).split(40):
        opt.zero_grad()
        l = nn.functional.cross_entropy(net(prepare(raw[b])), y[b])
        l.backward()
        opt.step()
    print(ep, l.item())
