# SPDX-License-Identifier: Apache-2.0
"""model.parameters() is kept in a variable; the optimizer uses it up and nothing is left to clip."""
import argparse

import torch
import torch.nn as nn


class Highway(nn.Module):
    def __init__(self, width, depth):
        super().__init__()
        self.inp = nn.Linear(5, width)
        self.transform = nn.ModuleList(nn.Linear(width, width) for _ in range(depth))
        self.carry = nn.ModuleList(nn.Linear(width, width) for _ in range(depth))
        self.out = nn.Linear(width, 1)

    def forward(self, x):
        x = torch.tanh(self.inp(x))
        for transform, carry in zip(self.transform, self.carry):
            gate = torch.sigmoid(carry(x))
            x = gate * torch.tanh(transform(x)) + (1 - gate) * x
        return self.out(x)


def energy(count):
    x = torch.randn(count, 5)
    return x, 3 * (x.pow(2).sum(1, keepdim=True) - 5) / 5


cli = argparse.ArgumentParser()
cli.add_argument("twin", choices=["right", "wrong"])
cli.add_argument("--seed", type=int, default=0)
cli.add_argument("--steps", type=int, default=60)
arguments = cli.parse_args()
WRONG = arguments.twin == "wrong"

torch.set_num_threads(1)
torch.manual_seed(arguments.seed)
model = Highway(24, 3)
if WRONG:
    parameters = model.parameters()  # cause
else:
    parameters = list(model.parameters())
optimizer = torch.optim.RMSprop(parameters, lr=2e-3)
total = 0.0
for step in range(1, arguments.steps + 1):
    x, y = energy(48)
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    nn.utils.clip_grad_norm_(parameters, max_norm=1.0)
    optimizer.step()
    total += loss.item()
    if step % 12 == 0:
        print(f"steps to {step}: loss {total / 12:.4f}")
        total = 0.0
