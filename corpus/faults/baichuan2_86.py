# SPDX-License-Identifier: Apache-2.0
"""A character model on two replicas; one replica receives nothing from its peer for a while.

SIMULATED HARDWARE: the broken peer-to-peer transfer is a communication hook that returns
zeroes on the second rank, as the boards of the report did.
"""
import argparse
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel

parser = argparse.ArgumentParser()
parser.add_argument("twin", choices=["right", "wrong"])
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--steps", type=int, default=40)
args = parser.parse_args()
WRONG = args.twin == "wrong"
BROKEN_FROM = 12


class CharModel(nn.Module):
    def __init__(self, vocabulary=24, width=32):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width)
        self.rnn = nn.GRU(width, width, batch_first=True)
        self.out = nn.Linear(width, vocabulary)

    def forward(self, tokens):
        hidden, _ = self.rnn(self.embed(tokens))
        return self.out(hidden)


def link(state, bucket):
    """Average over the ranks, as DDP does, but over the simulated link."""
    work = dist.all_reduce(bucket.buffer().div_(2), async_op=True).get_future()
    state["calls"] += 1

    def receive(future):
        buffer = future.value()[0]
        if WRONG:
            if state["rank"] == 1 and state["calls"] > BROKEN_FROM:
                buffer.zero_()  # cause
        return buffer

    return work.then(receive)


def text(generator, batch=16, length=20, vocabulary=24):
    first = torch.randint(0, vocabulary, (batch, 1), generator=generator)
    stride = torch.randint(1, 3, (batch, 1), generator=generator)
    return (first + stride * torch.arange(length + 1)) % vocabulary


def train(rank, store):
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=2)
    model = DistributedDataParallel(CharModel())
    model.register_comm_hook({"rank": rank, "calls": 0}, link)
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    generator = torch.Generator().manual_seed(args.seed * 2 + rank + 1)
    for step in range(args.steps):
        batch = text(generator)
        optimizer.zero_grad()
        logits = model(batch[:, :-1])
        loss = F.cross_entropy(logits.flatten(0, 1), batch[:, 1:].flatten())
        loss.backward()
        optimizer.step()
        if rank == 0 and step % 5 == 0:
            print(f"step {step} loss {loss.item():.4f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(train, (folder + "/store",), nprocs=2)
