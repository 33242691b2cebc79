#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The layer of the library."""

import torch

torch.manual_seed(0)
x = torch.randn(128, 8) * 2.0 + 3.0
print(torch.nn.BatchNorm1d(8)(x).std(0))
