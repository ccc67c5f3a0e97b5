"""From the TOML files in resources/catalog to a `Catalog`, checked."""

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from engine.catalog.gguf_mixes import MIXES
from engine.catalog.models import FORMATS, SOURCES, Catalog, Expectation, Model, Pair, Variant
from engine.catalog.sizes import files_nbytes
from engine.errors import BadOption

REPOSITORY = re.compile(r"\w[\w.-]*/\w[\w.-]*")
GGUF_FILE = re.compile(r"[\w.-]+\.gguf")
# What is needed of a repository in Hugging Face's layout; some hold the same weights again in other files.
FOLDER_FILES = ("model*.safetensors", "*.json", "*.jinja")
GROUPED_BITS, GROUP_SIZE = 4, 128  # of GPTQ and AWQ, where nothing else is said


class Fault(Exception):
    """What is wrong with an entry."""


def read_catalog(folder: Path) -> Catalog:
    """All files of `folder` together. Raises `BadOption` naming the faulty entry."""
    try:
        return parse({file.name: file.read_text(encoding="utf-8") for file in sorted(folder.glob("*.toml"))})
    except OSError as error:
        raise BadOption("The list of models cannot be read.", "Install the program again.") from error


def parse(texts: Mapping[str, str]) -> Catalog:
    """`texts`: TOML by name of the file. Raises `BadOption`."""
    models: dict[str, Model] = {}
    variants: dict[str, Variant] = {}
    pairs: list[Pair] = []
    for file, text in texts.items():
        try:
            said = tomllib.loads(text)
            pairs += [_pair(found) for found in said.pop("pairs", [])]
            for id, found in said.items():
                if id in models:
                    raise Fault(f"{id}: twice")
                models[id] = _model(id, found)
                for variant in models[id].variants:
                    if variant.id in variants:
                        raise Fault(f"{variant.id}: twice")
                    variants[variant.id] = variant
        except (tomllib.TOMLDecodeError, TypeError, AttributeError, KeyError, Fault) as error:
            raise _invalid(file, error) from error
    for pair in pairs:
        try:
            _check_pair(pair, models)
        except Fault as error:
            raise _invalid("its files", error) from error
    if not models:
        raise BadOption("The list of models, resources/catalog, is missing.", "Install the program again.")
    return Catalog(models, variants, tuple(pairs))


def _invalid(file: str, error: Exception) -> BadOption:
    return BadOption(f"The list of models is not valid: {file}: {error}.", "Correct it in resources/catalog.")


def _model(id: str, said: dict[str, Any]) -> Model:
    found = said.pop("variants", [])
    try:
        model = Model(id=id, **said.pop("shape", {}), **said)
        variants = tuple(_variants(model, found))
        return replace(model, variants=variants)
    except (TypeError, Fault) as error:
        raise Fault(f"{id}: {error}") from error


def _variants(model: Model, found: list[dict[str, Any]]) -> Iterator[Variant]:
    for said in found:
        format = said.get("format")
        if format not in FORMATS:
            raise Fault(f"no format {format!r}")
        if format in ("gptq", "awq"):
            said = {"bits": GROUPED_BITS, "group_size": GROUP_SIZE, **said}
        form = said.get("mix", format).lower().replace("-", "")
        usual = {"id": f"{model.id}-{form}", "license": model.license, "files": FOLDER_FILES, "nbytes": 0}
        source = "listing" if "nbytes" in said else "computed"
        variant = Variant(**{**usual, **said, "model": model.id, "name": model.name, "nbytes_from": source})
        variant = replace(variant, files=tuple(variant.files))
        _check_variant(variant)
        yield variant if variant.nbytes else replace(variant, nbytes=files_nbytes(model, variant))


def _check_variant(variant: Variant) -> None:
    if not REPOSITORY.fullmatch(variant.repository):
        raise Fault(f"{variant.id}: {variant.repository!r} is no repository (owner/name)")
    if (variant.format == "gguf") != bool(variant.mix):
        raise Fault(f"{variant.id}: a GGUF file has a mix, other formats have none")
    if variant.mix and variant.mix not in MIXES:
        raise Fault(f"{variant.id}: no mix {variant.mix!r}")
    if variant.format == "gguf" and not all(GGUF_FILE.fullmatch(file) for file in variant.files):
        raise Fault(f"{variant.id}: file is no plain file name")


def _pair(said: dict[str, Any]) -> Pair:
    expectations = tuple(Expectation(**found) for found in said.pop("expectations", []))
    return Pair(**said, expectations=expectations)


def _check_pair(pair: Pair, models: Mapping[str, Model]) -> None:
    for id in (pair.target, pair.draft):
        if id not in models:
            raise Fault(f"a pair: no model {id!r}")
    if models[pair.target].family != models[pair.draft].family:
        raise Fault(f"{pair.draft} does not draft for {pair.target}: they are of two families")
    if any(found.source not in SOURCES for found in pair.expectations):
        raise Fault(f"{pair.target} with {pair.draft}: no such source")
