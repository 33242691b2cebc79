# SPDX-License-Identifier: Apache-2.0
"""Resumed without the state of the random generator."""
# runs: full | resume

import sys

import torch
import torch.nn.functional as F

from small import data

x, y = data()
torch.manual_seed(1)
net = torch.nn.Linear(16, 4)
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
first = 0
if sys.argv[1] == "resume":
    kept = torch.load("kept.pt")
    net.load_state_dict(kept["net"])
    optimizer.load_state_dict(kept["optimizer"])
    first = kept["step"]
for step in range(first, 6):
    optimizer.zero_grad()
    dropped = F.dropout(x, 0.2)  # first: dropout
    F.cross_entropy(net(dropped), y).backward()
    optimizer.step()
    if step == 2 and sys.argv[1] == "full":
        torch.save({"net": net.state_dict(), "optimizer": optimizer.state_dict(), "step": 3}, "kept.pt")
