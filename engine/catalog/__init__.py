"""The catalogue of known models: their variants, matching drafts, and the locations of their files.

The data are in resources/catalog, one file per family of models. `catalog.sizes` computes the size of a model
before it is downloaded. Of model files, it reads no more than config.json; free of torch.
"""

from engine.catalog.loader import parse
from engine.catalog.local import (
    MODELS_VARIABLE,
    MOVING,
    catalog,
    companion_for,
    default_target,
    draft_for,
    entries,
    find,
    heads_for,
    is_companion,
    keep_models_folder,
    left_behind,
    model_for,
    models_folder,
    resolve,
)
from engine.catalog.models import (
    Catalog,
    CatalogCompanion,
    CatalogHead,
    CatalogModel,
    CatalogPair,
    Expectation,
    Variant,
)

__all__ = [
    "MODELS_VARIABLE",
    "MOVING",
    "Catalog",
    "CatalogCompanion",
    "CatalogHead",
    "CatalogModel",
    "CatalogPair",
    "Expectation",
    "Variant",
    "catalog",
    "companion_for",
    "default_target",
    "draft_for",
    "entries",
    "find",
    "heads_for",
    "is_companion",
    "keep_models_folder",
    "left_behind",
    "model_for",
    "models_folder",
    "parse",
    "resolve",
]
