# SPDX-License-Identifier: Apache-2.0
"""DDP whose model is moved after wrapping: the reducer watches parameters that are gone.

On a GPU the move is model.cpu() and back; on a CPU a conversion to double and back replaces
the parameters in the same way.
"""
import argparse
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.nn.parallel import DistributedDataParallel as DDP

parser = argparse.ArgumentParser()
parser.add_argument("twin", choices=["right", "wrong"])
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--steps", type=int, default=40)
args = parser.parse_args()
WRONG = args.twin == "wrong"


def save_snapshot(model):
    """Bring the weights over once, as people do before they save."""
    torch.__future__.set_overwrite_module_params_on_conversion(True)
    model.double()  # cause
    model.float()
    torch.__future__.set_overwrite_module_params_on_conversion(False)


def setup(rank, path):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method="file://" + path, rank=rank, world_size=2)
    torch.manual_seed(args.seed)


def main(rank, path):
    setup(rank, path)
    model = torch.nn.Sequential(
        torch.nn.Linear(10, 40), torch.nn.ReLU(),
        torch.nn.Linear(40, 40), torch.nn.ReLU(),
        torch.nn.Linear(40, 1))
    ddp = DDP(model)
    if WRONG:
        save_snapshot(ddp)
    optimizer = torch.optim.SGD(ddp.parameters(), lr=0.4)
    torch.manual_seed(args.seed + 1)
    truth = torch.randn(10, 1)
    torch.manual_seed(args.seed + 2 + rank)
    for step in range(args.steps):
        x = torch.randn(32, 10)
        y = (x @ truth > 0).float()
        optimizer.zero_grad()
        loss = torch.nn.functional.binary_cross_entropy_with_logits(ddp(x), y)
        loss.backward()
        optimizer.step()
        if step % 8 == 0:
            print(f"rank {rank} step {step} loss {loss.item():.4f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as d:
        mp.spawn(main, args=(d + "/init",), nprocs=2, join=True)
