# SPDX-License-Identifier: Apache-2.0
"""A loss scaler of its own: gradients overflow now and then, the step is skipped and the scale is halved."""
import sys

import torch
import torch.nn as nn

torch.manual_seed(int(sys.argv[1]))
torch.set_num_threads(1)
model = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 1))
opt = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
scale, good, skipped = 2.0 ** 15, 0, 0
for step in range(60):
    x = torch.randn(20, 6) * (10.0 if torch.rand(1).item() < 0.04 else 1.0)
    y = x[:, :2].prod(1, keepdim=True)
    loss = nn.functional.smooth_l1_loss(model(x), y)
    opt.zero_grad()
    (loss * scale).backward()
    halves = [p.grad.half() for p in model.parameters()]
    if all(torch.isfinite(h).all() for h in halves):
        for p in model.parameters():
            p.grad.div_(scale)
        opt.step()
        good += 1
        if good == 20:
            scale, good = scale * 2, 0
    else:
        scale, good, skipped = scale / 2, 0, skipped + 1
    if step % 20 == 19:
        print(step, loss.item(), scale, skipped)
