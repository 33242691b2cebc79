# SPDX-License-Identifier: Apache-2.0
"""Adam gives way to SGD after a while; the schedule still belongs to Adam, and SGD's rate never falls."""
import argparse

import torch
from torch import nn
from torch.optim.lr_scheduler import ExponentialLR


class Trainer:
    def __init__(self, model, switch_at):
        self.model, self.switch_at, self.step_count = model, switch_at, 0
        self.use(torch.optim.Adam(model.parameters(), lr=1e-2))

    def use(self, optimizer):
        self.optimizer = optimizer
        self.scheduler = ExponentialLR(optimizer, gamma=0.97)

    def switch(self):
        sgd = torch.optim.SGD(self.model.parameters(), lr=0.05, momentum=0.9)
        if WRONG:
            self.optimizer = sgd  # cause
        else:
            self.use(sgd)

    def step(self, x, y):
        if self.step_count == self.switch_at:
            self.switch()
        self.optimizer.zero_grad()
        loss = nn.functional.mse_loss(self.model(x), y)
        loss.backward()
        self.optimizer.step()
        self.scheduler.step()
        self.step_count += 1
        return loss.item()


def rays(count):
    """The angle at which light leaves a prism."""
    incoming, index = torch.rand(count, 1) * 1.2, 1 + torch.rand(count, 1)
    return torch.cat([incoming, index - 1], 1), torch.asin(torch.sin(incoming) / index)


parser = argparse.ArgumentParser()
parser.add_argument("twin", choices=["right", "wrong"])
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--steps", type=int, default=60)
args = parser.parse_args()
WRONG = args.twin == "wrong"
torch.set_num_threads(1)
torch.manual_seed(args.seed)
trainer = Trainer(nn.Sequential(nn.Linear(2, 32), nn.Softplus(), nn.Linear(32, 1)), switch_at=args.steps // 2)
for i in range(args.steps):
    loss = trainer.step(*rays(64))
    if i % 6 == 0:
        print(f"step {i} loss {loss:.6f}")
