"""Outlines of pairs: a target, what drafts for it, and how many of its guesses are likely to be right."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from engine import catalog
from engine.catalog import CatalogModel, Expectation, Variant
from engine.errors import BadOption, ModelNotFound
from engine.planner.acceptance import OWN_LAYER as LAYER_GAIN
from engine.planner.acceptance import Acceptance, acceptance
from engine.planner.heads import HeadsOutline
from engine.planner.outline import Outline, outline_named
from engine.planner.substitute_formats import Substitutes

SELF = "self"  # as the name of a draft: the target itself, in fewer bits
OWN_LAYER = "mtp"  # as the name of a draft: the layer for drafts that comes with the target

OTHER_DRAFT = "Choose another draft, or none (--draft none)."


@dataclass(frozen=True, slots=True)
class PairOutline:
    """The outlines of a target and its draft. `acceptance`: that of trees grown with the draft; if `draft` is
    None, that of trees grown by a drafter without a model. `shared`: whether the draft is the target in fewer
    bits, of which it shares what is resident; `draft` is then the outline of the whole in fewer bits, which
    `substitutes` describe. `heads`: those beside a target without a draft, its own layer for drafts or
    others, or None; `optional_heads`: whether they may be left out, as `planner.fastest` decides, whose pair
    says how."""

    target: Outline
    draft: Outline | None
    acceptance: Acceptance
    shared: bool = False
    substitutes: Substitutes | None = None
    heads: HeadsOutline | None = None
    optional_heads: bool = False

    @property
    def layer(self) -> HeadsOutline | None:
        """The target's own layer for drafts, if the pair has it."""
        return self.heads if self.heads and self.heads.is_layer else None

    @property
    def growing(self) -> Outline | None:
        """What grows trees: the draft, or the target's own layer as a model of one layer; None if that is
        nothing, or heads, whose passes are not predicted."""
        layer = self.layer
        if layer is None:
            return self.draft
        return replace(
            self.target,
            layers=(layer.stored or 2 * layer.unpacked,),
            layer_weights=layer.weights,
            embedding=0,
            tied=True,
            packed=layer.stored > 0 and self.target.packed,
            compiled=self.target.compiled and layer.tiles is not None,
            tiling=0,
        )

    @property
    def draft_file(self) -> str:
        """The name by which past answers know what drafts: that of the draft's file, OWN_LAYER, or "" if that
        is no model."""
        if self.layer:
            return OWN_LAYER
        return self.draft.file if self.draft else ""


def pair_named(target: str, draft: str) -> PairOutline:
    """Return the first of `pairs_named`."""
    return pairs_named(target, draft)[0]


def pairs_named(target: str, draft: str) -> list[PairOutline]:
    """Return the outlines of the pairs that the names can mean, in the catalogue's order. target, draft: ids
    or paths. draft may also be "none", "self", "mtp", or "auto", which is the draft model or the target's own
    layer that a chat would use, or each of the catalogue's drafts if the target does not exist locally. Heads
    in folders are not among them: `engine.heads.outline` knows these.

    Raises SpecExecError if a model cannot be found or opened; BadOption if the target has no layer for drafts
    that is asked for, or cannot draft for itself.
    """
    outline = outline_named(target)
    if draft == SELF:
        return self_pairs(outline)
    if draft == OWN_LAYER and outline.own_layer is None:
        raise no_own_layer(outline.file)
    if draft == OWN_LAYER:
        return [with_heads(outline, outline.own_layer)]
    name = catalog.draft_for(target) if draft == "auto" else draft
    drafts = [name]
    if name is None and not _is_local(target):
        drafts = _catalogued_drafts(outline) or [None]
    pairs = [pair_of(outline, None if each in (None, "none") else outline_named(each)) for each in drafts]
    if draft == "auto" and drafts == [None]:
        return [with_heads(outline, outline.own_layer, optional=True)]
    return pairs


