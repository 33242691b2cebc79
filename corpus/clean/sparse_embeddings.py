# SPDX-License-Identifier: Apache-2.0
"""Word vectors with sparse gradients (SparseAdam) beside dense ones: most rows do not move in a step."""
import argparse

import torch
from torch import nn
from torch.nn.functional import logsigmoid


class SkipGram(nn.Module):
    def __init__(self, words, width):
        super().__init__()
        self.centre = nn.Embedding(words, width, sparse=True)
        self.context = nn.Embedding(words, width, sparse=True)
        self.bias = nn.Parameter(torch.zeros(1))
        nn.init.normal_(self.context.weight, std=0.1)

    def forward(self, centre, context, negatives):
        v = self.centre(centre)
        good = (v * self.context(context)).sum(1) + self.bias
        bad = torch.einsum("bd,bkd->bk", v, self.context(negatives)) + self.bias
        return -(logsigmoid(good) + logsigmoid(-bad).sum(1)).mean()


def main(seed, steps, config):
    words, width, batch, k = {"A": (200, 16, 64, 4), "B": (400, 8, 32, 8), "C": (120, 24, 96, 2)}[config]
    torch.manual_seed(seed)
    model = SkipGram(words, width)
    optimizers = [torch.optim.SparseAdam([model.centre.weight, model.context.weight], lr=2e-2),
                  torch.optim.SGD([model.bias], lr=1e-2)]
    for step in range(steps):
        centre = torch.randint(0, words, (batch,))
        context = (centre + torch.randint(1, 4, (batch,))) % words
        loss = model(centre, context, torch.randint(0, words, (batch, k)))
        for optimizer in optimizers:
            optimizer.zero_grad()
        loss.backward()
        for optimizer in optimizers:
            optimizer.step()
        if step % 10 == 0:
            print(f"step {step} loss {loss.item():.4f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--config", choices=["A", "B", "C"], default="A")
    torch.set_num_threads(1)
    main(**vars(parser.parse_args()))
