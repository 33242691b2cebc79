# SPDX-License-Identifier: Apache-2.0
"""Two ranks with a share of the rows each, started by fork. In the wrong twin nobody wraps the model: two models are trained."""
import argparse
import tempfile

import torch
from torch import distributed, multiprocessing, nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset
from torch.utils.data.distributed import DistributedSampler

RANKS = 2


class Orbits(Dataset):
    """Where a body will be, of where it is and how fast."""

    def __init__(self, count, seed):
        draw = torch.Generator().manual_seed(seed)
        self.state = torch.randn(count, 4, generator=draw)

    def __len__(self):
        return len(self.state)

    def __getitem__(self, index):
        place, speed = self.state[index, :2], self.state[index, 2:]
        return self.state[index], place + 0.3 * speed - 0.1 * place / (1 + place.square().sum())


class Pilot:
    def __init__(self, rank, options):
        self.rank = rank
        torch.manual_seed(options.seed)
        network = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 2))
        if WRONG:
            self.network = network  # cause
        else:
            self.network = DistributedDataParallel(network)
        self.optimizer = torch.optim.RMSprop(self.network.parameters(), lr=3e-3)
        rows = Orbits(320, options.seed)
        self.sampler = DistributedSampler(rows, RANKS, rank)
        self.loader = DataLoader(rows, batch_size=20, sampler=self.sampler)

    def epoch(self, number, limit):
        self.sampler.set_epoch(number)
        figures = torch.zeros(2)
        for state, later in self.loader:
            if limit == 0:
                break
            limit -= 1
            self.optimizer.zero_grad()
            error = (self.network(state) - later).square().mean()
            error.backward()
            self.optimizer.step()
            figures += torch.tensor([error.item(), 1.0])
        distributed.all_reduce(figures)
        if self.rank == 0:
            print(f"epoch {number}: error {figures[0] / figures[1]:.4f}", flush=True)
        return limit


def fly(rank, rendezvous, options):
    torch.set_num_threads(1)
    distributed.init_process_group("gloo", init_method=rendezvous, rank=rank, world_size=RANKS)
    pilot, left, number = Pilot(rank, options), options.steps, 0
    while left > 0:
        left, number = pilot.epoch(number, left), number + 1
    distributed.barrier()
    distributed.destroy_process_group()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("twin", choices=["right", "wrong"])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=32)
    given = parser.parse_args()
    WRONG = given.twin == "wrong"
    with tempfile.TemporaryDirectory() as folder:
        multiprocessing.start_processes(fly, (f"file://{folder}/meet", given), nprocs=RANKS, start_method="fork")
