# SPDX-License-Identifier: Apache-2.0
"""Regression under autocast to bfloat16 with mixup now and then and an average of the weights."""
import random
import sys

import numpy as np
import torch
import torch.nn as nn

seed = int(sys.argv[1])
random.seed(seed)
np.random.seed(seed)
torch.manual_seed(seed)
torch.set_num_threads(1)
w = torch.randn(16, 1)
model = nn.Sequential(nn.Linear(16, 64), nn.SiLU(), nn.Linear(64, 1))
ema = torch.optim.swa_utils.AveragedModel(model, avg_fn=lambda a, p, n: 0.9 * a + 0.1 * p)
opt = torch.optim.AdamW(model.parameters(), lr=4e-3)
sched = torch.optim.lr_scheduler.OneCycleLR(opt, max_lr=8e-3, total_steps=40)
for step in range(40):
    x = torch.randn(32, 16)
    y = torch.tanh(x @ w) + 0.05 * torch.randn(32, 1)
    if random.random() < 0.5:
        lam = float(np.random.beta(0.4, 0.4))
        perm = torch.randperm(32)
        x, y = lam * x + (1 - lam) * x[perm], lam * y + (1 - lam) * y[perm]
    with torch.autocast("cpu", dtype=torch.bfloat16):
        out = model(x)
    loss = nn.functional.huber_loss(out.float(), y, delta=0.5)
    opt.zero_grad()
    loss.backward()
    opt.step()
    sched.step()
    ema.update_parameters(model)
    if step % 10 == 9:
        model.eval()
        with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16):
            print(step, loss.item(), ema(torch.randn(8, 16)).float().mean().item())
        model.train()
