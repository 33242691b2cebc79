# SPDX-License-Identifier: Apache-2.0
"""Gradient descent without an optimizer: tensors, p.data -= lr * grad, or new tensors every step."""
import argparse

import torch

parser = argparse.ArgumentParser()
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--steps", type=int, default=80)
parser.add_argument("--config", choices=["A", "B", "C"], default="A")
args = parser.parse_args()
rows, hidden, lr, style = {"A": (64, 20, 0.1, "data"), "B": (32, 16, 0.05, "functional"), "C": (96, 24, 0.1, "module")}[args.config]
torch.set_num_threads(1)
torch.manual_seed(args.seed)

if style == "module":
    net = torch.nn.Sequential(torch.nn.Linear(3, hidden), torch.nn.Tanh(), torch.nn.Linear(hidden, 1))
    weights = list(net.parameters())
else:
    weights = [(torch.randn(*shape) * 0.4).requires_grad_() for shape in ((3, hidden), (hidden,), (hidden, 1), (1,))]

    def net(x):
        return torch.tanh(x @ weights[0] + weights[1]) @ weights[2] + weights[3]

for t in range(args.steps):
    x = torch.randn(rows, 3)
    y = x[:, :1] - 0.5 * x[:, 1:2] * x[:, 2:3]
    loss = (net(x) - y).pow(2).mean()
    if style == "functional":
        gradients = torch.autograd.grad(loss, weights)
        weights = [(w - lr * g).detach().requires_grad_() for w, g in zip(weights, gradients)]
    else:
        loss.backward()
        for w in weights:
            w.data -= lr * w.grad
            w.grad.zero_()
    if t % 10 == 0:
        print(t, "loss", round(loss.item(), 4))
