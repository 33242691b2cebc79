# SPDX-License-Identifier: Apache-2.0
"""Message passing with one linear map for each kind of edge, kept in a dict: the maps never train."""
import argparse

import torch
from torch import nn


class Relational(nn.Module):
    def __init__(self, relations, width=16):
        super().__init__()
        self.inp = nn.Linear(4, width)
        maps = {name: nn.Linear(width, width, bias=False) for name in relations}
        if WRONG:
            self.maps = maps  # cause
        else:
            self.maps = nn.ModuleDict(maps)
        self.out = nn.Linear(width, 1)

    def forward(self, x, graph):
        h = torch.tanh(self.inp(x))
        for name, adjacency in graph.items():
            h = h + torch.tanh(adjacency @ self.maps[name](h))
        return self.out(h.mean(1))[:, 0]


def circuits(count, nodes=8):
    """Small graphs with two kinds of wires; a number that depends on both."""
    x = torch.randn(count, nodes, 4)
    graph = {name: (torch.rand(count, nodes, nodes) < 0.3).float() / nodes for name in ("power", "signal")}
    flow = (graph["power"] @ x[..., :1]).sum((1, 2)) - (graph["signal"] @ x[..., 1:2]).sum((1, 2))
    return x, graph, flow


if __name__ == "__main__":
    cli = argparse.ArgumentParser()
    cli.add_argument("twin", choices=["right", "wrong"])
    cli.add_argument("--seed", type=int, default=0)
    cli.add_argument("--steps", type=int, default=60)
    chosen = cli.parse_args()
    WRONG = chosen.twin == "wrong"
    torch.set_num_threads(1)
    torch.manual_seed(chosen.seed)
    network = Relational(["power", "signal"])
    adam = torch.optim.Adam(network.parameters(), lr=1e-2)
    average = 0.0
    for count in range(1, chosen.steps + 1):
        x, graph, flow = circuits(48)
        adam.zero_grad()
        loss = nn.functional.mse_loss(network(x, graph), flow)
        loss.backward()
        adam.step()
        average += loss.item() / 10
        if count % 10 == 0:
            print(f"{count} loss {average:.4f}")
            average = 0.0
