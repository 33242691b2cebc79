# SPDX-License-Identifier: Apache-2.0
"""A tagger of sequences in two jobs, the second of which finds everything in the file of the first and goes on at the next epoch."""
import argparse
import io

import torch
from torch import nn
from torch.optim.lr_scheduler import LambdaLR
from torch.utils.data import DataLoader, Dataset


class Peaks(Dataset):
    """Is a point higher than its neighbours?"""

    def __init__(self, count, length):
        self.series = torch.randn(count, length).cumsum(1)

    def __len__(self):
        return self.series.shape[0]

    def __getitem__(self, i):
        line = self.series[i]
        inner = (line[1:-1] > line[:-2]) & (line[1:-1] > line[2:])
        return line.unsqueeze(1), nn.functional.pad(inner, (1, 1)).float()


class Tagger(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.read = nn.LSTM(1, hidden, batch_first=True, bidirectional=True)
        self.tag = nn.Linear(2 * hidden, 1)

    def forward(self, line):
        return self.tag(self.read(line)[0]).squeeze(2)


class Job:
    def __init__(self, hidden, warm):
        self.net = Tagger(hidden)
        self.adam = torch.optim.Adam(self.net.parameters(), lr=1e-2)
        self.rate = LambdaLR(self.adam, lambda step: min(1.0, (step + 1) / warm))
        self.epoch = 0

    def parts(self):
        return {"net": self.net, "adam": self.adam, "rate": self.rate}

    def put(self):
        file = io.BytesIO()
        torch.save({name: part.state_dict() for name, part in self.parts().items()} | {"epoch": self.epoch}, file)
        return file

    def get(self, file):
        file.seek(0)
        saved = torch.load(file)
        for name, part in self.parts().items():
            part.load_state_dict(saved[name])
        self.epoch = saved["epoch"]

    def until(self, epochs, loader):
        criterion = nn.BCEWithLogitsLoss()
        while self.epoch < epochs:
            for line, tags in loader:
                self.adam.zero_grad()
                loss = criterion(self.net(line), tags)
                loss.backward()
                self.adam.step()
                self.rate.step()
            self.epoch += 1
            print(f"epoch {self.epoch} loss {loss.item():.4f} rate {self.rate.get_last_lr()[0]:.5f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=48)
    parser.add_argument("--config", choices=["A", "B", "C"], default="A")
    args = parser.parse_args()
    hidden, batch, length = {"A": (12, 16, 20), "B": (16, 8, 12), "C": (8, 24, 24)}[args.config]
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    loader = DataLoader(Peaks(8 * batch, length), batch_size=batch, shuffle=True)
    first = Job(hidden, warm=10)
    first.until(max(1, args.steps // 16), loader)
    second = Job(hidden, warm=10)
    second.get(first.put())
    second.until(max(2, args.steps // 8), loader)
