"""A GPTQ checkpoint from a folder of plain safetensors, made by optimum and GPTQModel (the extra `gptq`).

The whole model is in memory; each layer is computed on the graphics card where there is one. Nothing is
downloaded.
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

from engine.catalog import RESOURCES
from engine.checkpoints import Checkpoint, open_checkpoint
from engine.checkpoints.safetensors import read_json
from engine.errors import BadCheckpoint, BadOption, DiskProblem, MissingExtra, UnsupportedModel
from engine.loading import built_from, model_config
from engine.tokenizer import Tokenizer, load_tokenizer

BITS = (2, 3, 4, 8)
WINDOW = 512  # tokens of calibration text that are read together
FEWEST = 64  # tokens of a text's rest that are worth a window of their own
# For who gives no text of their own: a thousand tokens of the kinds of text people ask for.
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

    bits: 2, 3, 4 or 8. group_size: columns that share a scale; -1: all of them. act_order: quantize the
    columns with the largest activations first; better numbers, a little slower to unpack. texts: what the
    model reads to tell which weights matter; text of the kind it will be asked for is best; none: a page of
    resources/calibration.txt. Raises
    MissingExtra, BadOption, UnsupportedModel, DiskProblem and what reading the checkpoint raises.
    """
    _check(checkpoint, folder, bits, group_size)
    if find_spec("gptqmodel") is None or find_spec("optimum") is None:
        raise MissingExtra(
            "Quantizing needs optimum and GPTQModel.", 'Install them: pip install "specexec-desktop[gptq]".'
        )
    tokenizer = load_tokenizer(checkpoint)
    texts = list(texts) or TEXTS.read_text(encoding="utf-8").split("---\n")
    samples = list(_windows(tokenizer, texts))
    if not samples:
        raise BadOption("There is no calibration text.", "Give a file with some pages of text.")
    model = _loaded(checkpoint)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}-") as scratch:
            growing = Path(scratch) / "model"
            with contextlib.redirect_stdout(sys.stderr):  # where GPTQModel's messages belong
                _write(model, growing, bits, group_size, act_order, samples)
            tokenizer.save(growing)
            open_checkpoint(growing)  # what was written can be read
            if folder.exists():
                folder.rmdir()
            growing.rename(folder)
    except OSError as error:
        raise DiskProblem(
            f"{folder} cannot be written: {error.strerror}.", "Check the disk and the folder's permissions."
        ) from error


def _check(checkpoint: Checkpoint, folder: Path, bits: int, group_size: int) -> None:
    if bits not in BITS:
        raise BadOption(f"GPTQ has no {bits} bits.", f"Choose one of {', '.join(map(str, BITS))}.")
    if group_size != -1 and group_size < 16:
        raise BadOption(f"Groups of {group_size} are too small.", "Choose 32, 64 or 128; -1: whole rows.")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise BadOption(f"{folder} is there already.", "Name a new folder.")
    model_config(checkpoint)
    if checkpoint.format != "safetensors" or any(weight.groups for weight in checkpoint.weights.values()):
        raise UnsupportedModel(
            f"{checkpoint.path.name} is quantized already, or no folder of safetensors.",
            "Start from the original weights; specexec export writes any model as such a folder.",
        )
    if read_json(_folder(checkpoint) / "config.json")["model_type"] != checkpoint.architecture:
        raise UnsupportedModel(
            f"{checkpoint.path.name} is more than a text model.",
            "specexec export writes its text model by itself; quantize that.",
        )
    for name, weight in checkpoint.weights.items():
        if ".experts." in name:
            raise UnsupportedModel(
                "Mixtures of experts cannot be quantized here.", "Take a ready GPTQ checkpoint."
            )
        if name.startswith("model.layers.") and len(weight.shape) == 2 and any(n % 32 for n in weight.shape):
            raise UnsupportedModel(
                f"{name} of shape {weight.shape} cannot be quantized: GPTQ packs 32 numbers at a time.",
                "Choose another model, or a GGUF file of this one.",
            )


def _folder(checkpoint: Checkpoint) -> Path:
    return checkpoint.path if checkpoint.path.is_dir() else checkpoint.path.parent


def _loaded(checkpoint: Checkpoint) -> PreTrainedModel:
    """The model as transformers loads it, in the type it is stored in."""
    load: Any = AutoModelForCausalLM.from_pretrained  # its types do not know output_loading_info
    model: PreTrainedModel
    with built_from(checkpoint):
        model, told = load(_folder(checkpoint), dtype="auto", local_files_only=True, output_loading_info=True)
    if told["missing_keys"]:
        raise BadCheckpoint(
            f"The tensor {min(told['missing_keys'])} is missing.",
            "The file is incomplete; download it again.",
        )
    return model


def _windows(tokenizer: Tokenizer, texts: Iterable[str]) -> Iterable[dict[str, torch.Tensor]]:
    """Pieces of the texts as optimum takes them: int64 [1, tokens] each."""
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
    os.environ["GPTQMODEL_DISABLE_PACK_EXT"] = "1"  # it would need a C++ compiler
    from optimum.gptq import GPTQQuantizer

    quantizer = GPTQQuantizer(
        bits=bits,
        group_size=group_size,
        desc_act=act_order,
        act_group_aware=not act_order and group_size > 0,  # like act_order, but only inside groups
        dataset=samples,
    )
    model = quantizer.quantize_model(model)
    # optimum would write the calibration tokens, and the layout it has in memory, not that of the file.
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
