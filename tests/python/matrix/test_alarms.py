# SPDX-License-Identifier: Apache-2.0
"""Correct programs in the style of Transformers, PEFT and Lightning, in which doctor is to find nothing."""

from __future__ import annotations

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "agent"))

from recorded import Harness, main  # noqa: E402

PROLOGUE = """
import logging, os, warnings
warnings.simplefilter("ignore")
os.environ.update(TOKENIZERS_PARALLELISM="false", HF_HUB_OFFLINE="1", TRANSFORMERS_VERBOSITY="error", WANDB_DISABLED="true")
import torch, torch.nn as nn
from torch.utils.data import DataLoader
torch.set_num_threads(1)
torch.manual_seed(0)

def encoder():
    from transformers import BertConfig
    return BertConfig(vocab_size=60, hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32, max_position_embeddings=16)

def decoder():
    from transformers import LlamaConfig, LlamaForCausalLM
    return LlamaForCausalLM(LlamaConfig(vocab_size=50, hidden_size=16, intermediate_size=32, num_hidden_layers=2, num_attention_heads=2))

def texts(count):
    ids = torch.randint(0, 50, (count, 12))
    return [{"labels": i.clone(), "input_ids": i, "attention_mask": torch.ones(12, dtype=torch.long)} for i in ids]

def arguments(**more):
    from transformers import TrainingArguments
    return TrainingArguments(output_dir="out", num_train_epochs=2, per_device_train_batch_size=8, per_device_eval_batch_size=16, eval_strategy="epoch",
                             save_strategy="no", report_to=[], disable_tqdm=True, use_cpu=True, logging_steps=5, warmup_steps=3, **more)
"""

PROGRAMS = {
    "a classifier with masks": """
from transformers import BertForSequenceClassification, Trainer
ids, lengths = torch.randint(5, 60, (144, 12)), torch.randint(4, 13, (144,))
def row(i):
    mask = (torch.arange(12) < lengths[i]).long()
    return {"input_ids": ids[i] * mask, "attention_mask": mask, "token_type_ids": torch.zeros(12, dtype=torch.long), "labels": (ids[i, 0] > 30).long()}
rows = [row(i) for i in range(144)]
Trainer(model=BertForSequenceClassification(encoder()), args=arguments(), train_dataset=rows[:96], eval_dataset=rows[96:]).train()
""",
    "labels before the tokens": """
from transformers import BertForTokenClassification
model = BertForTokenClassification(encoder()).train()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
rows = [{**row, "labels": (row["input_ids"] > 25).long()} for row in texts(128)]
for batch in DataLoader(rows, batch_size=16, shuffle=True):
    loss = model(**batch).loss
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
""",
    "adapters in a Trainer": """
from peft import LoraConfig, TaskType, get_peft_model
from transformers import Trainer
model = get_peft_model(decoder(), LoraConfig(task_type=TaskType.CAUSAL_LM, r=4, lora_alpha=8, lora_dropout=0.05, target_modules=["q_proj", "v_proj"]))
rows = texts(96)
Trainer(model=model, args=arguments(learning_rate=1e-3, weight_decay=0.01), train_dataset=rows[:64], eval_dataset=rows[64:]).train()
""",
    "adapters in a model that was used before": """
from peft import LoraConfig, TaskType, get_peft_model
from transformers import get_linear_schedule_with_warmup
base, rows = decoder(), texts(96)
base.eval()
print(base(**next(iter(DataLoader(rows, batch_size=8)))).loss.item())
model = get_peft_model(base, LoraConfig(task_type=TaskType.CAUSAL_LM, r=4, lora_alpha=8, target_modules=["q_proj", "v_proj"]))
optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=1e-3)
schedule = get_linear_schedule_with_warmup(optimizer, 4, 16)
for epoch in range(2):
    model.train()
    for batch in DataLoader(rows[:64], batch_size=8, shuffle=True):
        loss = model(**batch).loss
        loss.backward()
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()
    model.eval()
    with torch.no_grad():
        print(sum(model(**batch).loss.item() for batch in DataLoader(rows[64:], batch_size=8)))
""",
    "a GAN whose halves are toggled": """
import lightning as L
from torch.nn.functional import binary_cross_entropy_with_logits as judged
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
class Pair(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.painter = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 8))
        self.critic = nn.Sequential(nn.Linear(8, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
    def training_step(self, batch, i):
        for_painter, for_critic = self.optimizers()
        noise, one, zero = torch.randn(len(batch[0]), 4), torch.ones(len(batch[0]), 1), torch.zeros(len(batch[0]), 1)
        self.toggle_optimizer(for_painter)
        self.manual_backward(judged(self.critic(self.painter(noise)), one))
        for_painter.step()
        for_painter.zero_grad()
        self.untoggle_optimizer(for_painter)
        self.toggle_optimizer(for_critic)
        self.manual_backward(judged(self.critic(batch[0]), one) + judged(self.critic(self.painter(noise).detach()), zero))
        for_critic.step()
        for_critic.zero_grad()
        self.untoggle_optimizer(for_critic)
    def configure_optimizers(self):
        return [torch.optim.Adam(part.parameters(), lr=1e-3) for part in (self.painter, self.critic)], []
loader = DataLoader(torch.utils.data.TensorDataset(torch.randn(96, 8)), batch_size=8, shuffle=True)
L.Trainer(max_epochs=2, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False).fit(Pair(), loader)
""",
}


def test_alarms(t: Harness) -> None:
    for what, code in PROGRAMS.items():
        run = t.record(PROLOGUE + code)
        if run.status and "No module named" in run.errors:
            print(f"# skip {what}: a library is not installed")
            continue
        t.equal(f"{what}: it runs", run.status, 0, run.errors[-2000:])
        judged = t.execute([t.wheeltap, "doctor", "--fail-on", "warning", str(t.folder / f"run{t.runs}")])
        t.equal(f"{what}: nothing is found", judged.status, 0, judged.output, judged.errors)


if __name__ == "__main__":
    main(test_alarms, require=("torch.nn.attention",))
