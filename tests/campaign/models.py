"""What the attacks on model files share: tiny valid models in many formats, and what the program does with
one that was changed."""

from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import torch

from engine.arrays import on_host
from engine.checkpoints import Checkpoint, open_checkpoint
from engine.errors import BadNumbers
from engine.model.description import describe
from engine.model.interface import no_progress
from engine.model.loader import load_compiled
from engine.model.sequence import Sequence
from engine.model.uniformity import damage_of
from engine.model.weight_names import check_layers, checked_weights, expected_weights
from engine.protocol import Chat, Load, Message, Options
from engine.serving.service import EngineService
from engine.streaming import WeightLimits
from engine.tokenizer import load_tokenizer
from engine.torch_model.loader import load_model
from tests.engine.models import CONFIGS, reference

TEXT = "Hello, <s> world 123\n\U0001f600 a\u0301"
CONTEXT = 64
PASSES, ANSWERS = 0.08, 0.004  # shares of the models that can be read: for a pass, for a whole answer
STREAMED = WeightLimits(60_000)  # bytes: a part of a tiny model


def tiny(kind: str, **changes: Any) -> Any:
    """Return transformers' model, of a size that compiled passes and blocks of 256 numbers cover."""
    head = {"head_dim": 32} if "head_dim" in CONFIGS[kind] else {}
    sizes = {"hidden_size": 256, "intermediate_size": 256, "num_hidden_layers": 1, "num_attention_heads": 8}
    return reference(kind, **{**sizes, **head, **changes})


def use(path: Path, random: Random) -> None:
    """Open the model at `path` as the program does. In a share of tries, compute with it, too."""
    file = open_checkpoint(path)
    description = describe(file)
    tokenizer = load_tokenizer(file)
    ids = tokenizer.encode(TEXT)
    tokenizer.decode(ids)
    stream = tokenizer.stream()
    "".join([*map(stream.step, ids), stream.flush(), *map(tokenizer.token_text, ids)])
    check_layers(file, description.layers)
    checked_weights(file, expected_weights(description), description.tied)
    damage_of(file)
    chance = random.random()
    if chance < ANSWERS:
        answer(path)
    elif chance < PASSES:
        compute(file, random)


def compute(file: Checkpoint, random: Random) -> None:
    """Load the weights and run one pass. Raises BadNumbers as the decoding does."""
    limits = STREAMED if random.random() < 0.3 else None
    model: Any = load_compiled(file, no_progress, CONTEXT, limits=limits)
    if model is None:
        model = load_model(file, torch.float32, "cpu", no_progress, CONTEXT, limits=limits)
    with closing(model):
        tokens = [min(token, model.vocabulary - 1) for token in (1, 5, 9)]
        if not np.isfinite(on_host(Sequence(model, CONTEXT).extend(tokens))).all():
            raise BadNumbers


def answer(path: Path, draft: str = "none") -> None:
    """Load the model as the command line does, and let it write two tokens."""
    engine = EngineService()
    try:
        request = Load(id=1, target=str(path), draft=draft, device="cpu")
        engine.load(request, lambda event: None, lambda: False)
        options = Options(seed=1, max_new_tokens=2)
        chat = Chat(id=2, messages=[Message("user", "Hello")], options=options)
        engine.answer(chat, lambda event: None, lambda: False)
    finally:
        engine.unload()


def written(folder: Path, name: str, content: bytes) -> Path:
    """Write a file that nothing has mapped before."""
    file = folder / name
    file.unlink(missing_ok=True)
    file.write_bytes(content)
    return file
