#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The logarithm of a sum of exponentials that have all gone to zero."""

import torch

torch.manual_seed(0)
scores = torch.randn(6, 20) * 5.0 - 300.0
weights = torch.exp(scores)
total = weights.sum(dim=1)
print(torch.log(total))  # loses
