#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A normalisation layer of one's own with the short formula for the variance."""

import torch


class Norm(torch.nn.Module):
    def forward(self, x):
        mean = x.mean(0)
        variance = (x * x).mean(0) - mean * mean  # loses
        return (x - mean) / torch.sqrt(variance.abs() + 1e-5)


torch.manual_seed(0)
x = torch.randn(128, 8) * 0.1 + 40.0
print(Norm()(x).std(0))
