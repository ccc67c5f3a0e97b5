"""Read folders in Hugging Face's layout, which contain config.json and .safetensors files.

A safetensors file consists of a uint64 length (little-endian), a header of that many bytes in JSON ({name:
{dtype, shape, data_offsets}}), and the data section (huggingface/safetensors README, "Format"). Pickle files
are refused, because unpickling runs code.
"""

import gc
import json
import math
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeGuard

from engine import reads
from engine.checkpoints import compressed, fp8, grouped, modelopt, mxfp4, names
from engine.checkpoints.checkpoint import (
    Checkpoint,
    Generation,
    Span,
    TokenizerFolder,
    Weight,
    token_ids,
    truncated,
)
from engine.checkpoints.drafts import PLAIN
from engine.checkpoints.limits import TENSORS_LIMIT, VOCABULARY_LIMIT, check_sizes
from engine.checkpoints.storage import BLOCKS
from engine.errors import BadCheckpoint, UnsupportedModel

# Limits on all JSON, including headers, so that hostile files cost neither memory nor time. They are far
# above real files: the index of a model with 60,000 tensors has 6 MB.
JSON_LIMIT = 32 << 20  # bytes
# Numbers, strings, lists and objects, in one file or in all headers of a model: eight for each tensor.
VALUES_LIMIT = 8 * TENSORS_LIMIT
NAME_LIMIT = 256
DAMAGED = "The file is damaged. Download it again."
INDEX = "model.safetensors.index.json"
SINGLE = "model.safetensors"
PICKLES = ("*.bin", "*.pt", "*.pth", "*.ckpt", "*.pkl")
# Settings that may make transformers run code from the checkpoint or from a download. All settings whose
# names start with _ may do so too.
CODE = ("auto_map", "trust_remote_code", "attn_implementation", "experts_implementation", "use_kernels")
# Tensors in old checkpoints that are not needed: rotary frequencies, which follow from the configuration.
HARMLESS = re.compile(r"model\.layers\.\d+\.self_attn\.rotary_emb\.inv_freq")
# Model types that transformers itself implements. If a checkpoint of such a type names code of its own
# (`auto_map`), that code is not needed.
# fmt: off
NATIVE = frozenset({
    "cohere", "cohere2", "exaone4", "falcon", "gemma", "gemma2", "gemma3", "gemma3_text", "glm", "glm4",
    "glm4_moe", "gpt2", "gpt_neox", "gpt_oss", "granite", "llama", "mistral", "mixtral", "nemotron_h",
    "olmo", "olmo2", "opt", "phi", "phi3", "qwen2", "qwen2_moe", "qwen3", "qwen3_5", "qwen3_5_moe",
    "qwen3_5_moe_text", "qwen3_5_text", "qwen3_moe", "qwen3_next", "smollm3", "stablelm", "starcoder2",
})
# fmt: on


def claims(path: Path) -> bool:
    """Whether `read` handles `path`, even if only to report why it cannot be read."""
    return path.is_dir() or path.suffix == ".safetensors" or any(path.match(pattern) for pattern in PICKLES)


def read(path: Path) -> Checkpoint:
    """Return the checkpoint at `path`: a folder, or a .safetensors file in such a folder.

    Raises `BadCheckpoint` if it is damaged or incomplete; `UnsupportedModel` if it is not supported.
    """
    folder = path if path.is_dir() else path.parent
    if path.is_file() and path.suffix != ".safetensors":
        raise _pickled(path)
    config = _config(folder)
    tensors = _tensors(path, folder)
    vision = config["model_type"] in names.WRAPPERS and names.has_vision(tensors)
    if config["model_type"] in names.WRAPPERS:
        config, tensors = names.text_config(config), names.text_tensors(tensors)
    config = names.usual_config(config)
    tensors = names.model_tensors(config["model_type"], tensors)
    tensors, of_draft = names.without_draft(config["model_type"], _layers(config), tensors)
    tensors = names.without_shared(config, tensors)
    quantization = config.pop("quantization_config", None)
    if quantization is None and (folder / modelopt.FILE).is_file():
        quantization = modelopt.settings_of(read_json(folder / modelopt.FILE))
    weights = _weights(folder, quantization, names.expert_tensors(tensors))
    draft = _draft(folder, quantization, of_draft)
    config = {key: value for key, value in config.items() if not key.startswith("_") and key not in CODE}
    check_sizes(config)
    if (config.get("num_hidden_layers") or 0) > len(tensors):
        raise BadCheckpoint(
            f"config.json declares {config['num_hidden_layers']} layers, but the model has only "
            f"{len(tensors)} tensors.",
            DAMAGED,
        )
    architecture = config.pop("model_type")
    if "lm_head.weight" not in weights and "tie_word_embeddings" not in config:
        config["tie_word_embeddings"] = True
    if config.get("tie_word_embeddings") is True:  # some checkpoints contain a copy of the embedding
        weights.pop("lm_head.weight", None)
    return Checkpoint(
        path=path,
        format="safetensors",
        architecture=architecture,
        config=config,
        weights={name: weight for name, weight in weights.items() if not HARMLESS.fullmatch(name)},
        tokenizer=TokenizerFolder(folder),
        generation=_generation(folder, config),
        vision=vision,
        draft=draft,
    )


