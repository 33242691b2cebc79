# SPDX-License-Identifier: Apache-2.0
"""NLLLoss on what a linear layer gives: the loss falls below zero and on, and many take that for learning."""
import argparse

import torch
from torch import nn, optim

options = argparse.ArgumentParser()
options.add_argument("twin", choices=["right", "wrong"])
options.add_argument("--seed", type=int, default=0)
options.add_argument("--steps", type=int, default=60)
options = options.parse_args()
WRONG = options.twin == "wrong"

torch.set_num_threads(1)
torch.manual_seed(options.seed)
PEAKS = torch.tensor([3, 9, 15, 21])


def chromatogram(batch):
    """One of four substances, each with a peak at its own place, on a drifting ground."""
    which = torch.randint(0, 4, (batch,))
    time = torch.arange(24.0)
    signal = torch.exp(-((time - PEAKS[which, None]) / 1.5) ** 2)
    drift = torch.randn(batch, 1) * torch.linspace(0, 0.3, 24)
    return (signal + drift + 0.1 * torch.randn(batch, 24)).unsqueeze(1), which


layers = [nn.Conv1d(1, 6, 5, padding=2), nn.ReLU(), nn.Flatten(), nn.Linear(144, 4)]
if not WRONG:
    layers.append(nn.LogSoftmax(dim=1))  # cause
classifier = nn.Sequential(*layers)
criterion = nn.NLLLoss()
descent = optim.SGD(classifier.parameters(), lr=0.01)
for turn in range(options.steps):
    measured, substance = chromatogram(20)
    cost = criterion(classifier(measured), substance)
    descent.zero_grad(set_to_none=True)
    cost.backward()
    descent.step()
    if not turn % 10:
        print(f"turn {turn}: loss = {cost.item():.4f}")
