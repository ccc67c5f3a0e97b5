"""The weights of heads as parameters of torch's modules."""

import math
from collections.abc import Mapping
from dataclasses import replace

import torch
from torch import Tensor, nn

from engine.errors import BadCheckpoint
from engine.heads.files import HeadsFile
from engine.heads.tensors import Unread
from engine.quantization import Packed, PackedEmbedding, PackedLinear, Workspace, packed_in, plain_matrix


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
    dtype: of products. Where states are not multiplied in their own dtype, packed layers take the place of
    those that have matrices, and other weights have that of states.

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
    workspace = Workspace(dtype, torch.device(device))
    weights: dict[str, Tensor] = {}
    for name in wanted:
        numbers = torch.from_numpy(file.tensors[name].read())
        owner, _, leaf = name.rpartition(".")
        layer = module.get_submodule(owner)
        if workspace.states != dtype and leaf == "weight" and isinstance(layer, nn.Linear | nn.Embedding):
            matrix = plain_matrix(numbers, workspace)
            module.set_submodule(owner, _packed(layer, matrix))
        else:
            weights[name] = numbers.to(device, workspace.states)
    module.load_state_dict(weights, assign=True)
    module.requires_grad_(False).eval()


def _packed(layer: nn.Linear | nn.Embedding, matrix: Packed) -> PackedLinear | PackedEmbedding:
    """Return the packed layer with this matrix that takes the place of a plain one."""
    return PackedEmbedding(matrix) if isinstance(layer, nn.Embedding) else PackedLinear([matrix], layer.bias)


def count_of(module: nn.Module) -> int:
    """Return the number of a module's weights, packed ones among them."""
    packed = sum(math.prod(matrix.shape) for matrix in packed_in(module))
    return packed + sum(weight.numel() for weight in module.parameters())


def nbytes_of(module: nn.Module) -> int:
    """Return the memory that a module's weights take, bytes, as stored ones with what they are unpacked
    into."""
    packed = packed_in(module)
    workspaces = {id(matrix.workspace): matrix.workspace for matrix in packed}
    stored = sum(matrix.nbytes for matrix in packed)
    unpacked = sum(weight.nbytes for weight in module.parameters())
    return stored + unpacked + sum(workspace.nbytes for workspace in workspaces.values())