def _layers(config: dict[str, Any]) -> int:
    """Return how many layers a configuration, which was not checked yet, says that there are."""
    layers = config.get("num_hidden_layers")
    return layers if type(layers) is int else 0


# -- JSON files ----------------------------------------------------------------------------------------------


def read_json(file: Path) -> dict[str, Any]:
    """Return the JSON object in `file`.

    Raises `BadCheckpoint` if the file cannot be read, exceeds the limits, is not a JSON object, or contains a
    key twice or a number that is not finite.
    """
    try:
        return _parse(file.name, reads.aside(lambda: _text(file)))[0]
    except OSError as error:
        raise BadCheckpoint(
            f"{file.name} cannot be read: {error.strerror}.", "Check the folder and the disk."
        ) from error


def _text(file: Path) -> bytes:
    text = reads.content(file, JSON_LIMIT + 1)
    if len(text) > JSON_LIMIT:
        raise BadCheckpoint(f"{file.name} is larger than {JSON_LIMIT >> 20} MiB.", DAMAGED)
    return text


def _parse(name: str, text: bytes, most: int = VALUES_LIMIT) -> tuple[dict[str, Any], int]:
    """Return the JSON object in `text`, and the number of its values, estimated by counting , [ and {.

    name: the file's name, for messages. Raises `BadCheckpoint` if there are more values than `most`, or if
    the text is not a valid JSON object.
    """
    values = sum(map(text.count, (b",", b"[", b"{")))
    if values > most:
        raise BadCheckpoint(f"{name} contains {values:,} values, more than any model needs.", DAMAGED)
    try:
        with _uncollected():
            entries = json.loads(
                text.decode("utf-8-sig"),
                object_pairs_hook=_without_duplicates,
                parse_float=_finite,
                parse_constant=_constant,
            )
    # RecursionError is raised for about a thousand nested brackets.
    except (ValueError, RecursionError) as error:
        raise BadCheckpoint(f"{name} is not valid JSON: {str(error)[:120]}.", DAMAGED) from error
    if not isinstance(entries, dict):
        raise BadCheckpoint(f"{name} does not contain a JSON object.", DAMAGED)
    return entries, values


