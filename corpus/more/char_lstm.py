# SPDX-License-Identifier: Apache-2.0
"""A character LSTM with truncated backpropagation, clipping, and text sampled after each epoch."""
import sys

import torch
from torch import nn

seed = int(sys.argv[1])
torch.manual_seed(seed)
torch.set_num_threads(1)
text = "the quick brown fox jumps over the lazy dog and runs away from the big bad wolf. " * 12
chars = sorted(set(text))
stoi = {c: i for i, c in enumerate(chars)}
data = torch.tensor([stoi[c] for c in text])
start = torch.randint(0, 50, (1,)).item()
data = data[start:start + 900].view(6, 150)


class CharLSTM(nn.Module):
    def __init__(self, vocab, hidden=48):
        super().__init__()
        self.emb = nn.Embedding(vocab, 24)
        self.lstm = nn.LSTM(24, hidden, num_layers=2, dropout=0.1, batch_first=True)
        self.out = nn.Linear(hidden, vocab)

    def forward(self, x, state=None):
        y, state = self.lstm(self.emb(x), state)
        return self.out(y), state


model = CharLSTM(len(chars))
opt = torch.optim.RMSprop(model.parameters(), lr=5e-3)
loss_fn = nn.CrossEntropyLoss()
for epoch in range(4):
    state = None
    model.train()
    for t in range(0, 140, 20):
        x, y = data[:, t:t + 20], data[:, t + 1:t + 21]
        logits, state = model(x, state)
        state = tuple(s.detach() for s in state)
        loss = loss_fn(logits.reshape(-1, len(chars)), y.reshape(-1))
        opt.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
    model.eval()
    with torch.no_grad():
        token, state, sampled = torch.tensor([[stoi["t"]]]), None, []
        for _ in range(15):
            logits, state = model(token, state)
            token = torch.multinomial(torch.softmax(logits[0, -1] / 0.8, -1), 1).unsqueeze(0)
            sampled.append(chars[token.item()])
            if sampled[-1] == ".":
                break
    print(epoch, loss.item(), "".join(sampled))
