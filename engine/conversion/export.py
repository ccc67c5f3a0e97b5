"""Export of a checkpoint in any format to a folder of plain safetensors, which transformers can read too.

One shard of weights is in memory at a time; no model is built.
"""

import json
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

import torch
from safetensors.torch import save_file
from torch import Tensor

from engine.checkpoints import Checkpoint
from engine.checkpoints.names import hub_name
from engine.errors import BadOption, DiskProblem, UnsupportedModel
from engine.files import named_path
from engine.model.interface import Progress
from engine.model.reader import read_ahead
from engine.model.weight_names import are_apart
from engine.quantization import Workspace
from engine.tokenizer import load_tokenizer
from engine.torch_model.builder import unpacked
from engine.torch_model.loader import model_config, prepare

SHARD_NBYTES = 2 << 30


def export(checkpoint: Checkpoint, folder: Path, dtype: torch.dtype, progress: Progress) -> None:
    """Write the checkpoint's configuration, its tokenizer and its weights, converted to `dtype`, to the new
    folder `folder`.

    progress: called with the bytes read and the bytes in total; it may raise to end the export, which leaves
    nothing behind. Raises BadOption if `folder` is not empty; DiskProblem if the disk is too full or cannot
    be written; UnsupportedModel for a GGUF file of Qwen 3.5, Qwen3-Next or a Granite 4 hybrid; and the errors
    from reading the checkpoint.
    """
    if checkpoint.config.get("_tiled_heads") or checkpoint.config.get("_delta_inputs"):
        raise UnsupportedModel(
            f"{checkpoint.path.name} has the heads of layers with states in llama.cpp's order, which is not "
            "restored here.",
            "Export the model from its safetensors.",
        )
    if are_apart(checkpoint.weights):
        raise UnsupportedModel(
            f"{checkpoint.path.name} has gate and up of its MLPs as two matrices, which are not joined here.",
            "Export the model from its safetensors.",
        )
    config = model_config(checkpoint)
    if named_path(folder).exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise BadOption(f"{folder} already exists.", "Choose a new folder.")
    nbytes = sum(weight.numel for weight in checkpoint.weights.values()) * dtype.itemsize
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        if shutil.disk_usage(folder.parent).free < nbytes:
            raise DiskProblem(
                f"The weights need {nbytes / 2**30:.1f} GiB, more than is free on the disk.",
                "Free some space, or choose a folder on another disk.",
            )
        with TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}-") as scratch:
            growing = Path(scratch) / "model"
            growing.mkdir()
            _write_weights(checkpoint, growing, dtype, progress)
            config.dtype = dtype
            config.save_pretrained(growing)
            load_tokenizer(checkpoint).save(growing)
            (growing / "generation_config.json").write_text(json.dumps(_generation(checkpoint), indent=2))
            if folder.exists():
                folder.rmdir()
            growing.rename(folder)
    except OSError as error:
        raise DiskProblem(
            f"{folder} cannot be written: {error.strerror}.", "Check the disk and the folder's permissions."
        ) from error


def _write_weights(checkpoint: Checkpoint, folder: Path, dtype: torch.dtype, progress: Progress) -> None:
    prepare(checkpoint, dtype)
    workspace = Workspace(dtype, torch.device("cpu"))
    shards: list[list[str]] = []  # names of tensors, by shard
    shard: dict[str, Tensor] = {}

    def flush() -> None:
        save_file(shard, folder / f"{len(shards)}.part", metadata={"format": "pt"})
        shards.append(list(shard))
        shard.clear()

    nbytes = total = 0
    wanted = {name: (weight.format, weight.spans) for name, weight in checkpoint.weights.items()}
    for name, parts in read_ahead(wanted, progress):
        tensors = [torch.from_numpy(part) for part in parts]
        numbers = unpacked(checkpoint.weights[name], tensors, workspace).contiguous()
        if shard and nbytes + numbers.nbytes > SHARD_NBYTES:
            flush()
            nbytes = 0
        shard[hub_name(checkpoint.architecture, name)] = numbers
        nbytes += numbers.nbytes
        total += numbers.nbytes
    flush()
    if len(shards) == 1:
        (folder / "0.part").rename(folder / "model.safetensors")
        return
    places: dict[str, str] = {}
    for number, names in enumerate(shards):
        file = f"model-{number + 1:05}-of-{len(shards):05}.safetensors"
        (folder / f"{number}.part").rename(folder / file)
        places |= dict.fromkeys(names, file)
    index = {"metadata": {"total_size": total}, "weight_map": dict(sorted(places.items()))}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index, indent=2))


def _generation(checkpoint: Checkpoint) -> dict[str, object]:
    """Return what generation_config.json is to contain, taken from the checkpoint."""
    generation = checkpoint.generation
    entries = {
        "bos_token_id": generation.bos_token_id,
        "eos_token_id": list(generation.eos_token_ids) or None,
        "temperature": generation.temperature,
        "top_p": generation.top_p,
        "top_k": generation.top_k,
        "repetition_penalty": generation.repetition_penalty,
        "suppress_tokens": list(generation.suppress_tokens) or None,
        "begin_suppress_tokens": list(generation.begin_suppress_tokens) or None,
    }
    return {name: value for name, value in entries.items() if value is not None}
