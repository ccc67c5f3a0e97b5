"""Loads a checkpoint as transformers' module on its compute device. Independent of file formats."""

import dataclasses
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
from accelerate import init_empty_weights
from transformers import CONFIG_MAPPING, AutoConfig, AutoModelForCausalLM, PreTrainedModel
from transformers.activations import ACT2FN
from transformers.configuration_utils import PretrainedConfig

from engine.checkpoints import Checkpoint
from engine.errors import SpecExecError, UnsupportedModel
from engine.model.architectures import UNLISTED, family_of, is_listed, unsupported
from engine.model.configuration import bad_configuration
from engine.model.description import describe
from engine.model.fields import refuse_changed_fields, refuse_unknown_fields, understood
from engine.model.interface import Device, Progress, no_progress
from engine.model.weight_names import check_layers
from engine.protocol.requests import Helps
from engine.quantization import Workspace, prepare_kernel
from engine.streaming import WeightLimits
from engine.torch_model.attention import ATTENTION
from engine.torch_model.builder import Builder
from engine.torch_model.device_memory import bound
from engine.torch_model.forward import TorchModel
from engine.torch_model.proof import prove
from engine.torch_model.recurrent import part_inputs
from engine.torch_model.rope import fix_rope


def choose_dtype(requested: str, device: Device) -> torch.dtype:
    """Return the dtype of products. requested: auto, float32, bfloat16 or float16; auto stands for the
    smallest dtype that the device multiplies at full speed: float16 on cards before Ampere, which lack
    bfloat16 (`engine.quantization.halves`)."""
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
    processor_helps: Helps = "never",
) -> TorchModel:
    """Build the model and load its weights.

    context: maximum number of tokens in a text; the rotary frequencies may depend on it. vocabulary: as for
    TorchModel. packed: whether matrices are kept as stored and unpacked at each product, instead of once.
    limits: bytes that resident matrices may take; if there are limits, all matrices are kept as stored, and
    those that are not resident are streamed from RAM and from the files. progress: called with the bytes read
    and the bytes in total; may end the loading by raising. layer_progress: called with the number of complete
    layers and of layers to load. processor_helps: by which weights in RAM the processor multiplies beside a
    card, as in `Load`: by chunks only if that makes passes faster.

    Raises UnsupportedModel or BadCheckpoint if the checkpoint cannot be used; BadOption if a limit is too
    small; StreamBroken if streaming fails."""
    description = describe(checkpoint)  # refuses numbers that transformers accepts
    config, module = _empty_module(checkpoint)
    workspace = Workspace(dtype, torch.device(device))
    builder = Builder(module, checkpoint, workspace)
    try:
        keeps = packed or limits is not None
        builder.pack(limits, keeps)
        if device == "cuda":
            bound()
        builder.read(progress, layer_progress)
        builder.finish(progress)
        with built_from(checkpoint):
            fix_rope(module, config, context)
    except BaseException:
        builder.close()
        raise
    windows = description.windows
    model = TorchModel(module, config, dtype, device, vocabulary, keeps, builder.streamer, windows)
    if processor_helps != "never" and builder.link is not None:
        try:
            model.let_processor_help(builder.link, experts_only=processor_helps == "auto")
        except BaseException:
            model.close()
            raise
    return model


def _empty_module(checkpoint: Checkpoint) -> tuple[PretrainedConfig, PreTrainedModel]:
    """Return the checkpoint's configuration and transformers' module for it, without weights."""
    config = model_config(checkpoint)
    _refuse_unknown(checkpoint, config)
    # First, for building a layer takes milliseconds, and a configuration may name any number of layers.
    check_layers(checkpoint, config.num_hidden_layers)
    with built_from(checkpoint), init_empty_weights(include_buffers=False):
        module: PreTrainedModel = AutoModelForCausalLM.from_config(config, attn_implementation=ATTENTION)  # type: ignore[no-untyped-call]
        if "_delta_inputs" in checkpoint.config:
            part_inputs(module)
    return config, module


def prepare(checkpoint: Checkpoint, dtype: torch.dtype) -> None:
    """Compile the kernels that unpack the checkpoint's formats, or read them from the cache. Raises
    UnsupportedModel if a format is unknown."""
    for name in sorted({weight.format for weight in checkpoint.weights.values()}):
        prepare_kernel(name, dtype)


def model_config(checkpoint: Checkpoint) -> PretrainedConfig:
    if checkpoint.architecture not in CONFIG_MAPPING:
        raise unsupported(checkpoint.architecture)
    with built_from(checkpoint):
        config = AutoConfig.for_model(checkpoint.architecture, **_with_infinities(checkpoint.config))
    return config


def _with_infinities(value: Any) -> Any:
    """Return a value of a configuration with the infinite numbers that transformers writes as objects, since
    JSON has none."""
    if isinstance(value, Mapping):
        if value.keys() == {"__float__"}:
            return float(value["__float__"])
        return {key: _with_infinities(each) for key, each in value.items()}
    return [_with_infinities(each) for each in value] if isinstance(value, list) else value


def _refuse_unknown(checkpoint: Checkpoint, config: PretrainedConfig) -> None:
    """Raise UnsupportedModel if the configuration asks for something that this program does not know. For an
    architecture that is not declared, a proof tells: see `engine.torch_model.proof`."""
    architecture = checkpoint.architecture
    kind = CONFIG_MAPPING[architecture]
    defaults = {each.name: each.default for each in dataclasses.fields(kind)}
    for name in ("hidden_act", "hidden_activation", "mlp_hidden_act", "mamba_hidden_act"):
        activation = getattr(config, name, None)
        if isinstance(activation, str) and activation not in ACT2FN:
            raise UnsupportedModel(
                f"The activation function “{activation[:40]}” ({name}) is not supported.",
                "Choose another model.",
            )
    if is_listed(architecture):
        known = understood(family_of(architecture))
        refuse_changed_fields(architecture, known, checkpoint.config, defaults)
    else:
        known = understood(UNLISTED) | defaults.keys() | kind.attribute_map.keys()
        refuse_unknown_fields(architecture, known, checkpoint.config)
        prove(config)


@contextmanager
def built_from(checkpoint: Checkpoint) -> Iterator[None]:
    """Turn the many errors with which transformers rejects an invalid configuration into BadCheckpoint."""
    try:
        yield
    except SpecExecError:
        raise
    except Exception as error:
        raise bad_configuration(checkpoint.path.name, checkpoint.architecture, str(error)) from error
