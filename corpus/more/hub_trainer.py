# SPDX-License-Identifier: Apache-2.0
"""The Trainer of transformers with a small BERT that is made from its configuration."""
import sys
import tempfile

try:
    import torch
    from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments, set_seed
except ImportError as missing:
    print("skipped:", missing)
    sys.exit(77)

seed = int(sys.argv[1])
set_seed(seed)
torch.set_num_threads(1)
tokens = torch.randint(5, 60, (96, 12))
labels = (tokens[:, :6].sum(1) > tokens[:, 6:].sum(1)).long()
rows = [{"input_ids": t, "attention_mask": torch.ones_like(t), "labels": y} for t, y in zip(tokens, labels)]
config = BertConfig(vocab_size=64, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64,
                    max_position_embeddings=16)
with tempfile.TemporaryDirectory() as folder:
    arguments = TrainingArguments(folder, num_train_epochs=3, per_device_train_batch_size=12, learning_rate=1e-3, warmup_steps=4,
                                  logging_steps=6, eval_strategy="epoch", save_strategy="epoch", report_to=[], seed=seed,
                                  disable_tqdm=True, use_cpu=True, gradient_accumulation_steps=2)
    trainer = Trainer(model=BertForSequenceClassification(config), args=arguments, train_dataset=rows[:72], eval_dataset=rows[72:])
    trainer.train()
