"""A tiny target for the language of `tests.engine.heads.training`, as a folder on disk."""

import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from torch.nn.functional import cross_entropy
from transformers import AutoModelForCausalLM

from engine.training import Order, TrainingSchedule, make_draft
from tests.engine.heads.training import texts
from tests.engine.models import VOCABULARY, reference

LENGTH = 24
START = 2  # starts a text if there is no chat template: the end token


def speaker(steps=120):
    """Train a model of four layers that starts texts of the language anywhere, and continues them."""
    torch.manual_seed(0)
    config = reference("llama", num_hidden_layers=4).config
    module = AutoModelForCausalLM.from_config(config, dtype=torch.float32)
    optimizer, generator = torch.optim.Adam(module.parameters(), lr=5e-3), torch.Generator().manual_seed(1)
    for _ in range(steps):
        tokens = torch.cat([torch.full((64, 1), START), texts(64, 12, generator)], dim=1)
        optimizer.zero_grad()
        logits = module(tokens[:, :-1]).logits
        cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten()).backward()
        optimizer.step()
    return module.eval().requires_grad_(False)


def write(folder, module):
    """Write the model with letters as tokens and without a chat template."""
    module.save_pretrained(folder)
    backend = Tokenizer(models.BPE({chr(64 + n): n for n in range(VOCABULARY)}, []))
    backend.pre_tokenizer = pre_tokenizers.Split("", "isolated")
    backend.save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text('{"tokenizer_class": "PreTrainedTokenizerFast"}')
    return folder


def order(target, kind, **changes):
    settings = dict(vocabulary=VOCABULARY, tokens=2000, length=LENGTH, dtype="float32")
    return Order(str(target), kind, **{**settings, **changes})


def schedule(steps, **changes):
    settings = dict(learning_rate=4e-3, batch_tokens=512, save_every_s=1e9)
    return TrainingSchedule(steps, None, **{**settings, **changes})


def make(order, schedule, folder, resume=False, cancelled=lambda: False):
    said = []
    return make_draft(order, schedule, folder, resume, "specexec train-draft", "cpu", said.append, cancelled)
