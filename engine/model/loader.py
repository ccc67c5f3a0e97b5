"""Loads a checkpoint as a model on its compute device. Independent of file formats."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import psutil
import torch
from accelerate import init_empty_weights
from transformers import AutoConfig, AutoModelForCausalLM, PreTrainedModel
from transformers.configuration_utils import PretrainedConfig

from engine.checkpoints import Checkpoint
from engine.compiled.layout import LAYOUTS
from engine.compiled.packer import tile_packer
from engine.compiled.product import prepare_products
from engine.errors import DeviceUnavailable, OutOfMemory, SpecExecError
from engine.model.architectures import family_of
from engine.model.builder import Builder
from engine.model.compiled import CompiledModel, covers
from engine.model.compiled_weights import read_weights
from engine.model.configuration import bad_configuration
from engine.model.forward import ATTENTION, TorchModel
from engine.model.interface import Device, Model, Progress, no_progress
from engine.model.reader import read_layers
from engine.model.rope import fix_rope
from engine.model.tensor_cache import row_nbytes
from engine.model.weight_names import check_layers
from engine.quantization import Workspace, prepare_kernel
from engine.streaming import WeightLimits


def choose_device(requested: str) -> Device:
    """Return the compute device. requested: auto, cuda or cpu. Raises DeviceUnavailable if there is no CUDA
    device but one is requested."""
    if requested == "cuda" and not torch.cuda.is_available():
        raise DeviceUnavailable(
            "No CUDA device is available.",
            "Use --device cpu, or install the CUDA build of torch and a current driver.",
        )
    return "cuda" if requested != "cpu" and torch.cuda.is_available() else "cpu"


def choose_dtype(requested: str, device: Device) -> torch.dtype:
    """Return the dtype. requested: auto, float32, bfloat16 or float16; auto stands for the smallest dtype
    that the device multiplies at full speed."""
    if requested != "auto":
        return {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}[requested]
    if device == "cuda":
        return torch.bfloat16 if torch.cuda.is_bf16_supported(including_emulation=False) else torch.float16
    return torch.bfloat16 if torch.cpu._is_avx512_bf16_supported() else torch.float32


def load_model(
    checkpoint: Checkpoint,
    dtype: torch.dtype,
    device: Device,
    progress: Progress,
    context: int,
    vocabulary: int | None = None,
    packed: bool = False,
    limits: WeightLimits | None = None,
    layer_progress: Progress = no_progress,
) -> TorchModel:
    """Build the model and load its weights.

    context: maximum number of tokens in a text; the rotary frequencies may depend on it. vocabulary: as for
    TorchModel. packed: whether matrices are kept as stored and unpacked at each product, instead of once.
    limits: bytes that resident matrices may take; if there are limits, all matrices are kept as stored, and
    those that are not resident are streamed from RAM and from the files. progress: called with the bytes read
    and the bytes in total; may end the loading by raising. layer_progress: called with the number of complete
    layers and of layers to load.

    Raises UnsupportedModel or BadCheckpoint if the checkpoint cannot be used; BadOption if a limit is too
    small; StreamBroken if streaming fails."""
    config, module = _empty_module(checkpoint)
    workspace = Workspace(dtype, torch.device(device))
    builder = Builder(module, checkpoint, workspace)
    try:
        if packed or limits is not None:
            builder.pack(limits)
        wanted = {name: (weight.format, weight.spans) for name, weight in builder.unpacked.items()}
        wanted |= {
            name: (stored.matrix.format.name, stored.spans) for name, stored in builder.resident.items()
        }
        for name, parts in read_layers(wanted, progress, layer_progress):
            on_device = [torch.from_numpy(part).to(device) for part in parts]
            if name in builder.resident:
                builder.resident[name].matrix.parts = on_device
            else:
                builder.place(name, on_device)
        builder.finish(progress)
        with built_from(checkpoint):
            fix_rope(module, config, context)
    except BaseException:
        builder.close()
        raise
    keeps = packed or limits is not None
    return TorchModel(module, config, dtype, device, vocabulary, keeps, builder.streamer)


def load_compiled(
    checkpoint: Checkpoint,
    progress: Progress,
    context: int,
    vocabulary: int | None = None,
    limits: WeightLimits | None = None,
    layer_progress: Progress = no_progress,
) -> CompiledModel | None:
    """Load a model to compute on the CPU at its packed size. Return None if compiled steps do not cover the
    model. The arguments and errors are those of load_model."""
    config, module = _empty_module(checkpoint)
    builder = Builder(module, checkpoint, Workspace(torch.float32, torch.device("cpu")))
    if not covers(module, config, builder.weights):
        return None
    with built_from(checkpoint):
        fix_rope(module, config, context)
    weights = read_weights(builder.weights, builder.tied, limits, progress, layer_progress)
    return CompiledModel(module, config, weights, vocabulary)


def _empty_module(checkpoint: Checkpoint) -> tuple[PretrainedConfig, PreTrainedModel]:
    """Return the checkpoint's configuration and transformers' module for it, without weights."""
    config = model_config(checkpoint)
    # First, for building a layer takes milliseconds, and a configuration may name any number of layers.
    check_layers(checkpoint, config.num_hidden_layers)
    with built_from(checkpoint), init_empty_weights(include_buffers=False):
        module: PreTrainedModel = AutoModelForCausalLM.from_config(config, attn_implementation=ATTENTION)  # type: ignore[no-untyped-call]
    return config, module


_THREADS = torch.get_num_threads()


def share_cores(models: Sequence[Model]) -> None:
    """Give torch one thread if compiled programs run all `models`: after an operation its threads spin on the
    cores for a while."""
    torch.set_num_threads(1 if all(isinstance(model, CompiledModel) for model in models) else _THREADS)


def prepare(checkpoint: Checkpoint, dtype: torch.dtype, compiled: bool = False) -> None:
    """Compile the kernels for the checkpoint's formats, or read them from the cache: those that multiply
    tiles if `compiled` is set, else those that unpack. Raises UnsupportedModel if a format is unknown."""
    for name in sorted({weight.format for weight in checkpoint.weights.values()}):
        if compiled and name in LAYOUTS:
            prepare_products(name)
            tile_packer(name)
        else:
            prepare_kernel(name, dtype)


def free_nbytes(device: Device) -> int:
    """Return the number of bytes of memory that are free on the device now."""
    if device == "cuda":
        return torch.cuda.mem_get_info(device)[0]
    available: int = psutil.virtual_memory().available
    return available


def check_context(
    checkpoints: Sequence[Checkpoint], context: int, dtype: torch.dtype, device: Device
) -> None:
    """Raise OutOfMemory unless the KV caches of all `checkpoints` fit in free memory, each with `context`
    tokens. The hint names a context that fits."""
    row = sum(row_nbytes(model_config(checkpoint), dtype) for checkpoint in checkpoints)
    free = free_nbytes(device)
    if context * row > free:
        raise OutOfMemory(
            f"The KV cache of {context:,} tokens takes {context * row / 2**30:.1f} GiB; "
            f"{free / 2**30:.1f} GiB are free.",
            f"Choose a context of {max(16, int(0.9 * free) // row):,} tokens or fewer (--context).",
        )


def model_config(checkpoint: Checkpoint) -> PretrainedConfig:
    family_of(checkpoint.architecture)  # raises UnsupportedModel
    with built_from(checkpoint):
        config = AutoConfig.for_model(checkpoint.architecture, **checkpoint.config)
    return config


@contextmanager
def built_from(checkpoint: Checkpoint) -> Iterator[None]:
    """Turn the many errors with which transformers rejects an invalid configuration into BadCheckpoint."""
    try:
        yield
    except SpecExecError:
        raise
    except Exception as error:
        raise bad_configuration(checkpoint.path.name, checkpoint.architecture, str(error)) from error
