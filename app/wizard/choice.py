"""What a person has chosen, until it is downloaded and loaded. Knows no Qt."""

from dataclasses import dataclass, replace

from app.wizard.offers import Offer
from engine import catalog, hub
from engine.catalog import Variant
from engine.hub import Hub, Item, Repository


@dataclass(frozen=True, slots=True)
class Choice:
    """A target, perhaps with a draft.

    Attributes: `name` for a person; `parts`: what is to be downloaded, of the catalogue, or of the Hub with
    the files that are wanted; `nbytes` of them; `target`, `draft`: what is loaded then, as in
    `protocol.Load`; `licenses`, as the Hub names them; `gated`: something asks for an account.
    """

    name: str
    parts: tuple[Variant | Repository, ...]
    nbytes: int
    target: str
    draft: str
    licenses: tuple[str, ...] = ()
    gated: bool = False

    @property
    def is_here(self) -> bool:
        return not self.parts


def of_offer(offer: Offer) -> Choice:
    name = f"{offer.target.name} + {offer.draft.name}" if offer.draft else offer.target.name
    alone = "auto" if catalog.heads_for(offer.target.id) else "none"
    draft = offer.draft.id if offer.draft else alone
    return Choice(
        name, offer.missing, offer.missing_nbytes, offer.target.id, draft, offer.licenses, offer.gated
    )


def of_repository(target: Repository, model: hub.Offer, draft: Variant | None, missing: bool) -> Choice:
    """`model` of a repository that the catalogue need not know. missing: whether the draft is."""
    wanted = replace(target, files=model.files)
    with_it = draft if draft is not None and missing else None
    parts: tuple[Variant | Repository, ...] = (wanted, with_it) if with_it else (wanted,)
    licenses = [target.license, draft.license if draft else ""]
    name = f"{target.id}/{model.name}".rstrip("/")
    return Choice(
        f"{name} + {draft.name}" if draft else name,
        parts,
        model.nbytes + (with_it.nbytes if with_it else 0),
        name,
        draft.id if draft else "none",
        tuple(dict.fromkeys(license for license in licenses if license)),
        target.gated or bool(with_it and with_it.gated),
    )


def item_of(source: Hub, choice: Choice) -> Item:
    """Asks the Hub. Raises what `hub.item_of` and `Hub.check_access` raise."""
    repositories = []
    for part in choice.parts:
        found = part if isinstance(part, Repository) else hub.item_of(source, [part]).repositories[0]
        source.check_access(found)
        repositories.append(found)
    return hub.item(choice.name, *repositories)


def loaded_by(item: Item) -> tuple[str, str]:
    """(target, draft) of an item of which nobody said what it is for, by their names in the models folder:
    the larger model of the first repository, and the other one."""
    names = [
        f"{repository.id}/{model.name}".rstrip("/")
        for repository in item.repositories
        for model in sorted(hub.offers(repository), key=lambda model: -model.nbytes)
    ]
    return names[0], names[1] if len(names) > 1 else "auto"
