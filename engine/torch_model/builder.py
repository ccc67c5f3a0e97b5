"""Fills transformers' modules with a checkpoint's weights: as plain numbers, packed, or streamed."""

from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

import torch
from accelerate.utils import set_module_tensor_to_device
from torch import Tensor, nn

from engine.checkpoints import Checkpoint, Weight
from engine.formats import format_named
from engine.model.interface import Progress, no_progress
from engine.model.reader import READ_TWICE, order_of_use, read_layers
from engine.model.weight_names import are_apart, checked_weights
from engine.planner.tiers import slot_nbytes
from engine.quantization import (
    DiskRows,
    Experts,
    Packed,
    PackedEmbedding,
    PackedLinear,
    RowTable,
    Workspace,
    clamped_gate,
    half_split,
)
from engine.streaming import (
    DiskFile,
    DiskTable,
    StoredMatrix,
    Streamer,
    WeightLimits,
    close_files,
    open_files,
)
from engine.streaming.device_ring import DeviceLink
from engine.streaming.link import link_to
from engine.torch_model.apart import replace_mlps


def _matrix(weight: Weight, parts: list[Tensor], workspace: Workspace) -> Packed:
    """Return a weight as a packed matrix; a vector becomes a matrix of one row. parts: the weight's bytes."""
    shape = weight.shape if len(weight.shape) == 2 else (1, weight.numel)
    return Packed(format_named(weight.format), shape, parts, workspace, weight.groups)


def unpacked(weight: Weight, parts: list[Tensor], workspace: Workspace) -> Tensor:
    """Return the whole tensor as plain numbers, in Hugging Face's order. parts: the tensor's bytes."""
    exact = Workspace(torch.float32, workspace.device)  # so that the sum is rounded once
    changed = weight.plus or weight.decay
    numbers = _matrix(weight, parts, exact if changed else workspace).dense().view(weight.shape)
    if weight.decay:
        numbers = (-numbers).log().to(workspace.dtype)
    if weight.plus:
        numbers = (numbers + weight.plus).to(workspace.dtype)
    return half_split(numbers, weight.rope_heads) if weight.rope_heads else numbers


