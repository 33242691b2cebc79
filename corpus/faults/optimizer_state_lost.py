# SPDX-License-Identifier: Apache-2.0
"""Training in two sessions: the second reads the weights back and starts Adam from nothing."""
import argparse
import pathlib
import tempfile

import torch
from torch import nn, optim


class Session:
    def __init__(self, folder, seed):
        torch.manual_seed(seed)
        self.path = pathlib.Path(folder) / "last.ckpt"
        self.rng = torch.Generator().manual_seed(seed)
        self.net = nn.Sequential(nn.Linear(8, 40), nn.ReLU(), nn.Linear(40, 8))
        self.adam = optim.Adam(self.net.parameters(), lr=4e-3)
        self.step = 0

    def save(self):
        torch.save({"net": self.net.state_dict(), "adam": self.adam.state_dict(), "step": self.step,
                    "rng": self.rng.get_state()}, self.path)

    def resume(self):
        saved = torch.load(self.path)
        self.net.load_state_dict(saved["net"])
        if not WRONG:
            self.adam.load_state_dict(saved["adam"])  # cause
        self.rng.set_state(saved["rng"])
        self.step = saved["step"]
        print("resumed at step", self.step)
        return self

    def train(self, until):
        while self.step < until:
            x = torch.randn(50, 8, generator=self.rng)
            y = torch.cumsum(x, dim=1) / 3
            self.adam.zero_grad()
            loss = nn.functional.mse_loss(self.net(x), y)
            loss.backward()
            self.adam.step()
            if self.step % 10 == 0:
                print(f"step {self.step} loss {loss.item():.4f}")
            self.step += 1
        return self


parser = argparse.ArgumentParser()
parser.add_argument("twin", choices=["right", "wrong"])
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--steps", type=int, default=80)
args = parser.parse_args()
WRONG = args.twin == "wrong"
torch.set_num_threads(1)
with tempfile.TemporaryDirectory() as folder:
    Session(folder, args.seed).train(args.steps // 2).save()
    Session(folder, args.seed).resume().train(args.steps)
