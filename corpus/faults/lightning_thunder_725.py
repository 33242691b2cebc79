# SPDX-License-Identifier: Apache-2.0
"""A classifier under bfloat16 autocast with a linear operator of its own.

Autocast does not reach operators it does not know: the custom one has to join in by itself.
"""
import argparse

import torch
import torch.nn.functional as F
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("twin", choices=["right", "wrong"])
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--steps", type=int, default=60)
args = parser.parse_args()
WRONG = args.twin == "wrong"


class FusedLinear(torch.autograd.Function):
    """x W' + b, then ReLU, in one operator."""

    @staticmethod
    def forward(ctx, x, weight, bias):
        if WRONG:
            x = x.float()  # cause
        else:
            x, weight, bias = x.bfloat16(), weight.bfloat16(), bias.bfloat16()
        with torch.autocast("cpu", enabled=False):
            out = torch.addmm(bias, x, weight.t()).clamp_(min=0)
        ctx.save_for_backward(x, weight, out)
        return out

    @staticmethod
    def backward(ctx, grad):
        x, weight, out = ctx.saved_tensors
        grad = (grad * (out > 0)).to(x.dtype)
        return grad @ weight, (grad.t() @ x).float(), grad.sum(0).float()


class Fused(nn.Linear):
    def forward(self, x):
        return FusedLinear.apply(x, self.weight, self.bias)


def spiral(count, generator):
    label = torch.randint(0, 3, (count,), generator=generator)
    radius = torch.rand(count, generator=generator)
    angle = radius * 4 + label * 2.094 + torch.randn(count, generator=generator) * 0.1
    return torch.stack([radius * angle.cos(), radius * angle.sin()], 1), label


torch.set_num_threads(1)
torch.manual_seed(args.seed)
generator = torch.Generator().manual_seed(args.seed)
model = nn.Sequential(nn.Linear(2, 48), nn.ReLU(), Fused(48, 48), Fused(48, 48), nn.Linear(48, 3))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)

for step in range(args.steps):
    x, y = spiral(128, generator)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        logits = model(x)
        loss = F.cross_entropy(logits.float(), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 0:
        print(f"{step}: loss {loss.item():.4f}")
