# SPDX-License-Identifier: Apache-2.0
"""A regression by Huber's loss: the predictions are a column, the targets a vector, and all pairs are compared."""
import argparse

import torch
import torch.nn.functional as F

cli = argparse.ArgumentParser()
cli.add_argument("twin", choices=["right", "wrong"])
cli.add_argument("--seed", type=int, default=0)
cli.add_argument("--steps", type=int, default=60)
given = cli.parse_args()
WRONG = given.twin == "wrong"
torch.set_num_threads(1)
torch.manual_seed(given.seed)

rooms = torch.randn(256, 8)
price = (rooms @ torch.randn(8) / 3 + 0.1 * torch.randn(256)).reshape(-1, 1)
net = torch.nn.Sequential(torch.nn.Linear(8, 64), torch.nn.Tanh(), torch.nn.Linear(64, 1))
optimizer = torch.optim.RMSprop(net.parameters(), lr=2e-3)
for step in range(given.steps):
    pick = torch.randint(0, 256, (32,))
    target = price[pick]
    if WRONG:
        target = target.squeeze(1)  # cause
    optimizer.zero_grad()
    loss = F.huber_loss(net(rooms[pick]), target)
    loss.backward()
    optimizer.step()
    if step % 10 == 0:
        print(f"step {step} loss {loss.item():.4f}")
