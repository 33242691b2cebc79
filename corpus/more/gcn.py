# SPDX-License-Identifier: Apache-2.0
"""A graph network by hand on a random graph of communities: all nodes at once, edges by index_add."""
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(int(sys.argv[1]))
torch.set_num_threads(1)
n = 90
label = torch.randint(0, 3, (n,))
probability = torch.where(label[:, None] == label[None, :], 0.2, 0.02)
adj = torch.triu(torch.rand(n, n) < probability, 1)
src, dst = adj.nonzero(as_tuple=True)
src, dst = torch.cat([src, dst, torch.arange(n)]), torch.cat([dst, src, torch.arange(n)])
degree = torch.zeros(n).index_add_(0, dst, torch.ones(len(dst)))
norm = (degree[src] * degree[dst]).rsqrt()
x = torch.randn(n, 12) + F.one_hot(label, 12).float()
train_mask = torch.rand(n) < 0.5


class Conv(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.lin = nn.Linear(i, o, bias=False)
        self.bias = nn.Parameter(torch.zeros(o))

    def forward(self, h):
        h = self.lin(h)
        return torch.zeros(n, h.size(1)).index_add_(0, dst, h[src] * norm[:, None]) + self.bias


class GCN(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = Conv(12, 16), Conv(16, 3)

    def forward(self, h):
        h = F.dropout(F.relu(self.a(h)), p=0.5, training=self.training)
        return self.b(h)


model = GCN()
optimizer = torch.optim.Adam(model.parameters(), lr=0.02, weight_decay=5e-4)
for epoch in range(40):
    model.train()
    optimizer.zero_grad()
    out = model(x)
    loss = F.cross_entropy(out[train_mask], label[train_mask])
    loss.backward()
    optimizer.step()
    if epoch % 5 == 4:
        model.eval()
        with torch.no_grad():
            pred = model(x).argmax(1)
        print(epoch, loss.item(), (pred[~train_mask] == label[~train_mask]).float().mean().item())
