# SPDX-License-Identifier: Apache-2.0
"""A pipeline of two stages: activations go down, gradients come back, one micro-batch at a time.

The sender works with the micro-batch size of the configuration, the receiver with the one it saw
first. Real pipelines hang on it; here the message has a fixed size, and rows are lost.
"""
import argparse
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn

cli = argparse.ArgumentParser()
cli.add_argument("twin", choices=["right", "wrong"])
cli.add_argument("--seed", type=int, default=0)
cli.add_argument("--steps", type=int, default=40)
cfg = cli.parse_args()
WRONG = cfg.twin == "wrong"
ROWS, WIDTH = 32, 16


def send_rows(rows, micro, to):
    message = torch.zeros(ROWS, rows.shape[1])
    message[:micro] = rows[:micro]
    dist.send(message, to)


def recv_rows(micro, width, source):
    message = torch.empty(ROWS, width)
    dist.recv(message, source)
    return message[:micro]


def data(step):
    g = torch.Generator().manual_seed(cfg.seed * 1000 + step)
    x = torch.randn(ROWS, 6, generator=g)
    return x, torch.tanh(x[:, :1] - x[:, 1:2]) + 0.5 * x[:, 2:3]


def first_stage():
    torch.manual_seed(cfg.seed)
    stage = nn.Sequential(nn.Linear(6, WIDTH), nn.Tanh(), nn.Linear(WIDTH, WIDTH), nn.Tanh())
    optimizer = torch.optim.Adam(stage.parameters(), lr=1e-2)
    for step in range(cfg.steps):
        micro = ROWS if step < 10 else ROWS // 2
        x, _ = data(step)
        out = stage(x[:micro])
        send_rows(out.detach(), micro, 1)
        gradient = recv_rows(micro, WIDTH, 1)
        optimizer.zero_grad()
        out.backward(gradient)
        optimizer.step()


def last_stage():
    torch.manual_seed(cfg.seed + 1)
    stage = nn.Sequential(nn.Linear(WIDTH, 32), nn.Tanh(), nn.Linear(32, 1))
    optimizer = torch.optim.Adam(stage.parameters(), lr=1e-2)
    micro = ROWS
    for step in range(cfg.steps):
        if not WRONG:
            micro = ROWS if step < 10 else ROWS // 2  # cause
        _, y = data(step)
        hidden = recv_rows(micro, WIDTH, 0).requires_grad_()
        loss = nn.functional.mse_loss(stage(hidden), y[:micro])
        optimizer.zero_grad()
        loss.backward()
        send_rows(hidden.grad, micro, 0)
        optimizer.step()
        if step % 5 == 0:
            print(f"stage 1: step {step} loss {loss.item():.4f}", flush=True)


def start(rank, store):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method="file://" + store, rank=rank, world_size=2)
    (first_stage, last_stage)[rank]()
    dist.barrier()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        mp.start_processes(start, (folder + "/store",), nprocs=2, start_method="fork")
