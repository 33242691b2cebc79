# SPDX-License-Identifier: Apache-2.0
"""A recurrent network on the adding problem; the gradients are clipped once they have been used."""
import argparse

import torch
from torch import nn


class Adder(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.RNN(2, 32, nonlinearity="relu", batch_first=True)
        self.out = nn.Linear(32, 1)
        nn.init.eye_(self.rnn.weight_hh_l0)

    def forward(self, x):
        return self.out(self.rnn(x)[0][:, -1])


def adding_problem(batch, length):
    values = torch.rand(batch, length)
    marks = torch.zeros(batch, length)
    first = torch.randint(0, length // 2, (batch,))
    second = torch.randint(length // 2, length, (batch,))
    marks[torch.arange(batch), first] = 1
    marks[torch.arange(batch), second] = 1
    return torch.stack([values, marks], -1), (values * marks).sum(1, keepdim=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("twin", choices=["right", "wrong"])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=60)
    args = parser.parse_args()
    WRONG = args.twin == "wrong"
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    net = Adder()
    opt = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
    for i in range(args.steps):
        x, y = adding_problem(40, 16)
        loss = (net(x) - y).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        if WRONG:
            opt.step()
            nn.utils.clip_grad_norm_(net.parameters(), 0.5)  # cause
        else:
            nn.utils.clip_grad_norm_(net.parameters(), 0.5)
            opt.step()
        if i % 10 == 0:
            print("iteration", i, "loss", round(loss.item(), 4))


main()
