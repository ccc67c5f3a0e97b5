"""Read and validate the TOML files in resources/catalog."""

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from engine.catalog.models import (
    ATTENDS,
    FEEDS,
    FORMATS,
    HEAD_ENGINES,
    HEAD_METHODS,
    RECURS,
    SOURCES,
    THINKING,
    Catalog,
    CatalogCompanion,
    CatalogHead,
    CatalogModel,
    CatalogPair,
    DenseLayers,
    Expectation,
    LayerInputs,
    Variant,
    WideLayers,
)
from engine.catalog.sizes import MIXES, files_nbytes
from engine.catalog.states import KINDS, LayerStates
from engine.errors import BadOption

REPOSITORY = re.compile(r"\w[\w.-]*/\w[\w.-]*")
COMMIT = re.compile(r"[0-9a-f]{40}")
GGUF_FILE = re.compile(r"(\w[\w.-]*/)?\w[\w.-]*\.gguf")
# The files needed from a repository in Hugging Face's layout. Some repositories hold the weights a second
# time, in files that do not match these patterns.
FOLDER_FILES = ("model*.safetensors", "*.json", "*.jinja")
GROUPED_BITS, GROUP_SIZE = 4, 128  # of GPTQ and AWQ, unless an entry says otherwise


class Fault(Exception):
    """An invalid entry in the catalogue; the message says what is wrong."""


def read_catalog(folder: Path) -> Catalog:
    """Return the catalogue from the .toml files in `folder`.

    Raises `BadOption` if an entry is invalid, and names the entry; also if the files cannot be read.
    """
    try:
        return parse({file.name: file.read_text(encoding="utf-8") for file in sorted(folder.glob("*.toml"))})
    except OSError as error:
        raise BadOption("The model catalogue cannot be read.", "Reinstall the program.") from error


def parse(texts: Mapping[str, str]) -> Catalog:
    """Return the catalogue. texts: the content of its TOML files by file name.

    Raises `BadOption` if an entry is invalid, and names the entry; also if there are no models.
    """
    models: dict[str, CatalogModel] = {}
    variants: dict[str, Variant] = {}
    pairs: list[CatalogPair] = []
    for file, text in texts.items():
        try:
            entries = tomllib.loads(text)
            pairs += [_pair(fields) for fields in entries.pop("pairs", [])]
            for id, fields in entries.items():
                if id in models:
                    raise Fault(f"{id} appears twice")
                models[id] = _model(id, fields)
                for variant in models[id].variants:
                    if variant.id in variants:
                        raise Fault(f"{variant.id} appears twice")
                    variants[variant.id] = variant
        except (tomllib.TOMLDecodeError, TypeError, AttributeError, KeyError, Fault) as error:
            raise _invalid(file, error) from error
    for pair in pairs:
        try:
            _check_pair(pair, models)
        except Fault as error:
            raise _invalid("[[pairs]]", error) from error
    for model in models.values():
        if model.successor and model.successor not in models:
            raise _invalid(model.id, Fault(f"unknown model {model.successor!r}"))
    if not models:
        raise BadOption("The model catalogue (resources/catalog) is missing.", "Reinstall the program.")
    return Catalog(models, variants, tuple(pairs))


def _invalid(file: str, error: Exception) -> BadOption:
    return BadOption(
        f"The model catalogue is invalid: {file}: {error}.", "Correct the file in resources/catalog."
    )


def _model(id: str, fields: dict[str, Any]) -> CatalogModel:
    variant_fields, head_fields = fields.pop("variants", []), fields.pop("heads_elsewhere", [])
    try:
        states, wide = fields.pop("states", None), fields.pop("wide", None)
        inputs, companion = fields.pop("inputs", None), fields.pop("companion", None)
        dense = fields.pop("dense", None)
        model = CatalogModel(
            id=id,
            **fields.pop("shape", {}),
            **fields,
            dense=DenseLayers(**dense) if dense else None,
            states=_states(states) if states else None,
            wide=WideLayers(**wide) if wide else None,
            inputs=LayerInputs(**inputs) if inputs else None,
            companion=_companion(companion) if companion else None,
        )
        _check_pattern(model)
        if model.thinking not in THINKING:
            raise Fault(f"unknown thinking {model.thinking!r}")
        heads = tuple(_head(each) for each in head_fields)
        return replace(model, variants=tuple(_variants(model, variant_fields)), heads_elsewhere=heads)
    except (TypeError, Fault) as error:
        raise Fault(f"{id}: {error}") from error


