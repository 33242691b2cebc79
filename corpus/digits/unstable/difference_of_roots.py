#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The difference of two square roots of large neighbours."""

import torch

x = torch.linspace(1.0e6, 2.0e6, 50)
gap = torch.sqrt(x + 1.0) - torch.sqrt(x)  # loses
print(gap[:3])
