# SPDX-License-Identifier: Apache-2.0
"""Regression on two ranks that average gradients by hand, one all-reduce a parameter.

SIMULATED HARDWARE: now and then an all-reduce loses its data on the receiving side.
"""
import argparse
import tempfile

import torch
from torch import distributed, multiprocessing, nn

cli = argparse.ArgumentParser()
cli.add_argument("twin", choices=["right", "wrong"])
cli.add_argument("--seed", type=int, default=0)
cli.add_argument("--steps", type=int, default=50)
options = cli.parse_args()
WRONG = options.twin == "wrong"


class Link:
    """All-reduce with a counter, so that the loss of data falls on the same call in every run."""

    def __init__(self, rank):
        self.rank, self.count = rank, 0

    def average(self, tensor):
        distributed.all_reduce(tensor)
        tensor /= distributed.get_world_size()
        self.count += 1
        if WRONG:
            if self.rank == 1 and self.count % 29 == 0:
                tensor.zero_()  # cause


def batches(seed, rank, size=32):
    source = torch.Generator().manual_seed(seed)
    mixing = torch.randn(6, 2, generator=source)
    source.manual_seed(seed + 100 + rank)
    while True:
        inputs = torch.randn(size, 6, generator=source)
        yield inputs, torch.tanh(inputs @ mixing)


def worker(rank, address):
    torch.set_num_threads(1)
    distributed.init_process_group("gloo", init_method=address, rank=rank, world_size=2)
    torch.manual_seed(options.seed)
    net = nn.Sequential(nn.Linear(6, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 2))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    link = Link(rank)
    stream = batches(options.seed, rank)
    for step in range(1, options.steps + 1):
        inputs, targets = next(stream)
        loss = nn.functional.mse_loss(net(inputs), targets)
        optimizer.zero_grad()
        loss.backward()
        for parameter in net.parameters():
            link.average(parameter.grad)
        optimizer.step()
        if step % 10 == 0 and rank == 0:
            print(f"[{step}] loss={loss.item():.5f}", flush=True)
    distributed.destroy_process_group()


if __name__ == "__main__":
    with tempfile.NamedTemporaryFile() as rendezvous:
        multiprocessing.start_processes(worker, (f"file://{rendezvous.name}.store",), nprocs=2,
                                        start_method="fork")
