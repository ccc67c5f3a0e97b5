"""Read GGUF files as checkpoints: translate llama.cpp's names and keys to Hugging Face's.

`gguf_header` reads the header of one file, `gguf_parts` those of all files of a model; `gguf_keys` looks up
metadata; `gguf_architectures`, `gguf_settings` and `gguf_rope` translate the configuration, `gguf_weights`
and `gguf_places` the tensors' names; `gguf_gemma` does both for Gemma 3n and 4, and `gguf_assistant` for
assistants of Gemma 4, which are no models.
"""

from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from engine import reads
from engine.checkpoints import gguf_assistant
from engine.checkpoints.checkpoint import Checkpoint, Generation, GgufVocabulary, token_ids
from engine.checkpoints.gguf_architectures import (
    GEMMA4_ASSISTANT,
    Architecture,
    architecture_of,
    configuration,
)
from engine.checkpoints.gguf_header import DAMAGED, read_architecture
from engine.checkpoints.gguf_keys import Keys
from engine.checkpoints.gguf_parts import first_part, is_model, is_named_as_assistant, read_parts
from engine.checkpoints.gguf_weights import find_draft, find_weights
from engine.errors import BadCheckpoint, UnsupportedModel


def claims(path: Path) -> bool:
    """Whether `path` is a GGUF file, by its name or its first bytes, or a folder with one GGUF model.

    A folder with config.json does not count.
    """
    if path.is_dir():
        return _lone_model(path) is not None
    if not path.is_file():
        return False
    if path.suffix.lower() == ".gguf":
        return True
    try:
        with path.open("rb") as file:
            return file.read(4) == b"GGUF"
    except OSError:
        return False


def read(path: Path) -> Checkpoint:
    """Return the checkpoint at `path`: a GGUF file, one of several parts of a model, or a folder with one.

    Raises `BadCheckpoint` if it is damaged or incomplete; `UnsupportedModel` if it is not supported.
    """
    keys = _keys(path)
    return _checkpoint(keys, architecture_of(keys))


def is_assistant(path: Path) -> bool:
    """Whether `path` is a GGUF file of an assistant of Gemma 4, or a folder with one and no other model. Only
    the file's beginning is read."""
    with suppress(BadCheckpoint, UnsupportedModel, OSError):
        with reads.noted():
            file = _lone_model(path) or path
            if not file.is_file():
                return False
        return read_architecture(file) == gguf_assistant.NAME
    return False


def read_assistant(path: Path) -> Checkpoint:
    """Return the assistant at `path`, for which `is_assistant` is true, as a checkpoint with transformers'
    names (Gemma4AssistantForCausalLM).

    Raises as `read` does.
    """
    keys = _keys(path)
    keys.prefix = gguf_assistant.NAME
    file = _checkpoint(keys, GEMMA4_ASSISTANT)
    return replace(file, config=gguf_assistant.with_layers_apart(file.config))


def _keys(path: Path) -> Keys:
    with reads.noted():
        path = _lone_model(path) or path
    return Keys(path, read_parts(path))


def _checkpoint(keys: Keys, architecture: Architecture) -> Checkpoint:
    vocabulary = _vocabulary(keys)
    config = configuration(keys, architecture, vocabulary)
    return Checkpoint(
        path=keys.path,
        format="gguf",
        architecture=architecture.model_type,
        config=config,
        weights=find_weights(keys, architecture, config),
        tokenizer=vocabulary,
        generation=Generation(
            _end_ids(keys, len(vocabulary.tokens)),
            vocabulary.bos_id,
            suppress_tokens=_suppressed_ids(keys, len(vocabulary.tokens)),
        ),
        draft=find_draft(keys, architecture, config),
        vision=_has_encoder(keys.path),
    )


