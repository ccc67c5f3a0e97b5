"""The catalogue's data: models, their downloadable variants, and pairs of target and draft.

`catalog.local` finds the files of a variant; `catalog.sizes` computes their sizes.
"""

from dataclasses import dataclass

from engine.catalog.states import LayerStates

FORMATS = ("16-bit", "gptq", "awq", "gguf")
# Architectures that torch computes on the processor too, since compiled steps do not:
# `engine.model.architectures` says why.
THROUGH_TORCH = ("gemma3n_text",)
# Architectures that this project has run with real weights. Of the others, it has run tiny random models,
# which gave what transformers gives.
RUN_WITH_REAL_WEIGHTS = ("llama", "qwen2")
SOURCES = ("paper", "measured")
# What a layer does first, as a letter of `CatalogModel.pattern`. In a model with layers that only feed, the
# others have no feed-forward network.
ATTENDS, RECURS, FEEDS = "a", "s", "f"
# When a model thinks. optional: unless its chat template is told not to; asked: only if that is told to.
THINKING = ("never", "always", "optional", "asked")
HEAD_METHODS = ("eagle3",)
HEAD_ENGINES = ("vllm", "sglang")


@dataclass(frozen=True, slots=True)
class Variant:
    """One form in which a model can be downloaded: a repository, or some files from it.

    Attributes: `id`, as given to `--target`; `model`, the id of its model; `name`, for display; `format`, one
    of `FORMATS`; `repository`, owner/name on the Hugging Face Hub; `revision`, a branch, or "" for the
    default branch; `commit`, the commit that commands for other engines name, as public code names it, or ""
    if none was found; `files`, the names or patterns of the files needed; `nbytes`, the size of the download;
    `nbytes_from`, "listing" if that size is stated in the catalogue, "computed" if `catalog.sizes` computed
    it; `license`; `gated`, whether an account and consent are required; `seen`, the source from which the
    repository's name is known; `sha256`, the SHA-256 of the file if there is only one, or ""; `embedded`,
    whether the variant is shipped with the program.

    Attributes for the computation of sizes: `mix`, llama.cpp's name for the mixture of storage formats in a
    GGUF file ("Q4_K_M"); `bits`, per number, and `group_size`, the number of columns that share a scale (-1:
    all), both only for GPTQ and AWQ; `intermediate`, the width of the MLP if the files pad it, else 0;
    `own_head`, whether the files contain a head although the model's head is tied to the embedding (such a
    head is loaded only from a GGUF file); `mtp`, whether the files contain the model's MTP layer.
    """

    id: str
    model: str
    name: str
    format: str
    repository: str
    nbytes: int
    nbytes_from: str
    license: str
    seen: str
    gated: bool = False
    files: tuple[str, ...] = ()
    revision: str = ""
    commit: str = ""
    mix: str = ""
    bits: int = 0
    group_size: int = 0
    intermediate: int = 0
    own_head: bool = False
    mtp: bool = False
    sha256: str = ""
    embedded: bool = False

    @property
    def file(self) -> str:
        """The GGUF file to open (the first, if there are several parts), with the folder of the repository in
        which it is, if it is in one; "" for other formats."""
        return self.files[0] if self.format == "gguf" else ""

    @property
    def file_name(self) -> str:
        """The name of the GGUF file to open; "" for other formats."""
        return self.file.rpartition("/")[2]


@dataclass(frozen=True, slots=True)
class CatalogHead:
    """Trained heads that draft for one model in other engines; this program does not load them.

    Attributes: `method`, one of `HEAD_METHODS`; `engines`, those that serve them, of `HEAD_ENGINES`;
    `repository`, owner/name on the Hub; `commit`, as of a `Variant`; `nbytes`, the size of the download, 0
    if it is unknown; `seen`, the source from which all this is known.
    """

    method: str
    engines: tuple[str, ...]
    repository: str
    seen: str
    commit: str = ""
    nbytes: int = 0


@dataclass(frozen=True, slots=True)
class CatalogCompanion:
    """What a model's maker trained to draft for it: an assistant of Gemma 4 (`engine.heads.assistant`) or an
    EAGLE head of Mistral AI (`engine.heads.mistral`).

    Attributes: `repository`, owner/name on the Hub; `seen`, the source from which that is known.
    """

    repository: str
    seen: str


@dataclass(frozen=True, slots=True)
class DenseLayers:
    """The first layers of a mixture, which have an MLP of `intermediate` instead of experts. `layers`: how
    many."""

    layers: int
    intermediate: int


@dataclass(frozen=True, slots=True)
class WideLayers:
    """The layers with full attention of Gemma 4: every so many, with `kv_heads` heads of the width
    `head_dim`. `values`: whether these have a matrix of their own for values, instead of one for both."""

    every: int
    kv_heads: int
    head_dim: int
    values: bool = False


@dataclass(frozen=True, slots=True)
class LayerInputs:
    """The inputs of layers in the small Gemma 4 models. `width`, of the input that a table has for each token
    and layer; `shared`, the number of the last layers, which use the keys and values of earlier ones;
    `twice`, whether the MLPs of these are twice as wide."""

    width: int
    shared: int
    twice: bool = False