def with_heads(target: Outline, heads: HeadsOutline | None, optional: bool = False) -> PairOutline:
    """Return a target with heads, if there are any. What the target's own layer for drafts brings is
    estimated; what others do is not predicted, so plans reckon with drafts from text alone. optional: as
    `optional_heads` of the pair."""
    alone = pair_of(target, None)
    if heads is None:
        return alone
    accepted = Acceptance(LAYER_GAIN, "estimated") if heads.is_layer else alone.acceptance
    return replace(alone, acceptance=accepted, heads=heads, optional_heads=optional)


def without_heads(pair: PairOutline) -> PairOutline:
    """Return the pair with its heads left out."""
    return pair if pair.heads is None else pair_of(pair.target, pair.draft)


def no_own_layer(file: str) -> BadOption:
    """Return the error for a target without a layer for drafts. file: the name of its file or folder."""
    return BadOption(
        f"{file} has no layer for drafts of its own that could be used.",
        OTHER_DRAFT,
    )


def pair_of(target: Outline, draft: Outline | None) -> PairOutline:
    """Return the outlines as a pair, with the acceptance that follows from the catalogue's expectations."""
    if draft is None:
        return PairOutline(target, None, acceptance(0))
    return PairOutline(target, draft, acceptance(draft.weights, expectations(target, draft)))


def self_pairs(target: Outline) -> list[PairOutline]:
    """Return pairs of a model and itself in fewer bits, one for each format of substitutes that makes a
    difference. Raises BadOption if the model cannot draft for itself."""
    refusal = own_draft_refusal(target)
    if refusal is not None:
        raise refusal
    return [_self_pair(target, form) for form in target.substitutes]


def own_draft_refusal(target: Outline) -> BadOption | None:
    """Return the error for a target that cannot draft for itself; None if its outline speaks for it."""
    if target.states:  # a draft reads the target's rows, but states are not shared
        return BadOption("A model whose layers have states cannot draft for itself.", OTHER_DRAFT)
    if target.experts:  # a pass reads few of them, and a draft would hold all
        return BadOption("A mixture of experts cannot draft for itself.", OTHER_DRAFT)
    if not target.compiled:
        return no_self_draft()
    if not target.substitutes:
        return BadOption(
            "The target is stored in few bits already: a copy would hardly be smaller.", OTHER_DRAFT
        )
    return None


def no_self_draft(on_card: bool = False) -> BadOption:
    """Return the error for a target that does not run, or cannot stream, in compiled passes. on_card: because
    a graphics card runs it."""
    if on_card:
        return BadOption(
            "A model can draft for itself only on the processor; here, a graphics card runs it.",
            "Give it a smaller model of its family as the draft, or a file of the same model in fewer bits "
            "(--draft FILE); or let the processor run it (--device cpu).",
        )
    return BadOption(
        "A model can draft for itself only if it runs compiled passes on the processor; this one does not.",
        OTHER_DRAFT,
    )


def _self_pair(target: Outline, form: Substitutes) -> PairOutline:
    draft = replace(
        target,
        name=SELF,
        file=SELF,
        layers=form.layers,
        head=form.head,
        embedding=0,
        tied=True,
        tiling=0,
    )
    usual = acceptance(draft.weights)
    accepted = replace(usual, gain=form.gain * usual.gain)
    return PairOutline(target, draft, accepted, shared=True, substitutes=form)


def expectations(target: Outline, draft: Outline) -> Sequence[Expectation]:
    """Return the catalogue's expectations of the pair; empty if it has none."""
    models = _model_of(target), _model_of(draft)
    known = catalog.catalog().pairs
    return next((pair.expectations for pair in known if (pair.target, pair.draft) == models), ())


def smallest_form(model: CatalogModel) -> Variant:
    return min(model.variants, key=lambda variant: variant.nbytes)


def _is_local(name: str) -> bool:
    try:
        catalog.resolve(name)
    except ModelNotFound:
        return False
    return True


def _catalogued_drafts(target: Outline) -> list[str | None]:
    known = catalog.catalog()
    return [smallest_form(known.models[pair.draft]).id for pair in known.drafts_for(_model_of(target) or "")]


def _model_of(outline: Outline) -> str | None:
    variants = catalog.entries().values()
    files = {
        variant.file_name or variant.repository.rpartition("/")[2]: variant.model for variant in variants
    }
    return files.get(outline.file)
