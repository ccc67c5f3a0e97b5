"""An EAGLE-3 head that learns (arXiv 2503.01840): from three of the target's states at a token, and the token
after it, it guesses what the target says next, and goes on from its own guesses, as it will have to.
"""

from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from transformers import LlamaConfig
from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding

from engine.errors import UnsupportedModel
from engine.heads.eagle_layers import Eagle3
from engine.heads.files import save_heads
from engine.kv_cache import head_dim
from engine.model import Model
from engine.training.batched import BATCHED, GrowingCache
from engine.training.corpus import Batch
from engine.training.student import Student, Teacher, distance, stored

AHEAD = 5  # steps from its own guesses; EAGLE-3 takes 7
CHAINS = 4  # one of so many places goes on from a guess: most of a step's time goes into the first one


def levels_of(layers: int) -> tuple[int, int, int]:
    """A low, a middle and the last layer, so that what the target's head reads is among them."""
    return layers // 3 - 1, 2 * layers // 3 - 1, layers - 1


class EagleStudent(Student):
    """The row of a token holds the target's states there together with the next token."""

    method = "eagle"

    def __init__(self, target: Model, ids: Tensor) -> None:
        """ids: int64 [draft vocabulary], the tokens it may guess, ascending. Raises UnsupportedModel."""
        if target.layers < 3:
            raise UnsupportedModel(
                f"An EAGLE-3 head reads three layers, and the target has {target.layers} layers.",
                "Train Medusa heads, or a draft of layers.",
            )
        self.levels = levels_of(target.layers)
        self._teacher = Teacher(target, ids)
        self._vocabulary: int = target.config.vocab_size
        self.config = self._config(target, len(ids))
        self._embed: Any = target.module.get_input_embeddings()
        self._rotary = LlamaRotaryEmbedding(self.config).to(target.device)
        self.module: Any = Eagle3(self.config, target.config.hidden_size).to(target.device)
        self._start_from(target)

    def _config(self, target: Model, draft_vocabulary: int) -> LlamaConfig:
        of = target.config
        config = LlamaConfig(
            hidden_size=of.hidden_size,
            intermediate_size=of.intermediate_size,
            num_hidden_layers=1,
            num_attention_heads=of.num_attention_heads,
            # All of a token's embedding has to pass through the values: they are not shared among heads.
            num_key_value_heads=of.num_attention_heads,
            head_dim=head_dim(of),
            hidden_act=of.hidden_act,
            max_position_embeddings=of.max_position_embeddings,
            rms_norm_eps=of.rms_norm_eps,
            rope_parameters=of.rope_parameters,
            vocab_size=of.vocab_size,
            tie_word_embeddings=False,
        )
        config.architectures = ["LlamaForCausalLMEagle3"]
        levels = {"eagle_aux_hidden_state_layer_ids": list(self.levels)}
        config.update({"draft_vocab_size": draft_vocabulary, "eagle_config": levels})
        config._attn_implementation = BATCHED
        return config

    def _start_from(self, target: Model) -> None:
        """At first it says what the target said one token before: its last layer's state passes through to
        the target's own head."""
        for layer in self.module.modules():
            if isinstance(layer, nn.Linear):
                layer.register_parameter("bias", None)
                nn.init.normal_(layer.weight, std=0.02)
        body: Any = target.module.model
        width: int = target.config.hidden_size
        last = body.layers[-1]
        with torch.no_grad():
            self.module.fc.weight[:, : 2 * width] *= 0.1
            self.module.fc.weight[:, 2 * width :] = torch.eye(width)
            self.module.midlayer.self_attn.o_proj.weight *= 0.1
            self.module.midlayer.mlp.down_proj.weight *= 0.1
            self.module.midlayer.hidden_norm.weight.copy_(last.input_layernorm.weight)
            self.module.norm.weight.copy_(body.norm.weight)
            self.module.lm_head.weight.copy_(self._teacher.rows)

    def losses(self, batch: Batch, generator: torch.Generator) -> Tensor:
        tokens, said, learned = batch.tokens, batch.states[:, :, -1], batch.learned
        rows = tokens.shape[1] - 1
        cache, device = GrowingCache(), tokens.device
        with torch.no_grad():
            embedded = self._embed(tokens).float()
        places = torch.arange(rows, device=device)
        seen = places <= places[:, None]
        states = self._step(embedded[:, 1:], self._fused(batch)[:, :-1], places, seen, cache)
        found = [self._distance(states, said[:, 1:], learned[:, 1:])]
        # From here on: some places only, each of which sees the target's states up to itself, and its own
        # guesses. The guess of place p, n steps ahead, stands at p + n and tells of the token behind it.
        chosen = torch.randperm(rows, generator=generator)[: max(1, rows // CHAINS)].sort().values.to(device)
        states, seen = states[:, chosen], seen[chosen]
        for ahead in range(1, AHEAD + 1):
            inside = chosen + ahead < rows  # those chains go on
            at = (chosen + ahead).clamp(max=rows - 1)
            own = torch.eye(len(chosen), dtype=torch.bool, device=device)
            seen = torch.cat((seen, own), dim=1)
            states = self._step(embedded[:, at + 1], states, chosen + ahead, seen, cache)
            found.append(self._distance(states, said[:, at + 1], learned[:, at + 1] & inside))
        return torch.stack(found)

    def _fused(self, batch: Batch) -> Tensor:
        fused: Tensor = self.module.fuse(batch.states.flatten(2).float())
        return fused

    def _step(
        self, embedded: Tensor, states: Tensor, positions: Tensor, seen: Tensor, cache: GrowingCache
    ) -> Tensor:
        """The guessed next states [texts, rows, width]. embedded, states: the same; seen: bool [rows,
        keys]."""
        guessed: Tensor = self.module(
            embedded,
            states,
            attention_mask=seen[None],
            position_embeddings=self._rotary(embedded, positions[None]),
            past_key_values=cache,
        )
        return guessed

    def _distance(self, guessed: Tensor, said: Tensor, where: Tensor) -> Tensor:
        """guessed, said: [texts, rows, width]; where: bool [texts, rows]."""
        return distance(self.module.logits(guessed[where]), self._teacher.probs(said[where]))

    def save(self, folder: Path) -> None:
        ids = self._teacher.ids.cpu()
        tensors = stored(self.module)
        tensors["d2t"] = ids - torch.arange(len(ids))
        tensors["t2d"] = torch.zeros(self._vocabulary, dtype=torch.bool).index_fill_(0, ids, True)
        save_heads(folder, "eagle3", {**self.config.to_dict(), "torch_dtype": "bfloat16"}, tensors)
