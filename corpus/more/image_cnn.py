# SPDX-License-Identifier: Apache-2.0
"""A small CNN on blobs: augmentation by chance, cosine schedule, validation, the best state is kept, early stopping."""
import copy
import random
import sys

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

seed = int(sys.argv[1])
random.seed(seed)
np.random.seed(seed)
torch.manual_seed(seed)
torch.set_num_threads(1)


class Blobs(Dataset):
    def __init__(self, n, train):
        self.train = train
        self.y = np.random.randint(0, 4, n)
        self.x = np.random.randn(n, 1, 12, 12).astype("float32") * 0.3
        for i, k in enumerate(self.y):
            self.x[i, 0, 3 * (k // 2) + 2:3 * (k // 2) + 6, 4 * (k % 2) + 1:4 * (k % 2) + 5] += 1.0

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        x = torch.from_numpy(self.x[i])
        if self.train and random.random() < 0.3:
            x = x + 0.1 * torch.randn_like(x)
        return (x - 0.2) / 0.5, int(self.y[i])


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 8, 3, padding=1)
        self.bn1 = nn.BatchNorm2d(8)
        self.conv2 = nn.Conv2d(8, 16, 3, padding=1)
        self.bn2 = nn.BatchNorm2d(16)
        self.drop = nn.Dropout(0.25)
        self.fc = nn.Linear(16 * 9, 4)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.bn1(self.conv1(x))), 2)
        x = F.max_pool2d(F.relu(self.bn2(self.conv2(x))), 2)
        return self.fc(self.drop(torch.flatten(x, 1)))


train = DataLoader(Blobs(120, True), batch_size=16, shuffle=True)
val = DataLoader(Blobs(48, False), batch_size=16)
model = Net()
criterion = nn.CrossEntropyLoss(label_smoothing=0.05)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=5e-4, nesterov=True)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=8)
best, best_acc, bad = None, 0.0, 0
for epoch in range(8):
    model.train()
    running = 0.0
    for x, y in train:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        running += loss.item()
    model.eval()
    correct = 0
    with torch.no_grad():
        for x, y in val:
            correct += (model(x).argmax(1) == y).sum().item()
    acc = correct / 48
    scheduler.step()
    if acc > best_acc:
        best, best_acc, bad = copy.deepcopy(model.state_dict()), acc, 0
    else:
        bad += 1
    print(epoch, running / len(train), acc)
    if bad >= 3:
        break
if best:
    model.load_state_dict(best)
