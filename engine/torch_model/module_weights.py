"""The weights of heads as parameters of torch's modules."""

from collections.abc import Mapping
from dataclasses import replace

import torch
from torch import nn

from engine.errors import BadCheckpoint
from engine.heads.files import HeadsFile
from engine.heads.tensors import Unread


def without(file: HeadsFile, *names: str) -> HeadsFile:
    """Return the file without these tensors."""
    return replace(file, tensors={name: each for name, each in file.tensors.items() if name not in names})


def choose_biases(module: nn.Module, weights: Mapping[str, Unread]) -> None:
    """Give each linear layer a bias exactly if the file has one for it: no setting covers all layers."""
    for name, layer in module.named_modules():
        if isinstance(layer, nn.Linear):
            bias = nn.Parameter(torch.empty(layer.out_features, device="meta"))
            layer.register_parameter("bias", bias if f"{name}.bias" in weights else None)


def fill(module: nn.Module, file: HeadsFile, dtype: torch.dtype, device: torch.device | str) -> None:
    """Fill `module`, which is on the meta device, with the weights from `file` that have the same names.

    Raises BadCheckpoint if a tensor is missing, is superfluous or has a different shape.
    """
    wanted = module.state_dict()
    if absent := wanted.keys() - file.tensors.keys():
        raise BadCheckpoint(
            f"The tensor {min(absent)} of {file.path.name} is missing.",
            "The file is incomplete; download it again.",
        )
    if more := file.tensors.keys() - wanted.keys():
        raise BadCheckpoint(
            f"The tensor {min(more)[:200]} of {file.path.name} does not belong to heads of this kind.",
            "Choose heads in the format of the Medusa, EAGLE or DFlash project.",
        )
    for name, empty in wanted.items():
        shape = file.tensors[name].shape
        if shape != empty.shape:
            raise BadCheckpoint(
                f"The tensor {name} of {file.path.name} has the shape {shape} instead of "
                f"{tuple(empty.shape)}.",
                "The heads are for another target, or the file is damaged.",
            )
    weights = {name: torch.from_numpy(file.tensors[name].read()).to(device, dtype) for name in wanted}
    module.load_state_dict(weights, assign=True)
    module.requires_grad_(False).eval()
