# SPDX-License-Identifier: Apache-2.0
"""A Trainer with arguments, in the manner of transformers: model returns its loss, decay by name, linear warm-up."""
import argparse
import dataclasses
import math

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


@dataclasses.dataclass
class TrainingArguments:
    max_steps: int
    batch: int
    accumulation: int = 1
    lr: float = 5e-3
    warmup: int = 4
    weight_decay: float = 0.1
    max_grad_norm: float = 1.0
    logging_steps: int = 5


class Trainer:
    def __init__(self, model, args, train_dataset, collator):
        self.model, self.args = model, args
        self.loader = DataLoader(train_dataset, args.batch, shuffle=True, collate_fn=collator)

    def create_optimizer(self):
        spared = {n for n, p in self.model.named_parameters() if p.ndim < 2}
        split = [[p for n, p in self.model.named_parameters() if (n in spared) == flag] for flag in (False, True)]
        self.optimizer = torch.optim.AdamW([{"params": split[0], "weight_decay": self.args.weight_decay},
                                            {"params": split[1], "weight_decay": 0.0}], lr=self.args.lr)
        warmup, total = self.args.warmup, self.args.max_steps
        self.lr_scheduler = torch.optim.lr_scheduler.LambdaLR(
            self.optimizer, lambda s: s / warmup if s < warmup else max(0.0, (total - s) / (total - warmup)))

    def training_step(self, inputs, window):
        self.model.train()
        loss = self.model(**inputs)["loss"] / window
        loss.backward()
        return loss.detach()

    def train(self):
        self.create_optimizer()
        per_epoch = math.ceil(len(self.loader) / self.args.accumulation)
        step, total = 0, torch.zeros(())
        self.model.zero_grad()
        for _ in range(math.ceil(self.args.max_steps / per_epoch)):
            tail = len(self.loader) % self.args.accumulation or self.args.accumulation
            for index, inputs in enumerate(self.loader):
                last_window = index >= len(self.loader) - tail
                total += self.training_step(inputs, tail if last_window else self.args.accumulation)
                if (index + 1) % self.args.accumulation and index + 1 != len(self.loader):
                    continue
                nn.utils.clip_grad_norm_(self.model.parameters(), self.args.max_grad_norm)
                self.optimizer.step()
                self.lr_scheduler.step()
                self.model.zero_grad()
                step += 1
                if step % self.args.logging_steps == 0:
                    print({"loss": round(total.item() / self.args.logging_steps, 4), "step": step})
                    total.zero_()
                if step == self.args.max_steps:
                    return


class Sentences(Dataset):
    def __len__(self):
        return 200

    def __getitem__(self, index):
        g = torch.Generator().manual_seed(index)
        length = int(torch.randint(4, 10, (1,), generator=g))
        words = torch.randint(2, 20, (length,), generator=g)
        return words, int((words > 10).float().mean() > 0.5)


def collate(rows):
    words = nn.utils.rnn.pad_sequence([r[0] for r in rows], batch_first=True)
    return {"input_ids": words, "attention_mask": words != 0, "labels": torch.tensor([r[1] for r in rows])}


class Sentiment(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.embed, self.norm = nn.Embedding(20, width, padding_idx=0), nn.LayerNorm(width)
        self.head = nn.Linear(width, 2)

    def forward(self, input_ids, attention_mask, labels):
        h = self.norm(self.embed(input_ids)) * attention_mask[..., None]
        logits = self.head(h.sum(1) / attention_mask.sum(1, keepdim=True))
        return {"loss": nn.functional.cross_entropy(logits, labels), "logits": logits}


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--config", choices=["A", "B", "C"], default="A")
    cli = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(cli.seed)
    batch, accumulation, width = {"A": (16, 2, 16), "B": (32, 1, 32), "C": (8, 4, 24)}[cli.config]
    Trainer(Sentiment(width), TrainingArguments(cli.steps, batch, accumulation), Sentences(), collate).train()
