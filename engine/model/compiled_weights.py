"""The weights of a compiled model: in tiles in memory, or streamed in each pass."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from engine.checkpoints import Weight
from engine.compiled.expert_steps import ExpertSource
from engine.compiled.layout import layout_of
from engine.compiled.matrix import (
    CachedMatrix,
    Matrix,
    StreamedMatrix,
    TiledMatrix,
    locate,
    new_place,
    pack,
    tiled,
)
from engine.formats import Format, GroupedFormat, Parts, format_named, joined, unpacked
from engine.formats.format import RowFormat
from engine.formats.grouped_blocks import transcoded
from engine.model.interface import Progress
from engine.model.reader import expert_of, order_of_use, read_layers
from engine.model.weight_names import EMBEDDING, HEAD, INPUT_TABLE, is_matrix
from engine.planner.tiers import slot_nbytes
from engine.planner.tiles import tile_bits, tiling_nbytes
from engine.streaming import (
    CachedForm,
    DiskTable,
    Mover,
    StoredMatrix,
    StoredTable,
    Streamer,
    WeightLimits,
    close_files,
    open_files,
)

Kind = tuple[str, tuple[int, ...], bool]  # of a matrix: format, shape, and whether rows are in turn


@dataclass(slots=True, eq=False)
class BroughtMatrix:
    """A matrix whose bytes come and go: those of its tiles if it belongs to an expert, else those stored.

    Attributes: `format`; `shape`; `mover`, or None if the bytes stay; `parts`, none while they are not here,
    and for experts that a cache packs;
    `place`, where they are (`engine.compiled.matrix.locate`).
    """

    format: Format
    shape: tuple[int, int]
    mover: Mover | None = None
    parts: Parts = ()
    place: NDArray[np.int64] = field(default_factory=new_place)

    def give(self, parts: Sequence[NDArray[np.uint8]]) -> None:
        """See `streaming.Movable.give`."""
        self.parts = parts
        locate(self.place, parts, self.shape[0])


@dataclass(frozen=True, slots=True)
class StreamedExperts:
    """The experts of one layer that a streamer brings. experts: one matrix of each, with which all its others
    come; numbers: of experts, by that of the streamer's chunk."""

    streamer: Streamer
    experts: Mapping[int, BroughtMatrix]
    numbers: Mapping[int, int]

    def choosing(self) -> AbstractContextManager[object]:
        return self.streamer.choosing()

    def asks(self, ahead: int) -> bool:
        return self.streamer.asks(next(iter(self.experts.values())), ahead)

    def choose(self, wanted: Sequence[int], rows: Sequence[Sequence[int]]) -> None:
        chosen = [self.experts[expert] for expert in wanted]
        self.streamer.choose(chosen, self._matrices(rows))

    def expect(self, rows: Sequence[Sequence[int]]) -> None:
        self.streamer.expect(self._matrices(rows))

    def _matrices(self, rows: Sequence[Sequence[int]]) -> list[list[BroughtMatrix]]:
        return [[self.experts[expert] for expert in row] for row in rows]

    def fetch(self) -> list[int]:
        return [self.numbers[chunk] for chunk in self.streamer.fetch_present()]


