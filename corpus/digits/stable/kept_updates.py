#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The same training in single precision."""

import torch

torch.manual_seed(0)
model = torch.nn.Linear(16, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=1.0e-2)
x = torch.randn(64, 16)
y = x @ torch.full((16, 1), 2.5)
for step in range(20):
    optimizer.zero_grad()
    loss = ((model(x) - y) ** 2).mean()
    loss.backward()
    optimizer.step()
print(loss.item())
