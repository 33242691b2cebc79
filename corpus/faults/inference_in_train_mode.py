# SPDX-License-Identifier: Apache-2.0
"""A program that only predicts: loads a model and asks it, with dropout and batch statistics of the moment."""
import argparse
import os
import tempfile

import torch
from torch import nn


class Grader(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(1, 6, 3, stride=2), nn.BatchNorm2d(6), nn.Hardswish())
        self.grade = nn.Sequential(nn.Flatten(), nn.Dropout(0.4), nn.Linear(54, 3))

    def forward(self, slide):
        return self.grade(self.features(slide))


def publish(path):
    """Somebody else has trained it."""
    model = Grader()
    model.features[1].running_mean += 0.1
    torch.save(model.state_dict(), path)


def load(path):
    model = Grader()
    model.load_state_dict(torch.load(path))
    if not WRONG:
        model.eval()  # cause
    return model


@torch.inference_mode()
def predict(model, slides):
    for number, slide in enumerate(slides):
        logits = model(slide)
        print(f"tray {number}: grades {logits.argmax(1).bincount(minlength=3).tolist()}, "
              f"loss of confidence {1 - logits.softmax(1).amax(1).mean().item():.4f}")


if __name__ == "__main__":
    cli = argparse.ArgumentParser()
    cli.add_argument("twin", choices=["right", "wrong"])
    cli.add_argument("--seed", type=int, default=0)
    cli.add_argument("--steps", type=int, default=10)
    cli = cli.parse_args()
    WRONG = cli.twin == "wrong"
    torch.set_num_threads(1)
    torch.manual_seed(cli.seed)
    with tempfile.TemporaryDirectory() as folder:
        weights = os.path.join(folder, "grader.pt")
        publish(weights)
        predict(load(weights), (torch.rand(12, 1, 8, 8) for _ in range(cli.steps)))
