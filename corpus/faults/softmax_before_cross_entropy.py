# SPDX-License-Identifier: Apache-2.0
"""The network ends in a softmax, and cross_entropy takes another one of it: it learns, slowly, and stops early."""
import argparse

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("twin", choices=["right", "wrong"])
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--steps", type=int, default=80)
args = parser.parse_args()
WRONG = args.twin == "wrong"


class Iris(nn.Module):
    def __init__(self):
        super().__init__()
        self.l1 = nn.Linear(4, 24)
        self.l2 = nn.Linear(24, 3)

    def forward(self, x):
        x = self.l2(torch.relu(self.l1(x)))
        if WRONG:
            x = torch.softmax(x, dim=1)  # cause
        return x


def flowers(n):
    species = torch.randint(0, 3, (n,))
    means = torch.tensor([[5.0, 3.4, 1.5, 0.2], [5.9, 2.8, 4.3, 1.3], [6.6, 3.0, 5.6, 2.0]])
    return means[species] + torch.randn(n, 4) * 0.35, species


torch.set_num_threads(1)
torch.manual_seed(args.seed)
model = Iris()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
loss_function = nn.CrossEntropyLoss()
for step in range(args.steps):
    x, y = flowers(50)
    optimizer.zero_grad()
    loss = loss_function(model(x), y)
    loss.backward()
    optimizer.step()
    if step % 10 == 0:
        print(f"step {step} loss {loss.item():.4f}")
