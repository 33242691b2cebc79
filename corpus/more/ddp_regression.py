# SPDX-License-Identifier: Apache-2.0
"""Two processes over gloo with DistributedDataParallel and a DistributedSampler; rank 0 writes a checkpoint."""
import os
import sys
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler


def work(rank, seed, meeting, folder):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method="file://" + meeting, rank=rank, world_size=2)
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(128, 8, generator=g)
    data = TensorDataset(x, (x[:, :3].sum(1, keepdim=True)).tanh() + 0.1 * torch.randn(128, 1, generator=g))
    sampler = DistributedSampler(data, num_replicas=2, rank=rank, shuffle=True, seed=seed)
    loader = DataLoader(data, batch_size=16, sampler=sampler)
    torch.manual_seed(seed)
    model = DDP(nn.Sequential(nn.Linear(8, 24), nn.ReLU(), nn.Linear(24, 1)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for epoch in range(4):
        sampler.set_epoch(epoch)
        total = torch.zeros(1)
        for xb, yb in loader:
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(model(xb), yb)
            loss.backward()
            optimizer.step()
            total += loss.detach()
        dist.all_reduce(total)
        if rank == 0:
            torch.save(model.module.state_dict(), os.path.join(folder, "model.pt"))
            print(epoch, total.item() / 8)
        dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(work, (int(sys.argv[1]), os.path.join(folder, "meeting"), folder), nprocs=2)
