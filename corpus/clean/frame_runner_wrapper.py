# SPDX-License-Identifier: Apache-2.0
"""A runner with an optimizer wrapper (as in MMEngine): update_params() does backward, accumulation, clipping and step."""
import argparse

import torch
from torch import nn

REGISTRY = {}


def register(cls):
    REGISTRY[cls.__name__] = cls
    return cls


def build(cfg, **extra):
    cfg = dict(cfg)
    return REGISTRY[cfg.pop("type")](**cfg, **extra)


@register
class OptimWrapper:
    def __init__(self, optimizer, accumulative_counts=1, clip_grad=None):
        self.optimizer, self.counts, self.clip, self.inner = optimizer, accumulative_counts, clip_grad, 0

    def update_params(self, loss):
        (loss / self.counts).backward()
        self.inner += 1
        if self.inner % self.counts == 0:
            if self.clip:
                nn.utils.clip_grad_norm_([p for g in self.optimizer.param_groups for p in g["params"]], **self.clip)
            self.optimizer.step()
            self.optimizer.zero_grad()


@register
class Segmentor(nn.Module):
    def __init__(self, width, aux):
        super().__init__()
        self.backbone = nn.Sequential(nn.Conv2d(1, width, 3, padding=1), nn.BatchNorm2d(width), nn.ReLU())
        self.decode_head = nn.Conv2d(width, 2, 1)
        self.aux_head = nn.Conv2d(width, 2, 1) if aux else None

    def forward(self, images, masks=None, mode="loss"):
        features = self.backbone(images)
        logits = self.decode_head(features)
        if mode == "predict":
            return logits.argmax(1)
        losses = {"decode.loss_ce": nn.functional.cross_entropy(logits, masks)}
        if self.aux_head is not None:
            losses["aux.loss_ce"] = 0.4 * nn.functional.cross_entropy(self.aux_head(features), masks)
        return losses

    def train_step(self, data, wrapper):
        losses = self(*data, mode="loss")
        total = sum(losses.values())
        wrapper.update_params(total)
        return {"loss": total.item()}


@register
class Runner:
    def __init__(self, model, wrapper, data, max_iters, val_interval):
        self.model, self.data, self.max_iters, self.interval = build(model), data, max_iters, val_interval
        optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1, momentum=0.9)
        self.wrapper = build(wrapper, optimizer=optimizer)

    def train(self):
        self.model.train()
        for it in range(1, self.max_iters + 1):
            out = self.model.train_step(self.data(), self.wrapper)
            if it % self.interval == 0:
                print(f"Iter(train) [{it}/{self.max_iters}] loss: {out['loss']:.4f}  mIoU: {self.val():.3f}")

    @torch.no_grad()
    def val(self):
        self.model.eval()
        images, masks = self.data()
        predicted = self.model(images, mode="predict")
        self.model.train()
        return ((predicted & masks).sum() / (predicted | masks).sum().clamp(min=1)).item()


def scenes(size):
    def draw():
        masks = torch.zeros(size, 10, 10, dtype=torch.long)
        for mask in masks:
            r, c = torch.randint(0, 6, (2,)).tolist()
            mask[r:r + 4, c:c + 4] = 1
        return (masks + 0.4 * torch.randn(size, 10, 10))[:, None], masks
    return draw


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--config", choices=["A", "B", "C"], default="A")
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    size, width, counts, aux = {"A": (16, 8, 1, True), "B": (8, 12, 2, False), "C": (12, 6, 4, True)}[args.config]
    build({"type": "Runner", "model": {"type": "Segmentor", "width": width, "aux": aux},
           "wrapper": {"type": "OptimWrapper", "accumulative_counts": counts, "clip_grad": {"max_norm": 5.0}}},
          data=scenes(size), max_iters=args.steps, val_interval=8).train()
