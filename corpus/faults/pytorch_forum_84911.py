# SPDX-License-Identifier: Apache-2.0
"""Fine-tune the batch norms only; the optimizer is given the (frozen) last layer instead.

The running statistics still follow the data, so the loss improves a little.
"""
import argparse

import torch
import torch.nn as nn
import torch.optim as optim


class Net(nn.Module):
    def __init__(self):
        super(Net, self).__init__()
        self.fc1 = nn.Linear(20, 64)
        self.bn1 = nn.BatchNorm1d(64)
        self.fc2 = nn.Linear(64, 64)
        self.bn2 = nn.BatchNorm1d(64)
        self.fc = nn.Linear(64, 5)

    def forward(self, x):
        x = torch.relu(self.bn1(self.fc1(x)))
        x = torch.relu(self.bn2(self.fc2(x)))
        return self.fc(x)


def pretrain(net, x, y):
    optimizer = optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    for _ in range(10):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()


def set_parameter_requires_grad(net):
    for param in net.parameters():
        param.requires_grad = False
    for module in net.modules():
        if isinstance(module, nn.BatchNorm1d):
            module.weight.requires_grad = True
            module.bias.requires_grad = True


parser = argparse.ArgumentParser()
parser.add_argument("twin", choices=["right", "wrong"])
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--steps", type=int, default=40)
args = parser.parse_args()
WRONG = args.twin == "wrong"

torch.set_num_threads(1)
torch.manual_seed(args.seed)
centres = torch.randn(5, 20)
labels = torch.randint(0, 5, (640,))
inputs = centres[labels] + torch.randn(640, 20)

net = Net()
pretrain(net, inputs[:320], labels[:320])
set_parameter_requires_grad(net)
shifted = inputs * 1.5 + 0.7

if WRONG:
    optimizer = optim.Adam(net.fc.parameters(), lr=1e-2)  # cause
else:
    optimizer = optim.Adam([p for p in net.parameters() if p.requires_grad], lr=1e-2)

net.train()
for step in range(args.steps):
    start = step * 32 % 640
    optimizer.zero_grad()
    outputs = net(shifted[start:start + 32])
    loss = nn.CrossEntropyLoss()(outputs, labels[start:start + 32])
    loss.backward()
    optimizer.step()
    if step % 5 == 0:
        print("step %d loss %.4f" % (step, loss.item()))
