"""A checkpoint of any format, written again as a folder of plain safetensors that transformers reads too.

One shard of weights is in memory at a time; no model is built.
"""

import json
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

import torch
from safetensors.torch import save_file
from torch import Tensor

from engine.building import unpacked
from engine.checkpoints import Checkpoint
from engine.checkpoints.names import hub_name
from engine.errors import BadOption, DiskProblem
from engine.loading import model_config, prepare
from engine.model import Watch
from engine.quantization import Workspace
from engine.reading import read_ahead
from engine.tokenizer import load_tokenizer

SHARD_NBYTES = 2 << 30


def export(checkpoint: Checkpoint, folder: Path, dtype: torch.dtype, watch: Watch) -> None:
    """Write configuration, tokenizer and weights of `dtype` to the new folder `folder`.

    watch: told bytes read of bytes in all; ends the export by raising, and then nothing is left behind.
    Raises BadOption where `folder` holds something, DiskProblem, and what reading the checkpoint raises.
    """
    config = model_config(checkpoint)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise BadOption(f"{folder} is there already.", "Name a new folder.")
    nbytes = sum(weight.numel for weight in checkpoint.weights.values()) * dtype.itemsize
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        if shutil.disk_usage(folder.parent).free < nbytes:
            raise DiskProblem(
                f"The weights take {nbytes / 2**30:.1f} GiB, more than the disk has free.",
                "Free some space, or name a folder on another disk.",
            )
        with TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}-") as scratch:
            growing = Path(scratch) / "model"
            growing.mkdir()
            _write_weights(checkpoint, growing, dtype, watch)
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


def _write_weights(checkpoint: Checkpoint, folder: Path, dtype: torch.dtype, watch: Watch) -> None:
    prepare(checkpoint, dtype)
    workspace = Workspace(dtype, torch.device("cpu"))
    shards: list[list[str]] = []  # names of tensors by shard
    shard: dict[str, Tensor] = {}

    def flush() -> None:
        save_file(shard, folder / f"{len(shards)}.part", metadata={"format": "pt"})
        shards.append(list(shard))
        shard.clear()

    nbytes = total = 0
    wanted = {name: (weight.format, weight.spans) for name, weight in checkpoint.weights.items()}
    for name, parts in read_ahead(wanted, watch):
        numbers = unpacked(checkpoint.weights[name], parts, workspace).contiguous()
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
    """generation_config.json: what the checkpoint says."""
    said = checkpoint.generation
    entries = {
        "bos_token_id": said.bos_token_id,
        "eos_token_id": list(said.eos_token_ids) or None,
        "temperature": said.temperature,
        "top_p": said.top_p,
        "top_k": said.top_k,
        "repetition_penalty": said.repetition_penalty,
    }
    return {name: value for name, value in entries.items() if value is not None}
