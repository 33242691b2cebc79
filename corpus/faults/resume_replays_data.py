# SPDX-License-Identifier: Apache-2.0
"""A run is interrupted in the middle of an epoch; the second half begins with the first rows again."""
import argparse
import io

import torch
from torch import nn, optim


def permutation(epoch, rows, seed):
    return torch.randperm(rows, generator=torch.Generator().manual_seed(seed * 100 + epoch))


class Run:
    def __init__(self, x, y, seed, batch=16):
        self.x, self.y, self.seed, self.batch = x, y, seed, batch
        torch.manual_seed(seed)
        self.net = nn.Sequential(nn.Linear(5, 32), nn.Mish(), nn.Linear(32, 2))
        self.opt = optim.Adamax(self.net.parameters(), lr=1e-2)
        self.epoch = self.position = 0

    def checkpoint(self):
        buffer = io.BytesIO()
        torch.save({"net": self.net.state_dict(), "opt": self.opt.state_dict(), "epoch": self.epoch,
                    "position": self.position}, buffer)
        buffer.seek(0)
        return buffer

    def restore(self, buffer):
        saved = torch.load(buffer)
        self.net.load_state_dict(saved["net"])
        self.opt.load_state_dict(saved["opt"])
        self.epoch = saved["epoch"]
        if not WRONG:
            self.position = saved["position"]  # cause

    def advance(self, steps):
        for _ in range(steps):
            order = permutation(self.epoch, len(self.x), self.seed)
            rows = order[self.position:self.position + self.batch]
            self.opt.zero_grad()
            loss = nn.functional.cross_entropy(self.net(self.x[rows]), self.y[rows])
            loss.backward()
            self.opt.step()
            self.position += self.batch
            if self.position >= len(self.x):
                self.epoch, self.position = self.epoch + 1, 0
        print(f"epoch {self.epoch} row {self.position} loss {loss.item():.4f}")


parser = argparse.ArgumentParser()
parser.add_argument("twin", choices=["right", "wrong"])
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--steps", type=int, default=60)
args = parser.parse_args()
WRONG = args.twin == "wrong"
torch.set_num_threads(1)
data = torch.randn(480, 5, generator=torch.Generator().manual_seed(args.seed))
labels = (data[:, 0] * data[:, 1] + data[:, 2] > 0).long()
first = Run(data, labels, args.seed)
for _ in range(3):
    first.advance(args.steps // 6 + 5)
saved = first.checkpoint()
second = Run(data, labels, args.seed)
second.restore(saved)
for _ in range(3):
    second.advance(args.steps // 6)
