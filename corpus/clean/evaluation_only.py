# SPDX-License-Identifier: Apache-2.0
"""No training at all: a checkpoint is written, read back and evaluated, with dropout kept active for one estimate."""
import argparse
import io

import torch
from torch import nn


def network(width):
    return nn.Sequential(nn.Linear(5, width), nn.BatchNorm1d(width), nn.ReLU(), nn.Dropout(0.2), nn.Linear(width, 2))


def enable_dropout(model):
    """Monte-Carlo dropout: only the dropout layers go back to train mode."""
    for module in model.modules():
        if isinstance(module, nn.Dropout):
            module.train()


@torch.no_grad()
def evaluate(model, batches):
    for number, (x, y) in enumerate(batches):
        loss = nn.functional.cross_entropy(model(x), y)
        print(f"batch {number} loss {loss.item():.4f}")


parser = argparse.ArgumentParser()
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--steps", type=int, default=8)
parser.add_argument("--config", choices=["A", "B", "C"], default="A")
args = parser.parse_args()
rows, width, samples = {"A": (64, 16, 0), "B": (32, 24, 5), "C": (100, 32, 3)}[args.config]
torch.set_num_threads(1)
torch.manual_seed(args.seed)
buffer = io.BytesIO()
torch.save(network(width).state_dict(), buffer)
buffer.seek(0)
model = network(width)
model.load_state_dict(torch.load(buffer))
model.eval()
inputs = torch.randn(args.steps, rows, 5)
evaluate(model, [(x, (x[:, 0] > 0).long()) for x in inputs])
if samples:
    enable_dropout(model)
    with torch.inference_mode():
        spread = torch.stack([model(inputs[0]).softmax(1) for _ in range(samples)]).std(0).mean()
    print(f"spread {spread.item():.4f}")
