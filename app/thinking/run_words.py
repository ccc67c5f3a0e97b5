"""A run in words: a line per iteration, why it is as fast as it is."""

from PySide6.QtCore import QCoreApplication

from app import words
from app.thinking.rates import seconds_of
from engine.protocol.messages import Answer, IterationDone, Link, Loaded


def _tr(text: str) -> str:
    return QCoreApplication.translate("run_words", text)


def iteration_line(done: IterationDone, link: Link | None) -> str:
    """“iteration 41: 7 of 256 accepted, 0.61 s, waited 0.40 s for the disk”."""
    parts = [
        _tr("iteration {}: {} of {} accepted").format(
            words.number(done.iteration), len(done.accepted), words.number(len(done.tree.tokens))
        ),
        _tr("{} s").format(words.decimal(seconds_of(done))),
    ]
    if link is not None:
        waited = words.decimal(done.seconds.stream_wait)
        disk, pcie = _tr("waited {} s for the disk"), _tr("waited {} s for PCIe")
        parts.append((disk if link.kind == "disk" else pcie).format(waited))
    return ", ".join(parts)


def why(answer: Answer, loaded: Loaded, plain_tokens_per_second: float | None) -> list[str]:
    """A sentence each: tokens per pass, the time of a pass, what limits it, the speed-up over plain decoding
    where that was measured here."""
    if answer.tokens_per_pass is None or answer.tokens_per_second is None or not answer.target_passes:
        return [_tr("The answer was too short to say how fast it was.")]
    spent = answer.seconds
    whole = spent.draft + spent.target + spent.stream_wait + spent.other
    per_pass = whole / answer.target_passes
    sentences = [
        _tr(
            "One pass of the target gave {} tokens on average, because it checks a whole tree of guesses at "
            "once; plain decoding gets 1 from each."
        ).format(words.decimal(answer.tokens_per_pass)),
        _tr(
            "One iteration took {} s: {} s drafting, {} s computing the target, {} s waiting, {} s for the "
            "rest."
        ).format(
            *(
                words.decimal(part / answer.target_passes)
                for part in (whole, spent.draft, spent.target, spent.stream_wait, spent.other)
            )
        ),
        _limit(answer, loaded),
        _tr("{} tokens per pass ÷ {} s = {} tokens/s.").format(
            words.decimal(answer.tokens_per_pass),
            words.decimal(per_pass),
            words.decimal(answer.tokens_per_pass / per_pass),
        ),
    ]
    return [*sentences, _speed_up(answer.tokens_per_second, plain_tokens_per_second)]


def _limit(answer: Answer, loaded: Loaded) -> str:
    spent = answer.seconds
    parts = {
        _tr("Drafting took the most time: a smaller budget or a smaller draft may be faster."): spent.draft,
        _tr("Computing the target took the most time: this device is the limit."): spent.target,
        _waiting(loaded): spent.stream_wait,
    }
    return max(parts, key=parts.__getitem__)


def _waiting(loaded: Loaded) -> str:
    if loaded.link is not None and loaded.link.kind == "PCIe":
        return _tr("Waiting for weights over PCIe took the most time: more VRAM would help most.")
    return _tr("Waiting for weights from the disk took the most time: more memory would help most.")


def _speed_up(measured: float, plain: float | None) -> str:
    if plain is None:
        return _tr("How much faster than plain decoding is not said before that was measured here.")
    text = _tr(
        "Plain decoding was measured here with this model: {} tokens/s. This answer was {} times as fast."
    )
    return text.format(words.decimal(plain), words.decimal(measured / plain))


def link_use(gb_per_s: float, link: Link) -> str:
    """What the link carried, against what it can."""
    kind = _tr("disk") if link.kind == "disk" else _tr("PCIe")
    if link.limit_gb_per_s is None:
        return _tr("{}: {} GB/s (its limit was not measured: run specexec doctor)").format(
            kind, words.decimal(gb_per_s)
        )
    return _tr("{}: {} of {} GB/s").format(kind, words.decimal(gb_per_s), words.decimal(link.limit_gb_per_s))