def _states(fields: dict[str, Any]) -> LayerStates:
    kind = fields.pop("kind")
    if kind not in KINDS:
        raise Fault(f"unknown kind of states {kind!r}")
    return KINDS[kind](**fields)


def _check_pattern(model: CatalogModel) -> None:
    pattern = model.pattern
    if not {*pattern} <= {ATTENDS, RECURS, FEEDS} or model.layers % (len(pattern) or 1):
        raise Fault(f"{pattern!r} is no pattern of {model.layers} layers")
    if (RECURS in pattern) != (model.states is not None):
        raise Fault(f"the pattern {pattern!r} and the states do not belong together")


def _variants(model: CatalogModel, entries: list[dict[str, Any]]) -> Iterator[Variant]:
    for fields in entries:
        format = fields.get("format")
        if format not in FORMATS:
            raise Fault(f"unknown format {format!r}")
        if format in ("gptq", "awq"):
            fields = {"bits": GROUPED_BITS, "group_size": GROUP_SIZE, **fields}
        suffix = fields.get("mix", format).lower().replace("-", "")
        defaults = {
            "id": f"{model.id}-{suffix}",
            "license": model.license,
            "files": FOLDER_FILES,
            "nbytes": 0,
        }
        source = "listing" if "nbytes" in fields else "computed"
        fixed = {"model": model.id, "name": model.name, "nbytes_from": source}
        variant = Variant(**{**defaults, **fields, **fixed})
        variant = replace(variant, files=tuple(variant.files))
        _check_variant(variant)
        yield variant if variant.nbytes else replace(variant, nbytes=files_nbytes(model, variant))


def _companion(fields: dict[str, Any]) -> CatalogCompanion:
    companion = CatalogCompanion(**fields)
    _check_source(companion.repository, companion.repository, "")
    return companion


def _head(fields: dict[str, Any]) -> CatalogHead:
    head = CatalogHead(**{**fields, "engines": tuple(fields["engines"])})
    if head.method not in HEAD_METHODS or not set(head.engines) <= set(HEAD_ENGINES):
        raise Fault(f"unknown method or engine of the heads {head.repository!r}")
    _check_source(head.repository, head.repository, head.commit)
    return head


def _check_source(name: str, repository: str, commit: str) -> None:
    if not REPOSITORY.fullmatch(repository):
        raise Fault(f"{name}: {repository!r} is not a repository name (owner/name)")
    if commit and not COMMIT.fullmatch(commit):
        raise Fault(f"{name}: {commit!r} is not a commit (40 hexadecimal digits)")


def _check_variant(variant: Variant) -> None:
    _check_source(variant.id, variant.repository, variant.commit)
    if (variant.format == "gguf") != bool(variant.mix):
        raise Fault(f"{variant.id}: GGUF files need a mix, other formats must not have one")
    if variant.mix and variant.mix not in MIXES:
        raise Fault(f"{variant.id}: unknown mix {variant.mix!r}")
    if variant.format == "gguf" and not all(GGUF_FILE.fullmatch(file) for file in variant.files):
        raise Fault(f"{variant.id}: files must be names of files, in one folder at most")


def _pair(fields: dict[str, Any]) -> CatalogPair:
    expectations = tuple(Expectation(**expectation) for expectation in fields.pop("expectations", []))
    return CatalogPair(**fields, expectations=expectations)


def _check_pair(pair: CatalogPair, models: Mapping[str, CatalogModel]) -> None:
    for id in (pair.target, pair.draft):
        if id not in models:
            raise Fault(f"unknown model {id!r}")
    if models[pair.target].family != models[pair.draft].family:
        raise Fault(f"{pair.draft} cannot draft for {pair.target}: they belong to different families")
    if any(expectation.source not in SOURCES for expectation in pair.expectations):
        raise Fault(f"{pair.target} with {pair.draft}: unknown source")
