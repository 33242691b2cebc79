# SPDX-License-Identifier: Apache-2.0
"""`if rank == 0` around too much: only the first rank's learning rate follows the schedule."""
import argparse
import os
import subprocess
import sys
import tempfile

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.optim.lr_scheduler import MultiStepLR

parser = argparse.ArgumentParser()
parser.add_argument("twin", choices=["right", "wrong"])
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--steps", type=int, default=36)
args = parser.parse_args()
WRONG = args.twin == "wrong"


def ratings(rng, count=40):
    user, item = torch.randint(0, 25, (2, count), generator=rng)
    return user, item, ((user * 7 + item * 3) % 5).float() / 2 - 1


class Scores(nn.Module):
    def __init__(self):
        super().__init__()
        self.user, self.item = nn.Embedding(25, 12), nn.Embedding(25, 12)
        self.mix = nn.Sequential(nn.Linear(24, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, user, item):
        return self.mix(torch.cat([self.user(user), self.item(item)], 1))[:, 0]


def rank_main(rank):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=os.environ["INIT"], rank=rank, world_size=2)
    torch.manual_seed(args.seed)
    model = DistributedDataParallel(Scores())
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    scheduler = MultiStepLR(optimizer, [args.steps // 3, 2 * args.steps // 3], gamma=0.5)
    rng = torch.Generator().manual_seed(args.seed + rank)
    for step in range(args.steps):
        user, item, score = ratings(rng)
        optimizer.zero_grad()
        loss = (model(user, item) - score).pow(2).mean()
        loss.backward()
        optimizer.step()
        if rank == 0:
            if WRONG:
                scheduler.step()  # cause
            if step % 6 == 0:
                print(f"step {step} loss {loss.item():.4f}", flush=True)
        if not WRONG:
            scheduler.step()
    dist.barrier()


if __name__ == "__main__":
    if "CORPUS_RANK" in os.environ:
        rank_main(int(os.environ["CORPUS_RANK"]))
    else:
        with tempfile.TemporaryDirectory() as folder:
            processes = []
            for number in "01":
                env = os.environ | {"CORPUS_RANK": number, "INIT": "file://" + folder + "/i"}
                processes.append(subprocess.Popen([sys.executable] + sys.argv, env=env))
            codes = [process.wait() for process in processes]
        sys.exit(max(codes))
