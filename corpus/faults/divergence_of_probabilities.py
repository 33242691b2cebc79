# SPDX-License-Identifier: Apache-2.0
"""A small model learns from a large one by kl_div, which expects logarithms on its first side and is given none."""
import argparse

import torch
from torch import nn


def teacher_for(inputs, classes):
    """Stands for one that was trained: frozen, and sure of itself."""
    net = nn.Sequential(nn.Linear(inputs, 40), nn.ReLU(), nn.Linear(40, classes)).eval()
    with torch.no_grad():
        net[-1].weight.mul_(4)
    return net.requires_grad_(False)


class Distiller:
    def __init__(self, teacher, student, temperature):
        self.teacher, self.student, self.temperature = teacher, student, temperature
        self.divergence = nn.KLDivLoss(reduction="batchmean")
        self.optimizer = torch.optim.Adamax(student.parameters(), lr=2e-2)

    def softened(self, logits):
        return (logits / self.temperature).softmax(dim=-1)

    def learn(self, rows):
        wanted = self.softened(self.teacher(rows))
        given = self.softened(self.student(rows))
        if not WRONG:
            given = given.log()  # cause
        loss = self.divergence(given, wanted) * self.temperature ** 2
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


def main(args):
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    distiller = Distiller(teacher_for(9, 5), nn.Sequential(nn.Linear(9, 6), nn.Tanh(), nn.Linear(6, 5)), 2.0)
    for lesson in range(args.steps):
        loss = distiller.learn(torch.randn(30, 9))
        if lesson % 10 == 0:
            print("lesson", lesson, "loss", f"{loss:.4f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("twin", choices=["right", "wrong"])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=50)
    chosen = parser.parse_args()
    WRONG = chosen.twin == "wrong"
    main(chosen)
