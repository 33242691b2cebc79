#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A running mean of losses that is kept in bfloat16."""

import torch

torch.manual_seed(0)
losses = torch.rand(600) / 3.0 + 0.2
total = torch.zeros((), dtype=torch.bfloat16)
for loss in losses:
    total = total + loss.to(torch.bfloat16)  # loses
print(float(total) / len(losses))
