# SPDX-License-Identifier: Apache-2.0
"""An adapter on a frozen base, trained by an engine that keeps only what it trains.

The checkpoint is gathered from the engine's own list of parameters. Those that were frozen
before the engine was made are not on it, and the checkpoint is incomplete.
"""
import argparse
import pathlib
import tempfile

import torch
import torch.nn.functional as F


class Base(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inp = torch.nn.Linear(16, 32)
        self.mid = torch.nn.Linear(32, 32)
        self.down = torch.nn.Linear(32, 4)
        self.up = torch.nn.Linear(4, 32)
        self.out = torch.nn.Linear(32, 1)

    def forward(self, x):
        h = F.elu(self.inp(x))
        h = F.elu(self.mid(h)) + self.up(F.elu(self.down(h)))
        return self.out(h)


class Engine:
    def __init__(self, model, lr):
        self.model = model
        if WRONG:
            self.owned = {n for n, p in model.named_parameters() if p.requires_grad}  # cause
        else:
            self.owned = {n for n, _ in model.named_parameters()}
        self.optimizer = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], lr=lr)

    def train_batch(self, x, y):
        loss = F.mse_loss(self.model(x), y)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()

    def save_checkpoint(self, path):
        module = {name: value for name, value in self.model.state_dict().items() if name in self.owned}
        torch.save({"module": module, "optimizer": self.optimizer.state_dict()}, path)

    def load_checkpoint(self, path):
        return self.model.load_state_dict(torch.load(path)["module"], strict=False)


def run():
    torch.manual_seed(args.seed)
    model = Base()
    for frozen in (model.inp, model.mid):
        frozen.requires_grad_(False)
    engine = Engine(model, lr=1e-2)
    direction = torch.randn(16, 1)
    for step in range(args.steps):
        x = torch.randn(48, 16)
        loss = engine.train_batch(x, torch.tanh(x @ direction))
        if step % 10 == 0:
            print(f"step {step}, loss {loss:.4f}")
    with tempfile.TemporaryDirectory() as folder:
        checkpoint = pathlib.Path(folder) / "engine.pt"
        engine.save_checkpoint(checkpoint)
        Engine(Base(), lr=1e-2).load_checkpoint(checkpoint)
        print("checkpoint of", checkpoint.stat().st_size // 1024, "kB")


parser = argparse.ArgumentParser()
parser.add_argument("twin", choices=["right", "wrong"])
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--steps", type=int, default=60)
args = parser.parse_args()
WRONG = args.twin == "wrong"
torch.set_num_threads(1)
run()
