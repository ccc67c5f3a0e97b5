"""What the engine knows of a checkpoint: where each tensor's bytes are, the configuration, the tokenizer.

Independent of file formats, torch and transformers.
"""

import math
import os
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine import reads
from engine.checkpoints.cuts import cut_rows, moved_rows
from engine.errors import BadCheckpoint


@dataclass(frozen=True, slots=True)
class Span:
    """The stored bytes of one tensor in a file.

    Attributes: `offset`, where the bytes start in `file`; `nbytes`, their number; `shape`, in torch order
    (row-major, the last dimension contiguous); `storage`, the stored number format ("F32", "BF16", "Q4_K",
    ...; see `engine.checkpoints.storage`); `modified`, the file's modification time in ns when its header was
    read, or 0 if it is unknown.
    """

    file: Path
    offset: int
    nbytes: int
    shape: tuple[int, ...]
    storage: str
    modified: int = 0


@dataclass(frozen=True, slots=True)
class Groups:
    """How the numbers of a matrix are packed, where its format leaves that open: in GPTQ, AWQ and W4.

    Attributes: `bits`, per number; `size`, the number of columns that share a scale; `zero_offset`, a number
    to add to stored zero points (1 in the AutoGPTQ format v1, else 0); `indexed`, whether an index tells the
    group of each column, as GPTQ's act order needs it.
    """

    bits: int
    size: int
    zero_offset: int
    indexed: bool = False

    @staticmethod
    def named(name: str, columns: int) -> "Groups":
        """Return the groups of a matrix with so many columns from a name that `packing_name` has made."""
        _, bits, size, zero_offset, *index = name.split("-")
        return Groups(int(bits), columns if size == _WHOLE else int(size), int(zero_offset), bool(index))


USUAL_GROUPS = Groups(bits=4, size=128, zero_offset=1)  # as most files of GPTQ and AWQ have them
_WHOLE = "row"  # in place of the size of a group that has all columns


def packing_name(form: str, groups: Groups | None, columns: int) -> str:
    """Return the name of a way to pack matrices, here one with so many columns. It tells all that kernels
    differ by: the format and, if that has groups, their numbers, such as "GPTQ-4-128-1", or
    "GPTQ-4-row-1-index" if a row is one group and there is an index."""
    if groups is None:
        return form
    size = groups.size if groups.size < columns else _WHOLE
    index = "-index" if groups.indexed else ""
    return f"{form}-{groups.bits}-{size}-{groups.zero_offset}{index}"


