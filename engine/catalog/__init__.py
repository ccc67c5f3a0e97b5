"""Models known by name: what they are, the forms they can be had in, which draft goes with which target, and
where their files lie.

The list is resources/catalog, a file for each family; `catalog.sizes` says what each would take before
anything is downloaded. Reads no model file; free of torch.
"""

from engine.catalog.listing import parse
from engine.catalog.local import (
    MODELS_VARIABLE,
    RESOURCES,
    catalog,
    default_target,
    draft_for,
    entries,
    find,
    heads_for,
    keep_models_folder,
    models_folder,
    resolve,
)
from engine.catalog.models import Catalog, Expectation, Model, Pair, Variant

__all__ = [
    "MODELS_VARIABLE",
    "RESOURCES",
    "Catalog",
    "Expectation",
    "Model",
    "Pair",
    "Variant",
    "catalog",
    "default_target",
    "draft_for",
    "entries",
    "find",
    "heads_for",
    "keep_models_folder",
    "models_folder",
    "parse",
    "resolve",
]
