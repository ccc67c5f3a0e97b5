"""From entries of `engine.catalog` to items that can be downloaded."""

from collections.abc import Sequence

from engine.catalog import Variant
from engine.hub.choosing import choose
from engine.hub.item import Item, item
from engine.hub.repository import Hub


def item_of(hub: Hub, variants: Sequence[Variant]) -> Item:
    """One item of all `variants`, say a target and its draft. Raises what `Hub` and `choose` raise."""
    return item(
        " + ".join(variant.name for variant in variants),
        *(
            choose(
                hub.repository(variant.repository, variant.revision),
                variant.files if variant.format == "gguf" else (),
            )
            for variant in variants
        ),
    )