@dataclass(frozen=True, slots=True)
class Weight:
    """One parameter of the model: its shape, and the spans with its bytes.

    Attributes: `shape`, in torch order; `format`, its name in `engine.formats`; `spans`, which are (qweight,
    qzeros, scales, optionally g_idx) for GPTQ, the first three of these for AWQ, (numbers, scales) for FP8
    and MXFP4_APART, and one span otherwise;
    `rope_heads`, the number of heads in Q or K if its rows are in GGUF's llama order (the two halves of each
    head interleaved) and must be restored to HF's order (one half after the other), else 0; `plus`, a number
    to add to every number after unpacking (GGUF stores Gemma's norms one larger); `groups`, the packing for
    GPTQ, AWQ and W4, else None; `decay`, whether numbers x are stored as -exp(x) (GGUF's decays of DeltaNet);
    `in_turn`, whether what belongs to an expert's gate and to its up projection is stored in turn (rows of a
    matrix, columns of biases), as in gpt-oss's own folders.
    """

    shape: tuple[int, ...]
    format: str
    spans: tuple[Span, ...]
    rope_heads: int = 0
    plus: float = 0.0
    groups: Groups | None = None
    decay: bool = False
    in_turn: bool = False

    @staticmethod
    def of(span: Span, rope_heads: int = 0, plus: float = 0.0) -> "Weight":
        """Return a weight that consists of a single span."""
        return Weight(span.shape, span.storage, (span,), rope_heads, plus)

    def cut(self, nbytes: int) -> list["Weight"]:
        """Split this matrix between rows into pieces of about `nbytes` each, and return the pieces.

        A weight that is small enough stays whole, and so does a weight with several spans, because its rows
        are not contiguous in the file.
        """
        if len(self.spans) > 1 or self.nbytes <= nbytes:
            return [self]
        span = self.spans[0]
        rows, columns = self.shape
        row_nbytes = span.nbytes // rows
        pieces: list[Weight] = []
        first = 0
        for count in cut_rows(rows, moved_rows(row_nbytes, nbytes)):
            part = replace(
                span,
                offset=span.offset + first * row_nbytes,
                nbytes=count * row_nbytes,
                shape=(count, columns),
            )
            pieces.append(replace(self, shape=part.shape, spans=(part,)))
            first += count
        return pieces

    @property
    def numel(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """Size in bytes as stored."""
        return sum(span.nbytes for span in self.spans)


@dataclass(frozen=True, slots=True, eq=False)
class GgufVocabulary:
    """The tokenizer in the metadata of a GGUF file. An attribute is None if the file does not contain it.

    Attributes: `model`, the algorithm ("gpt2" for byte-level BPE, "llama" for SentencePiece BPE); `pre`, the
    name of the pre-tokenizer; `tokens`, by id; `scores` and `types`, [tokens], where a type is 1 normal, 2
    unknown, 3 control, 4 user-defined, 5 unused or 6 byte; `merges`, as "left right", best first; the ids of
    special tokens; `add_bos`, `add_eos` and `add_space_prefix`, whether the tokenizer adds them to a text;
    `chat_template`.
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
    """The checkpoint's settings for generating text; None, or empty, if the checkpoint does not give them.
    `suppress_tokens`, `begin_suppress_tokens`: ids that no answer has, or that none begins with,
    transformers' names."""

    eos_token_ids: tuple[int, ...] = ()
    bos_token_id: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    repetition_penalty: float | None = None
    suppress_tokens: tuple[int, ...] = ()
    begin_suppress_tokens: tuple[int, ...] = ()


def token_ids(listed: Any, most: int) -> tuple[int, ...]:
    """Return the ids in a list that are below `most`, each once; none if it is no list."""
    found = listed if isinstance(listed, list) else []
    return tuple(dict.fromkeys(each for each in found if type(each) is int and 0 <= each < most))


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """One model on disk. Its headers have been read and checked, but not its weights.

    Attributes: `path`, the file or folder; `format`, "gguf" or "safetensors"; `architecture`, HF's
    model_type; `config`, the arguments for `AutoConfig.for_model(architecture, **config)`; `weights`, by HF
    parameter name (model.layers.0.self_attn.q_proj.weight); `tokenizer`; `generation`; `vision`, whether the
    files have a vision encoder, too, which is not among the weights; `draft`, the weights of layers for
    drafts that come with the model, by the names in `engine.checkpoints.drafts`.

    `weights` lacks `lm_head.weight` if the head is tied to the embedding. Each matrix of each expert of a
    mixture is a weight of its own, even if the file stores them together:
    model.layers.0.mlp.experts.3.gate_proj.weight, up_proj, down_proj.
    """

    path: Path
    format: str
    architecture: str
    config: dict[str, Any]
    weights: dict[str, Weight]
    tokenizer: GgufVocabulary | TokenizerFolder
    generation: Generation
    vision: bool = False
    draft: dict[str, Weight] = field(default_factory=dict)

    @property
    def nbytes(self) -> int:
        """Size of all weights in bytes as stored."""
        return sum(weight.nbytes for weight in self.weights.values())


def read_span(span: Span) -> NDArray[np.uint8]:
    """Read the stored bytes of one tensor through the page cache; return them as uint8 [nbytes].

    Raises `BadCheckpoint` if the file cannot be read, ends too early, or has changed since its header was
    read.
    """
    data = np.empty(span.nbytes, dtype=np.uint8)

    def read() -> tuple[int, int]:
        with reads.opened(span.file) as file:
            file.seek(span.offset)
            return reads.fill(data.data, file), os.fstat(file.fileno()).st_mtime_ns

    try:
        done, modified = reads.aside(read)
    except OSError as error:
        raise BadCheckpoint(
            f"{span.file.name} cannot be read: {error.strerror}.",
            "Check the disk, then load the model again.",
        ) from error
    if done < span.nbytes:
        raise truncated(span.file, span.offset + done, span.offset + span.nbytes)
    if span.modified not in (0, modified):
        raise BadCheckpoint(f"{span.file.name} changed while it was being read.", "Load the model again.")
    return data


def truncated(file: Path, have: int, want: int) -> BadCheckpoint:
    """Return the error for a file that has `have` bytes but should have at least `want`."""
    return BadCheckpoint(
        f"{file.name} is incomplete: it has {have:,} of at least {want:,} bytes.",
        "The download was interrupted or the file is damaged. Download it again.",
    )
