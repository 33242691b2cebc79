# SPDX-License-Identifier: Apache-2.0
"""SWA with torch's own classes, batch norm refreshed at the end; or EMA by hand, swapped in for evaluation."""
import argparse
import contextlib

import torch
from torch import nn
from torch.optim.swa_utils import SWALR, AveragedModel, update_bn


def network(width, norm):
    return nn.Sequential(nn.Linear(6, width), nn.BatchNorm1d(width) if norm else nn.Identity(), nn.ReLU(), nn.Linear(width, 1))


def batches(count, size):
    for _ in range(count):
        x = torch.randn(size, 6)
        yield x, x[:, :1].abs() + x[:, 1:2] * x[:, 2:3]


@contextlib.contextmanager
def swapped(model, shadow):
    """Evaluate with the averaged weights, then put the live ones back."""
    live = {k: v.clone() for k, v in model.state_dict().items()}
    model.load_state_dict(shadow)
    yield
    model.load_state_dict(live)


def swa(steps, size, width):
    model = network(width, norm=True)
    averaged = AveragedModel(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    scheduler = SWALR(optimizer, swa_lr=0.02, anneal_epochs=5)
    for step, (x, y) in enumerate(batches(steps, size)):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        if step >= steps // 2 and step % 5 == 0:
            averaged.update_parameters(model)
            scheduler.step()
        if step % 10 == 0:
            print(f"step {step} loss {loss.item():.4f}")
    update_bn((x for x, _ in batches(5, size)), averaged)
    averaged.eval()
    with torch.no_grad():
        x, y = next(batches(1, 200))
        print(f"averaged loss {nn.functional.mse_loss(averaged(x), y).item():.4f}")


def ema(steps, size, width, decay=0.95):
    model = network(width, norm=False)
    shadow = {k: v.clone() for k, v in model.state_dict().items()}
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for step, (x, y) in enumerate(batches(steps, size)):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        for name, value in model.state_dict().items():
            shadow[name].lerp_(value, 1 - decay)
        if step % 10 == 0:
            with swapped(model, shadow), torch.no_grad():
                x, y = next(batches(1, 100))
                slow = nn.functional.mse_loss(model(x), y).item()
            print(f"step {step} loss {loss.item():.4f} averaged {slow:.4f}")


parser = argparse.ArgumentParser()
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--steps", type=int, default=60)
parser.add_argument("--config", choices=["A", "B", "C"], default="A")
args = parser.parse_args()
torch.set_num_threads(1)
torch.manual_seed(args.seed)
{"A": lambda: swa(args.steps, 32, 32), "B": lambda: ema(args.steps, 48, 24), "C": lambda: swa(args.steps, 64, 16)}[args.config]()
