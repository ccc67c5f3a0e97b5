"""What a checkpoint is to the rest of the engine: where every tensor's bytes lie, and plain descriptions.

Knows no file format, no torch, no transformers.
"""

import math
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.errors import BadCheckpoint


@dataclass(frozen=True, slots=True)
class Span:
    """Bytes of one tensor of a file, as stored.

    Attributes: `offset` from the start of `file` and `nbytes`, both in bytes; `shape` in torch order
    (row-major, the last dimension contiguous); `storage`, the stored format ("F32", "BF16", "Q4_K", ...; see
    `engine.checkpoints.storage`); `modified`, the file's time of change in ns when its header was read, 0
    where that is not known.
    """

    file: Path
    offset: int
    nbytes: int
    shape: tuple[int, ...]
    storage: str
    modified: int = 0


@dataclass(frozen=True, slots=True)
class Groups:
    """How GPTQ and AWQ packed a matrix.

    Attributes: `bits` per number; `size`, columns that share a scale; `zero_offset`, what to add to a stored
    zero point (1 in the AutoGPTQ format v1, else 0).
    """

    bits: int
    size: int
    zero_offset: int


@dataclass(frozen=True, slots=True)
class Weight:
    """One parameter of the model: its shape, and the spans whose bytes it is made of.

    Attributes: `shape` in torch order; `format`, which of `engine.quantization` unpacks it; `spans`: one; for
    "GPTQ" (qweight, qzeros, scales, perhaps g_idx), for "AWQ" the first three; `rope_heads`, the number of
    heads whose rows of Q or K lie in GGUF's llama order (the two halves of a head interleaved) and are to
    be put back to HF's half-split order, else 0; `plus`, what is added to every number after unpacking (GGUF
    stores Gemma's norms one larger); `groups`, for GPTQ and AWQ.
    """

    shape: tuple[int, ...]
    format: str
    spans: tuple[Span, ...]
    rope_heads: int = 0
    plus: float = 0.0
    groups: Groups | None = None

    @staticmethod
    def of(span: Span, rope_heads: int = 0, plus: float = 0.0) -> "Weight":
        """A tensor that is one span."""
        return Weight(span.shape, span.storage, (span,), rope_heads, plus)

    def cut(self, nbytes: int) -> list["Weight"]:
        """Whole rows of a matrix in pieces of about `nbytes`. One of several spans stays whole: its columns
        lie side by side."""
        if len(self.spans) > 1 or self.nbytes <= nbytes:
            return [self]
        span = self.spans[0]
        rows, columns = self.shape
        row_nbytes = span.nbytes // rows
        step = max(64, nbytes // row_nbytes // 64 * 64)
        pieces = []
        for first in range(0, rows, step):
            count = min(step, rows - first)
            part = replace(
                span,
                offset=span.offset + first * row_nbytes,
                nbytes=count * row_nbytes,
                shape=(count, columns),
            )
            pieces.append(replace(self, shape=part.shape, spans=(part,)))
        return pieces

    @property
    def numel(self) -> int:
        """How many numbers."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """Bytes as stored."""
        return sum(span.nbytes for span in self.spans)


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
    `AutoConfig.for_model(architecture, **config)` takes; `weights` by HF parameter name
    (model.layers.0.self_attn.q_proj.weight). `lm_head.weight` is absent where it is tied to the embedding.
    The experts of a mixture are matrices of their own, whatever the file makes of them:
    model.layers.0.mlp.experts.3.gate_proj.weight, up_proj, down_proj.
    """

    path: Path
    format: str
    architecture: str
    config: dict[str, Any]
    weights: dict[str, Weight]
    tokenizer: GgufVocabulary | TokenizerFolder
    generation: Generation

    @property
    def nbytes(self) -> int:
        """Bytes of all weights as stored."""
        return sum(weight.nbytes for weight in self.weights.values())


def read_span(span: Span) -> NDArray[np.uint8]:
    """The stored bytes of one tensor, `[nbytes]` uint8, read with plain buffered reads.

    Raises `BadCheckpoint` where the file is gone, ends too early, or was changed since its header was read.
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
            modified = os.fstat(file.fileno()).st_mtime_ns
    except OSError as error:
        raise BadCheckpoint(
            f"{span.file.name} cannot be read: {error.strerror}.",
            "Check the disk, then load the model again.",
        ) from error
    if done < span.nbytes:
        raise truncated(span.file, span.offset + done, span.offset + span.nbytes)
    if span.modified not in (0, modified):
        raise BadCheckpoint(f"{span.file.name} was changed while it was read.", "Load the model again.")
    return data


def truncated(file: Path, have: int, want: int) -> BadCheckpoint:
    """The error for a file of `have` bytes that should reach to byte `want`."""
    return BadCheckpoint(
        f"{file.name} is not complete: it ends after {have:,} of at least {want:,} bytes.",
        "The download was cut off or the file was damaged; download it again.",
    )
