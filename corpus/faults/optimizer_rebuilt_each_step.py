# SPDX-License-Identifier: Apache-2.0
"""The function that trains one batch makes its own Adam: no moment ever survives a step."""
import argparse
from functools import partial

import torch
from torch import nn


def train_batch(model, make, optimizer, signal, target):
    if WRONG:
        optimizer = make(model.parameters())  # cause
    optimizer.zero_grad()
    loss = nn.functional.l1_loss(model(signal), target)
    loss.backward()
    optimizer.step()
    return loss.detach()


def echo(rng, count=32, length=24, delay=4):
    """Remove an echo: the signal plus half of itself a little later."""
    clean = torch.randn(count, 1, length, generator=rng)
    late = torch.zeros_like(clean)
    late[..., delay:] = clean[..., :-delay]
    return clean + 0.5 * late, clean


def deconvolver():
    return nn.Sequential(nn.ConstantPad1d((12, 0), 0.0), nn.Conv1d(1, 8, 7), nn.Tanh(), nn.Conv1d(8, 1, 7))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("twin", choices=["right", "wrong"])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=60)
    args = parser.parse_args()
    WRONG = args.twin == "wrong"
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    rng = torch.Generator().manual_seed(args.seed)
    model = deconvolver()
    make = partial(torch.optim.Adam, lr=4e-3)
    optimizer = make(model.parameters())
    losses = torch.stack([train_batch(model, make, optimizer, *echo(rng)) for _ in range(args.steps)])
    for start in range(0, args.steps, 10):
        print(f"from {start}: loss {losses[start:start + 10].mean().item():.4f}")
