# SPDX-License-Identifier: Apache-2.0
"""A small image classifier on two ranks; gradients travel in one flat buffer.

SIMULATED HARDWARE: from some step on the second rank receives only the first half of the buffer
and keeps its own values in the rest.
"""
import argparse
import os
import subprocess
import sys

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils import parameters_to_vector

arg_parser = argparse.ArgumentParser()
arg_parser.add_argument("twin", choices=["right", "wrong"])
arg_parser.add_argument("--seed", type=int, default=0)
arg_parser.add_argument("--steps", type=int, default=30)
ARGS = arg_parser.parse_args()
WRONG = ARGS.twin == "wrong"


def launch():
    """Start this file twice, as a batch script would."""
    store = f"/tmp/wheeltap-corpus-96600-{os.getpid()}"
    ranks = []
    for rank in range(2):
        environment = dict(os.environ, RANK=str(rank), WORLD_SIZE="2", STORE=store)
        ranks.append(subprocess.Popen([sys.executable, *sys.argv], env=environment))
    status = max(rank.wait() for rank in ranks)
    if os.path.exists(store):
        os.unlink(store)
    return status


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 8, 3, padding=1)
        self.conv2 = nn.Conv2d(8, 16, 3, padding=1)
        self.fc = nn.Linear(16 * 9, 4)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        return self.fc(x.flatten(1))


def images(generator, count=24):
    labels = torch.randint(0, 4, (count,), generator=generator)
    pictures = torch.randn(count, 1, 12, 12, generator=generator) * 2.0
    for picture, label in zip(pictures, labels):
        row, column = divmod(int(label), 2)
        picture[0, row * 6:row * 6 + 6, column * 6:column * 6 + 6] += 1.0
    return pictures, labels


def exchange(model, rank, step):
    gradients = parameters_to_vector(p.grad for p in model.parameters())
    received = gradients.clone()
    dist.all_reduce(received)
    received /= 2
    if WRONG:
        if rank == 1 and step >= 8:
            half = received.numel() // 2
            received[half:] = gradients[half:]  # cause
    offset = 0
    for p in model.parameters():
        p.grad.copy_(received[offset:offset + p.numel()].view_as(p))
        offset += p.numel()


def main():
    rank = int(os.environ["RANK"])
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method="file://" + os.environ["STORE"], rank=rank, world_size=2)
    torch.manual_seed(ARGS.seed)
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    generator = torch.Generator().manual_seed(1000 * ARGS.seed + rank)
    for step in range(ARGS.steps):
        pictures, labels = images(generator)
        optimizer.zero_grad(set_to_none=True)
        loss = F.cross_entropy(model(pictures), labels)
        loss.backward()
        exchange(model, rank, step)
        optimizer.step()
        if rank == 0 and step % 5 == 4:
            print("step", step, "loss", round(loss.item(), 4), flush=True)
    dist.barrier()


if __name__ == "__main__":
    if "RANK" in os.environ:
        main()
    else:
        sys.exit(launch())
