#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The same difference, rationalised."""

import torch

x = torch.linspace(1.0e6, 2.0e6, 50)
gap = 1.0 / (torch.sqrt(x + 1.0) + torch.sqrt(x))
print(gap[:3])
