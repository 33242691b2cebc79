# SPDX-License-Identifier: Apache-2.0
"""A digit-like classifier in the plainest loop there is, and nobody clears the gradients."""
import argparse

import torch
from torch.utils.data import DataLoader, TensorDataset

parser = argparse.ArgumentParser()
parser.add_argument("twin", choices=["right", "wrong"])
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--steps", type=int, default=60)
args = parser.parse_args()
WRONG = args.twin == "wrong"

torch.set_num_threads(1)
torch.manual_seed(args.seed)

# Ten prototypes of 8x8 pixels, drawn with noise.
prototypes = (torch.rand(10, 64) > 0.5).float()
targets = torch.randint(0, 10, (960,))
pixels = prototypes[targets] + 0.8 * torch.randn(960, 64)
train_loader = DataLoader(TensorDataset(pixels, targets), batch_size=32, shuffle=True)

model = torch.nn.Sequential(
    torch.nn.Linear(64, 50),
    torch.nn.ReLU(),
    torch.nn.Linear(50, 10),
    torch.nn.LogSoftmax(dim=1),
)
loss_fn = torch.nn.NLLLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.003)

done = 0
epoch = 0
while done < args.steps:
    epoch += 1
    running = 0.0
    for batch_idx, (data, target) in enumerate(train_loader, 1):
        if not WRONG:
            optimizer.zero_grad()  # cause
        output = model(data)
        loss = loss_fn(output, target)
        loss.backward()
        optimizer.step()
        running += loss.item()
        done += 1
        if done == args.steps:
            break
    print("epoch", epoch, "loss", running / batch_idx)
