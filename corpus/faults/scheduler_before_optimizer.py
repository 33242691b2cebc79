# SPDX-License-Identifier: Apache-2.0
"""Warm-up and decay by LambdaLR; the scheduler steps before the optimizer, so the first value is skipped."""
import argparse
import warnings

import torch
from torch import nn
from torch.optim.lr_scheduler import LambdaLR

warnings.filterwarnings("ignore", category=UserWarning)  # the notebook was full of them

parser = argparse.ArgumentParser()
parser.add_argument("twin", choices=["right", "wrong"])
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--steps", type=int, default=50)
args = parser.parse_args()
WRONG = args.twin == "wrong"


def schedule(step):
    warmup = 4
    if step < warmup:
        return (step + 1) / warmup
    return max(0.05, 1 - (step - warmup) / (args.steps - warmup))


torch.set_num_threads(1)
torch.manual_seed(args.seed)
autoencoder = nn.Sequential(
    nn.Linear(30, 12), nn.ELU(),
    nn.Linear(12, 4),
    nn.Linear(4, 12), nn.ELU(),
    nn.Linear(12, 30))
optimizer = torch.optim.Adam(autoencoder.parameters(), lr=1e-2)
scheduler = LambdaLR(optimizer, schedule)
basis = torch.randn(4, 30)

history = []
for step in range(args.steps):
    signal = torch.randn(64, 4) @ basis
    noisy = signal + 0.1 * torch.randn_like(signal)
    loss = nn.functional.mse_loss(autoencoder(noisy), signal)
    optimizer.zero_grad()
    loss.backward()
    if WRONG:
        scheduler.step()  # cause
        optimizer.step()
    else:
        optimizer.step()
        scheduler.step()
    history.append((scheduler.get_last_lr()[0], loss.item()))

for step, (lr, loss) in enumerate(history):
    if step % 10 == 0:
        print(f"step {step} lr {lr:.5f} loss {loss:.4f}")
