"""The sentence of `plan` and `chat` about a target that should draft for itself."""

from engine.protocol import OwnDraft


def about_own_draft(own: OwnDraft) -> str:
    """Return what a target would gain as its own draft, as a sentence."""
    size = f"{own.nbytes / 2**30:.1f} GiB"
    room = f"takes {size} of the disk" if own.nbytes else "is on the disk"
    return (
        f"As its own draft (--draft self), this model would be about {own.speedup:.1f} times as fast as "
        f"without (what heads from elsewhere bring is not predicted); the copy in fewer bits {room}."
    )
