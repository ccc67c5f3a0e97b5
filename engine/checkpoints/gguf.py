"""GGUF files as checkpoints: llama.cpp's names and keys put into Hugging Face's words.

`gguf_header` reads one file, `gguf_parts` the files of one model, `gguf_keys` asks for metadata,
`gguf_architectures` knows the architectures, `gguf_weights` the names of their tensors.
"""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from engine.checkpoints.checkpoint import Checkpoint, Generation, GgufVocabulary
from engine.checkpoints.gguf_architectures import architecture_of, configuration
from engine.checkpoints.gguf_header import DAMAGED
from engine.checkpoints.gguf_keys import Keys
from engine.checkpoints.gguf_parts import first_part, read_parts
from engine.checkpoints.gguf_weights import find_weights
from engine.errors import BadCheckpoint


def claims(path: Path) -> bool:
    """Whether `path` is (named like, or begins like) a GGUF file, or a folder with one and no other model."""
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
    """The checkpoint in the GGUF file at `path`, or in all parts of the set it belongs to. Raises
    `BadCheckpoint` or `UnsupportedModel`."""
    path = _lone_model(path) or path
    keys = Keys(path, read_parts(path))
    architecture = architecture_of(keys)
    vocabulary = _vocabulary(keys)
    config = configuration(keys, architecture, vocabulary)
    return Checkpoint(
        path=path,
        format="gguf",
        architecture=architecture.model_type,
        config=config,
        weights=find_weights(keys, architecture, config),
        tokenizer=vocabulary,
        generation=Generation(_end_ids(keys, len(vocabulary.tokens)), vocabulary.bos_id),
    )


def _lone_model(path: Path) -> Path | None:
    """The .gguf file in the folder `path` that has no other model, or its first part."""
    if not path.is_dir() or (path / "config.json").exists():
        return None
    files = [file for file in path.glob("*.gguf") if file.is_file()]
    return files[0] if len(files) == 1 else first_part(files)


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
        raise BadCheckpoint(f"{keys.path.name} is not valid: a token's score is NaN.", DAMAGED)
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
    """A list with one number per token, or None where the file has none."""
    value = keys.get(key)
    if value is None:
        return None
    if not isinstance(value, np.ndarray):
        raise keys.bad(key, value)
    if len(value) != count:
        raise BadCheckpoint(
            f"{keys.path.name} is not valid: {key} has {len(value)} items for {count} tokens.", DAMAGED
        )
    return value


def _end_ids(keys: Keys, vocabulary: int) -> tuple[int, ...]:
    """Tokens that end an answer: end of sequence, of turn, of message."""
    found = (keys.token_id(f"tokenizer.ggml.{end}_token_id", vocabulary) for end in ("eos", "eot", "eom"))
    return tuple(dict.fromkeys(token for token in found if token is not None))
