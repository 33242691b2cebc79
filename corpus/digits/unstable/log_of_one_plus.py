#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""log(1 + x) for small x."""

import torch

odds = torch.linspace(1.0e-7, 5.0e-7, 30)
print(torch.log(1.0 + odds)[:3])  # loses
