# SPDX-License-Identifier: Apache-2.0
"""A LightningModule with a validation loop, a schedule and early stopping."""
import sys
import tempfile

try:
    import lightning as L
    import torch
    from lightning.pytorch.callbacks import EarlyStopping, ModelCheckpoint
except ImportError as missing:
    print("skipped:", missing)
    sys.exit(77)

L.seed_everything(int(sys.argv[1]), verbose=False)
torch.set_num_threads(1)


class Classifier(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Sequential(torch.nn.Linear(8, 32), torch.nn.ReLU(), torch.nn.Dropout(0.1), torch.nn.Linear(32, 3))

    def training_step(self, batch, index):
        x, y = batch
        loss = torch.nn.functional.cross_entropy(self.net(x), y)
        self.log("train_loss", loss)
        return loss

    def validation_step(self, batch, index):
        x, y = batch
        logits = self.net(x)
        self.log("val_loss", torch.nn.functional.cross_entropy(logits, y))
        self.log("val_acc", (logits.argmax(1) == y).float().mean())

    def configure_optimizers(self):
        optimizer = torch.optim.Adam(self.parameters(), lr=1e-2)
        return {"optimizer": optimizer, "lr_scheduler": torch.optim.lr_scheduler.StepLR(optimizer, 2, 0.5)}


x = torch.randn(160, 8)
y = x[:, :3].argmax(1)
data = torch.utils.data.TensorDataset(x, y)
train, val = torch.utils.data.random_split(data, [120, 40])
with tempfile.TemporaryDirectory() as folder:
    trainer = L.Trainer(max_epochs=5, accelerator="cpu", logger=False, enable_progress_bar=False, enable_model_summary=False,
                        callbacks=[EarlyStopping("val_loss", patience=1), ModelCheckpoint(folder, monitor="val_loss")],
                        default_root_dir=folder, gradient_clip_val=1.0)
    trainer.fit(Classifier(), torch.utils.data.DataLoader(train, batch_size=20, shuffle=True),
                torch.utils.data.DataLoader(val, batch_size=20))
    print(trainer.callback_metrics)
