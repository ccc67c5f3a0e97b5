"""From a checkpoint's spans to a model on its compute device. Knows which architectures run; knows no file
format."""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import psutil
import torch
from accelerate import init_empty_weights
from transformers import AutoConfig, AutoModelForCausalLM, PreTrainedModel
from transformers.configuration_utils import PretrainedConfig

from engine.building import Builder
from engine.checkpoints import Checkpoint
from engine.errors import BadCheckpoint, DeviceUnavailable, OutOfMemory, SpecExecError, UnsupportedModel
from engine.kv_cache import row_nbytes
from engine.model import ATTENTION, Model, Watch, no_watch
from engine.quantization import Workspace, format_named
from engine.reading import read_ahead
from engine.rope import fix_rope
from engine.streaming import Limits

ARCHITECTURES = ("llama", "mistral", "mixtral", "qwen2", "qwen3", "gemma2", "gemma3_text", "phi3")


def choose_device(asked: str) -> torch.device:
    """`asked`: auto, cuda or cpu. Raises DeviceUnavailable."""
    if asked == "cuda" and not torch.cuda.is_available():
        raise DeviceUnavailable(
            "No CUDA device is usable.",
            "Use --device cpu, or install the CUDA build of torch and a current driver.",
        )
    return torch.device("cuda" if asked != "cpu" and torch.cuda.is_available() else "cpu")


def choose_dtype(asked: str, device: torch.device) -> torch.dtype:
    """`asked`: auto, float32, bfloat16 or float16. Auto: the shortest type that the device multiplies at full
    speed."""
    if asked != "auto":
        return {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}[asked]
    if device.type == "cuda":
        return torch.bfloat16 if torch.cuda.is_bf16_supported(including_emulation=False) else torch.float16
    return torch.bfloat16 if torch.cpu._is_avx512_bf16_supported() else torch.float32


def load_model(
    checkpoint: Checkpoint,
    dtype: torch.dtype,
    device: torch.device,
    watch: Watch,
    context: int,
    vocabulary: int | None = None,
    packed: bool = False,
    limits: Limits | None = None,
    layer_watch: Watch = no_watch,
) -> Model:
    """Build the model and fill it.

    context: most tokens of one text (it fixes LongRoPE's factors). vocabulary: as Model's. packed: keep
    matrices as they are stored and unpack them at each product, instead of once. limits: bytes the matrices
    may take, packed; the others are streamed from RAM and from the files. `watch` is told bytes read of bytes
    in all, and may end the loading by raising; `layer_watch` layers that are whole, of those that are loaded
    now.
    Raises UnsupportedModel, BadCheckpoint, BadOption for a limit that is too small, StreamBroken.
    """
    config = model_config(checkpoint)
    _check_layers(checkpoint, config)
    with built_from(checkpoint), init_empty_weights(include_buffers=False):
        module: PreTrainedModel = AutoModelForCausalLM.from_config(config, attn_implementation=ATTENTION)  # type: ignore[no-untyped-call]
    workspace = Workspace(dtype, device)
    builder = Builder(module, checkpoint, workspace)
    try:
        if packed or limits is not None:
            builder.pack(limits)
        wanted = {name: (weight.format, weight.spans) for name, weight in builder.unpacked.items()}
        wanted |= {name: (each.matrix.format.name, each.spans) for name, each in builder.resident.items()}
        left = Counter(filter(None, map(_layer, wanted)))
        layers = len(left)
        for name, parts in read_ahead(wanted, watch):
            on_device = [part.to(device) for part in parts]
            if name in builder.resident:
                builder.resident[name].matrix.parts = on_device
            else:
                builder.place(name, on_device)
            left[_layer(name)] -= 1
            layer_watch(layers - sum(number > 0 for number in left.values()), layers)
        builder.finish(watch)
        with built_from(checkpoint):
            fix_rope(module, config, context)
    except BaseException:
        builder.close()
        raise
    keeps = packed or limits is not None
    return Model(module, config, dtype, device, vocabulary, keeps, builder.streamer)


def prepare(checkpoint: Checkpoint, dtype: torch.dtype) -> None:
    """Compile what unpacking the checkpoint's formats needs. Raises UnsupportedModel."""
    for name in {weight.format for weight in checkpoint.weights.values()}:
        format_named(name).prepare(dtype)


def free_nbytes(device: torch.device) -> int:
    """Memory that is free on the device now."""
    if device.type == "cuda":
        return torch.cuda.mem_get_info(device)[0]
    available: int = psutil.virtual_memory().available
    return available


def check_context(
    checkpoints: Sequence[Checkpoint], context: int, dtype: torch.dtype, device: torch.device
) -> None:
    """Raises OutOfMemory, with the largest context that fits, where keys and values of that many tokens do
    not."""
    row = sum(row_nbytes(model_config(checkpoint), dtype) for checkpoint in checkpoints)
    free = free_nbytes(device)
    if context * row > free:
        raise OutOfMemory(
            f"Keys and values of {context:,} tokens take {context * row / 2**30:.1f} GiB; "
            f"{free / 2**30:.1f} GiB are free.",
            f"Take a context of {max(16, int(0.9 * free) // row):,} tokens or fewer (--context).",
        )


def model_config(checkpoint: Checkpoint) -> PretrainedConfig:
    if checkpoint.architecture not in ARCHITECTURES:
        raise UnsupportedModel(
            f"Models of the architecture “{checkpoint.architecture[:40]}” are not supported.",
            f"Supported: {', '.join(ARCHITECTURES)}.",
        )
    with built_from(checkpoint):
        config = AutoConfig.for_model(checkpoint.architecture, **checkpoint.config)
    return config


def _layer(name: str) -> str:
    """The number of the layer that a weight belongs to; "" for none."""
    return name.split(".")[2] if name.startswith("model.layers.") else ""


def _check_layers(checkpoint: Checkpoint, config: PretrainedConfig) -> None:
    """Before anything is built: a layer takes milliseconds, and there may be any number of them."""
    layers = set(filter(None, map(_layer, checkpoint.weights)))
    if len(layers) != config.num_hidden_layers:
        raise BadCheckpoint(
            f"{checkpoint.path.name} holds {len(layers)} layers; the configuration says "
            f"{config.num_hidden_layers}.",
            "The file does not belong to its config.json, or is damaged; download it again.",
        )


@contextmanager
def built_from(checkpoint: Checkpoint) -> Iterator[None]:
    """transformers refuses a senseless configuration in many ways; here they become one."""
    try:
        yield
    except SpecExecError:
        raise
    except Exception as error:
        raise BadCheckpoint(
            f"The configuration of {checkpoint.path.name} makes no {checkpoint.architecture} model: "
            f"{str(error)[:400]}",
            "Download the model again, or choose another.",
        ) from error
