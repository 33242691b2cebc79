# SPDX-License-Identifier: Apache-2.0
"""What the programs share: a small model, data, a loop. Everything in it is seeded."""

import torch
import torch.nn.functional as F

STEPS = 4


def data(rows=64, features=16, classes=4):
    generator = torch.Generator().manual_seed(5)
    return (torch.randn(rows, features, generator=generator), torch.randint(0, classes, (rows,), generator=generator))


def model(features=16, classes=4):
    torch.manual_seed(1)
    return torch.nn.Sequential(torch.nn.Linear(features, 32), torch.nn.ReLU(), torch.nn.Linear(32, classes))


def train(net, batches, optimizer=None):
    optimizer = optimizer or torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
    for x, y in batches:
        optimizer.zero_grad()
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
    return loss.item()
