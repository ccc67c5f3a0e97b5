"""Quantization of a folder of plain safetensors with GPTQ, by optimum and GPTQModel (the extra `gptq`).

The whole model is in memory; layers are computed on the graphics card if there is one. Nothing is downloaded.
"""

import contextlib
import os
import sys
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
from transformers import AutoModelForCausalLM, PreTrainedModel

from engine.assets import RESOURCES
from engine.checkpoints import Checkpoint, open_checkpoint
from engine.checkpoints.safetensors import read_json
from engine.errors import BadCheckpoint, BadOption, DiskProblem, MissingExtra, UnsupportedModel
from engine.files import named_path
from engine.tokenizer import Tokenizer, load_tokenizer
from engine.torch_model.loader import built_from, model_config

BITS = (2, 3, 4, 8)
WINDOW = 512  # tokens of calibration text per sample
FEWEST = 64  # what is left at the end of a text is a sample of its own if it has at least this many tokens
# The default calibration text: a thousand tokens of common kinds of text.
TEXTS = RESOURCES / "calibration.txt"


def quantize(
    checkpoint: Checkpoint,
    folder: Path,
    bits: int = 4,
    group_size: int = 64,
    act_order: bool = False,
    texts: Iterable[str] = (),
) -> None:
    """Write `checkpoint`, a folder of plain safetensors, as symmetric GPTQ (version 1) to the new folder
    `folder`.

    bits: 2, 3, 4 or 8. group_size: number of columns that share a scale; -1: all of them. act_order: quantize
    the columns with the largest activations first, which is more accurate, but a little slower to unpack.
    texts: calibration texts, which show which weights matter; the best are of the kind that the model will be
    used for. If there are none, those in resources/calibration.txt are used.

    Raises MissingExtra if optimum or GPTQModel is not installed; BadOption if an option is out of range,
    `folder` is not empty, or the texts are empty; UnsupportedModel if the checkpoint cannot be quantized;
    DiskProblem if `folder` cannot be written; and the errors from reading the checkpoint.
    """
    _check(checkpoint, folder, bits, group_size)
    if find_spec("gptqmodel") is None or find_spec("optimum") is None:
        raise MissingExtra(
            "Quantization needs optimum and GPTQModel.", 'Install them: pip install "specexec-desktop[gptq]".'
        )
    tokenizer = load_tokenizer(checkpoint)
    texts = list(texts) or TEXTS.read_text(encoding="utf-8").split("---\n")
    samples = list(_windows(tokenizer, texts))
    if not samples:
        raise BadOption("There is no calibration text.", "Provide a file with a few pages of text.")
    model = _loaded(checkpoint)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}-") as scratch:
            growing = Path(scratch) / "model"
            with contextlib.redirect_stdout(sys.stderr):  # GPTQModel prints messages
                _write(model, growing, bits, group_size, act_order, samples)
            tokenizer.save(growing)
            open_checkpoint(growing)  # verifies that the result can be read
            if folder.exists():
                folder.rmdir()
            growing.rename(folder)
    except OSError as error:
        raise DiskProblem(
            f"{folder} cannot be written: {error.strerror}.", "Check the disk and the folder's permissions."
        ) from error


def _check(checkpoint: Checkpoint, folder: Path, bits: int, group_size: int) -> None:
    if bits not in BITS:
        raise BadOption(f"GPTQ does not support {bits} bits.", f"Choose one of {', '.join(map(str, BITS))}.")
    if group_size != -1 and group_size < 16:
        raise BadOption(
            f"Groups of {group_size} are too small.", "Choose 32, 64 or 128, or -1 for whole rows."
        )
    if named_path(folder).exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise BadOption(f"{folder} already exists.", "Choose a new folder.")
    model_config(checkpoint)
    if checkpoint.format != "safetensors" or any(
        len(weight.spans) > 1 for weight in checkpoint.weights.values()
    ):
        raise UnsupportedModel(
            f"{checkpoint.path.name} is already quantized, or is not a folder of safetensors.",
            "Use the original weights; specexec export writes any model as such a folder.",
        )
    if read_json(_folder(checkpoint) / "config.json")["model_type"] != checkpoint.architecture:
        raise UnsupportedModel(
            f"{checkpoint.path.name} contains more than a text model.",
            "Extract the text model with specexec export, then quantize that.",
        )
    for name, weight in checkpoint.weights.items():
        if ".experts." in name:
            raise UnsupportedModel(
                "Mixtures of experts cannot be quantized.", "Download a GPTQ checkpoint instead."
            )
        if name.startswith("model.layers.") and len(weight.shape) == 2 and any(n % 32 for n in weight.shape):
            raise UnsupportedModel(
                f"{name} of shape {weight.shape} cannot be quantized: GPTQ packs 32 numbers at a time.",
                "Choose another model, or a GGUF file of this one.",
            )


def _folder(checkpoint: Checkpoint) -> Path:
    return checkpoint.path if checkpoint.path.is_dir() else checkpoint.path.parent


def _loaded(checkpoint: Checkpoint) -> PreTrainedModel:
    """Load the model with transformers, in the dtype in which it is stored."""
    load: Any = AutoModelForCausalLM.from_pretrained  # its annotations lack output_loading_info
    model: PreTrainedModel
    with built_from(checkpoint):
        model, loading = load(
            _folder(checkpoint), dtype="auto", local_files_only=True, output_loading_info=True
        )
    if loading["missing_keys"]:
        raise BadCheckpoint(
            f"The tensor {min(loading['missing_keys'])} is missing.",
            "The file is incomplete; download it again.",
        )
    return model


def _windows(tokenizer: Tokenizer, texts: Iterable[str]) -> Iterable[dict[str, torch.Tensor]]:
    """Yield the texts in pieces of up to WINDOW tokens, in the form that optimum expects: int64 [1,
    tokens]."""
    for text in texts:
        ids = tokenizer.encode(text)
        for start in range(0, len(ids), WINDOW):
            window = torch.tensor([ids[start : start + WINDOW]])
            if start == 0 or window.shape[1] >= FEWEST:
                yield {"input_ids": window, "attention_mask": torch.ones_like(window)}


def _write(
    model: PreTrainedModel,
    folder: Path,
    bits: int,
    group_size: int,
    act_order: bool,
    samples: list[dict[str, torch.Tensor]],
) -> None:
    os.environ["HF_HUB_OFFLINE"] = "1"
    os.environ["GPTQMODEL_DISABLE_PACK_EXT"] = "1"  # that extension needs a C++ compiler
    from optimum.gptq import GPTQQuantizer

    quantizer = GPTQQuantizer(
        bits=bits,
        group_size=group_size,
        desc_act=act_order,
        act_group_aware=not act_order and group_size > 0,  # like act_order, but only within groups
        dataset=samples,
    )
    model = quantizer.quantize_model(model)
    # Without the next two statements, optimum would write two wrong things to the configuration: the
    # calibration tokens, and as the file's layout the one that it uses in memory.
    quantizer.dataset = None
    model.config.quantization_config = {
        "quant_method": "gptq",
        "checkpoint_format": "gptq",
        "bits": bits,
        "group_size": group_size,
        "desc_act": act_order,
        "sym": True,
    }
    quantizer.save(model, folder)
