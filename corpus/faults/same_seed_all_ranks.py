# SPDX-License-Identifier: Apache-2.0
"""A denoiser on two ranks that draw their noise and their data from one and the same seed."""
import argparse
import os
import subprocess
import sys
import tempfile

import torch
import torch.distributed as dist
from torch import nn

args = argparse.ArgumentParser()
args.add_argument("twin", choices=["right", "wrong"])
args.add_argument("--seed", type=int, default=0)
args.add_argument("--steps", type=int, default=40)
args = args.parse_args()
WRONG = args.twin == "wrong"


class Denoiser(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = nn.Conv1d(1, 16, 5, padding=2)
        self.middle = nn.Conv1d(16, 16, 5, padding=4, dilation=2)
        self.up = nn.Conv1d(16, 1, 5, padding=2)

    def forward(self, x):
        h = torch.relu(self.down(x))
        return x - self.up(torch.relu(self.middle(h)))


def set_seed(rank):
    if WRONG:
        torch.manual_seed(args.seed)  # cause
    else:
        torch.manual_seed(args.seed + 1000 * rank)


def broadcast(model):
    for tensor in model.state_dict().values():
        dist.broadcast(tensor, 0)


def main(rank):
    dist.init_process_group("gloo", init_method=os.environ["CORPUS_INIT"], rank=rank, world_size=2)
    torch.set_num_threads(1)
    set_seed(rank)
    model = Denoiser()
    broadcast(model)
    optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
    grid = torch.linspace(0, 6.28, 32)
    for step in range(args.steps):
        clean = torch.sin(torch.randint(1, 4, (24, 1)) * grid + torch.rand(24, 1) * 6.28)[:, None]
        loss = (model(clean + 0.5 * torch.randn_like(clean)) - clean).square().mean()
        optimizer.zero_grad()
        loss.backward()
        for p in model.parameters():
            dist.all_reduce(p.grad, op=dist.ReduceOp.SUM)
            p.grad.div_(2)
        optimizer.step()
        if step % 8 == 0 and rank == 0:
            print(f"step {step} loss {loss.item():.4f}", flush=True)
    dist.barrier()


if __name__ == "__main__":
    if "CORPUS_RANK" in os.environ:
        main(int(os.environ["CORPUS_RANK"]))
        sys.exit(0)
    with tempfile.TemporaryDirectory() as folder:
        children = [subprocess.Popen([sys.executable, *sys.argv],
                                     env={**os.environ, "CORPUS_RANK": str(rank), "CORPUS_INIT": f"file://{folder}/init"})
                    for rank in (0, 1)]
        sys.exit(max([child.wait() for child in children]))
