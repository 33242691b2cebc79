# SPDX-License-Identifier: Apache-2.0
"""A loop with accelerate: gradients accumulated under its context, clipping when they are in step, metrics gathered."""
import sys

try:
    import torch
    from accelerate import Accelerator
    from accelerate.utils import set_seed
except ImportError as missing:
    print("skipped:", missing)
    sys.exit(77)

set_seed(int(sys.argv[1]))
torch.set_num_threads(1)
accelerator = Accelerator(gradient_accumulation_steps=2, cpu=True)
x = torch.randn(128, 6)
y = (x @ torch.randn(6, 1)).sin()
loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, y), batch_size=16, shuffle=True)
model = torch.nn.Sequential(torch.nn.Linear(6, 32), torch.nn.GELU(), torch.nn.Linear(32, 1))
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.98)
model, optimizer, loader, scheduler = accelerator.prepare(model, optimizer, loader, scheduler)
for epoch in range(5):
    model.train()
    for xb, yb in loader:
        with accelerator.accumulate(model):
            loss = torch.nn.functional.mse_loss(model(xb), yb)
            accelerator.backward(loss)
            if accelerator.sync_gradients:
                accelerator.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            scheduler.step()
            optimizer.zero_grad()
    print(epoch, accelerator.gather(loss.detach()).mean().item())