class Builder:
    """Fills a module built on the meta device, which has a transformers configuration, with the weights of a
    checkpoint, one at a time.

    Attributes: `weights`, all weights by name; `tied`, whether the embedding is the output head too;
    `unpacked`, the weights to place as plain numbers, by name; `resident`, the packed matrices
    whose bytes have to be loaded, by name; `streamer`, which streams the other matrices, or None if there are
    none; `link`, over which it does, or None if the processor computes.
    """

    def __init__(self, module: Any, checkpoint: Checkpoint, workspace: Workspace) -> None:
        self.module = module
        self.resident: dict[str, StoredMatrix[Packed]] = {}
        self.workspace = workspace
        self.streamer: Streamer | None = None
        self.link: DeviceLink | None = None
        self._files: dict[Path, DiskFile] = {}
        self._tables: list[DiskTable] = []
        self._keeps = True  # what is packed stays as stored
        if are_apart(checkpoint.weights):
            replace_mlps(module)
        state = module.state_dict()
        # Buffers among the weights, such as the biases by which GLM's router chooses, stay float32.
        self._buffers = {name for name, _ in module.named_buffers() if name in state}
        missing = {name: tuple(weight.shape) for name, weight in module.named_parameters()}
        missing |= {name: tuple(state[name].shape) for name in self._buffers}
        self._experts = self._own_experts(missing, checkpoint.weights)
        ties: bool = module.config.tie_word_embeddings
        self.weights, self.tied = checked_weights(checkpoint, missing, ties)
        self.unpacked = dict(self.weights)

    def pack(self, limits: WeightLimits | None, keeps: bool = True) -> None:
        """Put packed layers in place of the layers that have matrices. limits: as for load_model. A layer of
        another class may compute something else, and keeps its weights as numbers.

        keeps: whether matrices stay as stored. Those that do not need packed layers only where states are
        not multiplied in their own dtype."""
        if not keeps and self.workspace.states == self.workspace.dtype:
            return
        self._keeps = keeps
        if limits is not None:
            spans = (span for weight in self.weights.values() for span in weight.spans)
            self._files = open_files({span.file: span.modified for span in spans})
        matrices: dict[str, StoredMatrix[Packed]] = {}
        for name in sorted(self.weights, key=order_of_use):
            owner, _, leaf = name.rpartition(".")
            weight = self.weights[name]
            if owner in self._experts:
                experts, kind, expert = self._experts[owner]
                matrices[name] = self._stored(weight, order_of_use(name)[:2])
                experts.place(kind, expert, matrices[name].matrix)
            elif leaf != "weight" or READ_TWICE.search(name):
                continue
            elif type(layer := self.module.get_submodule(owner)) is nn.Linear:
                matrices |= self._pack_linear(name, layer.bias, weight, limits)
            elif isinstance(layer, nn.Embedding) and (
                type(layer) is nn.Embedding or hasattr(layer, "embed_scale")  # Gemma's, a subclass
            ):
                matrices |= self._pack_embedding(name, layer, weight, limits)
            else:
                continue
            del self.unpacked[name]
        if limits is not None:
            self.link = link_to(self.workspace.device)
            stored = list(matrices.values())
            self.streamer = Streamer(stored, limits, self._files, self.link, tables=self._tables)
            for experts, _, _ in self._experts.values():
                experts.mover = self.streamer
        self.resident = {name: stored for name, stored in matrices.items() if not stored.matrix.mover}

    def place(self, name: str, parts: list[Tensor]) -> None:
        """Unpack the weight `name`, whose bytes are `parts`, into its layer."""
        weight = self.weights[name]
        owner = name.rpartition(".")[0]
        if owner in self._experts:
            experts, kind, expert = self._experts[owner]
            matrix = _matrix(weight, parts, self.workspace)
            matrix.keep_unpacked()
            experts.place(kind, expert, matrix)
        else:
            workspace = self.workspace
            dtype = torch.float32 if name in self._buffers else workspace.states
            if dtype != workspace.dtype:
                workspace = Workspace(dtype, workspace.device)
            numbers = unpacked(weight, parts, workspace)
            set_module_tensor_to_device(self.module, name, workspace.device, numbers, dtype=workspace.dtype)

    def read(self, progress: Progress, layer_progress: Progress = no_progress) -> None:
        """Read the weights that are resident from the files into their places. progress, layer_progress: as
        for load_model."""
        wanted = {name: (weight.format, weight.spans) for name, weight in self.unpacked.items()}
        wanted |= {name: (stored.matrix.format.name, stored.spans) for name, stored in self.resident.items()}
        for name, parts in read_layers(wanted, progress, layer_progress):
            on_device = [torch.from_numpy(part).to(self.workspace.device) for part in parts]
            if name in self.resident:
                matrix = self.resident[name].matrix
                matrix.parts = on_device
                if not self._keeps:
                    matrix.keep_unpacked()
            else:
                self.place(name, on_device)

    def finish(self, progress: Progress) -> None:
        """Tie the output head to the embedding if it has no weight of its own, and start streaming.
        progress: called with the bytes read into the RAM tier so far, and with the bytes it will hold."""
        if self.tied and not isinstance(self.module.lm_head, PackedLinear):
            self.module.lm_head.weight = self.module.get_input_embeddings().weight
        if self.streamer:
            self.streamer.start(progress)
        self.module.to(self.workspace.device)  # the rotary frequencies

    def close(self) -> None:
        """Close the files and the streamer that `pack` has opened."""
        if self.streamer:
            self.streamer.close()
        else:
            close_files(self._files)

    def _stored(self, weight: Weight, expert: tuple[int, int] | None = None) -> StoredMatrix[Packed]:
        return StoredMatrix(_matrix(weight, [], self.workspace), weight.spans, expert)

    def _pack_linear(
        self, name: str, bias: nn.Parameter | None, weight: Weight, limits: WeightLimits | None
    ) -> dict[str, StoredMatrix[Packed]]:
        """Replace one linear layer; return its matrices by name. limits: as for load_model; if they are set,
        a matrix larger than a slot of the streamer is cut into several."""
        cut = [weight] if limits is None else weight.cut(slot_nbytes(limits.device_nbytes))
        pieces = [self._stored(piece) for piece in cut]
        linear = PackedLinear([piece.matrix for piece in pieces], bias, weight.rope_heads)
        self.module.set_submodule(name.rpartition(".")[0], linear)
        return {f"{name}[{number}]" if number else name: piece for number, piece in enumerate(pieces)}

    def _pack_embedding(
        self, name: str, layer: nn.Embedding, weight: Weight, limits: WeightLimits | None
    ) -> dict[str, StoredMatrix[Packed]]:
        """Replace an embedding; return the matrices by name. If there are limits, the table stays on the
        disk, and an output head that is tied to the embedding is streamed as a separate matrix."""
        table = self._stored(weight)
        tied = self.tied and layer is self.module.get_input_embeddings()
        if limits is None:
            rows: RowTable = table.matrix
            matrices = {name: table}
            if tied:
                self.module.set_submodule("lm_head", PackedLinear([table.matrix]))
        else:
            span = weight.spans[0]
            self._tables.append(DiskTable(span, self._files[span.file]))
            rows = DiskRows(table.matrix, self._tables[-1])
            matrices = self._pack_linear("lm_head.weight", None, weight, limits) if tied else {}
        embedding = PackedEmbedding(rows, getattr(layer, "embed_scale", None))
        self.module.set_submodule(name.rpartition(".")[0], embedding)
        return matrices

    def _own_experts(
        self, missing: dict[str, tuple[int, ...]], stored: Collection[str]
    ) -> dict[str, tuple[Experts, str, int]]:
        """Put an `Experts` in place of each module that holds its experts in 3-D parameters; in `missing`,
        put the matrices of each expert, as they are stored, in place of these parameters. stored: names of
        the checkpoint's weights. Return a dictionary: name of a matrix -> (module, kind, number of the
        expert)."""
        places: dict[str, tuple[Experts, str, int]] = {}
        for path, old in list(self.module.named_modules()):
            first = next((name for name in ("gate_up_proj", "up_proj") if hasattr(old, name)), None)
            if first is None or not hasattr(old, "num_experts"):
                continue
            count, within, width = missing.pop(f"{path}.{first}")
            del missing[f"{path}.down_proj"]
            if biased := hasattr(old, "gate_up_proj_bias"):  # gpt-oss, whose module has them transposed
                within, width = width, within
            inner = within if first == "up_proj" else within // 2
            rows = {"gate_proj": inner, "up_proj": inner, "down_proj": width}
            if first == "up_proj" or f"{path}.0.{first}.weight" in stored:
                rows = {first: within, "down_proj": width}
            biases: dict[str, nn.Parameter] = {}
            if biased:
                del missing[f"{path}.gate_up_proj_bias"], missing[f"{path}.down_proj_bias"]
                for kind, size in rows.items():
                    biases[f"{kind}_bias"] = nn.Parameter(torch.empty(count, size, device="meta"))
                    missing[f"{path}.{kind}_bias"] = (count, size)
            new = Experts(list(rows), _activation(old), biases)
            self.module.set_submodule(path, new)
            for expert in range(count):
                for kind, size in rows.items():
                    places[f"{path}.{expert}.{kind}"] = (new, kind, expert)
                    columns = inner if kind == "down_proj" else width
                    missing[f"{path}.{expert}.{kind}.weight"] = (size, columns)
        return places


def _activation(experts: Any) -> Callable[..., Tensor]:
    """Return the activation of a module of experts: a function of the products of gate and up, or of up alone
    where there is no gate."""
    if not hasattr(experts, "act_fn"):
        return clamped_gate(experts.alpha, experts.limit)
    activation: Callable[[Tensor], Tensor] = experts.act_fn
    if not hasattr(experts, "gate_up_proj"):
        return activation
    return lambda gate, up: activation(gate) * up
