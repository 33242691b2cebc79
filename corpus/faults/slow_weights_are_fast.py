# SPDX-License-Identifier: Apache-2.0
"""Self-supervised forecasting: slow weights give the targets. They were assigned, and are the fast ones."""
import argparse
import copy

import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.inner = nn.GRU(2, width, batch_first=True)
        self.outer = nn.Linear(width, 8)

    def forward(self, wave):
        return self.outer(self.inner(wave)[0][:, -1])


class Bootstrap:
    """The future's code, by slow weights, is what the past's code is to predict."""

    def __init__(self, width: int) -> None:
        self.fast = Encoder(width)
        if WRONG:
            self.slow = self.fast  # cause
        else:
            self.slow = copy.deepcopy(self.fast)
        self.forecast = nn.Linear(8, 8)
        self.optimizer = torch.optim.NAdam([*self.fast.parameters(), *self.forecast.parameters()], lr=3e-3)

    def settle(self, decay: float = 0.97) -> None:
        new, old = self.fast.state_dict(), self.slow.state_dict()
        self.slow.load_state_dict({key: decay * old[key] + (1 - decay) * new[key] for key in new})

    def learn(self, past, future) -> float:
        with torch.no_grad():
            code = nn.functional.normalize(self.slow(future), dim=-1)
        guess = nn.functional.normalize(self.forecast(self.fast(past)), dim=-1)
        loss = 2 - 2 * (guess * code).sum(-1).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.settle()
        return loss.item()


def waves(count: int, length: int = 24):
    phase, speed = torch.rand(count, 1) * 6.3, 0.2 + 0.4 * torch.rand(count, 1)
    angle = phase + speed * torch.arange(length)
    both = torch.stack([angle.sin(), angle.cos()], -1) + 0.05 * torch.randn(count, length, 2)
    return both[:, :length // 2], both[:, length // 2:]


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("twin", choices=["right", "wrong"])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=60)
    arguments = parser.parse_args()
    WRONG = arguments.twin == "wrong"
    torch.set_num_threads(1)
    torch.manual_seed(arguments.seed)
    task = Bootstrap(24)
    for step in range(arguments.steps):
        value = task.learn(*waves(32))
        if step % 15 == 0:
            print(f"{step:3} {value:.4f}")