@dataclass(frozen=True, slots=True)
class CatalogModel:
    """One model, with the numbers from its configuration that determine its size.

    Attributes: `about`, one line that says what the model is and what it is good at; `family`, whose models
    all use the same token ids; `architecture`, HF's model_type;
    `parameters`, the published total; `comparable`, the most parameters of the dense models to which its
    maker likens a mixture, or 0; `vocabulary`, the number of rows of the embedding (padded, so it
    differs within a family); `experts`, the number of experts in each layer, and `experts_per_token`, the
    number of experts that each token is routed to, both 0 for a single MLP; `tied`, whether the embedding is
    also the head; `shared_expert`, the width of the expert that every token uses, or 0; `dense`, the first
    layers of a mixture that have no experts, or None; `pattern`, one of `ATTENDS`, `RECURS` and `FEEDS` for
    each layer, or for each of a group of layers that repeats, or "" if all attend; `states`, what the layers
    have that recur, or None; `wide`, the layers whose heads differ from the others', or None;
    `inputs`, the inputs that layers have of their own, or None;
    `sliding_window`, the window in tokens of the layers that have one, or 0, and `full_every`, the distance
    of layers without it, or 0 if there is none; `context`, the maximum number of tokens; `special`, whether
    it is for one purpose only, such as programming, and so not recommended to everyone; `successor`, the ID
    of the maker's newer model of the same size and kind, which is recommended in its place, or "";
    `thinking`, one of `THINKING`: whether it thinks before it answers; `heads_elsewhere`, the heads that
    other engines can draft with, best first; `companion`, what its maker trained to draft for it, or None.
    """

    id: str
    name: str
    family: str
    architecture: str
    parameters: int
    layers: int
    hidden: int
    intermediate: int
    heads: int
    kv_heads: int
    head_dim: int
    vocabulary: int
    context: int
    license: str
    about: str
    comparable: int = 0
    experts: int = 0
    experts_per_token: int = 0
    tied: bool = False
    shared_expert: int = 0
    dense: DenseLayers | None = None
    pattern: str = ""
    states: LayerStates | None = None
    wide: WideLayers | None = None
    inputs: LayerInputs | None = None
    sliding_window: int = 0
    full_every: int = 0
    special: bool = False
    successor: str = ""
    thinking: str = "never"
    variants: tuple[Variant, ...] = ()
    heads_elsewhere: tuple[CatalogHead, ...] = ()
    companion: CatalogCompanion | None = None

    @property
    def rank(self) -> int:
        """The parameters by which it is compared with other models."""
        return self.comparable or self.parameters

    @property
    def compiled(self) -> bool:
        """Whether compiled steps compute the model on the processor."""
        return self.architecture not in THROUGH_TORCH

    @property
    def run_here(self) -> bool:
        """Whether this project has run the architecture with real weights, and not only with tiny ones."""
        return self.architecture in RUN_WITH_REAL_WEIGHTS

    def attends(self, layer: int) -> bool:
        """Return whether a layer has rows of its own in the KV cache."""
        if self.inputs and layer >= self.layers - self.inputs.shared:
            return False
        return self.kind(layer) == ATTENDS

    def kind(self, layer: int) -> str:
        """Return what a layer does first: one of `ATTENDS`, `RECURS` and `FEEDS`."""
        return self.pattern[layer % len(self.pattern)] if self.pattern else ATTENDS

    def feeds(self, layer: int) -> bool:
        """Return whether a layer has a feed-forward network or experts."""
        return FEEDS not in self.pattern or self.kind(layer) == FEEDS

    def experts_at(self, layer: int) -> int:
        """Return the number of experts in a layer."""
        first = self.dense.layers if self.dense else 0
        return self.experts if layer >= first and self.feeds(layer) else 0

    def slides(self, layer: int) -> bool:
        """Return whether a layer has a window."""
        return self.sliding_window > 0 and not (self.full_every and (layer + 1) % self.full_every == 0)

    def wide_at(self, layer: int) -> WideLayers | None:
        """Return `wide` if a layer is among them."""
        return self.wide if self.wide and (layer + 1) % self.wide.every == 0 else None

    def row(self, layer: int) -> tuple[int, int]:
        """Return the key-value heads of a layer that attends, and their width."""
        if wide := self.wide_at(layer):
            return wide.kv_heads, wide.head_dim
        return self.kv_heads, self.head_dim


@dataclass(frozen=True, slots=True)
class Expectation:
    """The tokens per pass that a pair achieved at a given budget and temperature.

    Attributes: `source`, one of `SOURCES`; `note`, the models used, if not exactly this pair.
    """

    tokens_per_pass: float
    budget: int
    temperature: float
    source: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class CatalogPair:
    """A target and a draft that matches it, as ids of models. `expectations`: empty if none are known."""

    target: str
    draft: str
    expectations: tuple[Expectation, ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True)
class Catalog:
    """The whole catalogue.

    Attributes: `models` and `variants`, by id, in the order of the files; `pairs`, in which the best draft
    for each target comes first.
    """

    models: dict[str, CatalogModel]
    variants: dict[str, Variant]
    pairs: tuple[CatalogPair, ...]

    def drafts_for(self, model: str) -> list[CatalogPair]:
        return [pair for pair in self.pairs if pair.target == model]
