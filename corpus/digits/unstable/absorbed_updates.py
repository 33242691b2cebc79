#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Parameters in bfloat16 with a rate at which updates vanish."""

import torch

torch.manual_seed(0)
model = torch.nn.Linear(16, 1).to(torch.bfloat16)
with torch.no_grad():
    model.weight.add_(3.0)
optimizer = torch.optim.SGD(model.parameters(), lr=1.0e-5)
x = torch.randn(64, 16)
y = (x @ torch.full((16, 1), 2.5)).to(torch.bfloat16)
x = x.to(torch.bfloat16)
for step in range(20):
    optimizer.zero_grad()
    loss = ((model(x) - y).float() ** 2).mean()
    loss.backward()
    optimizer.step()  # loses
print(loss.item())
