"""Where another engine takes a model from: a repository on the Hub at one commit, a folder or a file."""

import json
import re
from dataclasses import dataclass, replace
from pathlib import Path

from engine import catalog, planner
from engine.catalog import CatalogModel, Variant
from engine.checkpoints import open_checkpoint
from engine.errors import BadOption, SpecExecError
from engine.planner import Outline

REPOSITORY = re.compile(r"\w[\w.-]*/\w[\w.-]*")


@dataclass(frozen=True, slots=True)
class ModelSource:
    """A model as another engine is told to load it.

    Attributes: `name`, the id or path by which it was asked for; `model`, its id in the catalogue, or "";
    `place`, a repository on the Hub, or the path of a folder or a GGUF file if `local`; `file`, the file in
    the repository, for GGUF; `tag`, llama.cpp's name of its mixture of formats; `revision`, a commit, branch
    or tag, or "" if none is known; `gated`; `packed`, whether its weights are quantized; `heads` and
    `kv_heads`, numbers of attention heads, 0 if unknown; `outline`, the sizes of its parts.
    """

    name: str
    model: str
    place: str
    outline: Outline
    heads: int = 0
    kv_heads: int = 0
    local: bool = False
    file: str = ""
    tag: str = ""
    revision: str = ""
    gated: bool = False
    packed: bool = False

    def __str__(self) -> str:
        at = f" at {self.revision[:12]}" if self.revision else ""
        return self.place + (f"/{self.file}" if self.file and not self.local else "") + at


def hub_source(name: str, checkpoint: str | None = None, revision: str | None = None) -> ModelSource:
    """Return where vLLM and SGLang take the model `name` from: the original repository, never a GGUF file.

    name: an id of the catalogue, whose GGUF variants stand for the original one, or a path. checkpoint: a
    folder of safetensors, or a repository, to take it from instead. revision: instead of the one that the
    installed files or the catalogue name. Raises BadOption if the original is unknown, ModelNotFound, and the
    errors of `open_checkpoint`.
    """
    if checkpoint is not None and Path(checkpoint).is_dir():
        return _folder(name, Path(checkpoint))
    variant = _original(name)
    listed = {*catalog.entries(), *catalog.catalog().models}
    if variant is None and checkpoint is None and name not in listed:
        path = catalog.resolve(name)
        if path.is_dir():
            return _folder(name, path)
    if variant is None:
        raise BadOption(
            f"The original checkpoint of {name} is not in the catalogue.",
            "Give the ID of another model, --checkpoint with a folder that specexec export wrote, or "
            "--emit llama-server for a GGUF file.",
        )
    model = catalog.catalog().models[variant.model]
    place = variant.repository if checkpoint is None else checkpoint
    if not REPOSITORY.fullmatch(place):
        raise BadOption(
            f"{place!r} is neither a folder nor a repository.", "Give a folder's path, or owner/name."
        )
    same = place == variant.repository
    return ModelSource(
        name=name,
        model=model.id,
        place=place,
        outline=planner.variant_outline(model, variant),
        heads=model.heads,
        kv_heads=model.kv_heads,
        revision=revision or (_commit(variant) if same else ""),
        gated=variant.gated and same,
        packed=variant.format != "16-bit",
    )


def gguf_source(name: str, checkpoint: str | None = None) -> ModelSource:
    """Return where llama-server takes the model `name` from: its GGUF file.

    name: an id of the catalogue, whose other variants stand for its GGUF one, or the path of a GGUF file.
    checkpoint: the path of a GGUF file to take instead. Raises as `hub_source`.
    """
    variant = None if checkpoint else _variant(name, ("gguf",))
    if variant is None:
        path = Path(checkpoint) if checkpoint else catalog.resolve(name)
        if path.suffix != ".gguf":
            raise BadOption(
                f"No GGUF file of {name} is known.",
                "llama-server reads only GGUF: give --checkpoint with such a file, or --emit vllm.",
            )
        outline = planner.checkpoint_outline(open_checkpoint(path), name)
        return ModelSource(name, _model_at(path), str(path), outline, local=True, packed=outline.packed)
    model = catalog.catalog().models[variant.model]
    return ModelSource(
        name=name,
        model=model.id,
        place=variant.repository,
        outline=planner.variant_outline(model, variant),
        heads=model.heads,
        kv_heads=model.kv_heads,
        file=variant.file,
        tag=variant.mix.partition("-")[0],
        gated=variant.gated,
        packed=True,
    )


def draft_sources(target: ModelSource, gguf: bool) -> list[ModelSource]:
    """Return the drafts that the catalogue pairs with `target`, best first."""
    drafts = [pair.draft for pair in catalog.catalog().drafts_for(target.model)]
    known = [draft for draft in drafts if _variant(draft, ("gguf",) if gguf else ("16-bit",))]
    return [gguf_source(draft) if gguf else hub_source(draft) for draft in known]


def with_revision(source: ModelSource, revision: str | None) -> ModelSource:
    return replace(source, revision=revision) if revision and not source.local else source


def _folder(name: str, folder: Path) -> ModelSource:
    outline = planner.checkpoint_outline(open_checkpoint(folder), name)
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BadOption(
            f"{folder}/config.json cannot be read.", "Give a folder that specexec export wrote."
        ) from error
    heads = config.get("num_attention_heads") or 0
    variant = _original(name)
    return ModelSource(
        name=name,
        model=variant.model if variant else "",
        place=str(folder),
        outline=outline,
        heads=heads,
        kv_heads=config.get("num_key_value_heads") or heads,
        local=True,
        packed=outline.packed,
    )


def _original(name: str) -> Variant | None:
    """Return the variant that the Hub's engines load for `name`, or None."""
    return _variant(name, ("16-bit", "awq", "gptq"))


def _variant(name: str, formats: tuple[str, ...]) -> Variant | None:
    """Return the variant `name` if it has one of `formats`, or else that of its model with the first of them
    which exists. Paths count as the catalogue's model whose file has that name."""
    known = catalog.entries().get(name)
    if known is not None and known.format in formats:
        return known
    model = known.model if known else name
    if model not in catalog.catalog().models:
        model = _model_at(Path(name))
    found: CatalogModel | None = catalog.catalog().models.get(model)
    own = {variant.format: variant for variant in reversed(found.variants)} if found else {}
    return next((own[format] for format in formats if format in own), None)


def _model_at(path: Path) -> str:
    """Return the catalogue's model whose file or repository has the name of `path`, or ""."""
    entries = catalog.entries().values()
    names = {each.file_name or each.repository.rpartition("/")[2]: each for each in entries}
    return names[path.name].model if path.name in names else ""


def _commit(variant: Variant) -> str:
    """Return the commit of the installed files, or else the commit or branch that the catalogue names."""
    from engine.hub import manifest  # a command that prints text need not wait for the Hub's library

    try:
        folder = catalog.find(variant)
        known = manifest.read(folder) if folder is not None and folder.is_dir() else None
    except SpecExecError:
        known = None
    commits = {file.commit for file in known.files.values()} if known else set()
    return commits.pop() if len(commits) == 1 else variant.commit or variant.revision
