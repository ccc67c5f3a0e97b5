"""Figures of an answer, as numbers and in sentences: speed over time, accepted nodes, use of the link."""

from collections import Counter
from dataclasses import dataclass

from PySide6.QtCore import QCoreApplication

from app import formatting
from app.panel import told
from engine.protocol.messages import Answer, ExpertFigures, IterationDone, Link, Loaded

RECENT_S = 30.0
NO_GAIN = 1.1  # tokens per pass; below, an answer hardly gained from guesses


def _tr(text: str) -> str:
    return QCoreApplication.translate("run_figures", text)


@dataclass(frozen=True, slots=True)
class Moment:
    """Speed at one time.

    t: seconds since the first token. recent: tokens/s over the last 30 s. whole: tokens/s since the start.
    """

    t: float
    recent: float
    whole: float


class Rates:
    """Speed of an answer and its numbers of accepted nodes, updated with each iteration.

    Attributes:
        moments: one per iteration received.
        lengths: for each number of accepted nodes, the number of iterations that accepted so many.
    """

    def __init__(self) -> None:
        self.moments: list[Moment] = []
        self.lengths: Counter[int] = Counter()
        self._tokens: list[tuple[float, int]] = [(0.0, 1)]
        self._first_recent = 0

    def add(self, done: IterationDone) -> None:
        self.lengths[accepted_of(done)] += 1
        if done.tokens_per_second <= 0:
            return
        t = (done.tokens - 1) / done.tokens_per_second
        self._tokens.append((t, done.tokens))
        while self._tokens[self._first_recent][0] < t - RECENT_S:
            self._first_recent += 1
        start, before = self._tokens[self._first_recent]
        recent = (done.tokens - before) / (t - start) if t > start else done.tokens_per_second
        self.moments.append(Moment(t, recent, done.tokens_per_second))


def accepted_of(done: IterationDone) -> int:
    """Return how many drafted tokens an iteration accepted, also if its engine does not tell the tree."""
    return len(done.accepted) if done.step is None else done.step.accepted


def drafted_of(done: IterationDone) -> int:
    """Return how many tokens an iteration drafted."""
    return len(done.tree.tokens) if done.step is None else done.step.drafted


def seconds_of(done: IterationDone) -> float:
    """Return the duration of an iteration, all phases together."""
    spent = done.seconds
    return spent.draft + spent.target + spent.stream_wait + spent.other


def link_gb_per_s(done: IterationDone) -> float | None:
    """Return the average data rate of the link during an iteration; None if nothing was streamed."""
    seconds = seconds_of(done)
    return done.bytes_streamed / 1e9 / seconds if done.bytes_streamed and seconds > 0 else None


# -- in words ------------------------------------------------------------------------------------------------


def iteration_line(done: IterationDone, link: Link | None) -> str:
    """Describe an iteration, as in “iteration 41: 7 of 256 accepted, 0.61 s, waited 0.40 s for the disk”."""
    parts = [
        _tr("iteration {}: {} of {} accepted").format(
            formatting.number(done.iteration), accepted_of(done), formatting.number(drafted_of(done))
        ),
        _tr("{} s").format(formatting.decimal(seconds_of(done))),
    ]
    if link is not None:
        waited = formatting.decimal(done.seconds.stream_wait)
        disk, pcie = _tr("waited {} s for the disk"), _tr("waited {} s for PCIe")
        parts.append((disk if link.kind == "disk" else pcie).format(waited))
    if done.ahead_s:
        drafted, survived = _tr("drafted {} s meanwhile"), _tr("{} nodes from the pass before")
        parts.append(drafted.format(formatting.decimal(done.ahead_s)))
        parts.append(survived.format(formatting.number(done.survivors)))
    return ", ".join(parts)


def speed_line(answer: Answer, plain_tokens_per_second: float | None) -> str:
    """Return the line below an answer, as in “2.7 tokens per pass, 2.1 × plain: see why”.

    It has no speed-up if plain decoding was not measured; it is "" for an answer too short to measure.
    """
    if answer.tokens_per_pass is None or answer.tokens_per_second is None:
        return ""
    per_pass = formatting.rounded(answer.tokens_per_pass)
    if plain_tokens_per_second is None:
        return _tr("{} tokens per pass: see why").format(per_pass)
    times = formatting.rounded(answer.tokens_per_second / plain_tokens_per_second)
    return _tr("{} tokens per pass, {} × plain: see why").format(per_pass, times)


def why(answer: Answer, loaded: Loaded, plain_tokens_per_second: float | None) -> list[str]:
    """Explain the speed of an answer, one sentence each: tokens per pass, the duration of a pass, the
    bottleneck, and the speed-up over plain decoding if that was measured on this machine."""
    if loaded.place:
        return told.why(answer, loaded)
    if answer.tokens_per_pass is None or answer.tokens_per_second is None or not answer.target_passes:
        return [_tr("The answer was too short to measure its speed.")]
    spent = answer.seconds
    whole = spent.draft + spent.target + spent.stream_wait + spent.other
    per_pass = whole / answer.target_passes
    sentences = [
        _gain(answer.tokens_per_pass, answer.drafter),
        _tr(
            "One iteration took {} s: {} s drafting, {} s computing the target, {} s waiting for weights, "
            "{} s for the rest."
        ).format(
            *(
                formatting.decimal(part / answer.target_passes)
                for part in (whole, spent.draft, spent.target, spent.stream_wait, spent.other)
            )
        ),
        _bottleneck(answer, loaded),
        _tr("{} tokens per pass ÷ {} s = {} tokens/s.").format(
            formatting.decimal(answer.tokens_per_pass),
            formatting.decimal(per_pass),
            formatting.decimal(answer.tokens_per_pass / per_pass),
        ),
    ]
    speed_up = _speed_up(answer.tokens_per_second, plain_tokens_per_second)
    return [*sentences, speed_up]


