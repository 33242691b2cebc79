# SPDX-License-Identifier: Apache-2.0
"""Graph attention whose edges are dropped by F.dropout without `training=`: the test graph loses edges too."""
import argparse

import torch
import torch.nn.functional as F
from torch import nn


class GraphAttention(nn.Module):
    def __init__(self, inputs, outputs, drop):
        super().__init__()
        self.map, self.drop = nn.Linear(inputs, outputs, bias=False), drop
        self.source, self.target = nn.Linear(outputs, 1), nn.Linear(outputs, 1)

    def forward(self, x, edges):
        h = self.map(x)
        score = F.leaky_relu(self.source(h) + self.target(h).t(), 0.2).masked_fill(~edges, -1e9)
        weight = score.softmax(dim=1)
        if WRONG:
            weight = F.dropout(weight, self.drop)  # cause
        else:
            weight = F.dropout(weight, self.drop, training=self.training)
        return weight @ h


class Citations(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = GraphAttention(8, 16, 0.2), GraphAttention(16, 3, 0.2)

    def forward(self, x, edges):
        return self.second(F.elu(self.first(x, edges)), edges)


def papers(nodes=90):
    field = torch.arange(nodes) % 3
    edges = torch.rand(nodes, nodes) < torch.where(field[:, None] == field, 0.15, 0.02)
    x = torch.randn(nodes, 8)
    x[:, :3] += F.one_hot(field, 3) * 1.0
    return x, edges | edges.t() | torch.eye(nodes, dtype=torch.bool), field


parser = argparse.ArgumentParser()
parser.add_argument("twin", choices=["right", "wrong"])
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--steps", type=int, default=60)
args = parser.parse_args()
WRONG = args.twin == "wrong"
torch.set_num_threads(1)
torch.manual_seed(args.seed)
x, edges, field = papers()
train, test = torch.arange(0, 45), torch.arange(45, 90)
model = Citations()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2, weight_decay=5e-4)
for epoch in range(1, args.steps + 1):
    model.train()
    loss = F.cross_entropy(model(x, edges)[train], field[train])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if epoch % 12 == 0:
        model.eval()
        with torch.no_grad():
            hits = (model(x, edges)[test].argmax(1) == field[test]).float().mean()
        print(f"epoch {epoch} loss {loss.item():.4f} accuracy {hits.item():.3f}")
