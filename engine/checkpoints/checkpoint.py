"""What a checkpoint is to the rest of the engine: where every tensor's bytes lie, and plain descriptions.

Knows no file format, no torch, no transformers.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.errors import BadCheckpoint


@dataclass(frozen=True, slots=True)
class Span:
    """Bytes of one tensor, as stored.

    Attributes: `offset` from the start of `file` and `nbytes`, both in bytes; `shape` in torch order
    (row-major, the last dimension contiguous); `storage`, the stored format ("F32", "BF16", "Q4_K", ...; see
    `engine.checkpoints.storage`); `rope_heads`, the number of heads where the rows of Q or K lie in GGUF's
    llama order (the two halves of each head interleaved) and must be put back to HF's half-split order, else
    0.
    """

    file: Path
    offset: int
    nbytes: int
    shape: tuple[int, ...]
    storage: str
    rope_heads: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class GgufVocabulary:
    """The tokenizer of a GGUF file, as its metadata spell it.

    Attributes: `model` ("gpt2": byte-level BPE, "llama": SentencePiece BPE), `pre` (name of the
    pre-tokenizer), `tokens` by id, `scores` and `types` [tokens] (types: 1 normal, 2 unknown, 3 control, 4
    user-defined, 5 unused, 6 byte), `merges` ("left right", best first). None or empty: the file does not
    say.
    """

    model: str
    pre: str
    tokens: list[str]
    scores: NDArray[np.float32] | None
    types: NDArray[np.int32] | None
    merges: list[str] | None
    bos_id: int | None
    eos_id: int | None
    unknown_id: int | None
    add_bos: bool | None
    add_eos: bool | None
    add_space_prefix: bool | None
    chat_template: str | None


@dataclass(frozen=True, slots=True)
class TokenizerFolder:
    """A folder in Hugging Face's layout: tokenizer.json, tokenizer_config.json, chat_template.jinja, ..."""

    folder: Path


@dataclass(frozen=True, slots=True)
class Generation:
    """What the checkpoint says about generating. None: it does not say."""

    eos_token_ids: tuple[int, ...] = ()
    bos_token_id: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    repetition_penalty: float | None = None


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """One model on disk, its header read and checked, its weights not touched.

    Attributes: `format` ("gguf", "safetensors"); `architecture`, HF's model_type; `config`, what
    `AutoConfig.for_model(architecture, **config)` takes; `tensors` by HF parameter name
    (model.layers.0.self_attn.q_proj.weight). `lm_head.weight` is absent where it is tied to the embedding.
    """

    path: Path
    format: str
    architecture: str
    config: dict[str, Any]
    tensors: dict[str, Span]
    tokenizer: GgufVocabulary | TokenizerFolder
    generation: Generation

    @property
    def nbytes(self) -> int:
        """Bytes of all weights as stored."""
        return sum(span.nbytes for span in self.tensors.values())


def read_span(span: Span) -> NDArray[np.uint8]:
    """The stored bytes of one tensor, `[nbytes]` uint8, read with plain buffered reads.

    Raises `BadCheckpoint` where the file is gone or ends too early.
    """
    data = np.empty(span.nbytes, dtype=np.uint8)
    view = data.data
    done = 0
    try:
        with span.file.open("rb", buffering=0) as file:
            file.seek(span.offset)
            # One read may return less than was asked for (2 GiB at most on Linux).
            while done < span.nbytes and (got := file.readinto(view[done:])):
                done += got
    except OSError as error:
        raise BadCheckpoint(
            f"{span.file.name} cannot be read: {error.strerror}.",
            "Check the disk, then load the model again.",
        ) from error
    if done < span.nbytes:
        raise truncated(span.file, span.offset + done, span.offset + span.nbytes)
    return data


def truncated(file: Path, have: int, want: int) -> BadCheckpoint:
    """The error for a file of `have` bytes that should reach to byte `want`."""
    return BadCheckpoint(
        f"{file.name} is not complete: it ends after {have:,} of at least {want:,} bytes.",
        "The download was cut off or the file was damaged; download it again.",
    )
