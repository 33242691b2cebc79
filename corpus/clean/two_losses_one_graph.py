# SPDX-License-Identifier: Apache-2.0
"""Two losses sent backward one after the other through one graph, retained for the second: gradients add up by intention."""
import argparse

import torch
from torch import nn


class Network(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.shared = nn.Sequential(nn.Linear(6, width), nn.Tanh())
        self.reconstruct = nn.Linear(width, 6)
        self.predict = nn.Linear(width, 1)


def surgery(parameters, first, second):
    """Project one gradient off the other where the two quarrel (as PCGrad does)."""
    for p, a, b in zip(parameters, first, second):
        dot = (a * b).sum()
        p.grad = a + b if dot >= 0 else a + b - dot / a.square().sum().clamp(min=1e-12) * a


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--config", choices=["A", "B", "C"], default="A")
    args = parser.parse_args()
    n, width, project = {"A": (32, 16, False), "B": (48, 24, True), "C": (24, 32, False)}[args.config]
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    net = Network(width)
    shared = list(net.shared.parameters())
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for step in range(args.steps):
        x = torch.randn(n, 6)
        h = net.shared(x)
        first = nn.functional.mse_loss(net.reconstruct(h), x)
        second = nn.functional.mse_loss(net.predict(h), x[:, :1] * x[:, 1:2])
        optimizer.zero_grad(set_to_none=True)
        first.backward(retain_graph=True)
        kept = [p.grad.clone() for p in shared]
        second.backward()
        if project:
            surgery(shared, kept, [p.grad - k for p, k in zip(shared, kept)])
        optimizer.step()
        if step % 10 == 0:
            print(f"step {step} loss {(first + second).item():.4f}")


if __name__ == "__main__":
    main()
