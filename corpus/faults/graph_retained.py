# SPDX-License-Identifier: Apache-2.0
"""A recurrent state carried from window to window with retain_graph: every step goes back to the first."""
import argparse

import torch
from torch import nn


class Filter(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(2, 16)
        self.read = nn.Linear(16, 2)

    def forward(self, window, state):
        outputs = []
        for moment in window:
            state = self.cell(moment, state)
            outputs.append(self.read(state))
        return torch.stack(outputs), state


def trajectory(length, rng, batch=8):
    """Circles with noise; the next point is asked for."""
    speed = 0.2 + 0.2 * torch.rand(batch, generator=rng)
    angle = speed * torch.arange(length)[:, None] + 6.28 * torch.rand(batch, generator=rng)
    return torch.stack([angle.cos(), angle.sin()], -1) + 0.02 * torch.randn(length, batch, 2, generator=rng)


parser = argparse.ArgumentParser()
parser.add_argument("twin", choices=["right", "wrong"])
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--steps", type=int, default=30)
args = parser.parse_args()
WRONG = args.twin == "wrong"
torch.set_num_threads(1)
torch.manual_seed(args.seed)
WINDOW = 5
points = trajectory(WINDOW * args.steps + 1, torch.Generator().manual_seed(args.seed))
model = Filter()
# One step of SGD does not touch saved tensors in place here: the parameters are replaced.
state = torch.zeros(8, 16)
rate = 0.1
for step in range(args.steps):
    window = points[step * WINDOW:(step + 1) * WINDOW + 1]
    if not WRONG:
        state = state.detach()  # cause
    predicted, state = model(window[:-1], state)
    loss = (predicted - window[1:]).pow(2).mean()
    model.zero_grad()
    loss.backward(retain_graph=True)
    for p in model.parameters():
        p.data = p.data - rate * p.grad
    if step % 5 == 0:
        print(f"window {step} loss {loss.item():.4f}")
