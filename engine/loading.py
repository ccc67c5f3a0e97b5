"""From a checkpoint's spans to a model on its compute device. Knows which architectures run; knows no file
format."""

import os
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager

import torch
from accelerate import init_empty_weights
from accelerate.utils import set_module_tensor_to_device
from torch import Tensor
from transformers import AutoConfig, AutoModelForCausalLM, PreTrainedModel
from transformers.configuration_utils import PretrainedConfig

from engine.checkpoints import Checkpoint, Span, read_span
from engine.errors import BadCheckpoint, DeviceUnavailable, UnsupportedModel
from engine.model import ATTENTION, Model, Watch
from engine.quantization import unpack

ARCHITECTURES = ("llama", "mistral", "qwen2", "qwen3")
# Their factors would change with the longest position of a pass.
_CHANGING_ROPE = ("dynamic", "longrope")


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
    vocabulary: int | None = None,
) -> Model:
    """Build the model and fill it.

    vocabulary: as Model's. `watch` is told bytes read of bytes in all, and may end the loading by raising.
    Raises UnsupportedModel and BadCheckpoint.
    """
    config = model_config(checkpoint)
    with built_from(checkpoint), init_empty_weights(include_buffers=False):
        module: PreTrainedModel = AutoModelForCausalLM.from_config(config, attn_implementation=ATTENTION)  # type: ignore[no-untyped-call]
    shapes = {name: tuple(parameter.shape) for name, parameter in module.named_parameters()}
    for name, span in checkpoint.tensors.items():
        if shapes.get(name, span.shape) != span.shape:
            raise BadCheckpoint(
                f"The tensor {name} has the shape {span.shape}; the configuration says {shapes[name]}.",
                "The file does not belong to its config.json, or is damaged; download it again.",
            )
    missing = set(shapes)
    for name, weight in _weights(checkpoint, dtype, watch):
        if name not in missing:
            raise BadCheckpoint(
                f"The tensor {name} has no place in a {config.model_type} model.", "Download it again."
            )
        missing.remove(name)
        set_module_tensor_to_device(module, name, device, weight, dtype=dtype)
    if "lm_head.weight" in missing and "model.embed_tokens.weight" not in missing:
        module.lm_head.weight = module.model.embed_tokens.weight
        missing.remove("lm_head.weight")
    if missing:
        raise BadCheckpoint(
            f"The tensor {min(missing)} is missing.", "The file is incomplete; download it again."
        )
    module.to(device)  # type: ignore[arg-type]  # the rotary frequencies
    return Model(module, config, vocabulary)


def model_config(checkpoint: Checkpoint) -> PretrainedConfig:
    if checkpoint.architecture not in ARCHITECTURES:
        raise UnsupportedModel(
            f"Models of the architecture “{checkpoint.architecture}” are not supported.",
            f"Supported: {', '.join(ARCHITECTURES)}.",
        )
    with built_from(checkpoint):
        config = AutoConfig.for_model(checkpoint.architecture, **checkpoint.config)
    rope = (config.rope_parameters or {}).get("rope_type", "default")
    if rope in _CHANGING_ROPE:
        raise UnsupportedModel(
            f"Rotary positions of the kind “{rope}” are not supported.", "Choose another model."
        )
    return config


@contextmanager
def built_from(checkpoint: Checkpoint) -> Iterator[None]:
    """transformers refuses a senseless configuration in many ways; here they become one."""
    try:
        yield
    except Exception as error:
        raise BadCheckpoint(
            f"The configuration of {checkpoint.path.name} makes no {checkpoint.architecture} model: {error}",
            "Download the model again, or choose another.",
        ) from error


def _weights(checkpoint: Checkpoint, dtype: torch.dtype, watch: Watch) -> Iterator[tuple[str, Tensor]]:
    """Read and unpack on all cores, a few tensors ahead, in the order of the file."""
    total, done = checkpoint.nbytes, 0
    waiting = sorted(
        checkpoint.tensors.items(), key=lambda item: (item[1].file, item[1].offset), reverse=True
    )
    cores = os.cpu_count() or 1
    pool = ThreadPoolExecutor(cores)
    try:
        running: list[tuple[str, Span, Future[Tensor]]] = []
        while waiting or running:
            while waiting and len(running) <= cores:
                name, span = waiting.pop()
                running.append((name, span, pool.submit(_read, span, dtype)))
            name, span, future = running.pop(0)
            watch(done, total)
            yield name, future.result()
            done += span.nbytes
        watch(total, total)
    finally:
        pool.shutdown(cancel_futures=True)


def _read(span: Span, dtype: torch.dtype) -> Tensor:
    weight = unpack(read_span(span), span.shape, span.storage, dtype)
    return half_split(weight, span.rope_heads) if span.rope_heads else weight


def half_split(weight: Tensor, heads: int) -> Tensor:
    """Rows of Q or K [heads * width, ...] from GGUF's order (rotary pairs side by side) to HF's (first
    halves, then second)."""
    return (
        weight.view(heads, weight.shape[0] // heads // 2, 2, *weight.shape[1:])
        .transpose(1, 2)
        .reshape(weight.shape)
    )
