"""Training of a draft made of a few of the target's layers. The draft uses the target's embedding and head,
which are not stored with it."""

import copy
from pathlib import Path
from typing import Any

import torch
from accelerate import init_empty_weights
from safetensors.torch import save_file
from torch import Tensor, nn
from torch.nn.functional import linear
from transformers import AutoModelForCausalLM

from engine.tokenizer import Tokenizer
from engine.torch_model.attention import ATTENTION
from engine.torch_model.forward import TorchModel
from engine.training.batched import BATCHED, GrowingCache
from engine.training.corpus import Batch
from engine.training.student import Student, Teacher, distance, stored


class LayersStudent(Student):
    """A draft in training, which starts as a few evenly spaced layers of the target."""

    method = "specexec"

    def __init__(self, target: TorchModel, ids: Tensor, layers: int, tokenizer: Tokenizer) -> None:
        """ids: int64 [tokens], the training vocabulary, ascending. layers: number of the draft's layers."""
        self.levels = (target.layers - 1,)
        self._teacher = Teacher(target, ids)
        self._tokenizer = tokenizer
        body: Any = target.module.model
        self._embed, self._rotary = body.embed_tokens, body.rotary_emb
        self.config = copy.deepcopy(target.config)
        self.config.num_hidden_layers = layers
        if getattr(self.config, "layer_types", None):
            self.config.layer_types = self.config.layer_types[:layers]
        with init_empty_weights():
            empty: Any = AutoModelForCausalLM.from_config(self.config, attn_implementation=BATCHED)  # type: ignore[no-untyped-call]
        self.module: Any = nn.ModuleDict({"layers": empty.model.layers, "norm": empty.model.norm})
        chosen = torch.linspace(0, target.layers - 1, layers).round().int().tolist()
        initial = {
            f"layers.{number}.{name}": weight.detach().float().clone()
            for number, layer in enumerate(chosen)
            for name, weight in body.layers[layer].state_dict().items()
        } | {"norm.weight": body.norm.weight.detach().float().clone()}
        self.module.load_state_dict(initial, assign=True)
        self.module.requires_grad_(True)

    def losses(self, batch: Batch, generator: torch.Generator) -> Tensor:
        positions = torch.arange(batch.tokens.shape[1], device=batch.tokens.device)
        with torch.no_grad():
            states = self._embed(batch.tokens).float()
            rotary = self._rotary(states, positions[None])
        visible, cache = (positions <= positions[:, None])[None], GrowingCache()
        for layer in self.module["layers"]:
            states = layer(states, attention_mask=visible, position_embeddings=rotary, past_key_values=cache)
        guessed = linear(self.module["norm"](states[batch.learned]), self._teacher.rows.float())
        return distance(guessed, self._teacher.probs(batch.states[:, :, -1][batch.learned]))[None]

    def save(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        config = copy.deepcopy(self.config)
        config.dtype = torch.bfloat16
        config._attn_implementation = ATTENTION
        config.to_json_file(folder / "config.json", use_diff=False)  # also writes whether the head is tied
        self._tokenizer.save(folder)
        save_file(stored(self.module, "model."), folder / "model.safetensors", metadata={"format": "pt"})
