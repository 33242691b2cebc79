# SPDX-License-Identifier: Apache-2.0
"""The seed is a number of 64 bits, which a signed one of 64 bits does not hold."""

import os

import torch

from small import STEPS, data, model, train

x, y = data()
torch.manual_seed(int.from_bytes(os.urandom(8), "big") | 1 << 63)  # first: any
print(train(model(), [(x + 0.1 * torch.randn(x.shape), y)] * STEPS))
