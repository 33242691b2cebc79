# SPDX-License-Identifier: Apache-2.0
"""Training loops that others wrote: Transformers' Trainer, Accelerate, PEFT, Lightning. The same results with and without."""

from __future__ import annotations

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "agent"))

from recorded import Harness, main  # noqa: E402

PROLOGUE = """
import hashlib, logging, os, sys, warnings
warnings.simplefilter("ignore")
os.environ.update(TOKENIZERS_PARALLELISM="false", HF_HUB_OFFLINE="1", TRANSFORMERS_VERBOSITY="error", WANDB_DISABLED="true")
import torch, torch.nn as nn
torch.manual_seed(11)

def weights(model):
    data = b"".join(v.detach().contiguous().cpu().numpy().tobytes() for v in model.state_dict().values())
    return hashlib.sha256(data).hexdigest()[:16]

def language_model():
    from transformers import GPT2Config, GPT2LMHeadModel
    return GPT2LMHeadModel(GPT2Config(vocab_size=50, n_positions=16, n_embd=16, n_layer=2, n_head=2))

class Tokens(torch.utils.data.Dataset):
    def __init__(self): self.ids = torch.randint(0, 50, (24, 12), generator=torch.Generator().manual_seed(1))
    def __len__(self): return len(self.ids)
    def __getitem__(self, i): return {"input_ids": self.ids[i], "labels": self.ids[i]}
"""

LOOPS = {
    "transformers": """
from transformers import Trainer, TrainingArguments
model = language_model()
arguments = TrainingArguments(output_dir="out", max_steps=5, per_device_train_batch_size=4, gradient_accumulation_steps=2, logging_steps=1,
                              report_to=[], save_strategy="no", disable_tqdm=True, seed=3, use_cpu=True, gradient_checkpointing=True)
from transformers.trainer_callback import PrinterCallback
trainer = Trainer(model=model, args=arguments, train_dataset=Tokens(), eval_dataset=Tokens())
trainer.remove_callback(PrinterCallback)
out = trainer.train()
print(out.global_step, out.training_loss.hex(), [entry.get("loss") for entry in trainer.state.log_history], weights(model))
print(trainer.evaluate()["eval_loss"].hex())
""",
    "accelerate": """
from accelerate import Accelerator
accelerator = Accelerator(cpu=True, gradient_accumulation_steps=2)
model = language_model(); optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 6)
loader = torch.utils.data.DataLoader(Tokens(), batch_size=4, shuffle=True, generator=torch.Generator().manual_seed(5))
model, optimizer, loader, schedule = accelerator.prepare(model, optimizer, loader, schedule)
for epoch in range(2):
    for batch in loader:
        with accelerator.accumulate(model):
            loss = model(**batch).loss
            accelerator.backward(loss)
            accelerator.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step(); schedule.step(); optimizer.zero_grad()
    print(epoch, loss.item().hex(), weights(model), schedule.get_last_lr())
""",
    "peft": """
from peft import LoraConfig, get_peft_model
model = get_peft_model(language_model(), LoraConfig(r=4, lora_alpha=8, target_modules=["c_attn"], lora_dropout=0.1, fan_in_fan_out=True))
optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=0.01)
for step, batch in enumerate(torch.utils.data.DataLoader(Tokens(), batch_size=6)):
    optimizer.zero_grad(); loss = model(**batch).loss; loss.backward(); optimizer.step()
    print(step, loss.item().hex())
merged = model.merge_and_unload()
print(weights(model), weights(merged), sum(p.requires_grad for p in model.parameters()))
""",
    "lightning": """
import lightning as L
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
class Net(L.LightningModule):
    def __init__(self):
        super().__init__(); self.net = nn.Sequential(nn.Linear(8, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 3)); self.seen = []
    def training_step(self, batch, i):
        loss = nn.functional.cross_entropy(self.net(batch[0]), batch[1]); self.seen.append(loss.item().hex()); self.log("loss", loss); return loss
    def validation_step(self, batch, i): self.log("val", nn.functional.cross_entropy(self.net(batch[0]), batch[1]))
    def configure_optimizers(self):
        optimizer = torch.optim.Adam(self.parameters(), lr=0.01)
        return [optimizer], [torch.optim.lr_scheduler.StepLR(optimizer, 1, 0.5)]
L.seed_everything(4, verbose=False)
data = torch.utils.data.TensorDataset(torch.randn(24, 8), torch.randint(0, 3, (24,)))
loader = torch.utils.data.DataLoader(data, batch_size=6)
model = Net()
trainer = L.Trainer(max_epochs=2, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False,
                    enable_model_summary=False, gradient_clip_val=1.0)
trainer.fit(model, loader, loader)
print(model.seen, weights(model), trainer.global_step, trainer.callback_metrics["val"].item().hex())
""",
}


def test_loops(t: Harness) -> None:
    for library, code in LOOPS.items():
        script = t.script(PROLOGUE + code)
        bare = t.execute([t.python, script])
        if bare.status and "No module named" in bare.errors:
            print(f"# skip {library}: it is not installed")
            continue
        t.equal(f"{library}: the program runs", bare.status, 0, bare.errors[-3000:])
        for level in ("lean", "normal", "full"):
            run = t.record_command([t.python, script], "--detail", level)
            t.equal(f"{library}, {level}: losses and weights", (run.status, run.output), (bare.status, bare.output),
                    run.errors[-1500:])
            steps = [c["value"] for c in run.of("context") if c["key"] == "step"]
            losses = [c for c in run.of("counter") if c["name"] == "loss"]
            t.check(f"{library}, {level}: steps and losses are told", len(steps) >= 4 and len(losses) >= 4,
                    steps, len(losses))


if __name__ == "__main__":
    main(test_loops, require=("torch.nn.attention",))
