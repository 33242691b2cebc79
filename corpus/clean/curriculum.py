# SPDX-License-Identifier: Apache-2.0
"""A curriculum: sequences get longer and batches smaller as training goes on; the input's shape changes by design."""
import argparse

import torch
from torch import nn


class Reverser(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.embed = nn.Embedding(8, width)
        self.rnn = nn.GRU(width, width, batch_first=True, bidirectional=True)
        self.out = nn.Linear(2 * width, 8)

    def forward(self, x):
        return self.out(self.rnn(self.embed(x))[0])


class Curriculum:
    def __init__(self, lengths, batch):
        self.lengths, self.batch = lengths, batch

    def stages(self):
        for stage, length in enumerate(self.lengths):
            yield stage, length, max(8, self.batch // (stage + 1))


def main(seed, steps, config):
    lengths, batch, width, fresh = {"A": ([2, 4, 6], 48, 24, False), "B": ([3, 5], 32, 32, False),
                                    "C": ([2, 3, 4, 5], 64, 16, True)}[config]
    torch.manual_seed(seed)
    model = Reverser(width)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for stage, length, size in Curriculum(lengths, batch).stages():
        if fresh and stage:
            optimizer = torch.optim.Adam(model.parameters(), lr=1e-2 * 0.7 ** stage)
        for step in range(steps // len(lengths)):
            x = torch.randint(0, 8, (size, length))
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(x).transpose(1, 2), x.flip(1))
            loss.backward()
            optimizer.step()
            if step % 5 == 0:
                print(f"stage {stage} length {length} step {step} loss {loss.item():.4f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--config", choices=["A", "B", "C"], default="A")
    torch.set_num_threads(1)
    main(**vars(parser.parse_args()))