def experts_line(experts: ExpertFigures, tokens: int) -> str:
    """Describe what the cache of a mixture's experts did for an answer of so many tokens."""
    chosen = experts.hits + experts.late + experts.misses + experts.near
    share = round(100 * experts.hits / chosen) if chosen else 100
    brought, read = (
        formatting.nbytes(round(nbytes / max(1, tokens)))
        for nbytes in (experts.bytes_read, experts.bytes_from_disk)
    )
    in_ram = _tr(
        "{} % of the experts that the model used ({} of {}) were in memory; {} were read from the disk per "
        "token of the answer, reading the prompt included."
    )
    on_card = _tr(
        "{} % of the experts that the model used ({} of {}) were on the graphics card; {} were copied to it "
        "per token of the answer, reading the prompt included."
    )
    counts = formatting.number(experts.hits), formatting.number(chosen)
    sentences = [(on_card if experts.tier == "vram" else in_ram).format(share, *counts, brought)]
    if experts.late:
        text = _tr("{} % were still on their way when the model chose them.")
        sentences.append(text.format(round(100 * experts.late / chosen)))
    if experts.near:
        sentences.append(
            _tr("The processor multiplied by {} % of them in RAM.").format(round(100 * experts.near / chosen))
        )
        sentences += _most_and_least(experts)
    if experts.tier == "vram" and experts.bytes_from_disk:
        sentences.append(_tr("Of these, {} per token had to be read from the disk.").format(read))
    if (ram := experts.ram) and (through := ram.hits + ram.late + ram.misses):
        text = _tr("{} % of those copied to it were in RAM when needed, and {} % on their way there.")
        sentences.append(text.format(round(100 * ram.hits / through), round(100 * ram.late / through)))
    if (ahead := ram or experts).predicted:
        sentences.append(
            _tr("{} % of those read ahead were the right ones.").format(
                min(100, round(100 * ahead.right / ahead.predicted))
            )
        )
    return " ".join(sentences)


def layers_line(experts: ExpertFigures) -> str:
    """Say by what share of the experts that each layer chose the processor multiplied; "" if by none."""
    shares = _near_shares(experts)
    each = ", ".join(f"{layer}: {share} %" for layer, share in shares.items())
    if not shares:
        return ""
    text = _tr("Share of the chosen experts by which the processor multiplied, layer by layer: {}")
    return text.format(each)


def _most_and_least(experts: ExpertFigures) -> list[str]:
    """Name the layers in which the processor multiplied by the largest and by the smallest share."""
    shares = _near_shares(experts)
    if len(set(shares.values())) < 2:
        return []
    most, least = max(shares, key=shares.__getitem__), min(shares, key=shares.__getitem__)
    text = _tr("Most in layer {} ({} %), least in layer {} ({} %).")
    return [text.format(most, shares[most], least, shares[least])]


def _near_shares(experts: ExpertFigures) -> dict[int, int]:
    """Return, for each layer with a mixture, counted from 1, the percentage of the experts it chose that the
    processor multiplied by; empty if it multiplied by none."""
    return {layer + 1: round(100 * near / chosen) for layer, chosen, near in experts.near_by_layer if chosen}


def _gain(tokens_per_pass: float, drafter: str) -> str:
    if drafter == "none":
        return _tr("No drafter is in use, so one pass of the target produced 1 token.")
    text = _tr(
        "One pass of the target produced {} tokens on average, because it verifies a whole tree of "
        "guesses at once. Plain decoding produces 1 token per pass."
    )
    if tokens_per_pass < NO_GAIN:
        text = _tr(
            "One pass of the target produced {} tokens on average, hardly more than plain decoding: few "
            "guesses were right, or guessing ahead does not pay with this model on this machine and is only "
            "tried now and then."
        )
    return text.format(formatting.decimal(tokens_per_pass))


def _bottleneck(answer: Answer, loaded: Loaded) -> str:
    spent = answer.seconds
    parts = {
        _tr("Drafting took the most time: a smaller budget or a smaller draft may be faster."): spent.draft,
        _tr("Computing the target took the most time: the compute device is the bottleneck."): spent.target,
        _waiting(loaded): spent.stream_wait,
    }
    return max(parts, key=parts.__getitem__)


def _waiting(loaded: Loaded) -> str:
    if loaded.link is not None and loaded.link.kind == "PCIe":
        return _tr("Waiting for weights over PCIe took the most time: more VRAM would help most.")
    return _tr("Waiting for weights from the disk took the most time: more memory would help most.")


def _speed_up(measured: float, plain: float | None) -> str:
    if plain is None:
        return _tr(
            "The speed-up over plain decoding is shown once plain decoding has been measured on this machine."
        )
    text = _tr(
        "Plain decoding with this model was measured here: {} tokens/s. This answer was {} times as fast."
    )
    return text.format(formatting.decimal(plain), formatting.decimal(measured / plain))


def link_use(gb_per_s: float, link: Link) -> str:
    """Return the data rate of the link and its limit, in words."""
    kind = _tr("disk") if link.kind == "disk" else _tr("PCIe")
    if link.limit_gb_per_s is None:
        return _tr("{}: {} GB/s (limit not measured: run specexec doctor)").format(
            kind, formatting.decimal(gb_per_s)
        )
    return _tr("{}: {} of {} GB/s").format(
        kind, formatting.decimal(gb_per_s), formatting.decimal(link.limit_gb_per_s)
    )
