# SPDX-License-Identifier: Apache-2.0
"""A background writer collects the weights by reference and writes them after the next step has changed them.

What is on disk is called step N and is N+1, or half of each.
"""
import argparse
import queue
import tempfile

import torch
from torch import nn


class Writer:
    """Writes at the next call, so that training does not wait for the disk now."""

    def __init__(self, folder):
        self.folder, self.pending = folder, queue.SimpleQueue()

    def submit(self, step, model):
        state = model.state_dict()
        if not WRONG:
            state = {name: value.clone() for name, value in state.items()}  # cause
        self.pending.put((step, state))

    def flush(self):
        while not self.pending.empty():
            step, state = self.pending.get()
            torch.save({"step": step, "model": state}, f"{self.folder}/step-{step}.pt")


def phonemes(rng, count=40):
    kind = torch.randint(0, 5, (count,), generator=rng)
    frames = torch.randn(count, 6, 13, generator=rng) + kind[:, None, None] * torch.linspace(-0.5, 0.5, 13)
    return frames, kind


class Recogniser(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(13, 24, batch_first=True)
        self.out = nn.Linear(24, 5)

    def forward(self, frames):
        return self.out(self.gru(frames)[1][0])


parser = argparse.ArgumentParser()
parser.add_argument("twin", choices=["right", "wrong"])
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--steps", type=int, default=48)
args = parser.parse_args()
WRONG = args.twin == "wrong"
torch.set_num_threads(1)
torch.manual_seed(args.seed)
rng = torch.Generator().manual_seed(args.seed)
model = Recogniser()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
with tempfile.TemporaryDirectory() as folder:
    writer = Writer(folder)
    for step in range(1, args.steps + 1):
        frames, kind = phonemes(rng)
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(frames), kind)
        loss.backward()
        optimizer.step()
        writer.flush()
        if step % 8 == 0:
            writer.submit(step, model)
            print(f"step {step} loss {loss.item():.4f}")
    writer.flush()
