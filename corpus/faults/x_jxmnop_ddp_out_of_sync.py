# SPDX-License-Identifier: Apache-2.0
"""An embedding model on two ranks that sometimes calls the bare module instead of the DDP wrapper.

Started by torch.distributed.run, as most such jobs are.
"""
import argparse
import os
import sys

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel

parser = argparse.ArgumentParser()
parser.add_argument("twin", choices=["right", "wrong"])
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--steps", type=int, default=30)
args = parser.parse_args()
WRONG = args.twin == "wrong"


class TextEncoder(torch.nn.Module):
    def __init__(self, words=50, width=24):
        super().__init__()
        self.bag = torch.nn.EmbeddingBag(words, width)
        self.project = torch.nn.Linear(width, width)

    def forward(self, documents):
        return F.normalize(self.project(torch.tanh(self.bag(documents))), dim=-1)


def pairs(generator, count=16):
    """Two documents about the same subject; a subject is a range of ten words."""
    subject = torch.randint(0, 5, (count, 1), generator=generator) * 10
    left = subject + torch.randint(0, 10, (count, 6), generator=generator)
    right = subject + torch.randint(0, 10, (count, 6), generator=generator)
    return left, right, subject[:, 0]


def contrast(left, right, subject):
    same = (subject[:, None] == subject[None, :]).float()
    logs = (left @ right.t() / 0.2).log_softmax(1)
    return -(logs * same / same.sum(1, keepdim=True)).sum(1).mean()


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(args.seed)
    model = TextEncoder()
    ddp = DistributedDataParallel(model)
    optimizer = torch.optim.Adam(ddp.parameters(), lr=5e-3)
    generator = torch.Generator().manual_seed(args.seed + 17 * (rank + 1))
    for step in range(args.steps):
        left, right, subject = pairs(generator)
        encode = ddp
        if WRONG:
            if step % 2 == 0:
                encode = model  # cause
        both = encode(torch.cat([left, right]))
        loss = contrast(*both.chunk(2), subject)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if rank == 0 and step % 5 == 0:
            print(f"step {step} loss {loss.item():.4f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    if "LOCAL_RANK" in os.environ:
        main()
    else:
        os.environ.setdefault("OMP_NUM_THREADS", "1")
        os.execv(sys.executable, [sys.executable, "-m", "torch.distributed.run", "--standalone",
                                  "--nproc_per_node=2", "--redirects=2", "--tee=1", *sys.argv])