@dataclass(slots=True)
class CompiledWeights:
    """The weights of a compiled model.

    Attributes: `matrices`: name -> matrices whose results side by side are those of the weight; they include
    the output head, even if it is the embedding. `vectors`: float32, weights of convolutions too. `table`:
    the rows of the embedding. `inputs`: those of the table of inputs that layers have for themselves, as they
    are stored; None if there is none. `adjacent`: whether queries and keys are stored with rotated pairs side
    by side. `streamer`: brings the streamed matrices; None if there are none. `lender`: the weights to which
    all but some matrices belong.
    """

    matrices: dict[str, list[Matrix]] = field(default_factory=dict)
    vectors: dict[str, NDArray[np.float32]] = field(default_factory=dict)
    table: TiledMatrix | DiskTable | None = None
    adjacent: bool = False
    streamer: Streamer | None = None
    lender: "CompiledWeights | None" = None
    inputs: StoredTable | DiskTable | None = None
    _chunks: dict[int, list[tuple[StreamedMatrix, BroughtMatrix]]] = field(default_factory=dict)
    _experts: dict[int, dict[int, BroughtMatrix]] = field(default_factory=dict)

    @property
    def nbytes(self) -> int:
        """Bytes in memory, without what is lent."""
        lent = {id(matrix) for matrix in self.lender._resident()} if self.lender else set()
        own = {id(matrix): matrix.nbytes for matrix in self._resident() if id(matrix) not in lent}
        total = sum(own.values()) + (self.streamer.nbytes if self.streamer else 0)
        if self.lender:
            return total
        table = self.inputs.nbytes if self.inputs else 0
        return total + table + sum(vector.nbytes for vector in self.vectors.values())

    def _resident(self) -> list[TiledMatrix]:
        every: list[object] = [self.table, *(each for group in self.matrices.values() for each in group)]
        return [matrix for matrix in every if isinstance(matrix, TiledMatrix)]

    def embed(self, tokens: NDArray[np.int64], states: NDArray[np.float32]) -> None:
        """Write the embeddings of tokens, int64 [tokens], to `states`, float32 [tokens, width]."""
        if isinstance(self.table, TiledMatrix):
            self.table.rows(tokens, states)
        else:
            assert self.table is not None
            _unpack(self.table, tokens, states)

    def inputs_into(self, tokens: NDArray[np.int64], out: NDArray[np.float32]) -> None:
        """Write the rows of tokens, int64 [tokens], in the table of layers' inputs to `out`, float32 [tokens,
        layers * width of an input]."""
        assert self.inputs is not None
        _unpack(self.inputs, tokens, out)

    def arrive(self, chunk: int) -> None:
        """Bring a chunk of matrices; it stays in place until the next comes. Raises StreamBroken if it cannot
        be read."""
        assert self.streamer is not None
        self.streamer.fetch(self._chunks[chunk][0][1])

    @property
    def has_resident_head(self) -> bool:
        """Whether all of the output head stays in memory."""
        return not any(isinstance(matrix, StreamedMatrix) for matrix in self.matrices[HEAD])

    def resident_head(self) -> tuple[list[TiledMatrix], int]:
        """Return the matrices of the output head in memory, and the bytes that copies take for that."""
        head: list[TiledMatrix] = []
        copied = 0
        for matrix in self.matrices[HEAD]:
            if isinstance(matrix, StreamedMatrix):
                self.arrive(matrix.chunk)
                stored = next(stored for other, stored in self._chunks[matrix.chunk] if other is matrix)
                head.append(tiled(matrix.layout, matrix.shape, *stored.parts, stored=matrix.stored))
                copied += head[-1].nbytes
            else:
                assert isinstance(matrix, TiledMatrix)
                head.append(matrix)
        return head, copied

    def brought(self, stored: StoredMatrix[BroughtMatrix]) -> Matrix:
        """Return a matrix that `arrive` brings, or the source of its mixture."""
        assert self.streamer is not None
        brought = stored.matrix
        if stored.expert is not None:
            mixture, expert = stored.expert
            self._experts.setdefault(mixture, {})[expert] = brought
            return CachedMatrix(_layout(brought.format.name), brought.shape, brought.place)
        chunk, name = self.streamer.chunk(brought), brought.format.name
        matrix = StreamedMatrix(_layout(name), brought.shape, chunk, brought.place, name)
        self._chunks.setdefault(chunk, []).append((matrix, brought))
        return matrix

    def source(self, layer: int) -> ExpertSource | None:
        """Return what brings the experts of a layer; None if they are in memory."""
        if layer not in self._experts:
            return None
        assert self.streamer is not None
        experts = self._experts[layer]
        numbers = {self.streamer.chunk(matrix): expert for expert, matrix in experts.items()}
        return StreamedExperts(self.streamer, experts, numbers)

    def close(self) -> None:
        if self.streamer:
            self.streamer.close()


