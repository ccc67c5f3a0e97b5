"""The pair that the user chose, and its preparation for the download."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from PySide6.QtCore import QObject, Signal

from app.background import Work
from app.wizard.selection import wording
from app.wizard.selection.offers import Offer
from engine import catalog, hub
from engine.catalog import Variant
from engine.errors import SpecExecError
from engine.hub import Hub, Item, Repository, Stop

KIND = "prepare"  # the kind of background job


@dataclass(frozen=True, slots=True)
class Choice:
    """A target, with or without a draft.

    Attributes:
        name: the name to show.
        parts: what to download: variants from the catalogue, or Hub repositories with the wanted files.
        nbytes: the size of all parts.
        target, draft: the pair to load after the download, as in `protocol.Load`.
        licenses: the licences of target and draft, named as on the Hub.
        gated: whether a part requires an account.
        companion: the repository of what the target's maker trained to draft for it, if it is still to become
            a part (`completed`); else "".
    """

    name: str
    parts: tuple[Variant | Repository, ...]
    nbytes: int
    target: str
    draft: str
    licenses: tuple[str, ...] = ()
    gated: bool = False
    companion: str = ""

    @property
    def is_local(self) -> bool:
        """Whether nothing needs to be downloaded."""
        return not self.parts and not self.companion


def choice_of_offer(offer: Offer) -> Choice:
    """Turn an offer from the catalogue into a choice."""
    name = f"{offer.target.name} + {offer.draft.name}" if offer.draft else offer.target.name
    draft = offer.draft.id if offer.draft else "auto" if _drafts_alone(offer) else "none"
    return Choice(
        name,
        offer.missing,
        offer.missing_nbytes,
        offer.target.id,
        draft,
        offer.licenses,
        offer.gated,
        offer.companion if offer.lacks_companion else "",
    )


def _drafts_alone(offer: Offer) -> bool:
    """Return whether a target without a draft model has a layer for drafts, heads that come with the program,
    or a companion on this machine."""
    has_companion = bool(offer.companion) and not offer.lacks_companion
    return offer.target.mtp or has_companion or catalog.heads_for(offer.target.id) is not None


def choice_of_repository(
    target: Repository, model: hub.RepositoryModel, draft: Variant | None, missing: bool
) -> Choice:
    """Turn a model from any repository of the Hub, and a draft for it if there is one, into a choice.

    Args:
        missing: whether the draft must be downloaded.
    """
    wanted = replace(target, files=model.files)
    missing_draft = draft if draft is not None and missing else None
    parts: tuple[Variant | Repository, ...] = (wanted, missing_draft) if missing_draft else (wanted,)
    licenses = [target.license, draft.license if draft else ""]
    name = f"{target.id}/{model.name}".rstrip("/")
    return Choice(
        f"{name} + {draft.name}" if draft else name,
        parts,
        model.nbytes + (missing_draft.nbytes if missing_draft else 0),
        name,
        draft.id if draft else "none",
        tuple(dict.fromkeys(license for license in licenses if license)),
        target.gated or bool(missing_draft and missing_draft.gated),
    )


def completed(source: Hub, choice: Choice) -> tuple[Choice, SpecExecError | None]:
    """Return a choice with its companion as a part that is loaded with the target, after asking the Hub for
    the companion's files and for access to them; the choice as it is, and the error, if it does not give
    them."""
    if not choice.companion:
        return choice, None
    try:
        companion = hub.choose(source.repository(choice.companion))
        source.check_access(companion)
    except SpecExecError as error:
        return choice, error
    licenses = (*choice.licenses, companion.license)
    whole = replace(
        choice,
        name=f"{choice.name} + {wording.short(companion.id)}",
        parts=(*choice.parts, companion),
        nbytes=choice.nbytes + companion.nbytes,
        draft="auto",
        licenses=tuple(dict.fromkeys(license for license in licenses if license)),
        gated=choice.gated or companion.gated,
        companion="",
    )
    return whole, None


def item_of(source: Hub, choice: Choice) -> Item:
    """Return the item to download, after asking the Hub for the choice's files and for access to them.

    Raises the errors that `hub.item_of` and `Hub.check_access` raise.
    """
    repositories = []
    for part in choice.parts:
        repository = part if isinstance(part, Repository) else hub.item_of(source, [part]).repositories[0]
        source.check_access(repository)
        repositories.append(repository)
    return hub.item(choice.name, *repositories)


class Preparing(QObject):
    """Asks the Hub for the files of a choice and for access to them, in the background.

    Signals:
        changed: whether the Hub is being asked
        completed: Choice with its companion as a part, and None; or without it, and the SpecExecError that
            says why
        prepared: Choice, Item, and a notice on how the token was stored and on a companion that is left out,
            or ""
        refused: SpecExecError, the reason why the choice cannot be downloaded
    """

    changed = Signal(bool)
    completed = Signal(object, object)
    prepared = Signal(object, object, str)
    refused = Signal(object)

    def __init__(self, get_hub: Callable[[], Hub], work: Work, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._get_hub, self._work = get_hub, work

    def complete(self, choice: Choice) -> None:
        """Ask for the companion of a choice."""
        self.changed.emit(True)
        self._work.run(
            KIND,
            lambda stop: completed(self._get_hub(), choice),
            lambda answer: self._complete(*answer),
            self._refuse,
        )

    def begin(self, choice: Choice, token: str = "") -> None:
        """Prepare a choice. `token`: a new access token to store and use from now on, or ""."""
        self.changed.emit(True)

        def ask(stop: Stop) -> tuple[Choice, Item, str, SpecExecError | None]:
            source = self._get_hub()
            notice = source.tokens.keep(token) if token else ""
            whole, left_out = completed(source, choice)
            if left_out and not whole.parts:
                raise left_out
            return whole, item_of(source, whole), notice, left_out

        self._work.run(KIND, ask, lambda prepared: self._finish(*prepared), self._refuse)

    def stop(self) -> None:
        self._work.forget(KIND)
        self.changed.emit(False)

    def _complete(self, choice: Choice, left_out: SpecExecError | None) -> None:
        self.changed.emit(False)
        self.completed.emit(choice, left_out)

    def _finish(self, choice: Choice, item: Item, notice: str, left_out: SpecExecError | None) -> None:
        self.changed.emit(False)
        reason = wording.left_out(choice.companion, left_out) if left_out else ""
        self.prepared.emit(choice, item, " ".join(filter(None, (notice, reason))))

    def _refuse(self, error: SpecExecError) -> None:
        self.changed.emit(False)
        self.refused.emit(error)
