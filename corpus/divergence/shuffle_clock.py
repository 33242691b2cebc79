# SPDX-License-Identifier: Apache-2.0
"""The data are shuffled by the clock."""

import time

import torch

from small import STEPS, data, model, train

x, y = data()


def batches():
    for _ in range(STEPS):
        clock = time.time_ns()
        order = sorted(range(64), key=lambda row: (row * 2654435761 ^ clock) % 65521)
        rows = torch.tensor(order)  # first: tensor
        yield x[rows][:32], y[rows][:32]


print(train(model(), batches()))
