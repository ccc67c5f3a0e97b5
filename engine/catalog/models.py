"""What the catalogue knows of a model, of the forms it can be downloaded in, and of models that go together.

Plain data; where the files lie is `catalog.local`, what they weigh `catalog.sizes`.
"""

from dataclasses import dataclass

FORMATS = ("16-bit", "gptq", "awq", "gguf")
SOURCES = ("paper", "measured")


@dataclass(frozen=True, slots=True)
class Variant:
    """One form of a model: a repository, or files of one.

    Attributes: `id` (what `--target` takes), `model` (the id of its model), `name` for a person; `format`,
    one of `FORMATS`; `repository` (owner/name on the Hugging Face Hub), `revision` (branch; "": the usual
    one), `files` of it (names, or patterns); `nbytes` to download; `nbytes_from`: "listing", or "computed" by
    `catalog.sizes`; `license`, `gated` (asks for an account and consent); `seen`, where the
    repository's name was found; `sha256` of the only file, where known; `embedded`: shipped with the program.

    What the arithmetic needs: `mix`, llama.cpp's name for the storage formats in a GGUF file ("Q4_K_M");
    `bits` of a number and columns that share a scale, `group_size` (-1: all), of GPTQ and AWQ;
    `intermediate`, where the MLP is padded to another width than the model's, else 0; `own_head`: the files
    hold a head though the model's is tied (it is loaded from a GGUF file only).
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
    mix: str = ""
    bits: int = 0
    group_size: int = 0
    intermediate: int = 0
    own_head: bool = False
    sha256: str = ""
    embedded: bool = False

    @property
    def file(self) -> str:
        """The GGUF file to open, the first of several parts; "" for the other formats, which are folders."""
        return self.files[0] if self.format == "gguf" else ""


@dataclass(frozen=True, slots=True)
class Model:
    """One model, with the figures of its configuration that say what it takes.

    Attributes: `family`: models of one family number the same tokens alike; `architecture`, HF's model_type;
    `parameters` in all, as published; `vocabulary`, rows of the embedding (padded, so it differs within a
    family); `experts` of a layer and how many of them a token is routed to, 0 where there is one MLP;
    `tied`: the embedding is the head; `sliding_window` of some or all layers, 0 where none has one; `context`
    in tokens.
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
    experts: int = 0
    experts_per_token: int = 0
    tied: bool = False
    sliding_window: int = 0
    variants: tuple[Variant, ...] = ()


@dataclass(frozen=True, slots=True)
class Expectation:
    """Tokens per pass that were reached. `source`: one of `SOURCES`; `note`: with what, where not with
    exactly this pair."""

    tokens_per_pass: float
    budget: int
    temperature: float
    source: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Pair:
    """A target and a draft for it (ids of models). `expectations`: empty where nobody has measured it."""

    target: str
    draft: str
    expectations: tuple[Expectation, ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True)
class Catalog:
    """Attributes: `models` and `variants` by id, in the order of the files; `pairs`: of those with the same
    target, the best draft first."""

    models: dict[str, Model]
    variants: dict[str, Variant]
    pairs: tuple[Pair, ...]

    def drafts_for(self, model: str) -> list[Pair]:
        return [pair for pair in self.pairs if pair.target == model]
