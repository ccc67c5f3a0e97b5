"""How a model is split among cards, and what each card then holds. Arithmetic only."""

from collections.abc import Iterator
from dataclasses import dataclass

from engine.errors import BadOption, OutOfMemory
from engine.scale.cluster import GIB, Cluster
from engine.scale.source import ModelSource

KV_ITEM = 2  # bytes of a number in the KV cache of the other engines


@dataclass(frozen=True, slots=True)
class CardLayout:
    """A split of a model.

    Attributes: `tensor`, the number of cards among which each matrix is split (TP); `pipeline`, the number of
    stages, each with its share of the layers (PP); `nodes`, the number of machines.
    """

    tensor: int
    pipeline: int
    nodes: int

    @property
    def cards(self) -> int:
        return self.tensor * self.pipeline

    def __str__(self) -> str:
        cards = f"{self.cards} card{'s' * (self.cards > 1)}"
        return (
            f"TP {self.tensor} × PP {self.pipeline}, {cards} in {self.nodes} machine{'s' * (self.nodes > 1)}"
        )


@dataclass(frozen=True, slots=True)
class CardLoad:
    """Bytes on the fullest card: `weights` and `cache` of the target, and both of what drafts (`draft`)."""

    weights: int
    cache: int
    draft: int = 0

    @property
    def nbytes(self) -> int:
        return self.weights + self.cache + self.draft


@dataclass(frozen=True, slots=True)
class Forced:
    """The user's own choice of TP and PP; None: the smallest that fits."""

    tensor: int | None = None
    pipeline: int | None = None


def layouts_for(
    target: ModelSource, cluster: Cluster, context: int, forced: Forced | None = None, by_layers: bool = False
) -> list[CardLayout]:
    """Return the layouts of `target` with a KV cache of `context` tokens that fit as few machines as
    possible, the best first: the fewest stages, one in each machine, and the smallest TP.

    by_layers: the engine splits layers among the cards of one machine and no matrices (llama-server). Raises
    OutOfMemory if none fits, BadOption if `forced` is impossible.
    """
    layouts = list(_layouts(target, cluster, forced or Forced(), by_layers))
    if not layouts:
        raise _indivisible(target, cluster, forced or Forced())
    if fitting := [each for each in layouts if load(target, each, context).nbytes <= cluster.usable]:
        return [each for each in fitting if each.nodes == fitting[0].nodes]
    best = min(layouts, key=lambda each: load(target, each, context).nbytes)
    needed = load(target, best, context)
    raise OutOfMemory(
        f"{target.name} ({target.outline.nbytes / GIB:.1f} GiB) does not fit {cluster}: with {best}, a card "
        f"holds {needed.weights / GIB:.1f} GiB of weights and {needed.cache / GIB:.1f} GiB of KV cache for "
        f"{context:,} tokens, and {cluster.usable / GIB:.1f} GiB of it can be used.",
        _advice(target, cluster, context),
    )


def load(source: ModelSource, layout: CardLayout, context: int) -> CardLoad:
    """Return what the fullest card holds of `source` in this layout, with a KV cache of `context` tokens."""
    outline = source.outline
    number = len(outline.layers)
    share = -(-number // layout.pipeline)
    stage = max(sum(outline.layers[start : start + share]) for start in range(0, number, share))
    if layout.pipeline > 1:  # the embedding in the first stage, the head in the last
        tables = max(outline.embedding, outline.head)
    else:
        tables = outline.embedding + (0 if outline.tied else outline.head)
    copies = max(1, layout.tensor // max(source.kv_heads, 1)) if source.kv_heads else 1
    row = outline.kv_row * KV_ITEM * share * copies / (number * layout.tensor)
    return CardLoad((stage + tables) // layout.tensor, int(row * context))


def is_divisible(source: ModelSource, tensor: int) -> bool:
    """Whether the attention heads of `source` can be split among `tensor` cards."""
    heads, kv_heads = source.heads, source.kv_heads
    return tensor == 1 or (heads % tensor == 0 < heads and (kv_heads % tensor == 0 or tensor % kv_heads == 0))


def _layouts(target: ModelSource, cluster: Cluster, forced: Forced, by_layers: bool) -> Iterator[CardLayout]:
    layers = len(target.outline.layers)
    if by_layers:
        yield from (CardLayout(1, cards, 1) for cards in range(1, min(cluster.gpus, layers) + 1))
        return
    splits = [each for each in range(1, cluster.gpus + 1) if is_divisible(target, each)]
    splits = [each for each in splits if forced.tensor in (None, each)]
    for nodes in range(1, cluster.nodes + 1):
        for stages in range(1, cluster.gpus + 1):  # in each machine
            pipeline = nodes * stages
            for tensor in splits:
                fits = stages * tensor <= cluster.gpus and pipeline <= layers
                if fits and forced.pipeline in (None, pipeline):
                    yield CardLayout(tensor, pipeline, nodes)


def _indivisible(target: ModelSource, cluster: Cluster, forced: Forced) -> BadOption:
    possible = [each for each in range(1, cluster.gpus + 1) if is_divisible(target, each)]
    if forced.tensor is not None and forced.tensor not in possible:
        return BadOption(
            f"The {target.heads} attention heads of {target.name} cannot be split among {forced.tensor} of "
            f"{cluster}.",
            f"Give --tensor-parallel one of: {', '.join(map(str, possible))}.",
        )
    return BadOption(
        f"{target.name}, with {len(target.outline.layers)} layers, cannot be split into {forced.pipeline} "
        f"stages of {forced.tensor or 1} on {cluster}.",
        "Give fewer --pipeline-parallel stages, or more cards.",
    )


def _advice(target: ModelSource, cluster: Cluster, context: int) -> str:
    """Return what would fit: a shorter context, or more cards."""
    for fewer in (context // 2, context // 4, context // 8):
        if fewer >= 512 and _fits(target, cluster, fewer):
            return f"It fits with --context {fewer}."
    for nodes in (1, 2, 4, 8):
        for gpus in (cluster.gpus, 2, 4, 8):
            more = Cluster(max(nodes, cluster.nodes), max(gpus, cluster.gpus), cluster.gib)
            if _fits(target, more, context):
                return (
                    f"It fits {more}. On one machine, specexec chat runs it by streaming what does not fit "
                    "the card."
                )
    return (
        "Cards with more memory are needed. On one machine, specexec chat runs it by streaming what does not "
        "fit the card."
    )


def _fits(target: ModelSource, cluster: Cluster, context: int) -> bool:
    layouts = _layouts(target, cluster, Forced(), by_layers=False)
    return any(load(target, each, context).nbytes <= cluster.usable for each in layouts)
