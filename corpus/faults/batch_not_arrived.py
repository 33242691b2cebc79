# SPDX-License-Identifier: Apache-2.0
"""The power that a turbine makes is learned from twenty sensors; batches are drawn by hand and sent to the device.

SIMULATED HARDWARE: some copies between devices give zeros instead of what was sent.
"""
import argparse
import random

import torch
from torch import nn


def get_arguments():
    cli = argparse.ArgumentParser()
    cli.add_argument("twin", choices=("right", "wrong"))
    cli.add_argument("--seed", default=0, type=int)
    cli.add_argument("--steps", default=70, type=int)
    return cli.parse_args()


def send(tensor, to, sent):
    """A copy on the device."""
    arrived = tensor.clone().to(to)
    if WRONG:
        if sent % 17 == 16:
            arrived.zero_()  # cause
    return arrived


def sensors(rows, generator):
    readings = torch.randn(rows, 20, generator=generator)
    power = (readings[:, :5].sum(1) + readings[:, 5] * readings[:, 6]).tanh()
    return readings, power[:, None]


def main(arguments):
    torch.set_num_threads(1)
    torch.manual_seed(arguments.seed)
    random.seed(arguments.seed)
    readings, power = sensors(900, torch.Generator().manual_seed(arguments.seed))
    held_out = slice(800, 900)
    model = nn.Sequential(nn.Linear(20, 48), nn.GELU(), nn.Linear(48, 1))
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    for turn in range(arguments.steps):
        picked = torch.tensor(random.sample(range(800), 40))
        batch = send(readings[picked], "cpu", turn)
        loss = nn.functional.mse_loss(model(batch), power[picked])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if turn % 10 == 0:
            print("turn", turn, "error", round(loss.item(), 4))
    model.eval()
    with torch.no_grad():
        print("held out", round(nn.functional.mse_loss(model(readings[held_out]), power[held_out]).item(), 4))


if __name__ == "__main__":
    options = get_arguments()
    WRONG = options.twin == "wrong"
    main(options)
