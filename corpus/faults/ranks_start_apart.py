# SPDX-License-Identifier: Apache-2.0
"""Data parallelism by hand: the gradients are averaged, but the replicas never began at the same weights."""
import argparse
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("twin", choices=["right", "wrong"])
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--steps", type=int, default=40)
args = parser.parse_args()
WRONG = args.twin == "wrong"


class Replica:
    def __init__(self, rank):
        torch.manual_seed(args.seed + rank)
        self.rank = rank
        self.net = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 1))
        if not WRONG:
            self.synchronise()  # cause
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=5e-3)

    def synchronise(self):
        for p in self.net.parameters():
            dist.broadcast(p.data, src=0)

    def learn(self, x, y):
        loss = nn.functional.mse_loss(self.net(x), y)
        self.optimizer.zero_grad()
        loss.backward()
        handles = [dist.all_reduce(p.grad, async_op=True) for p in self.net.parameters()]
        for handle in handles:
            handle.wait()
        for p in self.net.parameters():
            p.grad.mul_(0.5)
        self.optimizer.step()
        return loss.item()


def main(rank, where):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=where, rank=rank, world_size=2)
    replica = Replica(rank)
    for step in range(args.steps):
        x = torch.rand(64, 2) * 2 - 1
        value = replica.learn(x, (x[:, :1] * 3).sin() * x[:, 1:])
        if step % 8 == 0 and rank == 0:
            print(f"step {step} loss {value:.4f}", flush=True)
    dist.barrier()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        mp.start_processes(main, (f"file://{folder}/meet",), nprocs=2, start_method="fork")
