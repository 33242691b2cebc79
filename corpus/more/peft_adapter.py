# SPDX-License-Identifier: Apache-2.0
"""A small GPT-2 with LoRA from peft, trained by hand, with text that is sampled by generate()."""
import sys

try:
    import torch
    from peft import LoraConfig, get_peft_model
    from transformers import GPT2Config, GPT2LMHeadModel, get_linear_schedule_with_warmup, set_seed
except ImportError as missing:
    print("skipped:", missing)
    sys.exit(77)

set_seed(int(sys.argv[1]))
torch.set_num_threads(1)
base = GPT2LMHeadModel(GPT2Config(vocab_size=40, n_positions=24, n_embd=32, n_layer=2, n_head=4, bos_token_id=0, eos_token_id=1,
                                  pad_token_id=1))
model = get_peft_model(base, LoraConfig(r=4, lora_alpha=8, lora_dropout=0.1, target_modules=["c_attn"], task_type="CAUSAL_LM"))
optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=1e-2)
scheduler = get_linear_schedule_with_warmup(optimizer, 4, 30)
model.train()
for step in range(30):
    start = torch.randint(2, 30, (8, 1))
    ids = start + torch.arange(10) % 5
    out = model(input_ids=ids, labels=ids)
    out.loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    scheduler.step()
    optimizer.zero_grad()
    if step % 10 == 9:
        model.eval()
        with torch.no_grad():
            text = model.generate(input_ids=ids[:2, :3], max_new_tokens=6, do_sample=True, top_k=10)
        model.train()
        print(step, out.loss.item(), text[0].tolist())
