# SPDX-License-Identifier: Apache-2.0
"""The same losses and the same weights, to the bit, recorded at every level and not recorded at all."""

from __future__ import annotations

from recorded import Harness, main

TRAIN = """
import hashlib, torch, torch.nn as nn, torch.nn.functional as F

def mlp():
    return nn.Sequential(nn.Linear(12, 16), nn.ReLU(), nn.Dropout(0.2), nn.Linear(16, 4)), torch.randn(8, 12)

def cnn():
    return nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
                         nn.Linear(4 * 5 * 5, 4)), torch.randn(6, 1, 12, 12)

class Transformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(20, 16)
        self.layers = nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 2, 32, batch_first=True), 2)
        self.head = nn.Linear(16, 4)
    def forward(self, x):
        return self.head(self.layers(self.embed(x)).mean(1))

def transformer():
    return Transformer(), torch.randint(0, 20, (4, 7))

def weights(model):
    data = b"".join(value.detach().numpy().tobytes() for value in model.state_dict().values())
    return hashlib.sha256(data).hexdigest()

for make, kind in ((mlp, torch.optim.SGD), (cnn, torch.optim.Adam), (transformer, torch.optim.AdamW)):
    torch.manual_seed(7)
    model, x = make()
    y = torch.randint(0, 4, (len(x),))
    optimizer = kind(model.parameters(), lr=0.01)
    for step in range(6):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        print(make.__name__, step, loss.item().hex())
    model.eval()
    with torch.no_grad():
        print(model(x).sum().item().hex(), weights(model), torch.get_rng_state().sum().item())
"""


def test_levels(t: Harness) -> None:
    bare = t.bare(TRAIN)
    t.equal("the program runs", bare.status, 0, bare.errors)
    for level in ("lean", "normal", "full"):
        run = t.record(TRAIN, "--detail", level)
        t.equal(f"{level}: losses, outputs, weights and random state", run.output, bare.output, run.errors)
        t.equal(f"{level}: it was recorded", len([c for c in run.of("counter") if c["name"] == "loss"]), 18)


if __name__ == "__main__":
    main(test_levels, require=("torch",))
