# SPDX-License-Identifier: Apache-2.0
"""Weights from a generator that nobody seeds: what differs is made where the model is."""

import torch

from small import STEPS, data, train

x, y = data()
net = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.ReLU(), torch.nn.Linear(32, 4))  # first: any
print(train(net, [(x, y)] * STEPS))
