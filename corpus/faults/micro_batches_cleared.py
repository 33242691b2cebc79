# SPDX-License-Identifier: Apache-2.0
"""Four micro-batches a step, and zero_grad() before each of them: three quarters of the work are for nothing."""
import argparse
import itertools

import torch
import torch.nn.functional as F


class Phrases:
    """Bracketed phrases of a toy grammar; the label is how deep they go."""

    def __init__(self, seed):
        self.random = torch.Generator().manual_seed(seed)

    def draw(self, count, length=12):
        steps = torch.randint(0, 2, (count, length), generator=self.random) * 2 - 1
        depth = steps.cumsum(1).clamp(min=0).amax(1).clamp(max=5)
        return (steps > 0).long(), depth


class Reader(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.letters = torch.nn.Embedding(2, 10)
        self.rnn = torch.nn.GRU(10, 28, batch_first=True)
        self.answer = torch.nn.Linear(28, 6)

    def forward(self, phrase):
        _, last = self.rnn(self.letters(phrase))
        return self.answer(last.squeeze(0))


parser = argparse.ArgumentParser()
parser.add_argument("twin", choices=["right", "wrong"])
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--steps", type=int, default=40)
args = parser.parse_args()
WRONG = args.twin == "wrong"
torch.set_num_threads(1)
torch.manual_seed(args.seed)
PARTS = 4
source, reader = Phrases(args.seed), Reader()
opt = torch.optim.AdamW(reader.parameters(), lr=8e-3)
for micro in itertools.count():
    if WRONG:
        opt.zero_grad()  # cause
    elif micro % PARTS == 0:
        opt.zero_grad()
    phrase, depth = source.draw(12)
    loss = F.cross_entropy(reader(phrase), depth)
    (loss / PARTS).backward()
    if micro % PARTS == PARTS - 1:
        opt.step()
        if micro // PARTS % 5 == 0:
            print("step", micro // PARTS, "loss", round(loss.item(), 4))
    if micro == args.steps * PARTS - 1:
        break
