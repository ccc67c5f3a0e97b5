"""Which speculation of another engine goes with a target: trained heads, its own layer for drafts, a draft
model or n-grams.

The other engines draft chains, of 3 to 5 tokens: EAGLE-3 accepts most per drafted token, then the layer that
was trained with the target, then a draft model of the same vocabulary; n-grams need nothing and help where
the answer repeats the prompt.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from engine import catalog
from engine.catalog import CatalogHead, CatalogModel
from engine.errors import BadOption
from engine.scale.cluster import GIB, Cluster
from engine.scale.layout import KV_ITEM, CardLayout, Forced, is_divisible, layouts_for, load
from engine.scale.source import ModelSource, draft_sources, with_revision

METHODS = ("auto", "eagle3", "mtp", "draft", "ngram", "none")
TOKENS = {"eagle3": 3, "mtp": 3, "draft": 4, "ngram": 4, "none": 0}
NAMES = {"eagle3": "EAGLE-3 heads", "mtp": "layer of its own", "draft": "draft model"}
LONGEST = 16  # drafted tokens; chains beyond 5 bring little
DRAFT_VOCABULARY = 32_000  # rows of an EAGLE-3 head
# llama.cpp refuses a draft whose vocabulary differs by more rows; the others want the same number.
LLAMA_CPP_PADDING = 128


@dataclass(frozen=True, slots=True)
class Wish:
    """What the user asked of speculation.

    Attributes: `method`, one of `METHODS`; `tokens`, drafted at a time, None: the method's usual number;
    `draft`, a draft model to use, None: the catalogue's, if `catalogued`; `revision`, of the draft model or
    heads instead of the catalogue's.
    """

    method: str = "auto"
    tokens: int | None = None
    draft: ModelSource | None = None
    catalogued: bool = True
    revision: str | None = None


@dataclass(frozen=True, slots=True)
class ChosenSpeculation:
    """What drafts.

    Attributes: `method`, of `METHODS` except auto; `tokens`, drafted at a time; `draft`, the draft model;
    `heads`, the trained heads; `nbytes`, on each card; `why`, one sentence, with what was not taken.
    """

    method: str
    tokens: int
    draft: ModelSource | None = None
    heads: CatalogHead | None = None
    nbytes: int = 0
    why: str = ""


def choice_for(
    engine: str, target: ModelSource, cluster: Cluster, context: int, wish: Wish, forced: Forced | None = None
) -> tuple[CardLayout, ChosenSpeculation]:
    """Return the smallest layout in which `target` fits together with what drafts for it; if there is none,
    the smallest in which it fits, with what speculates there. No machine is added for speculation.

    Raises OutOfMemory if the target does not fit, and BadOption if `forced` or `wish` is impossible.
    """
    layouts = layouts_for(target, cluster, context, forced, by_layers=engine == "llama-server")
    if wish.method in ("ngram", "none"):
        return layouts[0], speculation_for(engine, target, layouts[0], cluster, context, wish)
    for layout in layouts:
        try:
            found = speculation_for(engine, target, layout, cluster, context, wish)
        except BadOption:
            continue
        if found.nbytes:
            return layout, found
    return layouts[0], speculation_for(engine, target, layouts[0], cluster, context, wish)


def speculation_for(
    engine: str, target: ModelSource, layout: CardLayout, cluster: Cluster, context: int, wish: Wish
) -> ChosenSpeculation:
    """Return the best speculation that `engine` (vllm, sglang or llama-server) has for `target` and that fits
    beside it. Raises BadOption if `wish` is impossible, and says why."""
    tokens = wish.tokens
    if tokens is not None and not 1 <= tokens <= LONGEST:
        raise BadOption(
            f"{tokens} tokens cannot be drafted at a time.", f"Give --draft-tokens 1 to {LONGEST}."
        )
    room = cluster.usable - load(target, layout, context).nbytes
    reasons: list[str] = []
    if engine == "sglang" and layout.pipeline > 1:
        if wish.method not in ("auto", "none"):
            raise BadOption(
                "SGLang speculates together with pipeline parallelism only in an experiment.",
                "Give --emit vllm, or cards enough for tensor parallelism alone.",
            )
        return ChosenSpeculation(
            "none", 0, why="SGLang does not speculate together with pipeline parallelism."
        )
    wanted = ("eagle3", "mtp", "draft", "ngram") if wish.method == "auto" else (wish.method,)
    if wish.method == "auto" and wish.draft is not None:
        wanted = ("draft",)
    for method in wanted:
        for each in _candidates(engine, target, layout, context, replace(wish, method=method)):
            if not each.why and each.nbytes <= room:
                return replace(each, why=" ".join(reasons))
            reasons.append(each.why or f"{_named(each)} would need {each.nbytes / GIB:.1f} GiB on each card.")
    raise BadOption(
        f"No {NAMES[wanted[0]]} can draft for {target.name} with this engine and layout. "
        f"{' '.join(reasons)}".strip(),
        "Leave out --speculation and --draft for the best that is known, or give --speculation ngram.",
    )


def _candidates(
    engine: str, target: ModelSource, layout: CardLayout, context: int, wish: Wish
) -> Iterator[ChosenSpeculation]:
    """Yield what could draft by the method of `wish`, best first, whether it fits or not. `why`: why the
    engine cannot use it, or ""."""
    found = ChosenSpeculation(wish.method, wish.tokens or TOKENS[wish.method])
    match wish.method:
        case "eagle3":
            for heads in _heads(engine, target, wish):
                yield replace(found, heads=heads, nbytes=_heads_nbytes(target, heads) // layout.tensor)
        case "mtp":
            if layer := target.outline.own_layer:
                weights = layer.stored + 2 * layer.unpacked
                yield replace(found, nbytes=(weights + KV_ITEM * layer.kv_row * context) // layout.tensor)
        case "draft":
            for draft in _drafts(engine, target, wish):
                nbytes = load(draft, _drafts_layout(layout), context).nbytes
                why = _fault(engine, target, draft, layout)
                yield replace(found, draft=draft, nbytes=nbytes, why=why)
        case _:  # needs nothing beside the target
            yield found


def _named(found: ChosenSpeculation) -> str:
    if found.heads:
        return found.heads.repository
    return f"The draft {found.draft.name}" if found.draft else "Its own layer"


def _heads(engine: str, target: ModelSource, wish: Wish) -> list[CatalogHead]:
    model = catalog.catalog().models.get(target.model)
    known = [each for each in model.heads_elsewhere if engine in each.engines] if model else []
    return [replace(each, commit=wish.revision or each.commit) for each in known]


def _drafts(engine: str, target: ModelSource, wish: Wish) -> list[ModelSource]:
    if wish.draft is not None:
        return [wish.draft]
    known = draft_sources(target, gguf=engine == "llama-server") if wish.catalogued else []
    return [with_revision(each, wish.revision) for each in known]


def _fault(engine: str, target: ModelSource, draft: ModelSource, layout: CardLayout) -> str:
    """Return why `engine` cannot draft with `draft`, or ""."""
    rows = target.outline.vocabulary, draft.outline.vocabulary
    if abs(rows[0] - rows[1]) > (LLAMA_CPP_PADDING if engine == "llama-server" else 0):
        return f"The vocabulary of {draft.name} has {rows[1]:,} rows, that of the target {rows[0]:,}."
    if engine != "llama-server" and not is_divisible(draft, layout.tensor):
        return f"The {draft.heads} heads of {draft.name} cannot be split among {layout.tensor} cards."
    return ""


def _drafts_layout(layout: CardLayout) -> CardLayout:
    """Return the split of the draft: with the target's TP, whole in the last stage."""
    return CardLayout(layout.tensor, 1, 1)


def _heads_nbytes(target: ModelSource, heads: CatalogHead) -> int:
    """Return the bytes of EAGLE-3 heads: as listed, or one layer that reads two states, a projection of three
    states to one, and a head of 32,000 rows, in 16 bits (arXiv 2503.01840)."""
    if heads.nbytes:
        return heads.nbytes
    model: CatalogModel = catalog.catalog().models[target.model]
    wide, narrow = model.heads * model.head_dim, model.kv_heads * model.head_dim
    attention = 2 * model.hidden * (wide + 2 * narrow) + wide * model.hidden
    mlp = 3 * model.hidden * model.intermediate
    return 2 * (3 * model.hidden**2 + attention + mlp + DRAFT_VOCABULARY * model.hidden)
