# SPDX-License-Identifier: Apache-2.0
"""One training run that can be done in several ways. Weights, data and their order are the same in all of them: only how it is computed differs."""

from __future__ import annotations

import argparse

import torch
import torch.nn.functional as F
from torch import nn

BATCH, STEPS, WIDTH = 32, 4, 256


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(64, WIDTH)
        self.norm = nn.LayerNorm(WIDTH)
        self.up = nn.Linear(WIDTH, 4 * WIDTH)
        self.down = nn.Linear(4 * WIDTH, WIDTH)
        self.head = nn.Linear(WIDTH, 10)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        x = self.embed(tokens)
        x = x + self.down(F.gelu(self.up(self.norm(x))))
        x = x.mean(1)
        return self.head(x)


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--compile", default="", help="a backend of torch.compile")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--autocast", action="store_true")
    parser.add_argument("--micro", type=int, default=1, help="micro-batches of a step")
    parser.add_argument("--ranks", choices=("ddp", "fsdp"), default="", help="this process is a rank of several, as torchrun starts them")
    return parser.parse_args()


def loss_of(model: nn.Module, tokens: torch.Tensor, target: torch.Tensor, autocast: bool) -> torch.Tensor:
    with torch.autocast("cpu", dtype=torch.bfloat16, enabled=autocast):
        logits = model(tokens)
        return F.cross_entropy(logits, target)


def main() -> None:
    chosen = options()
    torch.set_num_threads(chosen.threads)
    torch.manual_seed(0)
    model: nn.Module = Net()
    rank, world = 0, 1
    if chosen.ranks:
        torch.distributed.init_process_group("gloo")
        rank, world = torch.distributed.get_rank(), torch.distributed.get_world_size()
    if chosen.ranks == "ddp":
        model = nn.parallel.DistributedDataParallel(model)
    elif chosen.ranks:
        from torch.distributed.fsdp import FullyShardedDataParallel  # which not every torch can import

        model = FullyShardedDataParallel(model, use_orig_params=True, device_id=torch.device("cpu"))
    if chosen.compile:
        model = torch.compile(model, backend=chosen.compile)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    torch.manual_seed(1)
    for _ in range(STEPS):
        tokens, target = torch.randint(0, 64, (BATCH, 12)), torch.randint(0, 10, (BATCH,))
        share = BATCH // world
        tokens, target = tokens[rank * share:][:share], target[rank * share:][:share]
        optimizer.zero_grad()
        for part, wanted in zip(tokens.chunk(chosen.micro), target.chunk(chosen.micro)):
            loss = loss_of(model, part, wanted, chosen.autocast) / chosen.micro
            loss.backward()
        optimizer.step()
    if chosen.ranks:
        torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main()