def _lone_model(path: Path) -> Path | None:
    """Return the file of the only .gguf model in the folder `path` (the first, if it has several parts),
    or of the only one beside an assistant named so.

    Returns None if there is no such model, or if the folder contains config.json.
    """
    if not path.is_dir() or (path / "config.json").exists():
        return None
    files = [file for file in path.glob("*.gguf") if file.is_file() and is_model(file.name)]
    if len(files) > 1:
        named = [file for file in files if is_named_as_assistant(file.name) and is_assistant(file)]
        files = [file for file in files if file not in named] or files
    return files[0] if len(files) == 1 else first_part(files)


def _has_encoder(path: Path) -> bool:
    """Return whether an encoder of images or sound lies beside `path`, the only model of its folder."""
    with reads.noted():
        return _lone_model(path.parent) is not None and any(path.parent.glob("*mmproj*.gguf"))


# -- the vocabulary ------------------------------------------------------------------------------------------


def _vocabulary(keys: Keys) -> GgufVocabulary:
    tokens = keys.get("tokenizer.ggml.tokens")
    if not isinstance(tokens, list) or not tokens:
        raise keys.bad("tokenizer.ggml.tokens", tokens if isinstance(tokens, list) else None)
    count = len(tokens)
    merges = keys.get("tokenizer.ggml.merges")
    if merges is not None and not isinstance(merges, list):
        raise keys.bad("tokenizer.ggml.merges", merges)
    template = keys.get("tokenizer.chat_template")
    scores = _per_token(keys, "tokenizer.ggml.scores", count)
    if scores is not None and np.isnan(scores).any():
        raise BadCheckpoint(f"{keys.path.name} is invalid: a token's score is NaN.", DAMAGED)
    types = _per_token(keys, "tokenizer.ggml.token_type", count)
    return GgufVocabulary(
        model=keys.text("tokenizer.ggml.model"),
        pre=keys.text("tokenizer.ggml.pre", "default"),
        tokens=tokens,
        scores=None if scores is None else scores.astype(np.float32),
        types=None if types is None else types.astype(np.int32),
        merges=merges,
        bos_id=keys.token_id("tokenizer.ggml.bos_token_id", count),
        eos_id=keys.token_id("tokenizer.ggml.eos_token_id", count),
        unknown_id=keys.token_id("tokenizer.ggml.unknown_token_id", count),
        add_bos=keys.flag("tokenizer.ggml.add_bos_token"),
        add_eos=keys.flag("tokenizer.ggml.add_eos_token"),
        add_space_prefix=keys.flag("tokenizer.ggml.add_space_prefix"),
        chat_template=template if isinstance(template, str) else None,
    )


def _per_token(keys: Keys, key: str, count: int) -> NDArray[np.generic] | None:
    """Return the array under `key`, which has one number per token; None if the file lacks it.

    count: the number of tokens. Raises `BadCheckpoint` if the value is not an array of this length.
    """
    value = keys.get(key)
    if value is None:
        return None
    if not isinstance(value, np.ndarray):
        raise keys.bad(key, value)
    if len(value) != count:
        raise BadCheckpoint(
            f"{keys.path.name} is invalid: {key} has {len(value)} items for {count} tokens.", DAMAGED
        )
    return value


def _suppressed_ids(keys: Keys, vocabulary: int) -> tuple[int, ...]:
    """Return the ids of the tokens that no answer has, as llama.cpp's converter writes them."""
    listed = keys.get("tokenizer.ggml.suppress_tokens")
    return token_ids(listed.tolist() if isinstance(listed, np.ndarray) else None, vocabulary)


def _end_ids(keys: Keys, vocabulary: int) -> tuple[int, ...]:
    """Return the ids of the tokens that end an answer: the ends of a sequence, of a turn and of a message.

    vocabulary: the number of tokens.
    """
    ends = (keys.token_id(f"tokenizer.ggml.{end}_token_id", vocabulary) for end in ("eos", "eot", "eom"))
    return tuple(dict.fromkeys(token for token in ends if token is not None))
