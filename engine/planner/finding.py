"""From names to outlines: models that are here by their headers, others as the catalogue knows them."""

from collections.abc import Sequence

from engine import catalog
from engine.catalog import Expectation, Variant
from engine.checkpoints import open_checkpoint
from engine.errors import ModelNotFound
from engine.planner.accepting import acceptance
from engine.planner.outlines import Outline, Pair, of_checkpoint, of_variant


def pair_named(target: str, draft: str) -> Pair:
    """target, draft: ids or paths; draft may be "none", or "auto": what a chat would take, and for a target
    that is not here, the catalogue's best. Raises SpecExecError."""
    outline = outline_named(target)
    name = catalog.draft_for(target) if draft == "auto" else draft
    if name is None and not _is_here(target):
        name = _catalogued_draft(outline)
    return pair_of(outline, None if name in (None, "none") else outline_named(name))


def pair_of(target: Outline, draft: Outline | None) -> Pair:
    """With what the catalogue expects of the two."""
    if draft is None:
        return Pair(target, None, acceptance(0))
    return Pair(target, draft, acceptance(draft.weights, expectations(target, draft)))


def expectations(target: Outline, draft: Outline) -> Sequence[Expectation]:
    """Of the catalogue; empty where it knows none."""
    models = _model_of(target), _model_of(draft)
    known = catalog.catalog().pairs
    return next((pair.expectations for pair in known if (pair.target, pair.draft) == models), ())


def outline_named(name: str) -> Outline:
    """Raises ModelNotFound, and what opening a checkpoint raises."""
    try:
        return of_checkpoint(open_checkpoint(catalog.resolve(name)), name)
    except ModelNotFound:
        if name in catalog.entries():
            return catalogued(name)
        if name in catalog.catalog().models:
            return catalogued(catalog.catalog().models[name].variants[0].id)
        raise


def catalogued(id: str) -> Outline:
    """A variant, by the catalogue alone."""
    variant = catalog.entries()[id]
    return of_variant(catalog.catalog().models[variant.model], variant)


def smallest_form(model: str) -> Variant:
    return min(catalog.catalog().models[model].variants, key=lambda variant: variant.nbytes)


def _is_here(name: str) -> bool:
    try:
        catalog.resolve(name)
    except ModelNotFound:
        return False
    return True


def _catalogued_draft(target: Outline) -> str | None:
    pairs = catalog.catalog().drafts_for(_model_of(target) or "")
    return smallest_form(pairs[0].draft).id if pairs else None


def _model_of(outline: Outline) -> str | None:
    variants = catalog.entries().values()
    files = {variant.file or variant.repository.rpartition("/")[2]: variant.model for variant in variants}
    return files.get(outline.file)