def read_weights(
    weights: Mapping[str, Weight],
    tied: bool,
    limits: WeightLimits | None,
    progress: Progress,
    layer_progress: Progress,
) -> CompiledWeights | None:
    """Read the weights of a model that `engine.model.coverage.covers`, or those of some of its layers. Return
    None if a GPTQ matrix turns out to have zero points for which no tiles have room.

    tied: whether the embedding is the output head too. The other arguments and the errors are those of
    `engine.model.loader.load_compiled`."""
    made = CompiledWeights(adjacent=any(weight.rope_heads for weight in weights.values()))
    tables = {name: weight for name, weight in weights.items() if name == INPUT_TABLE}
    matrices = {name: weight for name, weight in weights.items() if is_matrix(name, weight)}
    if limits is None:
        cut = {name: [weight] for name, weight in matrices.items()}
        stored: dict[str, StoredMatrix[BroughtMatrix]] = {}
    else:
        if tied:
            matrices[HEAD] = matrices[EMBEDDING]
        (table,) = matrices.pop(EMBEDDING).spans
        nbytes = slot_nbytes(limits.device_nbytes)
        cut = {name: matrices[name].cut(nbytes) for name in sorted(matrices, key=order_of_use)}
        stored = {key: _stored(key, piece) for key, piece in _pieces(cut)}
        spans = [span for weight in weights.values() for span in weight.spans]
        files = open_files({span.file: span.modified for span in spans})
        made.table = DiskTable(table, files[table.file])
        on_disk = [made.table]
        for weight in tables.values():
            made.inputs = DiskTable(weight.spans[0], files[weight.spans[0].file])
            on_disk.append(made.inputs)
        weights, tables = {name: weight for name, weight in weights.items() if name not in tables}, {}
        try:
            made.streamer = Streamer(list(stored.values()), limits, files, None, tables=on_disk)
        except BaseException:
            close_files(files)
            raise
    vectors = {
        name: weight for name, weight in weights.items() if name not in tables and not is_matrix(name, weight)
    }
    resident = {key: piece for key, piece in _pieces(cut) if not (key in stored and stored[key].matrix.mover)}
    tiles: dict[str, TiledMatrix] = {}
    try:
        wanted = {
            name: (weight.format, weight.spans) for name, weight in (tables | vectors | resident).items()
        }
        for name, parts in read_layers(wanted, progress, layer_progress):
            if name in tables:
                stored_rows = parts[0].reshape(tables[name].shape[0], -1)
                made.inputs = StoredTable(tables[name].format, stored_rows)
            elif name in vectors:  # queries and keys stay in the order of the file, and so do their biases
                weight = vectors[name]
                vector = unpacked(weight.format, parts[0], weight.numel).reshape(weight.shape)
                if weight.in_turn:
                    vector = np.concatenate([vector[:, ::2], vector[:, 1::2]], axis=1)
                if weight.decay:
                    vector = np.log(-vector)
                made.vectors[name] = vector + np.float32(weight.plus) if weight.plus else vector
            else:
                matrix = tiled_matrix(resident[name], parts)
                if matrix is None:
                    return None
                tiles[name] = matrix
        if made.streamer:
            made.streamer.start(progress)
    except BaseException:
        made.close()
        raise
    for name, group in cut.items():
        keys = [f"{name}[{number}]" for number in range(len(group))]
        made.matrices[name] = [tiles.get(key) or made.brought(stored[key]) for key in keys]
    if limits is None and EMBEDDING in weights:
        made.table = tiles[f"{EMBEDDING}[0]"]
        made.matrices.setdefault(HEAD, [made.table])
    return made


def _unpack(table: StoredTable | DiskTable, rows: NDArray[np.int64], out: NDArray[np.float32]) -> None:
    """Write rows of a table to `out`, float32 [rows, columns]."""
    out[:] = unpacked(table.storage, table.rows(rows).reshape(-1), out.size).reshape(out.shape)


def _pieces(cut: Mapping[str, Sequence[Weight]]) -> list[tuple[str, Weight]]:
    """Return the pieces of all matrices with a name for each."""
    return [(f"{name}[{i}]", piece) for name, pieces in cut.items() for i, piece in enumerate(pieces)]


def tiled_matrix(weight: Weight, parts: Parts) -> TiledMatrix | None:
    """Pack a matrix into tiles; return None if it is one of GPTQ with zero points for which they have no
    room. parts: its spans' bytes."""
    form, shape = format_named(weight.format), _shape(weight)
    if not isinstance(form, GroupedFormat):
        stored, ready = _joined(weight, parts)
        return tiled(_layout(stored), shape, *ready, stored=stored)
    assert weight.groups is not None
    found = transcoded(form, parts, shape, weight.groups)
    return None if found is None else tiled(found[0], shape, found[1])


def _shape(weight: Weight) -> tuple[int, int]:
    rows, columns = weight.shape
    return rows, columns


def _layout(format_name: str) -> str:
    name = layout_of(format_name)
    assert name is not None  # as `coverage.covers` has seen to
    return name


def _joined(weight: Weight, parts: Parts) -> tuple[str, Parts]:
    """Return a format for which there is a packer, and the parts of a matrix in it."""
    if weight.format != joined.APART:
        return weight.format, parts
    blocks = np.empty(joined.joined_nbytes(_shape(weight)), np.uint8)
    joined.join(parts, _shape(weight), weight.in_turn, blocks)
    return joined.JOINED, (blocks,)


def _stored(name: str, weight: Weight) -> StoredMatrix[BroughtMatrix]:
    matrix = BroughtMatrix(format_named(weight.format), _shape(weight))
    expert = expert_of(name)
    if isinstance(matrix.format, RowFormat):
        more = tiling_nbytes(weight.numel, tile_bits(weight), weight.nbytes)
    else:
        tiles = Matrix(_layout(weight.format), _shape(weight))
        more = max(0, tiles.tiles * tiles.tile_nbytes - weight.nbytes)
    return StoredMatrix(
        matrix, weight.spans, expert, more, _packing(weight, matrix.place) if expert else None
    )


def _packing(weight: Weight, place: NDArray[np.int64]) -> CachedForm:
    """Return how a matrix is packed into tiles. place: where products look for them."""
    tiles = Matrix(_layout(weight.format), _shape(weight))

    def work(parts: Sequence[NDArray[np.uint8]], into: NDArray[np.uint8]) -> None:
        pack(tiles, *_joined(weight, parts), into)

    return CachedForm(tiles.tiles * tiles.tile_nbytes, work, place)
