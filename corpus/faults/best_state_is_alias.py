# SPDX-License-Identifier: Apache-2.0
"""Early stopping that keeps model.state_dict() as the best: it is no copy, and the last weights come back."""
import argparse
import copy

import torch
from torch import nn


class EarlyStopping:
    def __init__(self, patience):
        self.patience, self.bad, self.best, self.state = patience, 0, float("inf"), None

    def __call__(self, score, model):
        if score < self.best:
            self.best, self.bad = score, 0
            if WRONG:
                self.state = model.state_dict()  # cause
            else:
                self.state = copy.deepcopy(model.state_dict())
        else:
            self.bad += 1
        return self.bad >= self.patience

    def restore(self, model):
        model.load_state_dict(self.state)


def split(seed):
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(90, 10, generator=g)
    y = x[:, :1] * 2 - x[:, 1:2] + torch.randn(90, 1, generator=g)
    return (x[:50], y[:50]), (x[50:], y[50:])


def fit(seed, epochs):
    torch.manual_seed(seed)
    (x, y), (x_val, y_val) = split(seed)
    net = nn.Sequential(nn.Linear(10, 64), nn.ReLU(), nn.Linear(64, 1))
    opt = torch.optim.Adam(net.parameters(), lr=1e-2)
    stop = EarlyStopping(patience=8)
    for epoch in range(epochs):
        net.train()
        opt.zero_grad()
        loss = nn.functional.mse_loss(net(x), y)
        loss.backward()
        opt.step()
        net.eval()
        with torch.no_grad():
            validation = nn.functional.mse_loss(net(x_val), y_val).item()
        if epoch % 5 == 0:
            print(f"epoch {epoch} loss {loss.item():.4f} validation {validation:.4f}")
        if stop(validation, net):
            break
    stop.restore(net)
    print(f"best validation {stop.best:.4f}, stopped after {epoch + 1} epochs")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("twin", choices=["right", "wrong"])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=80)
    args = parser.parse_args()
    WRONG = args.twin == "wrong"
    torch.set_num_threads(1)
    fit(args.seed, args.steps)
