#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The same with the library function."""

import torch

torch.manual_seed(0)
scores = torch.randn(6, 20) * 5.0 - 300.0
print(torch.logsumexp(scores, dim=1))
