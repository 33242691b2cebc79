#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A running mean of losses that is kept in single precision."""

import torch

torch.manual_seed(0)
losses = torch.rand(600) / 3.0 + 0.2
total = torch.zeros(())
for loss in losses:
    total = total + loss
print(float(total) / len(losses))
