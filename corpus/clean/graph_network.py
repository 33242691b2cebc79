# SPDX-License-Identifier: Apache-2.0
"""A graph convolution network, full batch: the same rows every step, most labels unused, by design."""
import argparse

import torch
import torch.nn.functional as F
from torch.nn import Linear, Module, Parameter


class GraphConvolution(Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.weight = Parameter(torch.empty(inputs, outputs))
        self.bias = Parameter(torch.zeros(outputs))
        torch.nn.init.xavier_uniform_(self.weight)

    def forward(self, x, adjacency):
        return adjacency @ (x @ self.weight) + self.bias


class GCN(Module):
    def __init__(self, features, hidden, classes, layers, dropout=0.5):
        super().__init__()
        self.inp = GraphConvolution(features, hidden)
        self.hidden = torch.nn.ModuleList(GraphConvolution(hidden, hidden) for _ in range(layers - 2))
        self.out = GraphConvolution(hidden, classes)
        self.dropout = dropout

    def forward(self, x, adjacency):
        x = F.relu(self.inp(x, adjacency))
        for layer in self.hidden:
            x = F.relu(layer(x, adjacency)) + x
        x = F.dropout(x, self.dropout, training=self.training)
        return F.log_softmax(self.out(x, adjacency), dim=1)


def community_graph(nodes=120, classes=3):
    label = torch.arange(nodes) % classes
    same = label[:, None] == label[None, :]
    edges = torch.rand(nodes, nodes) < torch.where(same, 0.12, 0.02)
    adjacency = (edges | edges.t() | torch.eye(nodes, dtype=torch.bool)).float()
    scale = adjacency.sum(1).rsqrt()
    features = torch.randn(nodes, 16)
    features[:, :classes] += F.one_hot(label, classes) * 0.8
    return features, scale[:, None] * adjacency * scale[None, :], label


parser = argparse.ArgumentParser()
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--steps", type=int, default=60)
parser.add_argument("--config", choices=["A", "B", "C"], default="A")
args = parser.parse_args()
hidden, layers, lr = {"A": (16, 2, 0.02), "B": (32, 3, 0.01), "C": (24, 4, 0.01)}[args.config]

torch.set_num_threads(1)
torch.manual_seed(args.seed)
features, adjacency, label = community_graph()
order = torch.randperm(len(label))
idx_train, idx_val, idx_test = order[:30], order[30:60], order[60:]
model = GCN(features.shape[1], hidden, 3, layers)
optimizer = torch.optim.Adam(model.parameters(), lr=lr, weight_decay=5e-4)

for epoch in range(args.steps):
    model.train()
    optimizer.zero_grad()
    output = model(features, adjacency)
    loss_train = F.nll_loss(output[idx_train], label[idx_train])
    loss_train.backward()
    optimizer.step()
    if epoch % 10 == 0:
        model.eval()
        with torch.no_grad():
            output = model(features, adjacency)
            loss_val = F.nll_loss(output[idx_val], label[idx_val])
        print(f"epoch {epoch:3d} loss {loss_train.item():.4f} validation {loss_val.item():.4f}")
model.eval()
with torch.no_grad():
    accuracy = (model(features, adjacency)[idx_test].argmax(1) == label[idx_test]).float().mean()
print(f"test accuracy {accuracy.item():.3f}")
