# SPDX-License-Identifier: Apache-2.0
"""compile() and fit(), as Keras has them: optimizer by name, metrics, history, early stopping with the best weights kept."""
import argparse
import copy

import torch
from torch import nn

OPTIMIZERS = {"adam": lambda p: torch.optim.Adam(p, 1e-2), "sgd": lambda p: torch.optim.SGD(p, 0.1, 0.9),
              "rmsprop": lambda p: torch.optim.RMSprop(p, 5e-3), "adagrad": lambda p: torch.optim.Adagrad(p, 0.05)}
LOSSES = {"mse": nn.functional.mse_loss, "mae": nn.functional.l1_loss}


class Sequential(nn.Sequential):
    def compile(self, optimizer, loss):
        self._optimizer, self._loss = OPTIMIZERS[optimizer](self.parameters()), LOSSES[loss]

    def train_on_batch(self, x, y):
        self._optimizer.zero_grad()
        loss = self._loss(self(x), y)
        loss.backward()
        self._optimizer.step()
        return loss.item()

    @torch.no_grad()
    def evaluate(self, x, y):
        was = self.training
        self.eval()
        score = self._loss(self(x), y).item()
        self.train(was)
        return score

    def fit(self, x, y, batch_size, epochs, validation, patience):
        history, best, kept, bad = [], float("inf"), None, 0
        self.train()
        for epoch in range(epochs):
            order = torch.randperm(len(x))
            losses = [self.train_on_batch(x[rows], y[rows]) for rows in order.split(batch_size)]
            score = self.evaluate(*validation)
            history.append((sum(losses) / len(losses), score))
            print(f"Epoch {epoch + 1}/{epochs} - loss: {history[-1][0]:.4f} - val: {score:.4f}")
            if score < best:
                best, kept, bad = score, copy.deepcopy(self.state_dict()), 0
            elif (bad := bad + 1) > patience:
                break
        self.load_state_dict(kept)
        return history


def concrete(count):
    """The strength of concrete, roughly."""
    x = torch.rand(count, 5)
    return x, (x[:, :1] * 2 - x[:, 1:2] + x[:, 2:3].sqrt()) * (1 - 0.3 * x[:, 3:4])


parser = argparse.ArgumentParser()
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--steps", type=int, default=60)
parser.add_argument("--config", choices=["A", "B", "C"], default="A")
args = parser.parse_args()
batch, width, optimizer, loss = {"A": (20, 32, "adam", "mse"), "B": (40, 24, "rmsprop", "mae"), "C": (10, 16, "adagrad", "mse")}[args.config]
torch.set_num_threads(1)
torch.manual_seed(args.seed)
model = Sequential(nn.Linear(5, width), nn.BatchNorm1d(width), nn.ReLU(), nn.Dropout(0.05), nn.Linear(width, 1))
model.compile(optimizer, loss)
x, y = concrete(200)
model.fit(x, y, batch, epochs=max(2, args.steps * batch // 200), validation=concrete(60), patience=3)
