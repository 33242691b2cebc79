# SPDX-License-Identifier: Apache-2.0
"""What bench/traincheck has TrainCheck collect: a small convolutional network on made-up digits, one epoch and a test.

TrainCheck finds the model by the name of its variable, and training and testing by the names of loaders.
"""

import traincheck_no_device  # noqa: F401  (before torch, as that is where TrainCheck begins to instrument)
import torch
import torch.nn.functional as F
from torch import nn, optim


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 8, 3)
        self.conv2 = nn.Conv2d(8, 16, 3)
        self.fc1 = nn.Linear(400, 32)
        self.fc2 = nn.Linear(32, 10)

    def forward(self, x):
        x = F.relu(self.conv1(x))
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        x = F.relu(self.fc1(torch.flatten(x, 1)))
        return F.log_softmax(self.fc2(x), dim=1)


def train(model, train_loader, optimizer):
    model.train()
    for data, target in train_loader:
        optimizer.zero_grad()
        loss = F.nll_loss(model(data), target)
        loss.backward()
        optimizer.step()


def test(model, test_loader):
    model.eval()
    correct = 0
    with torch.no_grad():
        for data, target in test_loader:
            prediction = model(data).argmax(dim=1, keepdim=True)
            correct += prediction.eq(target.view_as(prediction)).sum().item()
    print(f"correct: {correct}")


def main():
    torch.manual_seed(0)
    target = torch.randint(0, 10, (96,))
    data = torch.randn(96, 1, 14, 14) + target.view(-1, 1, 1, 1)
    digits = torch.utils.data.TensorDataset(data, target)
    train_loader = torch.utils.data.DataLoader(digits, batch_size=8, shuffle=True)
    test_loader = torch.utils.data.DataLoader(digits, batch_size=32)
    model = Net()
    optimizer = optim.Adadelta(model.parameters(), lr=1.0)
    for _ in range(2):
        train(model, train_loader, optimizer)
        test(model, test_loader)


if __name__ == "__main__":
    main()
