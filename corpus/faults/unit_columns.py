# SPDX-License-Identifier: Apache-2.0
"""normalize(dim=0): embeddings of a batch share a length instead of each having one."""
import argparse
import torch
from torch import nn
import torch.nn.functional as F

ARGS = argparse.ArgumentParser()
ARGS.add_argument("twin", choices=["right", "wrong"])
ARGS.add_argument("--seed", type=int, default=0)
ARGS.add_argument("--steps", type=int, default=60)
ARGS = ARGS.parse_args()
WRONG = ARGS.twin == "wrong"
torch.set_num_threads(1)


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 16))
    def forward(self, x):
        z = self.body(x)
        if WRONG:
            return F.normalize(z, dim=0)  # cause
        else:
            return F.normalize(z, dim=1)

def nt_xent(a, b, t=0.2):
    z = torch.cat([a, b])
    n = len(a)
    sim = z @ z.t() / t
    sim.fill_diagonal_(-1e9)
    tgt = torch.cat([torch.arange(n, 2 * n), torch.arange(n)])
    return F.cross_entropy(sim, tgt)

def train():
    torch.manual_seed(ARGS.seed)
    base = torch.randn(300, 20)
    enc = Encoder()
    opt = torch.optim.Adam(enc.parameters(), 2e-3)
    for ep in range(6):
        s = 0.
        for idx in torch.randperm(300).split(30):
            v1 = base[idx] + 0.2 * torch.randn(30, 20)
            v2 = base[idx] + 0.2 * torch.randn(30, 20)
            loss = nt_xent(enc(v1), enc(v2))
            opt.zero_grad()
            loss.backward()
            opt.step()
            s += loss.item()
        print(ep, s / 10)
train()