@contextmanager
def _uncollected() -> Iterator[None]:
    """Pause the garbage collector, which would search all values for cycles again and again: JSON has none,
    and half the time of a large header went there."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _finite(number: str) -> float:
    value = float(number)
    if not math.isfinite(value):
        raise ValueError(f"the number {number[:40]} is not finite")
    return value


def _constant(name: str) -> dict[str, str]:
    """Return an infinite number, which configurations of Mamba-2 have as a limit, in the form that JSON has a
    place for, and that transformers writes."""
    if name != "Infinity":
        raise ValueError(f"{name} is not a number")
    return {"__float__": name}


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    entries = dict(pairs)
    if len(entries) != len(pairs):
        raise ValueError("a key appears twice")
    return entries


def _config(folder: Path) -> dict[str, Any]:
    """Return config.json without `auto_map`, so that code from the checkpoint is never run.

    Raises `BadCheckpoint` if it is missing or invalid; `UnsupportedModel` if the model needs such code.
    """
    file = folder / "config.json"
    if not file.is_file():
        raise BadCheckpoint(
            f"{folder.name} has no config.json.",
            "Choose a complete model folder.",
        )
    config = read_json(file)
    architecture = config.get("model_type")
    if not isinstance(architecture, str):
        raise BadCheckpoint("config.json does not name a model_type.", DAMAGED)
    if config.pop("auto_map", None) is not None and architecture not in NATIVE:
        raise UnsupportedModel(
            f"This {architecture} model needs Python code from the checkpoint, which is never run.",
            "Choose a model with an architecture that is built into transformers.",
        )
    return config


def _generation(folder: Path, config: dict[str, Any]) -> Generation:
    file = folder / "generation_config.json"
    settings = read_json(file) if file.is_file() else {}
    ends: list[int] = []
    for source in (settings, config):
        ids = source.get("eos_token_id")
        ends += [end for end in (ids if isinstance(ids, list) else [ids]) if type(end) is int and end >= 0]
    bos = settings.get("bos_token_id", config.get("bos_token_id"))
    top_k = settings.get("top_k")
    return Generation(
        eos_token_ids=tuple(dict.fromkeys(ends)),
        bos_token_id=bos if type(bos) is int else None,
        temperature=_real(settings.get("temperature")),
        top_p=_real(settings.get("top_p")),
        top_k=top_k if type(top_k) is int else None,
        repetition_penalty=_real(settings.get("repetition_penalty")),
        suppress_tokens=token_ids(settings.get("suppress_tokens"), VOCABULARY_LIMIT),
        begin_suppress_tokens=token_ids(settings.get("begin_suppress_tokens"), VOCABULARY_LIMIT),
    )


def _real(value: Any) -> float | None:
    return float(value) if isinstance(value, (int, float)) and abs(value) < 1 << 63 else None


# -- the tensors ---------------------------------------------------------------------------------------------


def _weights(folder: Path, quantization: Any, tensors: dict[str, Span]) -> dict[str, Weight]:
    """Return all weights, packed or not. quantization: config.json's quantization_config, or what stands for
    it, or None."""
    if quantization is None and not grouped.is_packed(tensors):
        return {name: Weight.of(span) for name, span in tensors.items()}
    if compressed.is_compressed(quantization):
        return compressed.weights(tensors, quantization)
    if fp8.is_fp8(quantization):
        return fp8.weights(tensors, quantization)
    if modelopt.is_modelopt(quantization):
        return modelopt.weights(tensors, quantization)
    if mxfp4.is_mxfp4(quantization):
        return mxfp4.weights(tensors)
    settings = {"config.json": quantization} if quantization is not None else {}
    settings |= {name: read_json(folder / name) for name in grouped.FILES if (folder / name).is_file()}
    if not settings or not all(isinstance(entries, dict) for entries in settings.values()):
        raise BadCheckpoint(
            f"{folder.name} has quantized weights, but no valid quantization settings.",
            f"Download the model again, with config.json and {' or '.join(grouped.FILES)}.",
        )
    packing = grouped.packing(settings)
    if not grouped.is_packed(tensors):
        raise BadCheckpoint(
            f"{folder.name} has {packing.method} settings, but none of its weights are quantized.", DAMAGED
        )
    return grouped.weights(tensors, packing)


def _draft(folder: Path, quantization: Any, tensors: dict[str, Span]) -> dict[str, Weight]:
    """Return the weights of layers for drafts, packed as the model's or not at all. tensors: as
    `names.without_draft` returns them. Returns {} if the way in which they are stored is not supported, since
    the model runs without."""
    packed = any(span.storage not in PLAIN for span in tensors.values())
    try:
        found = _weights(folder, quantization if packed else None, names.expert_tensors(tensors))
    except UnsupportedModel:
        return {}
    return {name.removeprefix("mtp."): weight for name, weight in found.items()}


def _tensors(path: Path, folder: Path) -> dict[str, Span]:
    index = folder / INDEX
    if path.is_file() and not (index.is_file() and path.name != SINGLE):
        return read_header(path)
    if index.is_file():
        return _sharded(folder, index)
    if (folder / SINGLE).is_file():
        return read_header(folder / SINGLE)
    lone = sorted(filter(Path.is_file, folder.glob("*.safetensors")))
    if len(lone) == 1:
        return read_header(lone[0])
    for pattern in PICKLES:
        for pickled in folder.glob(pattern):
            raise _pickled(pickled)
    raise BadCheckpoint(
        f"{folder.name} has no {SINGLE} and no {INDEX}.",
        "Download the model again, with all its .safetensors files.",
    )


def _sharded(folder: Path, index: Path) -> dict[str, Span]:
    """Return the tensors that the index file lists, from all shards (files) that it names."""
    places = read_json(index).get("weight_map")
    if not isinstance(places, dict) or not all(isinstance(name, str) for name in places.values()):
        raise BadCheckpoint(f"{index.name} has no weight_map.", DAMAGED)
    shards: dict[str, dict[str, Span]] = {}
    left = VALUES_LIMIT
    for name in sorted(set(places.values())):
        # It must be a plain file name, so that it cannot lead out of the folder on any system.
        if (
            not name.endswith(".safetensors")
            or any(mark in name for mark in "/\\:\0")
            or name.startswith(".")
        ):
            raise BadCheckpoint(
                f"{index.name} refers to {name[:80]!r}, which is not a file of this folder.",
                "Do not use this model. The file may have been manipulated.",
            )
        if not (folder / name).is_file():
            raise BadCheckpoint(
                f"{name} is missing.", "Download the model again, with all its .safetensors files."
            )
        shards[name], values = _header(folder / name, left)
        left -= values
    tensors: dict[str, Span] = {}
    for tensor, name in places.items():
        if tensor not in shards[name]:
            raise BadCheckpoint(f"{name} does not contain {tensor}, although {index.name} says so.", DAMAGED)
        tensors[tensor] = shards[name][tensor]
    return tensors


def read_header(file: Path) -> dict[str, Span]:
    """Return the spans of all tensors in a .safetensors file, by name.

    Raises `BadCheckpoint` if the header is invalid or cannot be read; `UnsupportedModel` if a number format
    is not supported.
    """
    return _header(file, VALUES_LIMIT)[0]


def _header(file: Path, most: int) -> tuple[dict[str, Span], int]:
    """Return the spans of all tensors by name, and the number of values in the header.

    Raises `BadCheckpoint` if that number exceeds `most`, and the errors of `read_header`.
    """
    try:
        text, state = reads.aside(lambda: _header_text(file))
    except OSError as error:
        raise BadCheckpoint(
            f"{file.name} cannot be read: {error.strerror}.", "Check the file and the disk."
        ) from error
    # Before objects are made of them: every tensor is described in braces, as are the whole and its metadata.
    _check_count(file, text.count(b"{") - 1 - text.count(b'"__metadata__"'))
    entries, values = _parse(file.name, text, most)
    entries.pop("__metadata__", None)
    _check_count(file, len(entries))
    start = 8 + len(text)
    spans = {name: _span(file, name, entry, start, state.st_mtime_ns) for name, entry in entries.items()}
    _check_places(file, spans, start, state.st_size)
    return spans, values


def _header_text(file: Path) -> tuple[bytes, os.stat_result]:
    """Return the header as it is stored, and the file's state. Raises OSError, and BadCheckpoint if the file
    is too short or the header too long."""
    with reads.opened(file) as stream:
        state = os.fstat(stream.fileno())
        prefix = bytearray(8)
        if reads.fill(prefix, stream) < 8:
            raise truncated(file, state.st_size, 8)
        nbytes = int.from_bytes(prefix, "little")
        if nbytes > JSON_LIMIT:
            raise BadCheckpoint(f"{file.name} declares a header of {nbytes:,} bytes.", DAMAGED)
        if 8 + nbytes > state.st_size:
            raise truncated(file, state.st_size, 8 + nbytes)
        text = bytearray(nbytes)
        if (done := reads.fill(text, stream)) < nbytes:
            raise truncated(file, 8 + done, 8 + nbytes)
        return bytes(text), state


def _check_count(file: Path, tensors: int) -> None:
    if tensors > TENSORS_LIMIT:
        raise BadCheckpoint(f"{file.name} declares {tensors:,} tensors, more than any model has.", DAMAGED)


def _span(file: Path, name: str, entry: Any, start: int, modified: int) -> Span:
    """Return the span that one entry of the header describes. start: the offset of the data section."""
    if len(name) > NAME_LIMIT or not (name.isascii() and name.isprintable()):
        raise _bad(file, repr(name[:40]), "its name is invalid")
    if not isinstance(entry, dict):
        raise _bad(file, name, "its entry is not an object")
    storage, shape, offsets = entry.get("dtype"), entry.get("shape"), entry.get("data_offsets")
    if not isinstance(storage, str) or not _whole_numbers(shape) or not _whole_numbers(offsets):
        raise _bad(file, name, "dtype, shape or data_offsets are missing or have the wrong type")
    if len(offsets) != 2:
        raise _bad(file, name, "its data_offsets are not a pair")
    if storage not in BLOCKS or BLOCKS[storage][0] != 1:
        raise UnsupportedModel(
            f"{file.name} stores {name} as {storage[:20]!r}, which is not supported.",
            "Choose a model with bfloat16 or float16 weights.",
        )
    begin, end = offsets
    if end - begin != math.prod(shape) * BLOCKS[storage][1]:
        raise _bad(file, name, f"{end - begin} bytes do not match {shape} values of {storage}")
    return Span(file, start + begin, end - begin, tuple(shape), storage, modified)


def _whole_numbers(value: Any) -> TypeGuard[list[int]]:
    return (
        isinstance(value, list)
        and len(value) <= 8
        and all(type(item) is int and 0 <= item < 1 << 63 for item in value)
    )


def _check_places(file: Path, spans: dict[str, Span], start: int, file_nbytes: int) -> None:
    end, before = start, ""
    for name, span in sorted(spans.items(), key=lambda item: (item[1].offset, item[1].nbytes)):
        if span.offset < end:
            raise _bad(file, name, f"it overlaps {before}")
        end, before = span.offset + span.nbytes, name
    if end > file_nbytes:
        raise truncated(file, file_nbytes, end)


def _bad(file: Path, name: str, reason: str) -> BadCheckpoint:
    return BadCheckpoint(f"{file.name} is invalid: tensor {name}: {reason}.", DAMAGED)


def _pickled(file: Path) -> UnsupportedModel:
    return UnsupportedModel(
        f"{file.name} is a pickle file, which can run hidden programs when it is loaded.",
        "Choose the .safetensors files of this model, or a GGUF file.",
    )
