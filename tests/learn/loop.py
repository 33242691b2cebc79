# SPDX-License-Identifier: Apache-2.0
"""A training loop with a place for a fault of every relation's: loop.py SEED [FAULT]."""
import os
import sys
import tempfile

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

FAULT = sys.argv[2] if len(sys.argv) > 2 else ""
torch.set_num_threads(1)
torch.manual_seed(int(sys.argv[1]))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(6, 8)
        self.norm = nn.BatchNorm1d(8)
        self.drop = nn.Dropout(0.2)
        self.last = nn.Linear(8, 3)

    def forward(self, x):
        x = self.drop(self.norm(torch.relu(self.first(x))))
        if FAULT == "output":
            x = x.double().to(torch.bfloat16).float()
            return F.linear(x.bfloat16(), self.last.weight.bfloat16(), self.last.bias.bfloat16()).float()
        return F.linear(x, self.last.weight, self.last.bias)


data = TensorDataset(torch.randn(64, 6), torch.randint(0, 3, (64,)))
loader = DataLoader(data, batch_size=8, shuffle=True)
model = Net()
optimizer = torch.optim.Adam(model.parameters() if FAULT != "changes" else model.first.parameters(), lr=1e-2)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 4)
folder = tempfile.mkdtemp()
before = {k: v.clone() for k, v in model.state_dict().items()}


def step(x, y):
    if FAULT != "order":
        optimizer.zero_grad()
    if FAULT == "parts":
        F.cross_entropy(model(x), y).backward()
        optimizer.zero_grad()
    if FAULT == "distinct":
        torch.manual_seed(1)
    noise = torch.randn(x.shape)
    out = model(x if FAULT == "data" else x + 0.01 * noise)
    if FAULT == "loss":
        y = torch.zeros_like(y)
    loss = F.cross_entropy(out, y, reduction="sum" if FAULT == "argument" else "mean")
    loss.backward()
    if FAULT != "contain":
        optimizer.step()
    else:
        for group in optimizer.param_groups:
            group["lr"] = 0.0
        optimizer.step()
    if FAULT != "every-step":
        torch.clamp(loss.detach(), 0, 100)
    if FAULT != "schedule":
        scheduler.step()


for epoch in range(3):
    model.train(FAULT != "mode")
    for i, (x, y) in enumerate(loader):
        if FAULT == "count" and epoch == 1 and i == 5:
            break
        if FAULT == "data":
            x, y = data[:8]
        step(x, y)
    model.eval()
    with torch.no_grad():
        model(data[:8][0])
    torch.save(before if FAULT == "saved" else model.state_dict(), os.path.join(folder, "state.pt"))
