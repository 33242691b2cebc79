# SPDX-License-Identifier: Apache-2.0
"""A run in two parts that goes on as if it had never stopped: weights, optimizer, schedule, random state, place."""
import argparse
import os
import tempfile

import torch
from torch import nn


class State:
    """All that a run needs to go on."""

    def __init__(self, config, total):
        width, self.batch, kind = {"A": (24, 32, "adam"), "B": (32, 16, "sgd"), "C": (16, 48, "adam")}[config]
        self.model = nn.Sequential(nn.Linear(4, width), nn.BatchNorm1d(width), nn.ReLU(), nn.Linear(width, 1))
        parameters = self.model.parameters()
        self.optimizer = torch.optim.Adam(parameters, lr=1e-2) if kind == "adam" else torch.optim.SGD(parameters, lr=0.02, momentum=0.9)
        self.scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(self.optimizer, total)
        self.step = 0
        self.order = torch.Generator().manual_seed(7)

    def save(self, path):
        torch.save({"model": self.model.state_dict(), "optimizer": self.optimizer.state_dict(),
                    "scheduler": self.scheduler.state_dict(), "step": self.step, "order": self.order.get_state(),
                    "torch": torch.get_rng_state()}, path + ".tmp")
        os.replace(path + ".tmp", path)

    @classmethod
    def load(cls, path, config, total):
        state, saved = cls(config, total), torch.load(path)
        for part in ("model", "optimizer", "scheduler"):
            getattr(state, part).load_state_dict(saved[part])
        state.step = saved["step"]
        state.order.set_state(saved["order"])
        torch.set_rng_state(saved["torch"])
        return state


def advance(state, until):
    state.model.train()
    while state.step < until:
        x = torch.randn(state.batch, 4, generator=state.order)
        y = (x[:, :1] * x[:, 1:2]).tanh() + 0.05 * torch.randn(state.batch, 1)
        state.optimizer.zero_grad()
        loss = nn.functional.mse_loss(state.model(x), y)
        loss.backward()
        state.optimizer.step()
        state.scheduler.step()
        state.step += 1
        if state.step % 10 == 0:
            print(f"step {state.step} loss {loss.item():.4f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--config", choices=["A", "B", "C"], default="A")
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "state.pt")
        first = State(args.config, args.steps)
        advance(first, args.steps // 2)
        first.save(path)
        advance(State.load(path, args.config, args.steps), args.steps)
